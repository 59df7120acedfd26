/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/field_label.h"
#include "util/text.h"

static void expect_label(const char *name, const char *expected)
{
	size_t size = 0;
	const char *label = field_label(name, strlen(name), &size);
	char copy[64];
	CU_ASSERT_FATAL(size < sizeof(copy));
	memcpy(copy, label, size);
	copy[size] = '\0';
	ASSERT_TEXT(copy, expected);
}

TEST(a_field_has_the_name_of_its_property_or_variable)
{
	static const char *const names[][2] = {
		{ "<Items>k__BackingField", "Items" },
		{ "<Shop.ISource<System.Int32>.Items>k__BackingField",
		  "Shop.ISource<System.Int32>.Items" },
		{ "<order>5__2", "order" },
		{ "<store>P", "store" },
		{ "<>4__this", "this" },
		{ "Name@", "Name" },
		{ "_items", "_items" },
		{ "<>u__1", "<>u__1" },
		{ "<>1__state", "<>1__state" },
		{ "<Place>b__0", "<Place>b__0" },
		{ "<>k__BackingField", "<>k__BackingField" },
		{ "<Items", "<Items" },
		{ "<Items>", "<Items>" },
		{ "<", "<" },
		{ "@", "@" },
		{ "", "" },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect_label(names[i][0], names[i][1]);
}

TEST(only_the_compiler_knows_some_fields)
{
	CU_ASSERT(field_is_made("<>u__1", 6) && field_is_made("CS$<>8__locals1", 15));
	CU_ASSERT(field_is_made("<>4__this", 9) && field_is_made("<>8__1", 6));
	CU_ASSERT(!field_is_made("<order>5__2", 11) && !field_is_made("", 0));
	CU_ASSERT(!field_is_made("_items", 6) && !field_is_made("<>", 2));
}

TEST(a_link_has_the_labels_of_its_fields)
{
	static const char *const links[][2] = {
		{ ".<Items>k__BackingField", ".Items" },
		{ ".StateMachine.<order>5__2", ".StateMachine.order" },
		{ "[12].<Value>k__BackingField[3]", "[12].Value[3]" },
		{ ".<A.B>k__BackingField._c", ".A.B._c" },
		{ " (static variable: Shop.Bus.Handlers)",
		  " (static variable: Shop.Bus.Handlers)" },
		{ "[]", "[]" },
		{ "[", "[" },
		{ ".", "." },
		{ ".<a", ".<a" },
	};
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		struct text text = { 0 };
		field_labels_append(&text, links[i][0], strlen(links[i][0]));
		ASSERT_TEXT(text.bytes, links[i][1]);
		text_deinit(&text);
	}
	ASSERT_UINT(field_name_size("<A.B>k__BackingField._c"), 20);
	ASSERT_UINT(field_name_size("a[1]"), 1);
}

SUITE(.name = "field_label")
