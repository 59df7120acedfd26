/* SPDX-License-Identifier: MIT */
#include "analysis/graph/retained_types.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define TYPES 4u

/* By its meaning: for each object, is one of its type among those that dominate it? */
static void expect(const struct hd_graph *graph, const struct dominators *dominators,
		   uint64_t ret[TYPES])
{
	for (uint32_t node = 0; node < graph->object_count; node++) {
		uint32_t type = graph->node_types[node];
		bool is_below = false;
		for (uint32_t up = dominators->idom[node]; up != HD_NONE; up = dominators->idom[up])
			is_below |= !graph_is_missing(graph, up) && graph->node_types[up] == type;
		if (!is_below)
			ret[type] += dominators_size(dominators, node);
	}
}

TEST(nothing_of_a_type_counts_twice)
{
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct random random = { .state = seed };
		struct hd_graph *graph = graph_make_random(&(struct random_spec){
			.seed = seed,
			.object_count = 1 + (uint32_t)random_below(&random, 60),
			.missing_count = (uint32_t)random_below(&random, 3),
			.degree_percent = (uint32_t)random_below(&random, 250),
			.root_count = (uint32_t)random_below(&random, 6) });
		REQUIRE(graph);
		pages_free(graph->types, graph->type_count, sizeof(*graph->types));
		graph->types = pages_alloc(TYPES, sizeof(*graph->types));
		graph->type_count = TYPES;
		REQUIRE(graph->types);
		for (uint32_t node = 0; node < graph->object_count; node++)
			graph->node_types[node] = (uint32_t)random_below(&random, TYPES);
		struct dominators dominators;
		uint64_t expected[TYPES] = { 0 }, got[TYPES] = { 0 };
		ASSERT_UINT_FATAL(dominators_init(graph, NULL, &dominators, NULL), HD_OK);
		expect(graph, &dominators, expected);
		ASSERT_UINT_FATAL(retained_types(graph, &dominators, NULL, got, NULL), HD_OK);
		for (uint32_t type = 0; type < TYPES; type++)
			ASSERT_UINT(got[type], expected[type]);
		dominators_deinit(&dominators);
		graph_destroy(graph);
	}
}

SUITE(.name = "retained_types")
