/* SPDX-License-Identifier: MIT */
#include "analysis/graph/retained_set.h"
#include "graph/dominators.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define NODES 128u

static struct hd_graph *make_graph(struct random *random)
{
	struct hd_graph *graph = graph_make_random(
		&(struct random_spec){ .seed = random_next(random) >> 30,
				       .object_count = 1 + (uint32_t)random_below(random, 100),
				       .missing_count = (uint32_t)random_below(random, 10),
				       .degree_percent = (uint32_t)random_below(random, 250),
				       .root_count = (uint32_t)random_below(random, 12),
				       .weak_percent = 30 });
	REQUIRE(graph);
	return graph;
}

/* Mark what strong roots reach but for the nodes that are left out, until nothing changes. */
static void mark_alive(const struct hd_graph *graph, const bool *is_out, bool *ret)
{
	memset(ret, 0, NODES * sizeof(*ret));
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (!root_is_weak(root) && !(is_out && is_out[root->node]))
			ret[root->node] = true;
	}
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t node = 0; node < graph->node_count; node++) {
			uint64_t end = csr_begin(&graph->forward, node + 1);
			for (uint64_t i = csr_begin(&graph->forward, node); ret[node] && i < end;
			     i++) {
				uint32_t to = graph->forward.targets[i];
				bool is_new = !ret[to] && !(is_out && is_out[to]);
				ret[to] = ret[to] || is_new;
				changed = changed || is_new;
			}
		}
	}
}

TEST(a_set_retains_what_is_dead_without_it)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct random random = { .state = seed };
		struct hd_graph *graph = make_graph(&random);
		bool is_out[NODES] = { false }, all[NODES], rest[NODES];
		uint32_t nodes[NODES];
		size_t count = 0;
		for (uint32_t node = 0; node < graph->object_count; node++) {
			is_out[node] = random_below(&random, 4) == 0;
			if (is_out[node])
				nodes[count++] = node;
		}
		mark_alive(graph, NULL, all);
		mark_alive(graph, is_out, rest);
		struct retained_set expected = { 0 }, got;
		for (uint32_t node = 0; node < graph->object_count; node++) {
			expected.alive += is_out[node] && all[node];
			expected.count += all[node] && !rest[node];
			expected.size += all[node] && !rest[node] ? graph_size(graph, node) : 0;
		}
		ASSERT_UINT_FATAL(retained_set_count(graph, nodes, count, NULL, &got, NULL), HD_OK);
		ASSERT_UINT(got.alive, expected.alive);
		ASSERT_UINT(got.count, expected.count);
		ASSERT_UINT(got.size, expected.size);
		graph_destroy(graph);
	}
}

TEST(one_object_retains_what_its_dominator_subtree_holds)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct random random = { .state = seed };
		struct hd_graph *graph = make_graph(&random);
		struct dominators dominators;
		ASSERT_UINT_FATAL(dominators_init(graph, NULL, &dominators, NULL), HD_OK);
		for (uint32_t node = 0; node < graph->object_count; node++) {
			struct retained_set got;
			ASSERT_UINT_FATAL(retained_set_count(graph, &node, 1, NULL, &got, NULL),
					  HD_OK);
			ASSERT_UINT(got.count, dominators.retained_count[node]);
			ASSERT_UINT(got.size, dominators_size(&dominators, node));
		}
		dominators_deinit(&dominators);
		graph_destroy(graph);
	}
}

TEST(nothing_is_left_when_memory_is_short)
{
	struct random random = { .state = 3 };
	struct hd_graph *graph = make_graph(&random);
	uint32_t node = 0;
	enum hd_status status = HD_ERR_NOMEM;
	for (uint64_t nth = 1; status != HD_OK; nth++) {
		struct retained_set got;
		uint64_t before = alloc_live();
		alloc_fail_at(nth);
		status = retained_set_count(graph, &node, 1, NULL, &got, NULL);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
		ASSERT_UINT(alloc_live(), before);
		CU_ASSERT_FATAL(nth < 1000);
	}
	graph_destroy(graph);
}

SUITE(.name = "retained_set")
