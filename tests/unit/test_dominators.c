/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "graph/dominators.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define MAX_NODES 1200u

/* The definition, for one graph at a time: without[v * n + w] is set if w is still reached when v
 * is gone; v = n stands for "none is gone". */
static unsigned char *without;
static uint32_t queue[MAX_NODES];

static void reach_without(const struct hd_graph *graph, uint32_t gone, unsigned char *seen)
{
	uint32_t n = graph->node_count, head = 0, tail = 0;
	memset(seen, 0, n);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		uint32_t node = graph->roots[i].node;
		if (root_is_weak(&graph->roots[i]) || node == gone || seen[node])
			continue;
		seen[node] = 1;
		queue[tail++] = node;
	}
	while (head < tail) {
		uint32_t node = queue[head++];
		uint64_t end = csr_begin(&graph->forward, node + 1);
		for (uint64_t i = csr_begin(&graph->forward, node); i < end; i++) {
			uint32_t target = graph->forward.targets[i];
			if (target == gone || seen[target])
				continue;
			seen[target] = 1;
			queue[tail++] = target;
		}
	}
}

static bool dominates(uint32_t n, uint32_t dominator, uint32_t node)
{
	return without[(size_t)n * n + node] && !without[(size_t)dominator * n + node];
}

/* The strict dominator that all others of them dominate. */
static uint32_t idom_by_definition(uint32_t n, uint32_t node)
{
	uint32_t best = HD_NONE;
	for (uint32_t i = 0; i < n; i++) {
		if (i != node && dominates(n, i, node) &&
		    (best == HD_NONE || dominates(n, best, i)))
			best = i;
	}
	return best;
}

static void check_node(const struct hd_graph *graph, const struct dominators *got, uint32_t node)
{
	uint32_t n = graph->node_count, count = 0;
	uint64_t size = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!dominates(n, node, i))
			continue;
		count += !graph_is_missing(graph, i);
		size += graph_size(graph, i);
	}
	ASSERT_UINT(got->idom[node], idom_by_definition(n, node));
	ASSERT_UINT(dominators_size(got, node), size);
	ASSERT_UINT(got->retained_count[node], count);
}

static void check_by_definition(struct hd_graph *graph)
{
	REQUIRE(graph);
	uint32_t n = graph->node_count;
	struct dominators got;
	ASSERT_UINT_FATAL(dominators_init(graph, NULL, &got, NULL), HD_OK);
	ASSERT_UINT(got.node_count, n);
	without = malloc(((size_t)n + 1) * n + 1);
	REQUIRE(without);
	for (uint32_t gone = 0; gone <= n; gone++)
		reach_without(graph, gone, without + (size_t)gone * n);
	for (uint32_t node = 0; node < n; node++)
		check_node(graph, &got, node);
	free(without);
	dominators_deinit(&got);
	graph_destroy(graph);
}

TEST(random_graphs_agree_with_the_definition)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct random random = { .state = seed * 7919 };
		check_by_definition(graph_make_random(&(struct random_spec){
			.seed = seed,
			.object_count = 1 + (uint32_t)random_below(&random, 52),
			.missing_count = (uint32_t)random_below(&random, 8),
			.degree_percent = 50 + (uint32_t)random_below(&random, 250),
			.root_count = (uint32_t)random_below(&random, 7),
			.weak_percent = (uint32_t)random_below(&random, 60),
			.near = (uint32_t)random_below(&random, 4),
		}));
	}
}

TEST(larger_random_graphs_agree_with_the_definition)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		check_by_definition(graph_make_random(&(struct random_spec){
			.seed = seed,
			.object_count = MAX_NODES - 30,
			.missing_count = 30,
			.degree_percent = 110 + 20 * (uint32_t)seed,
			.root_count = 4,
			.near = seed % 2 ? 3 : 0,
		}));
	}
}

static struct graph_root strong(uint32_t node)
{
	return (struct graph_root){ .node = node, .container = HD_NONE, .kind = HD_ROOT_STACK };
}

TEST(diamond_joins_at_its_top)
{
	static const struct made_edge edges[] = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 },
						  { 3, 4 }, { 4, 3 }, { 4, 4 }, { 3, 4 } };
	static const uint64_t sizes[] = { 1, 2, 4, 8, 16, 32 };
	struct graph_root root = strong(0);
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 6,
								  .sizes = sizes,
								  .edges = edges,
								  .edge_count = 8,
								  .roots = &root,
								  .root_count = 1 });
	REQUIRE(graph);
	struct dominators got;
	ASSERT_UINT_FATAL(dominators_init(graph, NULL, &got, NULL), HD_OK);
	static const uint32_t idoms[] = { HD_NONE, 0, 0, 0, 3, HD_NONE };
	static const uint64_t retained[] = { 31, 2, 4, 24, 16, 0 };
	static const uint32_t counts[] = { 5, 1, 1, 2, 1, 0 };
	for (uint32_t i = 0; i < 6; i++) {
		ASSERT_UINT(got.idom[i], idoms[i]);
		ASSERT_UINT(dominators_size(&got, i), retained[i]);
		ASSERT_UINT(got.retained_count[i], counts[i]);
	}
	dominators_deinit(&got);
	graph_destroy(graph);
}

