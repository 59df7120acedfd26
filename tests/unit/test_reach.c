/* SPDX-License-Identifier: MIT */
#include "graph/reach.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/bitmap.h"

/* Extend @p reached by what it refers to, until nothing changes. */
static void close_over(const struct hd_graph *graph, bool *reached)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t node = 0; node < graph->node_count; node++) {
			uint64_t end = csr_begin(&graph->forward, node + 1);
			for (uint64_t i = csr_begin(&graph->forward, node); i < end; i++) {
				bool *target = &reached[graph->forward.targets[i]];
				changed = changed || (reached[node] && !*target);
				*target = *target || reached[node];
			}
		}
	}
}

static void check(const struct hd_graph *graph, const struct reach *reach, bool *expected)
{
	close_over(graph, expected);
	uint64_t count = 0, size = 0;
	for (uint32_t node = 0; node < graph->node_count; node++) {
		ASSERT_UINT(bitmap_has(reach->bitmap, node), expected[node]);
		if (!expected[node] || node >= graph->object_count)
			continue;
		struct hd_object object;
		CU_ASSERT(hd_graph_object(graph, node, &object) == 0);
		count++;
		size += object.size;
	}
	ASSERT_UINT(reach->count, count);
	ASSERT_UINT(reach_size(graph, reach), size);
}

static struct hd_graph *make_graph(struct random *random)
{
	struct hd_graph *graph = graph_make_random(
		&(struct random_spec){ .seed = random_next(random) >> 30,
				       .object_count = 1 + (uint32_t)random_below(random, 100),
				       .missing_count = (uint32_t)random_below(random, 10),
				       .degree_percent = (uint32_t)random_below(random, 200),
				       .root_count = (uint32_t)random_below(random, 12),
				       .weak_percent = 40 });
	REQUIRE(graph);
	return graph;
}

TEST(what_some_objects_reach_is_marked_and_counted)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct random random = { .state = seed };
		struct hd_graph *graph = make_graph(&random);
		bool expected[128] = { false };
		uint32_t starts[6];
		size_t count = random_below(&random, 7);
		for (size_t i = 0; i < count; i++) {
			starts[i] = (uint32_t)random_below(&random, graph->node_count);
			expected[starts[i]] = true;
		}
		struct reach reach;
		ASSERT_UINT_FATAL(reach_init(graph, starts, count, NULL, &reach, NULL), HD_OK);
		check(graph, &reach, expected);
		reach_deinit(&reach);
		graph_destroy(graph);
	}
}

TEST(weak_roots_keep_nothing_alive)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct random random = { .state = seed };
		struct hd_graph *graph = make_graph(&random);
		bool expected[128] = { false };
		for (uint32_t i = 0; i < graph->root_count; i++) {
			bool weak = graph->roots[i].flags & HD_ROOT_WEAK;
			expected[graph->roots[i].node] = expected[graph->roots[i].node] || !weak;
		}
		struct reach reach;
		ASSERT_UINT_FATAL(reach_from_roots(graph, NULL, &reach, NULL), HD_OK);
		check(graph, &reach, expected);
		reach_deinit(&reach);
		graph_destroy(graph);
	}
}

TEST(large_sizes_add_up)
{
	static const uint64_t sizes[] = { UINT64_C(1) << 40, UINT32_MAX, 1 };
	static const struct made_edge edges[] = { { 0, 1 }, { 1, 0 }, { 1, 2 } };
	struct hd_graph *graph = graph_make(&(struct graph_spec){
		.object_count = 3, .sizes = sizes, .edges = edges, .edge_count = 3 });
	REQUIRE(graph);
	struct reach reach;
	uint32_t start = 1;
	ASSERT_UINT(reach_init(graph, &start, 1, NULL, &reach, NULL), HD_OK);
	ASSERT_UINT(reach_size(graph, &reach), (UINT64_C(1) << 40) + UINT32_MAX + 1);
	reach_deinit(&reach);
	graph_destroy(graph);
}

static int cancel_always(void *arg)
{
	(void)arg;
	return 1;
}

TEST(failures_leave_nothing)
{
	struct hd_graph *graph = graph_make_list(10);
	REQUIRE(graph);
	struct reach reach = { .count = 77 };
	uint32_t start = 0;
	for (uint64_t nth = 1; nth <= 2; nth++) {
		alloc_fail_at(nth);
		ASSERT_UINT(reach_init(graph, &start, 1, NULL, &reach, NULL), HD_ERR_NOMEM);
		alloc_fail_at(nth);
		ASSERT_UINT(reach_from_roots(graph, NULL, &reach, NULL), HD_ERR_NOMEM);
		alloc_fail_at(0);
	}
	struct job job = { .cancelled = cancel_always };
	ASSERT_UINT(reach_init(graph, &start, 1, &job, &reach, NULL), HD_ERR_CANCELLED);
	ASSERT_UINT(reach_from_roots(graph, &job, &reach, NULL), HD_ERR_CANCELLED);
	ASSERT_UINT(reach.count, 77);
	graph_destroy(graph);
	reach_deinit(&(struct reach){ 0 });
}

SUITE(.name = "reach")
