/* SPDX-License-Identifier: MIT */
#include "analysis/name_match.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/text.h"

static const struct {
	const char *name, *part;
	bool matches;
} names[] = {
	{ "System.String", "String", true },
	{ "System.String", "System.String", true },
	/* Without a capital letter, case does not matter. */
	{ "System.String", "string", true },
	{ "System.String", "system.s", true },
	{ "System.String", "STRING", false },
	{ "System.String", "sYstem", false },
	{ "system.string", "String", false },
	{ "A.B\xc3\x84", "b\xc3\x84", true },
	{ "A\x1b[31m", "a\\u001b[", true },
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
	/* Stars and ends. */
	{ "System.String", "Sys*ing", true },
	{ "System.String", "Sys*ing$", true },
	{ "System.String", "^Sys*ing$", true },
	{ "System.String", "^String", false },
	{ "System.String", "^*String", true },
	{ "System.String", "System$", false },
	{ "System.String", "^System.String$", true },
	{ "System.String[]", "^System.String$", false },
	{ "System.String[]", "System.String*$", true },
	{ "System.String", "*", true },
	{ "System.String", "**", true },
	{ "System.String", "^", true },
	{ "System.String", "$", true },
	{ "", "^$", true },
	{ "a", "^$", false },
	{ "aXbXc", "a*b*c", true },
	{ "aXbXc", "a*c*b", false },
	{ "abcabd", "^ab*d$", true },
	{ "abab", "a*ab$", true },
	{ "aab", "^a*ab$", true },
	{ "ab", "^a*ab$", false },
	{ "<Startup$Foo>$", "$Foo", true },
	{ "<Startup$Foo>$", "Foo>$", false },
	{ "System.Char*", "Char*", true },
	{ "System.Char*", "Char\\u002a", true },
	{ "System.Char", "Char\\u002a", false },
	{ "A.Dict<A.B<C, D>, E[,]>+Entry[]", "^a.dict`2*entry", true },
	{ "A.Dict<A.B<C, D>, E[,]>", "Dict`2$", true },
	{ "A.Dict<A.B<C, D>, E[,]>[]", "Dict`2$", false },
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

SUITE(.name = "name_match")
