/* SPDX-License-Identifier: MIT */
/* Paths that are found in stages, with objects that are searched from as if they were rooted. */
#include "analysis/graph/root_paths.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/job.h"

#define STAGES 3u
#define ROUNDS 600u

/* Types of nodes: items of lists, and lists. */
#define ITEM_TYPE 1u
#define LIST_TYPE 2u

/* Does the path from each live node end at a root? */
static void check_paths(const struct hd_graph *graph, const struct root_paths *paths)
{
	for (uint32_t node = 0; node < graph->node_count; node++) {
		uint32_t at = node, before;
		uint32_t steps = 0;
		if (!paths->parents[node])
			continue;
		while ((before = path_before(paths, at)) != HD_NONE && steps++ <= graph->node_count)
			at = before;
		bool is_seed = false;
		for (size_t i = 0; i < paths->seeds_count; i++)
			is_seed |= paths->seeds[i].node == at;
		CU_ASSERT_FATAL(steps <= graph->node_count && is_seed);
	}
}

/* The same nodes are alive as without stages, each once in the order; a stage ends after the one before. */
static void check_live(const struct hd_graph *graph, const struct root_paths *staged,
		       const uint64_t ends[STAGES])
{
	struct root_paths paths;
	struct job job = { 0 };
	uint64_t count = 0;
	ASSERT_UINT_FATAL(root_paths_init(graph, false, &job, &paths, NULL), HD_OK);
	ASSERT_UINT_FATAL(staged->live_count, paths.live_count);
	for (uint32_t node = 0; node < graph->node_count; node++)
		CU_ASSERT_FATAL(!paths.parents[node] == !staged->parents[node]);
	for (uint64_t i = 0; i < staged->live_count; i++)
		count += staged->parents[staged->order[i]] != 0;
	ASSERT_UINT(count, staged->live_count);
	CU_ASSERT(ends[0] <= ends[1] && ends[1] <= ends[2]);
	ASSERT_UINT(ends[2], staged->live_count);
	root_paths_deinit(&paths);
}

static void check_staged(const struct hd_graph *graph, const uint8_t *of_roots,
			 const uint32_t *kept, size_t kept_count, uint64_t ends[STAGES])
{
	struct path_stages stages = { .of_roots = of_roots,
				      .count = STAGES,
				      .ends = ends,
				      .lists = { ITEM_TYPE, LIST_TYPE, 1 } };
	struct root_paths paths;
	struct job job = { 0 };
	for (; stages.kept_count < kept_count; stages.kept_count++)
		stages.kept[stages.kept_count] = kept[stages.kept_count];
	ASSERT_UINT_FATAL(root_paths_staged(graph, &stages, &job, &paths, NULL), HD_OK);
	check_paths(graph, &paths);
	check_live(graph, &paths, ends);
	root_paths_deinit(&paths);
}

TEST(paths_end_at_a_root_whatever_is_kept)
{
	struct random random = { 77 };
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const struct random_spec spec = { .seed = round + 1,
						  .object_count = 40,
						  .missing_count = 2,
						  .degree_percent = 60 + round % 100,
						  .root_count = 6,
						  .weak_percent = 20 };
		struct hd_graph *graph = graph_make_random(&spec);
		uint32_t kept[KEPT_MAX];
		uint8_t of_roots[6];
		uint64_t ends[STAGES];
		CU_ASSERT_FATAL(graph != NULL);
		for (size_t i = 0; i < sizeof(of_roots); i++)
			of_roots[i] = PATH_STAGE(random_below(&random, STAGES), round % 2);
		for (uint32_t i = 0; i < graph->object_count && round % 3; i++)
			graph->node_types[i] = (uint32_t)random_below(&random, 3);
		for (size_t i = 0; i < KEPT_MAX; i++)
			kept[i] = (uint32_t)random_below(&random, graph->object_count);
		check_staged(graph, of_roots, kept, round % (KEPT_MAX + 1), ends);
		graph_destroy(graph);
	}
}

/* A root of the last stage leads to the second one, that to the first, and nothing to the third. */
TEST(one_that_nothing_leads_to_does_not_change_the_others)
{
	static const struct made_edge edges[] = {
		{ 1, 0 }, { 0, 3 }, { 2, 0 }, { 2, 2 }, { 0, 0 }
	};
	static const struct graph_root roots[] = { { .node = 1, .kind = HD_ROOT_STACK } };
	const struct graph_spec spec = {
		.object_count = 4, .edges = edges, .edge_count = 5, .roots = roots, .root_count = 1
	};
	static const uint8_t of_roots[] = { PATH_STAGE(2, false) };
	static const uint32_t kept[] = { 0, 1, 2 };
	uint64_t ends[STAGES];
	struct hd_graph *graph = graph_make(&spec);
	CU_ASSERT_FATAL(graph != NULL);
	check_staged(graph, of_roots, kept, 3, ends);
	/* Both, and what they have, belong to the first stage. */
	ASSERT_UINT(ends[0], 3);
	graph_destroy(graph);
}

/* Item 1 is also held by node 4.  What comes after it in the list 0, with its node 3, is not. */
TEST(who_holds_an_item_of_a_list_does_not_hold_the_next_one)
{
	static const struct made_edge edges[] = { { 0, 1 }, { 1, 0 }, { 1, 2 }, { 2, 0 },
						  { 2, 1 }, { 2, 3 }, { 4, 1 } };
	static const struct graph_root roots[] = { { .node = 4, .kind = HD_ROOT_STATIC },
						   { .node = 0, .kind = HD_ROOT_STATIC } };
	static const uint32_t types[] = { LIST_TYPE, ITEM_TYPE, ITEM_TYPE, 0, 0 };
	const struct graph_spec spec = { .object_count = 5,
					 .type_count = 3,
					 .types = types,
					 .edges = edges,
					 .edge_count = 7,
					 .roots = roots,
					 .root_count = 2 };
	static const uint8_t of_roots[] = { PATH_STAGE(0, false), PATH_STAGE(1, false) };
	uint64_t ends[STAGES];
	const struct path_stages stages = { .of_roots = of_roots,
					    .count = STAGES,
					    .ends = ends,
					    .lists = { ITEM_TYPE, LIST_TYPE, 1 } };
	struct root_paths paths;
	struct job job = { 0 };
	struct hd_graph *graph = graph_make(&spec);
	CU_ASSERT_FATAL(graph != NULL);
	ASSERT_UINT_FATAL(root_paths_staged(graph, &stages, &job, &paths, NULL), HD_OK);
	ASSERT_UINT(ends[0], 2);
	ASSERT_UINT(path_before(&paths, 1), 4);
	ASSERT_UINT(path_before(&paths, 2), 0);
	ASSERT_UINT(path_before(&paths, 3), 2);
	check_live(graph, &paths, ends);
	root_paths_deinit(&paths);
	graph_destroy(graph);
}

SUITE(.name = "root_paths")