/* The second root is met after its node was reached from the first; the third says it again. */
TEST(root_inside_another_tree_has_no_dominator)
{
	static const struct made_edge edges[] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 1 } };
	struct graph_root roots[] = { strong(0), strong(2), strong(2), strong(1) };
	roots[3].flags = HD_ROOT_WEAK;
	check_by_definition(graph_make(&(struct graph_spec){ .object_count = 4,
							     .edges = edges,
							     .edge_count = 4,
							     .roots = roots,
							     .root_count = 4 }));
}

TEST(large_objects_count_in_full)
{
	static const struct made_edge edges[] = { { 0, 1 }, { 1, 2 } };
	static const uint64_t sizes[] = { UINT64_C(5) << 32, 24, UINT32_MAX };
	struct graph_root root = strong(0);
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 3,
								  .sizes = sizes,
								  .edges = edges,
								  .edge_count = 2,
								  .roots = &root,
								  .root_count = 1 });
	REQUIRE(graph);
	struct dominators got;
	ASSERT_UINT_FATAL(dominators_init(graph, NULL, &got, NULL), HD_OK);
	ASSERT_UINT(dominators_size(&got, 0), sizes[0] + sizes[1] + sizes[2]);
	ASSERT_UINT(dominators_size(&got, 1), sizes[1] + sizes[2]);
	dominators_deinit(&got);
	graph_destroy(graph);
}

/* Up to 4 GB less a byte, sums take half the memory. */
TEST(sums_at_the_limit_of_32_bits_are_right)
{
	static const struct made_edge edges[] = { { 0, 1 }, { 1, 2 } };
	struct graph_root root = strong(0);
	for (uint64_t more = 0; more < 2; more++) {
		const uint64_t sizes[] = { UINT64_C(1) << 31, (UINT64_C(1) << 31) - 25, 24 + more };
		struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 3,
									  .sizes = sizes,
									  .edges = edges,
									  .edge_count = 2,
									  .roots = &root,
									  .root_count = 1 });
		REQUIRE(graph);
		struct dominators got;
		ASSERT_UINT_FATAL(dominators_init(graph, NULL, &got, NULL), HD_OK);
		CU_ASSERT(!got.small_sizes == (more > 0));
		CU_ASSERT(!got.large_sizes == (more == 0));
		ASSERT_UINT(dominators_size(&got, 0), UINT32_MAX + more);
		ASSERT_UINT(dominators_size(&got, 1), (UINT64_C(1) << 31) - 1 + more);
		ASSERT_UINT(dominators_size(&got, 2), 24 + more);
		dominators_deinit(&got);
		graph_destroy(graph);
	}
}

/* Counts of wrong elements, so that a broken result does not print millions of lines. */
TEST(long_list_is_dominated_in_order)
{
	const uint32_t n = 2000000;
	struct hd_graph *graph = graph_make_list(n);
	REQUIRE(graph);
	struct dominators got;
	ASSERT_UINT_FATAL(dominators_init(graph, NULL, &got, NULL), HD_OK);
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < n; i++) {
		wrong += got.idom[i] != (i ? i - 1 : HD_NONE);
		wrong += got.retained_count[i] != n - i;
		wrong += dominators_size(&got, i) != 24 * (uint64_t)(n - i);
	}
	ASSERT_UINT(wrong, 0);
	dominators_deinit(&got);
	graph_destroy(graph);
}

/*
 * 0 holds a list 1 .. half, whose items each have a node of data, and a table of all the data.  A
 * walk from each item up the list would take half * half / 2 steps.
 */
TEST(list_with_a_table_beside_it_takes_no_quadratic_time)
{
	const uint32_t half = 1000000, table = 2 * half + 1;
	uint64_t edge_count = 3 * (uint64_t)half + 1, at = 0;
	struct made_edge *edges = pages_alloc(edge_count, sizeof(*edges));
	REQUIRE(edges);
	for (uint32_t i = 0; i < half; i++) {
		edges[at++] = (struct made_edge){ i, i + 1 };
		edges[at++] = (struct made_edge){ i + 1, half + i + 1 };
		edges[at++] = (struct made_edge){ table, half + i + 1 };
	}
	edges[at++] = (struct made_edge){ 0, table };
	struct graph_root root = strong(0);
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = table + 1,
								  .edges = edges,
								  .edge_count = at,
								  .roots = &root,
								  .root_count = 1 });
	pages_free(edges, edge_count, sizeof(*edges));
	REQUIRE(graph);
	struct dominators got;
	ASSERT_UINT_FATAL(dominators_init(graph, NULL, &got, NULL), HD_OK);
	uint32_t wrong = 0;
	for (uint32_t i = 1; i <= half; i++) {
		wrong += got.idom[i] != i - 1;
		wrong += got.idom[half + i] != 0;
		wrong += got.retained_count[i] != half - i + 1;
	}
	ASSERT_UINT(wrong, 0);
	ASSERT_UINT(got.idom[table], 0);
	ASSERT_UINT(dominators_size(&got, 0), graph->total_size);
	dominators_deinit(&got);
	graph_destroy(graph);
}

