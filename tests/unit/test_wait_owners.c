/* SPDX-License-Identifier: MIT */
/* Names the fields that have the things for which many wait. */
#include "hangs/wait_owners.h"
#include "runtime/field.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

static struct fake_tasks tasks;
static struct wait_owners owners;
static uint64_t thing;

static void set_up(void)
{
	tasks = fake_tasks_create();
	thing = fake_semaphore(&tasks, 1);
	owners = (struct wait_owners){ .rows = { { .object = thing } }, .count = 1 };
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

/* An object that has the thing in a field with that name. */
static void make_owner(const char *space, const char *name, const char *field)
{
	const struct fake_field fields[] = { FAKE_REFERENCE(field, 0), FAKE_END };
	(void)fake_one(&tasks, fake_class_of(&tasks, space, name, fields, 1), thing);
}

static void check_field(const char *field)
{
	fake_types_attach(tasks.types);
	ASSERT_UINT(wait_owners_find(fake_heap(tasks.fake), &owners, NULL, NULL), HD_OK);
	const char *found = wait_owner_field(&owners, thing);
	if (field) {
		ASSERT_TEXT(found ? found : "", field);
	} else {
		CU_ASSERT_PTR_NULL(found);
	}
}

TEST(a_field_of_the_program_has_it)
{
	make_owner("Shop", "Gate", "_places");
	check_field("Shop.Gate._places");
	CU_ASSERT_PTR_NULL(wait_owner_field(&owners, thing + 8));
}

TEST(a_property_has_its_own_name)
{
	make_owner("Shop", "Gate", "<Places>k__BackingField");
	check_field("Shop.Gate.Places");
}

TEST(the_framework_and_the_compiler_do_not_count)
{
	make_owner("System.Threading", "Timer", "_state");
	make_owner("Shop", "Gate+<>c__DisplayClass1_0", "gate");
	make_owner("Shop", "Gate+<Enter>d__2", "gate");
	check_field(NULL);
}

TEST(the_first_of_two_fields_is_told)
{
	make_owner("Shop", "Gate", "_places");
	make_owner("Shop", "Door", "_places");
	check_field("Shop.Gate._places");
}

TEST(nothing_is_asked_for)
{
	owners.count = 0;
	make_owner("Shop", "Gate", "_places");
	check_field(NULL);
}

SUITE(.name = "wait_owners", .set_up = set_up, .tear_down = tear_down)
