/* SPDX-License-Identifier: MIT */
/* Offsets that the compiler gives to fields of the framework; measured in programs of each release. */
#include <string.h>

#include "framework/offsets/net_layout.h"
#include "support/suite.h"

static const struct net_value reference = {
	.size = 8, .align = 8, .code = 'o', .has_references = true
};
static const struct net_value number = { .size = 4, .align = 4, .code = 'i' };

static const struct net_layout_row *row_of(const char *name, unsigned int release)
{
	const struct net_layout_row *row = net_layout_find(name, strlen(name), release, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(row);
	return row;
}

static const struct net_field *field_of(const struct net_layout *layout, const char *name)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct net_field *field = &layout->fields[i];
		if (field->name_size == strlen(name) &&
		    memcmp(field->name, name, field->name_size) == 0)
			return field;
	}
	return NULL;
}

static void check_offset(const struct net_layout *layout, const char *name, uint32_t offset)
{
	const struct net_field *field = field_of(layout, name);
	CU_ASSERT_PTR_NOT_NULL_FATAL(field);
	CU_ASSERT_EQUAL(field->offset, offset);
}

TEST(every_row_can_be_laid_out_for_any_arguments)
{
	const struct net_value large = { .size = 24, .align = 8, .has_references = true };
	struct net_value arguments[8];
	const struct net_value *kinds[] = { &reference, &number, &large };
	const struct net_layout_row *row;
	struct net_layout layout;
	size_t i;
	for (i = 0; (row = net_layout_at(i)); i++) {
		CU_ASSERT_TRUE(row->first >= 8 && row->first <= row->last && row->last <= 11);
		for (size_t kind = 0; kind < 3; kind++) {
			for (size_t n = 0; n < 8; n++)
				arguments[n] = *kinds[kind];
			CU_ASSERT_TRUE(net_layout_make(row, arguments, 8, 0, &layout));
		}
	}
	CU_ASSERT_TRUE(i > 500);
}

TEST(references_come_first_and_then_numbers_by_size)
{
	struct net_layout layout;
	CU_ASSERT_TRUE_FATAL(
		net_layout_make(row_of("System.Threading.Thread", 10), NULL, 0, 8, &layout));
	check_offset(&layout, "_executionContext", 8);
	check_offset(&layout, "_managedThreadId", 24);
	check_offset(&layout, "_name", 32);
	check_offset(&layout, "_threadState", 80);
	check_offset(&layout, "_priority", 84);
	check_offset(&layout, "_mayNeedResetForThreadPool", 88);
	CU_ASSERT_EQUAL(layout.end, 89);
}

TEST(each_release_has_its_own_fields)
{
	struct net_layout layout;
	const char *lock = "System.Threading.Lock";
	CU_ASSERT_TRUE_FATAL(net_layout_make(row_of(lock, 8), NULL, 0, 8, &layout));
	check_offset(&layout, "_recursionCount", 20);
	check_offset(&layout, "_state", 24);
	CU_ASSERT_TRUE_FATAL(net_layout_make(row_of(lock, 9), NULL, 0, 8, &layout));
	check_offset(&layout, "_state", 20);
	check_offset(&layout, "_recursionCount", 24);
	CU_ASSERT_PTR_NULL(net_layout_find(lock, strlen(lock), 7, 0));
	CU_ASSERT_PTR_NULL(net_layout_find(lock, strlen(lock), 12, 0));
}

TEST(type_arguments_decide_where_fields_are)
{
	const char *name =
		"System.Collections.Concurrent.ConcurrentDictionary<System.Int32, A<B>>+Node";
	const struct net_layout_row *row = row_of(name, 10);
	struct net_layout layout;
	struct net_value arguments[2] = { number, reference };
	CU_ASSERT_TRUE_FATAL(net_layout_make(row, arguments, 2, 8, &layout));
	check_offset(&layout, "_value", 8);
	check_offset(&layout, "_next", 16);
	check_offset(&layout, "_key", 24);
	check_offset(&layout, "_hashcode", 28);
	arguments[0] = reference;
	arguments[1] = number;
	CU_ASSERT_TRUE_FATAL(net_layout_make(row, arguments, 2, 8, &layout));
	check_offset(&layout, "_key", 8);
	check_offset(&layout, "_next", 16);
	check_offset(&layout, "_value", 24);
	CU_ASSERT_FALSE(net_layout_make(row, arguments, 1, 8, &layout));
	arguments[1] = (struct net_value){ 0 };
	CU_ASSERT_FALSE(net_layout_make(row, arguments, 2, 8, &layout));
}