/* 0 refers to all, all refer to 0 and to the last. */
TEST(hub_dominates_all_its_spokes)
{
	const uint32_t n = 300000;
	uint64_t edge_count = 3 * (uint64_t)(n - 1), at = 0;
	struct made_edge *edges = pages_alloc(edge_count, sizeof(*edges));
	REQUIRE(edges);
	for (uint32_t i = 1; i < n; i++) {
		edges[at++] = (struct made_edge){ 0, i };
		edges[at++] = (struct made_edge){ i, 0 };
		edges[at++] = (struct made_edge){ i, n - 1 };
	}
	struct graph_root root = strong(0);
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = n,
								  .edges = edges,
								  .edge_count = edge_count,
								  .roots = &root,
								  .root_count = 1 });
	pages_free(edges, edge_count, sizeof(*edges));
	REQUIRE(graph);
	struct dominators got;
	ASSERT_UINT_FATAL(dominators_init(graph, NULL, &got, NULL), HD_OK);
	uint32_t wrong = 0;
	for (uint32_t i = 1; i < n; i++)
		wrong += got.idom[i] != 0 || got.retained_count[i] != 1;
	ASSERT_UINT(wrong, 0);
	ASSERT_UINT(got.retained_count[0], n);
	dominators_deinit(&got);
	graph_destroy(graph);
}

TEST(empty_graphs_have_no_dominators)
{
	for (uint32_t n = 0; n < 3; n++) {
		struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = n });
		REQUIRE(graph);
		struct dominators got;
		ASSERT_UINT_FATAL(dominators_init(graph, NULL, &got, NULL), HD_OK);
		for (uint32_t i = 0; i < n; i++) {
			ASSERT_UINT(got.idom[i], HD_NONE);
			ASSERT_UINT(got.retained_count[i], 0);
		}
		dominators_deinit(&got);
		dominators_deinit(&got);
		graph_destroy(graph);
	}
}

/* With a small graph the arrays come from calloc(), with a large one from mmap(). */
static void fail_each_allocation(uint32_t object_count)
{
	for (uint64_t nth = 1; nth < 100; nth++) {
		struct hd_graph *graph = graph_make_list(object_count);
		REQUIRE(graph);
		struct dominators got = { .node_count = 77 };
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = dominators_init(graph, NULL, &got, &err);
		alloc_fail_at(0);
		if (status == HD_OK) {
			CU_ASSERT(nth > 3);
			ASSERT_UINT(got.retained_count[0], object_count);
			dominators_deinit(&got);
			graph_destroy(graph);
			return;
		}
		ASSERT_UINT(status, HD_ERR_NOMEM);
		ASSERT_UINT(err.status, HD_ERR_NOMEM);
		ASSERT_UINT(got.node_count, 77);
		CU_ASSERT_PTR_NULL(got.idom);
		graph_destroy(graph);
	}
	CU_FAIL("still out of memory");
}

TEST(each_failed_allocation_is_reported)
{
	fail_each_allocation(10);
	fail_each_allocation(1200000);
}

struct countdown {
	uint32_t calls;
};

static int countdown_cancelled(void *arg)
{
	struct countdown *countdown = arg;
	return countdown->calls-- == 0;
}

TEST(cancelling_anywhere_leaves_nothing)
{
	for (uint32_t calls = 0; calls < 1000; calls++) {
		struct hd_graph *graph = graph_make_list(300000);
		REQUIRE(graph);
		struct countdown countdown = { .calls = calls };
		struct job job = { .cancelled = countdown_cancelled, .arg = &countdown };
		struct dominators got = { .node_count = 77 };
		struct hd_error err = { 0 };
		enum hd_status status = dominators_init(graph, &job, &got, &err);
		if (status == HD_OK) {
			CU_ASSERT(calls > 4 * 300000 / JOB_STRIDE);
			ASSERT_UINT(job.done, job.total);
			dominators_deinit(&got);
			graph_destroy(graph);
			return;
		}
		ASSERT_UINT(status, HD_ERR_CANCELLED);
		ASSERT_UINT(err.status, HD_ERR_CANCELLED);
		ASSERT_UINT(got.node_count, 77);
		CU_ASSERT_PTR_NULL(got.idom);
		graph_destroy(graph);
	}
	CU_FAIL("still cancelled");
}

TEST(progress_ends_at_its_total)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct hd_graph *graph = graph_make_random(&(struct random_spec){
			.seed = seed,
			.object_count = 200000,
			.missing_count = 1000,
			.degree_percent = 150,
			.root_count = 3,
		});
		REQUIRE(graph);
		struct job job = { 0 };
		struct dominators got;
		ASSERT_UINT_FATAL(dominators_init(graph, &job, &got, NULL), HD_OK);
		ASSERT_UINT(job.done, job.total);
		dominators_deinit(&got);
		graph_destroy(graph);
	}
}

SUITE(.name = "dominators")
