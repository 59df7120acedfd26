/* SPDX-License-Identifier: MIT */
#include "analysis/graph/diff.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Names that several types may have; one is the beginning of another, one is not defined. */
static const char *const names[] = { "A", "AB", "B", "C", NULL, "only before", "only after" };
#define NAMES (sizeof(names) / sizeof(names[0]))

#define TYPES 9u

static struct hd_graph *make_graph(struct random *random, bool after)
{
	uint32_t types[100], count = (uint32_t)random_below(random, 100);
	uint64_t sizes[100];
	for (uint32_t i = 0; i < count; i++) {
		types[i] = (uint32_t)random_below(random, TYPES - 1); /* the last has no objects */
		sizes[i] = random_below(random, 4) ? 8 : random_next(random) >> 20;
	}
	struct hd_graph *graph = graph_make(&(struct graph_spec){
		.object_count = count, .type_count = TYPES, .sizes = sizes, .types = types });
	REQUIRE(graph);
	for (uint32_t i = 0; i < TYPES; i++) {
		size_t name = random_below(random, NAMES - 2);
		if (i == 0)
			name = after ? NAMES - 1 : NAMES - 2;
		graph->types[i].name = names[name];
		graph->types[i].name_size = names[name] ? (uint32_t)strlen(names[name]) : 0;
	}
	return graph;
}

static enum hd_status compare(const struct hd_graph *before, const struct hd_graph *after,
			      struct diff *ret)
{
	const struct diff_side sides[] = { diff_side_of(before), diff_side_of(after) };
	return diff_init(&sides[0], &sides[1], ret, NULL);
}

static void add_up(const struct hd_graph *graph, const char *name, uint64_t *count, uint64_t *size)
{
	*count = *size = 0;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		const char *of = graph->types[graph->node_types[node]].name;
		if (of == name) {
			++*count;
			*size += graph_size(graph, node);
		}
	}
}

static const struct diff_row *row_of(const struct diff *diff, const char *name)
{
	const struct diff_row *found = NULL;
	for (size_t i = 0; i < diff->row_count; i++) {
		if (diff->rows[i].name == name) {
			CU_ASSERT_PTR_NULL(found); /* once at most */
			found = &diff->rows[i];
		}
	}
	return found;
}

TEST(each_name_has_the_sums_of_both_sides)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct random random = { .state = seed };
		struct hd_graph *before = make_graph(&random, false);
		struct hd_graph *after = make_graph(&random, true);
		struct diff diff;
		ASSERT_UINT_FATAL(compare(before, after, &diff), HD_OK);
		size_t rows = 0;
		for (size_t i = 0; i < NAMES; i++) {
			uint64_t counts[2], sizes[2];
			add_up(before, names[i], &counts[0], &sizes[0]);
			add_up(after, names[i], &counts[1], &sizes[1]);
			const struct diff_row *row = row_of(&diff, names[i]);
			ASSERT_UINT(row != NULL, counts[0] || counts[1]);
			if (!row)
				continue;
			rows++;
			ASSERT_UINT(row->count_before, counts[0]);
			ASSERT_UINT(row->count_after, counts[1]);
			ASSERT_UINT(row->size_before, sizes[0]);
			ASSERT_UINT(row->size_after, sizes[1]);
			ASSERT_UINT(row->name_size, names[i] ? strlen(names[i]) : 0);
		}
		ASSERT_UINT(diff.row_count, rows);
		for (size_t i = 1; i < diff.row_count; i++) {
			const struct diff_row *x = &diff.rows[i - 1], *y = &diff.rows[i];
			/* none of these sizes reaches 2^62 */
			CU_ASSERT((int64_t)(x->size_after - x->size_before) >=
				  (int64_t)(y->size_after - y->size_before));
		}
		diff_deinit(&diff);
		graph_destroy(before);
		graph_destroy(after);
	}
}

/* Two graphs of one object per row, with types of the given names. */
static struct hd_graph *make_sizes(const char *const *type_names, const uint64_t *sizes,
				   uint32_t count)
{
	uint32_t types[8];
	for (uint32_t i = 0; i < count; i++)
		types[i] = i;
	struct hd_graph *graph = graph_make(&(struct graph_spec){
		.object_count = count, .type_count = count, .sizes = sizes, .types = types });
	REQUIRE(graph);
	for (uint32_t i = 0; i < count; i++) {
		graph->types[i].name = type_names[i];
		graph->types[i].name_size = (uint32_t)strlen(type_names[i]);
	}
	return graph;
}

