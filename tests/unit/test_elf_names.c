/* SPDX-License-Identifier: MIT */
/* Names of methods as users of breakpoints write them. */
#include <string.h>

#include "managed_elf/names.h"
#include "support/assert_more.h"
#include "support/suite.h"

static void check(const char *name, const char *expected)
{
	HD_CLEANUP(text) struct text bare = { 0 };
	bool is_generic = bare_name_append(&bare, name, strlen(name));
	text_append(&bare, "", 1);
	ASSERT_TEXT(bare.bytes, expected);
	CU_ASSERT_EQUAL(is_generic, strcmp(name, expected) != 0);
}

TEST(generic_arguments_are_left_out)
{
	check("Shop.Bank.Transfer", "Shop.Bank.Transfer");
	check("Shop.Bank.Twice<System.Int64>", "Shop.Bank.Twice");
	check("Shop.Shelf<System.Collections.Generic.List<System.String>>.Put<System.Char>",
	      "Shop.Shelf.Put");
	check("Shop.Shelf<System.__Canon>+Item<System.Int32>..ctor", "Shop.Shelf+Item..ctor");
	check("Shop.A_<T>.B", "Shop.A_.B");
}

TEST(names_that_the_compiler_has_made_stay)
{
	check("Shop.Bank+<PayAsync>d__4.MoveNext", "Shop.Bank+<PayAsync>d__4.MoveNext");
	check("Shop.Bank+<>c__DisplayClass1_0<System.Int32>.<Main>b__1",
	      "Shop.Bank+<>c__DisplayClass1_0.<Main>b__1");
	check("Shop.Bank.<Main>g__Add|0_0<System.Int32>", "Shop.Bank.<Main>g__Add|0_0");
	check("Shop.Bank+<<Main>b__0>d.MoveNext", "Shop.Bank+<<Main>b__0>d.MoveNext");
	check("<Module>.Main", "<Module>.Main");
}

TEST(names_that_make_no_sense_have_an_end)
{
	check("", "");
	check("A<B", "A");
	check("A>B", "A>B");
	check("<", "<");
	check("A<<<>B", "A");
}

TEST(types_that_the_compiler_has_made_are_known)
{
	CU_ASSERT(type_name_is_made("Shop.Bank+<PayAsync>d__4"));
	CU_ASSERT(type_name_is_made("Shop.Program+<>c__DisplayClass0_0"));
	CU_ASSERT(type_name_is_made("Bank.Main+payAsync@63-3"));
	CU_ASSERT(!type_name_is_made("Shop.Bank"));
	CU_ASSERT(!type_name_is_made("Shop.Bank+Item"));
	CU_ASSERT(!type_name_is_made("Shop.B@nk+Item"));
	CU_ASSERT(!type_name_is_made(""));
}

SUITE(.name = "elf_names")
