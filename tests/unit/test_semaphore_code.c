/* SPDX-License-Identifier: MIT */
/* Names of members in code: which are those that take a place of a semaphore, or give one back. */
#include <string.h>

#include "hangs/semaphore_code.h"
#include "support/assert_more.h"
#include "support/suite.h"

static struct semaphore_code code;

static void set_up(void)
{
	memset(&code, 0, sizeof(code));
	CU_ASSERT(semaphore_names_add(&code.fields, "Shop.Hall<System.String>", "places"));
	CU_ASSERT(semaphore_names_add(&code.enterers, "Shop.Hall`1<!0>", "Enter"));
	CU_ASSERT(semaphore_names_add(&code.releasers, "Shop.Hall`1+<>c__DisplayClass3_0",
				      "<Run>g__Leave|0"));
}

TEST(a_name_counts_for_all_arguments_of_its_class)
{
	ASSERT_UINT(semaphore_code_match(&code, "Shop.Hall.places"), SEMAPHORE_NAMED);
	ASSERT_UINT(semaphore_code_match(&code, "Shop.Hall`1<!0>.places"), SEMAPHORE_NAMED);
	ASSERT_UINT(semaphore_code_match(&code, "Shop.Hall<Shop.Pair<!0, System.Int32>>.Enter"),
		    SEMAPHORE_ENTERS);
	ASSERT_UINT(
		semaphore_code_match(&code, "Shop.Hall<!0>+<>c__DisplayClass3_0.<Run>g__Leave|0"),
		SEMAPHORE_RELEASES);
}

TEST(other_members_and_classes_are_others)
{
	ASSERT_UINT(semaphore_code_match(&code, "Shop.Hall.place"), 0);
	ASSERT_UINT(semaphore_code_match(&code, "Shop.Halls.places"), 0);
	ASSERT_UINT(semaphore_code_match(&code, "Shop.Hall+Inner.places"), 0);
	ASSERT_UINT(semaphore_code_match(&code, ""), 0);
}

TEST(a_name_is_kept_once)
{
	CU_ASSERT(semaphore_names_add(&code.fields, "Shop.Hall<System.Int32>", "places"));
	ASSERT_UINT(code.fields.count, 1);
}

TEST(too_long_and_too_many_names_are_told)
{
	char name[SEMAPHORE_NAME_SIZE + 1] = { 0 };
	memset(name, 'a', SEMAPHORE_NAME_SIZE);
	CU_ASSERT_FALSE(semaphore_names_add(&code.fields, "Shop", name));
	CU_ASSERT_FALSE(semaphore_names_add(&code.fields, name, "b"));
	ASSERT_UINT(semaphore_code_match(&code, name), 0);
	for (unsigned int i = 1; i < SEMAPHORE_NAMES_MAX; i++) {
		const char other[] = { (char)('A' + i), '\0' };
		CU_ASSERT(semaphore_names_add(&code.fields, "Shop", other));
	}
	CU_ASSERT_FALSE(semaphore_names_add(&code.fields, "Shop", "more"));
}

/* A bracket that is not closed ends with the name. */
TEST(brackets_of_hostile_names_end_somewhere)
{
	CU_ASSERT(semaphore_names_add(&code.fields, "Shop<<<", "a"));
	ASSERT_UINT(semaphore_code_match(&code, "Shop>.b"), 0);
	ASSERT_UINT(semaphore_code_match(&code, "<<<>>>`12"), 0);
}

SUITE(.name = "semaphore_code", .set_up = set_up)