TEST(growth_has_64_bits_and_a_sign)
{
	static const char *const type_names[] = { "huge", "same", "less", "gone" };
	static const char *const after_names[] = { "huge", "same", "less", "new" };
	static const uint64_t before_sizes[] = { 1, UINT64_C(1) << 62, 100, UINT64_C(1) << 62 };
	static const uint64_t after_sizes[] = { UINT64_C(15) << 59, UINT64_C(1) << 62, 99, 7 };
	static const char *const expected[] = { "huge", "new", "same", "less", "gone" };
	struct hd_graph *before = make_sizes(type_names, before_sizes, 4);
	struct hd_graph *after = make_sizes(after_names, after_sizes, 4);
	struct diff diff;
	ASSERT_UINT_FATAL(compare(before, after, &diff), HD_OK);
	ASSERT_UINT_FATAL(diff.row_count, 5);
	for (size_t i = 0; i < 5; i++)
		ASSERT_TEXT(diff.rows[i].name, expected[i]);
	diff_deinit(&diff);
	graph_destroy(before);
	graph_destroy(after);
}

TEST(what_tracing_makes_is_known_by_its_names)
{
	static const struct {
		const char *name;
		bool is_tracing, is_metadata;
	} rows[] = {
		{ "System.Diagnostics.Tracing.EventSource+EventMetadata[]", true, true },
		{ "System.Collections.Generic.Dictionary<System.Int32, "
		  "System.Diagnostics.Tracing.EventSource+EventMetadata>+Entry[]",
		  true, true },
		{ "EventMetadata[]", false, true },
		{ "System.Diagnostics.Tracing.NativeRuntimeEventSource", true, false },
		{ "Shop.EventMetadata[]", false, false },
		{ "System.Diagnostics.TracingOptions", false, false },
		{ "System.Reflection.RuntimeMethodInfo", false, false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct graph_type type = { .name = rows[i].name,
					   .name_size = (uint32_t)strlen(rows[i].name) };
		struct diff_side side = { .types = &type, .type_count = 1 };
		ASSERT_UINT(diff_is_tracing(type.name, type.name_size), rows[i].is_tracing);
		/* A type without objects says nothing. */
		CU_ASSERT_FALSE(diff_has_events(&side));
		type.count = 1;
		ASSERT_UINT(diff_has_events(&side), rows[i].is_metadata);
		type.name = NULL;
		type.name_size = 0;
		CU_ASSERT_FALSE(diff_has_events(&side));
		CU_ASSERT_FALSE(diff_is_tracing(NULL, 0));
	}
}

TEST(equal_growth_goes_by_name)
{
	static const char *const type_names[] = { "b", "ab", "a", "c", "aa" };
	static const uint64_t sizes[] = { 8, 8, 8, 8, 8 };
	static const char *const expected[] = { "a", "aa", "ab", "b", "c" };
	struct hd_graph *before = graph_make(&(struct graph_spec){ .object_count = 0 });
	struct hd_graph *after = make_sizes(type_names, sizes, 5);
	struct diff diff;
	ASSERT_UINT_FATAL(compare(before, after, &diff), HD_OK);
	ASSERT_UINT_FATAL(diff.row_count, 5);
	for (size_t i = 0; i < 5; i++)
		ASSERT_TEXT(diff.rows[i].name, expected[i]);
	diff_deinit(&diff);
	alloc_fail_at(1);
	ASSERT_UINT(compare(before, after, &diff), HD_ERR_NOMEM);
	alloc_fail_at(0);
	graph_destroy(before);
	graph_destroy(after);
}

TEST(names_compare_as_bytes)
{
	CU_ASSERT(diff_compare_names("a", 1, "b", 1) < 0);
	CU_ASSERT(diff_compare_names("b", 1, "a", 1) > 0);
	CU_ASSERT(diff_compare_names("a", 1, "a", 1) == 0);
	CU_ASSERT(diff_compare_names("a", 1, "ab", 2) < 0);
	CU_ASSERT(diff_compare_names("ab", 2, "a", 1) > 0);
	CU_ASSERT(diff_compare_names("a", 1, "\xff", 1) < 0);
	CU_ASSERT(diff_compare_names(NULL, 0, "a", 1) < 0);
	CU_ASSERT(diff_compare_names("a", 1, NULL, 0) > 0);
	CU_ASSERT(diff_compare_names(NULL, 0, NULL, 0) == 0);
}

SUITE(.name = "diff")
