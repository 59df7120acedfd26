/* SPDX-License-Identifier: MIT */
#include "analysis/graph/filter.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/text.h"

static const struct {
	const char *name, *part;
	bool matches;
} names[] = {
	{ "System.String", "String", true },
	{ "System.String", "System.String", true },
	{ "System.String", "string", false },
	{ "System.String", "System.String ", false },
	{ "System.String", "", true },
	{ "", "", true },
	{ "", "a", false },
	{ "List`1[[System.String]]", "List`1", true },
	{ "List`1[[System.String]]", "List1", true },
	{ "List`1[[System.String]]", "L`ist1[", true },
	{ "List`1[[System.String]]", "`", true },
	{ "List`1[[System.String]]", "List`2", false },
	{ "List`1[[System.String]]", "List", true },
	{ "Li``st", "List", true },
	{ "List`", "List`````", true },
	{ "List1", "List`1", true },
	{ "`", "``", true },
	{ "aab", "ab", true },
	{ "a`a`b", "ab", true },
	{ "ab", "abc", false },
	{ "ab`", "abc", false },
	/* names of a heap have no arity, and SOS's users type it */
	{ "System.Collections.Generic.Dictionary<System.String, X>", "Dictionary`2", true },
	{ "System.Collections.Generic.Dictionary<System.String, X>", "Generic.Dictionary`2", true },
	{ "System.Collections.Generic.Dictionary<System.String, X>", "Dictionary`1", false },
	{ "System.Collections.Generic.Dictionary<System.String, X>", "Dictionary`", true },
	{ "System.Collections.Generic.Dictionary<System.String, X>", "Dictionary`2x", false },
	{ "A.Dict<A.B<C, D>, E[,]>", "Dict`2", true },
	{ "A.Dict<A.B<C, D>, E[,]>", "Dict`3", false },
	{ "A.Dict<A.B<C, D>, E[,]>", "B`2", true },
	{ "A.Dict<A.B<C, D>, E[,]>+Entry[]", "Dict`2+Entry[]", true },
	{ "A.Dict<A.B<C, D>, E[,]>+Entry[]", "Dict`2+Other", false },
	{ "A.Dict<A.B<C, D>, E[,]>+Entry[]", "Dict`2<A.B`2, E", true },
	{ "A.Dict<A.B<C, D>, E", "Dict`2", false },
	{ "A.ListDictionary", "List`1", false },
	{ "A.List", "List`1", false },
	{ "A.List<B>", "List`99999999999999999999", false },
	/* LLDB takes the backtick */
	{ "A.List<B>", "List1", true },
	{ "A.List<B>", "List``1", true },
	{ "A.List<B>", "List2", false },
	{ "A.List<B>", "List11", false },
	{ "A.List1<B>", "List1", true },
	{ "A.List1<B>", "List11", true },
	{ "A.Dict<A.B<C, D>, E[,]>+Entry[]", "Dict2+Entry[]", true },
	{ "A.List>", "List`1", false },
	{ "\xd0\x9a\xd0\xbb", "\xd0\xbb", true },
};

TEST(backticks_do_not_matter_in_names)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool got = name_matches(names[i].name, strlen(names[i].name), names[i].part);
		if (got != names[i].matches)
			(void)printf("\"%s\" in \"%s\"\n", names[i].part, names[i].name);
		ASSERT_UINT(got, names[i].matches);
	}
}

TEST(what_is_printed_finds_the_name)
{
	static const char name[] = "A\nB\x1b[31m\xff\xe2\x80\xae\\u000a\xe2\x82";
	static const size_t size = sizeof(name) - 1;
	struct text printed = { 0 };
	text_escape(&printed, name, size);
	REQUIRE(printed.bytes);
	CU_ASSERT(name_matches(name, size, printed.bytes));
	text_deinit(&printed);
	static const char *const held[] = {
		"A\nB",  "A\\u000aB", "B\\u001b[31m\\xff", "\\u202e", "\\u000a\\xe2", "\\xe2\\x82",
		"\\x82", "\\"
	};
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		CU_ASSERT(name_matches(name, size, held[i]));
	CU_ASSERT(name_matches("a|b \xe2\x82\xac", 7, "a\\u007cb \\u20ac"));
	static const char *const others[] = { "A\\x0aB", "B\\u001b[31m\\xfe", "\\u202", "\\\\" };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CU_ASSERT(!name_matches(name, size, others[i]));
}

TEST(a_name_ends_with_its_size)
{
	CU_ASSERT(!name_matches("System.String", 6, "String"));
	CU_ASSERT(name_matches("System.String", 6, "System"));
	CU_ASSERT(!name_matches("System.String", 6, "System."));
	CU_ASSERT(name_matches("a\0b", 3, "b"));
}

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
