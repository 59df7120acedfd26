/* SPDX-License-Identifier: MIT */
/* Which async calls come first: those that only the program can end. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_groups.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

#define LIMIT 1u

static struct fake_tasks tasks;
static uint64_t poll_type, enter_type, serve_type;

static void set_up(void)
{
	tasks = fake_tasks_create();
	poll_type =
		fake_box_type(&tasks, "Shop+<Poll>d__1", "B+AsyncStateMachineBox<Shop+<Poll>d__1>");
	enter_type = fake_box_type(&tasks, "Shop+<Enter>d__2",
				   "B+AsyncStateMachineBox<Shop+<Enter>d__2>");
	serve_type = fake_box_type(
		&tasks, "Microsoft.Extensions.Hosting.Host+<WaitForEnd>d__3",
		"B+AsyncStateMachineBox<Microsoft.Extensions.Hosting.Host+<WaitForEnd>d__3>");
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

static void make_delays(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		(void)fake_box(&tasks, poll_type, 0, fake_task(&tasks, tasks.delay_type));
}

/* The counts and the urgencies of the first two groups. */
static void check_groups(uint64_t count, enum wait_urgency first, uint64_t other,
			 enum wait_urgency second)
{
	struct waits *waits;
	struct wait_groups groups;
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT(wait_groups_find(waits, &groups, NULL), HD_OK);
	ASSERT_UINT_FATAL(groups.rows_count, 2);
	ASSERT_UINT(groups.rows[0].count, count);
	ASSERT_UINT(groups.rows[0].urgency, first);
	ASSERT_UINT(groups.rows[1].count, other);
	ASSERT_UINT(groups.rows[1].urgency, second);
	waits_destroy(waits);
}

TEST(a_semaphore_comes_before_many_delays)
{
	make_delays(9);
	(void)fake_box(&tasks, enter_type, 0,
		       fake_semaphore_wait(&tasks, fake_semaphore(&tasks, LIMIT)));
	check_groups(1, WAIT_FOR_PROGRAM, 9, WAIT_FOR_WORK);
}

TEST(calls_that_each_have_a_source_of_their_own_are_one_group)
{
	make_delays(9);
	for (unsigned int i = 0; i < 3; i++)
		(void)fake_box(&tasks, enter_type, 0, fake_task(&tasks, tasks.task_type));
	check_groups(3, WAIT_FOR_PROGRAM, 9, WAIT_FOR_WORK);
}

TEST(a_host_that_waits_for_the_end_of_the_program_does_not_hang)
{
	make_delays(3);
	uint64_t host = fake_box(&tasks, serve_type, 0, fake_task(&tasks, tasks.task_type));
	(void)fake_box(&tasks, enter_type, 0, host);
	check_groups(3, WAIT_FOR_WORK, 1, WAIT_FOR_WORK);
}

SUITE(.name = "wait_urgency", .set_up = set_up, .tear_down = tear_down)
