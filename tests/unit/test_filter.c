/* SPDX-License-Identifier: MIT */
#include "analysis/graph/filter.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/bitmap.h"

#define TYPES 5u

static struct hd_graph *make_graph(struct random *random)
{
	uint32_t count = 1 + (uint32_t)random_below(random, 120);
	uint64_t sizes[128];
	uint32_t types[128];
	struct graph_root roots[3];
	for (uint32_t i = 0; i < count; i++) {
		bool large = random_below(random, 20) == 0;
		sizes[i] = random_below(random, 50) + (large ? UINT64_C(1) << 33 : 0);
		types[i] = (uint32_t)random_below(random, TYPES);
	}
	for (uint32_t i = 0; i < 3; i++) {
		roots[i] = (struct graph_root){ .node = (uint32_t)random_below(random, count),
						.container = HD_NONE,
						.kind = HD_ROOT_HANDLE };
	}
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = count,
								  .type_count = TYPES,
								  .sizes = sizes,
								  .types = types,
								  .roots = roots,
								  .root_count = 3 });
	REQUIRE(graph);
	graph->types[3].id = graph->types[1].id; /* as in another section */
	graph->types[4].name = NULL;
	return graph;
}

static bool expected_to_pass(const struct filter *filter, const struct hd_graph *graph,
			     uint32_t node)
{
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	uint64_t id = graph->ids[node], size = graph_size(graph, node);
	if (filter->type_part && (!type->name || !strstr(type->name, filter->type_part)))
		return false;
	if ((filter->has_mt && type->id != filter->mt) || size < filter->min ||
	    (filter->has_max && size > filter->max) || id < filter->begin ||
	    (filter->end && id >= filter->end))
		return false;
	return !filter->live || bitmap_has(filter->live->bitmap, node) != filter->dead;
}

static struct filter random_filter(struct random *random, const struct hd_graph *graph,
				   const struct reach *live)
{
	struct filter filter = { 0 };
	uint64_t last = graph->ids[graph->object_count - 1];
	if (random_below(random, 3) == 0)
		filter.type_part = random_below(random, 2) ? "Type" : "2";
	filter.has_mt = random_below(random, 3) == 0;
	filter.mt = 0x10 + random_below(random, TYPES);
	if (random_below(random, 2))
		filter.min = random_below(random, 60);
	filter.has_max = random_below(random, 3) == 0;
	filter.max = filter.has_max ? random_below(random, 60) : 0;
	if (random_below(random, 2))
		filter.begin = 0xf00 + random_below(random, last - 0xf00 + 40);
	if (random_below(random, 2))
		filter.end = 0xf00 + random_below(random, last - 0xf00 + 40);
	if (random_below(random, 2))
		filter.live = live;
	filter.dead = random_below(random, 2);
	return filter;
}

TEST(what_passes_is_what_each_condition_says)
{
	uint64_t passed = 0;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct random random = { .state = seed };
		struct hd_graph *graph = make_graph(&random);
		/* names of the maker do not end with NUL: strstr() needs that */
		static const char *const type_names[] = { "Type0", "Type1", "Type2", "Type3" };
		for (uint32_t i = 0; i < 4; i++)
			graph->types[i].name = type_names[i];
		struct reach live;
		ASSERT_UINT_FATAL(reach_from_roots(graph, NULL, &live, NULL), HD_OK);
		struct filter filter = random_filter(&random, graph, &live);
		ASSERT_UINT_FATAL(filter_prepare(&filter, graph, NULL), HD_OK);
		uint32_t next = filter_next(&filter, graph, filter.first);
		for (uint32_t node = 0; node < graph->object_count; node++) {
			bool expected = expected_to_pass(&filter, graph, node);
			bool got = next == node && next < filter.last;
			ASSERT_UINT(got, expected);
			passed += expected;
			if (got)
				next = filter_next(&filter, graph, node + 1);
		}
		ASSERT_UINT(next, filter.last);
		filter_deinit(&filter, graph);
		reach_deinit(&live);
		graph_destroy(graph);
	}
	CU_ASSERT(passed > 1000); /* the filters are not all too strict to tell */
}

TEST(a_failed_allocation_is_reported)
{
	struct hd_graph *graph = graph_make_list(10);
	REQUIRE(graph);
	struct filter filter = { 0 };
	alloc_fail_at(1);
	ASSERT_UINT(filter_prepare(&filter, graph, NULL), HD_ERR_NOMEM);
	alloc_fail_at(0);
	filter_deinit(&filter, graph);
	graph_destroy(graph);
}

SUITE(.name = "filter")
