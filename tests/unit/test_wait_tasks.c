/* SPDX-License-Identifier: MIT */
/* Async methods that wait for tasks that are made of others, on a heap without threads. */
#include "analysis/async/async_graph.h"
#include "hangs/verdicts.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

static struct fake_tasks tasks;
static uint64_t box_type, all_type, any_type, two_type, unwrap_type, limit_type, list_type;

/* A class of the framework that derives from Task, with two more fields of references. */
static uint64_t make_task_type(const char *name, const char *field, const char *second)
{
	const struct fake_field fields[] = {
		{ .name = "m_stateFlags", .element = ELEMENT_I4 },
		{ .name = "m_continuationObject", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = field, .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = second, .element = ELEMENT_CLASS, .offset = 24 },
		{ .name = NULL }
	};
	return fake_class(tasks.types, &(struct fake_class){ .space = "System.Threading.Tasks",
							     .name = name,
							     .fields = fields,
							     .type = { .base_size = 48 } });
}

static void set_up(void)
{
	const struct fake_field list[] = { { .name = "_items", .element = ELEMENT_CLASS },
					   { .name = "_size", .element = ELEMENT_I4, .offset = 8 },
					   { .name = NULL } };
	tasks = fake_tasks_create();
	box_type = fake_box_type(&tasks, "Depot+<Count>d__1",
				 "B+AsyncStateMachineBox<Depot+<Count>d__1>");
	all_type = make_task_type("Task+WhenAllPromise", "a", "b");
	any_type = make_task_type("TaskFactory+CompleteOnInvokePromise<Task>", "_tasks", "b");
	two_type = make_task_type("Task+TwoTaskWhenAnyPromise<Task>", "_task1", "_task2");
	limit_type = make_task_type("Task+CancellationPromise<Void>", "_task", "b");
	unwrap_type = make_task_type("UnwrapPromise<Void>", "a", "b");
	list_type =
		fake_class(tasks.types, &(struct fake_class){ .space = "System.Collections.Generic",
							      .name = "List<System.Object>",
							      .fields = list,
							      .type = { .base_size = 32 } });
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

/* A task of @p type that @p next continues. */
static uint64_t make_task(uint64_t type, uint64_t next)
{
	uint64_t task = fake_task(&tasks, type);
	fake_poke_u64(&tasks.fake->memory, task + FAKE_TASK_NEXT, next);
	return task;
}

static uint64_t make_box(uint64_t awaited, uint64_t next)
{
	uint64_t box = fake_box(&tasks, box_type, 0, awaited);
	fake_poke_u64(&tasks.fake->memory, box + FAKE_TASK_NEXT, next);
	return box;
}

static uint64_t make_array(const uint64_t *items, uint32_t count)
{
	uint64_t array = fake_object(tasks.fake, tasks.fake->object_array_type, count);
	for (uint32_t i = 0; i < count; i++)
		fake_poke_u64(&tasks.fake->memory, array + 16 + 8ull * i, items[i]);
	return array;
}

static uint64_t make_list(const uint64_t *items, uint32_t count, uint32_t size)
{
	uint64_t list = fake_object(tasks.fake, list_type, 0);
	fake_poke_u64(&tasks.fake->memory, list + 8, make_array(items, count));
	fake_poke_u32(&tasks.fake->memory, list + 16, size);
	return list;
}

/* How many deadlocks are there, how many async methods are members of them, and are they only probable? */
static void check_probable(size_t count, size_t members, bool is_probable)
{
	struct waits *waits;
	struct deadlocks found;
	size_t all = 0;
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT_FATAL(deadlocks_find(waits, &found, NULL), HD_OK);
	ASSERT_UINT(found.count, count);
	for (size_t i = 0; i < found.count; i++) {
		all += found.rows[i].count;
		ASSERT_UINT(found.rows[i].is_probable, is_probable);
	}
	ASSERT_UINT(all, members);
	deadlocks_deinit(&found);
	waits_destroy(waits);
}

static void check_deadlocks(size_t count, size_t members)
{
	check_probable(count, members, false);
}

TEST(a_method_hangs_when_one_of_all_tasks_waits_for_it)
{
	uint64_t all = make_task(all_type, 0), outer = make_box(all, 0);
	(void)make_box(make_task(tasks.task_type, 0), all);
	(void)make_box(outer, all);
	check_deadlocks(1, 2);
}

TEST(tasks_of_all_may_be_in_a_list_or_come_over_other_tasks)
{
	uint64_t last = make_task(all_type, 0), first = make_task(all_type, last);
	uint64_t outer = make_box(last, 0), unwrap = make_task(unwrap_type, first);
	const uint64_t items[] = { 0, outer, unwrap, 0x1234 };
	(void)make_box(outer, make_list(items, 4, 4));
	check_deadlocks(1, 2);
}

TEST(tasks_that_nobody_waits_for_together_are_no_deadlock)
{
	uint64_t all = make_task(all_type, 0);
	(void)make_box(all, 0);
	(void)make_box(make_task(tasks.task_type, 0), all);
	check_deadlocks(0, 0);
}

TEST(a_method_hangs_when_each_of_any_tasks_waits_for_it)
{
	uint64_t any = make_task(two_type, 0), outer = make_box(any, 0);
	uint64_t first = make_box(outer, any), second = make_box(outer, any);
	fake_poke_u64(&tasks.fake->memory, any + 24, first);
	fake_poke_u64(&tasks.fake->memory, any + 32, second);
	check_deadlocks(1, 2);
}

TEST(a_method_does_not_hang_when_any_task_may_be_done)
{
	uint64_t any = make_task(two_type, 0), outer = make_box(any, 0);
	fake_poke_u64(&tasks.fake->memory, any + 24, make_box(outer, any));
	fake_poke_u64(&tasks.fake->memory, any + 32, make_task(tasks.task_type, any));
	check_deadlocks(0, 0);
}

/* Both kinds of collection that WhenAny keeps. */
static void check_any_of_three(bool is_list, bool is_known)
{
	set_up();
	uint64_t any = make_task(any_type, 0), outer = make_box(any, 0);
	const uint64_t items[] = { make_box(outer, any), make_box(outer, any),
				   is_known ? make_box(outer, any)
					    : make_task(tasks.task_type, any),
				   0 };
	/* The list has room for more than it holds. */
	fake_poke_u64(&tasks.fake->memory, any + 24,
		      is_list ? make_list(items, 4, 3) : make_array(items, 3));
	check_deadlocks(is_known, is_known ? 2 : 0);
	tear_down();
}

TEST(any_of_three_tasks_are_in_an_array_or_a_list)
{
	tear_down();
	for (unsigned int i = 0; i < 4; i++)
		check_any_of_three(i & 1, i & 2);
	set_up();
}

TEST(continuations_that_lead_to_themselves_end)
{
	uint64_t all = make_task(all_type, 0), unwrap = make_task(unwrap_type, all);
	fake_poke_u64(&tasks.fake->memory, all + 16, unwrap);
	uint64_t items[] = { all, unwrap, 0 };
	uint64_t list = make_list(items, 3, 3), outer = make_box(all, list);
	fake_poke_u64(&tasks.fake->memory, unwrap + 16, list);
	/* Its own list; a list that is longer than its array; an array that is none. */
	(void)make_box(outer, list);
	(void)make_box(outer, make_list(items, 3, 4));
	uint64_t broken = make_list(items, 3, 3);
	fake_poke_u64(&tasks.fake->memory, broken + 8, outer);
	(void)make_box(outer, broken);
	check_deadlocks(1, 1);
}

/* Task.WaitAsync of @p inner. */
static uint64_t make_limit(uint64_t inner)
{
	uint64_t limit = make_task(limit_type, 0);
	fake_poke_u64(&tasks.fake->memory, limit + 24, inner);
	return limit;
}

TEST(a_wait_with_a_limit_may_end_before)
{
	uint64_t all = make_task(all_type, 0), outer = make_box(all, 0);
	(void)make_box(make_limit(outer), all);
	check_probable(1, 2, true);
}

static void check_circle(bool is_limited)
{
	struct verdicts verdicts;
	uint64_t first = make_box(0, 0), second = make_box(first, 0);
	fake_poke_u64(&tasks.fake->memory, first + 32, is_limited ? make_limit(second) : second);
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(verdicts_find(fake_heap(tasks.fake), NULL, NULL, &verdicts, NULL), HD_OK);
	ASSERT_UINT(verdicts.rows_count, 1);
	ASSERT_UINT(verdicts.rows[0].kind, VERDICT_CIRCLE);
	ASSERT_UINT(verdicts.rows[0].count, 2);
	ASSERT_UINT(verdicts.rows[0].is_probable, is_limited);
	verdicts_deinit(&verdicts);
}

TEST(methods_that_await_each_other_are_a_circle)
{
	check_circle(false);
}

TEST(a_circle_with_a_limit_may_end)
{
	check_circle(true);
}

SUITE(.name = "wait_tasks", .set_up = set_up, .tear_down = tear_down)
