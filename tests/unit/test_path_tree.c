/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "analysis/graph/path_tree.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/bitmap.h"

#define NODES_MAX 90u

/* Shorten the distance of @p node by one of its references; false when none does. */
static bool relax(const struct hd_graph *graph, uint32_t node, uint32_t *distances)
{
	bool shorter = false;
	uint64_t end = csr_begin(&graph->forward, node + 1);
	for (uint64_t i = csr_begin(&graph->forward, node); i < end; i++) {
		uint32_t next = distances[graph->forward.targets[i]];
		if (next == HD_NONE || next + 1 >= distances[node])
			continue;
		distances[node] = next + 1;
		shorter = true;
	}
	return shorter;
}

/* Links from each node to @p target, by relaxing every edge until nothing changes. */
static void distances_to(const struct hd_graph *graph, uint32_t target, uint32_t *ret)
{
	for (uint32_t i = 0; i < graph->node_count; i++)
		ret[i] = i == target ? 0 : HD_NONE;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t node = 0; node < graph->node_count; node++)
			changed = relax(graph, node, ret) || changed;
	}
}

static bool refers_to(const struct hd_graph *graph, uint32_t from, uint32_t to)
{
	uint64_t end = csr_begin(&graph->forward, from + 1);
	for (uint64_t i = csr_begin(&graph->forward, from); i < end; i++) {
		if (graph->forward.targets[i] == to)
			return true;
	}
	return false;
}

/* The path from @p node has @p distance links, each a reference, and ends at the target. */
static void check_path(const struct hd_graph *graph, const struct path_tree *tree, uint32_t node,
		       uint32_t distance)
{
	for (; distance; distance--) {
		CU_ASSERT_FATAL(node != tree->target);
		uint32_t next = path_tree_next(tree, node);
		CU_ASSERT_FATAL(refers_to(graph, node, next));
		node = next;
	}
	ASSERT_UINT(node, tree->target);
}

static void check_target(struct hd_graph *graph, uint32_t target, const uint64_t *wanted)
{
	uint32_t expected[NODES_MAX] = { 0 };
	distances_to(graph, target, expected);
	struct path_tree tree;
	ASSERT_UINT_FATAL(path_tree_init(graph, target, &(struct path_choice){ .wanted = wanted },
					 NULL, &tree, NULL),
			  HD_OK);
	uint64_t reached = 0;
	size_t starts = 0;
	for (uint32_t node = 0; node < graph->node_count; node++) {
		bool reaches = expected[node] != HD_NONE;
		bool listed = reaches && wanted && bitmap_has(wanted, node);
		ASSERT_UINT(path_tree_reaches(&tree, node), reaches);
		ASSERT_UINT(path_tree_distance(&tree, node), listed ? expected[node] : HD_NONE);
		if (reaches)
			check_path(graph, &tree, node, expected[node]);
		if (listed)
			ASSERT_UINT(tree.starts[starts].node, node);
		reached += reaches;
		starts += listed;
	}
	ASSERT_UINT(tree.reached, reached);
	ASSERT_UINT(tree.starts_count, starts);
	path_tree_deinit(&tree);
}

TEST(paths_are_the_shortest)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct random random = { .state = seed };
		struct hd_graph *graph = graph_make_random(&(struct random_spec){
			.seed = seed,
			.object_count = 1 + (uint32_t)random_below(&random, 80),
			.missing_count = (uint32_t)random_below(&random, 10),
			.degree_percent = (uint32_t)random_below(&random, 300),
			.near = (uint32_t)random_below(&random, 5) });
		REQUIRE(graph);
		uint64_t *wanted = bitmap_alloc(graph->node_count);
		REQUIRE(wanted);
		for (uint32_t i = 0; i < graph->node_count; i++) {
			if (random_below(&random, 3) == 0)
				(void)bitmap_add(wanted, i);
		}
		for (uint32_t target = 0; target < graph->node_count; target += 1 + target / 8)
			check_target(graph, target, target % 3 ? wanted : NULL);
		bitmap_free(wanted, graph->node_count);
		graph_destroy(graph);
	}
}

TEST(a_path_may_be_as_long_as_the_heap)
{
	const uint32_t count = 300000;
	struct hd_graph *graph = graph_make_list(count);
	REQUIRE(graph);
	uint64_t *wanted = bitmap_alloc(count);
	REQUIRE(wanted);
	(void)bitmap_add(wanted, 0);
	(void)bitmap_add(wanted, 1234);
	struct path_tree tree;
	ASSERT_UINT_FATAL(path_tree_init(graph, count - 1,
					 &(struct path_choice){ .wanted = wanted }, NULL, &tree,
					 NULL),
			  HD_OK);
	ASSERT_UINT(path_tree_distance(&tree, 0), count - 1);
	ASSERT_UINT(path_tree_distance(&tree, 1234), count - 1 - 1234);
	ASSERT_UINT(tree.reached, count);
	path_tree_deinit(&tree);
	ASSERT_UINT_FATAL(path_tree_init(graph, 0, &(struct path_choice){ .wanted = wanted }, NULL,
					 &tree, NULL),
			  HD_OK);
	ASSERT_UINT(tree.reached, 1);
	ASSERT_UINT(path_tree_distance(&tree, 0), 0);
	ASSERT_UINT(path_tree_distance(&tree, 1234), HD_NONE);
	path_tree_deinit(&tree);
	bitmap_free(wanted, count);
	graph_destroy(graph);
}

TEST(each_failed_allocation_is_reported)
{
	struct hd_graph *graph = graph_make_list(40);
	uint64_t *wanted = bitmap_alloc(40);
	REQUIRE(graph);
	REQUIRE(wanted);
	for (uint32_t i = 0; i < 40; i++)
		(void)bitmap_add(wanted, i);
	for (uint64_t nth = 1; nth < 40; nth++) {
		struct path_tree tree = { .node_count = 77 };
		alloc_fail_at(nth);
		enum hd_status status = path_tree_init(
			graph, 39, &(struct path_choice){ .wanted = wanted }, NULL, &tree, NULL);
		alloc_fail_at(0);
		if (status == HD_OK) {
			CU_ASSERT(nth > 4);
			path_tree_deinit(&tree);
			bitmap_free(wanted, 40);
			graph_destroy(graph);
			return;
		}
		ASSERT_UINT(status, HD_ERR_NOMEM);
		ASSERT_UINT(tree.node_count, 77);
	}
	CU_FAIL("still out of memory");
}

static int cancel_always(void *arg)
{
	(void)arg;
	return 1;
}

TEST(the_search_can_be_cancelled)
{
	struct hd_graph *graph = graph_make_list(10);
	REQUIRE(graph);
	struct path_tree tree = { .node_count = 77 };
	struct job job = { .cancelled = cancel_always };
	ASSERT_UINT(path_tree_init(graph, 9, NULL, &job, &tree, NULL), HD_ERR_CANCELLED);
	const struct csr *reverse;
	ASSERT_UINT(graph_reverse(graph, NULL, &reverse, NULL), HD_OK);
	job = (struct job){ .cancelled = cancel_always };
	ASSERT_UINT(path_tree_init(graph, 9, NULL, &job, &tree, NULL), HD_ERR_CANCELLED);
	ASSERT_UINT(tree.node_count, 77);
	graph_destroy(graph);
}

SUITE(.name = "path tree")