TEST(small_fields_fill_the_gap_behind_a_base_class)
{
	struct net_layout layout;
	struct net_layout_row row = { "A", "r o;i i;b b;l l;s s", 0, 8, 11, NET_CLASS, 0 };
	CU_ASSERT_TRUE_FATAL(net_layout_make(&row, NULL, 0, 17, &layout));
	check_offset(&layout, "b", 17);
	check_offset(&layout, "s", 18);
	check_offset(&layout, "i", 20);
	check_offset(&layout, "r", 24);
	check_offset(&layout, "l", 32);
	/* Nothing fits behind a single byte: all of them come by size. */
	row.fields = "r o;i i;l l";
	CU_ASSERT_TRUE_FATAL(net_layout_make(&row, NULL, 0, 17, &layout));
	check_offset(&layout, "r", 24);
	check_offset(&layout, "l", 32);
	check_offset(&layout, "i", 40);
}

TEST(structs_keep_their_order_unless_they_have_references)
{
	struct net_layout layout;
	struct net_layout_row row = { "A", "b b;l l;s s", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 };
	CU_ASSERT_TRUE_FATAL(net_layout_make(&row, NULL, 0, 0, &layout));
	check_offset(&layout, "b", 0);
	check_offset(&layout, "l", 8);
	check_offset(&layout, "s", 16);
	CU_ASSERT_EQUAL(layout.size, 24);
	row.pack = 2;
	CU_ASSERT_TRUE_FATAL(net_layout_make(&row, NULL, 0, 0, &layout));
	check_offset(&layout, "l", 2);
	CU_ASSERT_EQUAL(layout.size, 12);
	row.pack = 0;
	row.fields = "b b;o o;s s";
	CU_ASSERT_TRUE_FATAL(net_layout_make(&row, NULL, 0, 0, &layout));
	check_offset(&layout, "o", 0);
	check_offset(&layout, "s", 8);
	check_offset(&layout, "b", 10);
	CU_ASSERT_TRUE(layout.has_references);
}

TEST(fields_inside_of_a_struct_move_with_it)
{
	struct net_layout layout;
	struct net_layout_row row = { "A", "s v12,4;+s.a i@0;+s.b l@4;o o;n i", 0, 8, 11, NET_CLASS,
				      0 };
	CU_ASSERT_TRUE_FATAL(net_layout_make(&row, NULL, 0, 8, &layout));
	check_offset(&layout, "o", 8);
	check_offset(&layout, "n", 16);
	check_offset(&layout, "s", 20);
	check_offset(&layout, "s.a", 20);
	check_offset(&layout, "s.b", 24);
	CU_ASSERT_EQUAL(layout.end, 32);
	row = (struct net_layout_row){ "A", "a i@4;b l@8", 64, 8, 11, NET_STRUCT_EXPLICIT, 0 };
	CU_ASSERT_TRUE_FATAL(net_layout_make(&row, NULL, 0, 0, &layout));
	check_offset(&layout, "b", 8);
	CU_ASSERT_EQUAL(layout.size, 64);
	row = (struct net_layout_row){ "A", "a s", 6, 8, 11, NET_STRUCT_INLINE, 0 };
	CU_ASSERT_TRUE_FATAL(net_layout_make(&row, NULL, 0, 0, &layout));
	CU_ASSERT_EQUAL(layout.size, 12);
}

TEST(a_name_is_known_with_and_without_its_arguments)
{
	const char *known = "Ns.Outer`1+Inner`2";
	CU_ASSERT_TRUE(net_name_is(known, "Ns.Outer`1+Inner`2", 18));
	CU_ASSERT_TRUE(net_name_is(known, "Ns.Outer<A<B>>+Inner<C, D>", 26));
	CU_ASSERT_FALSE(net_name_is(known, "Ns.Outer<A<B>>+Inner<C, D", 25));
	CU_ASSERT_FALSE(net_name_is(known, "Ns.Outer+Inner", 14));
	CU_ASSERT_FALSE(net_name_is("Ns.Outer", "Ns.Outer<A>", 11));
}

SUITE(.name = "net_layout")
