/* SPDX-License-Identifier: MIT */
/* Requests of a web server that all wait at one place. */
#include "analysis/async/async_graph.h"
#include "hangs/stuck_requests.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

static struct fake_tasks tasks;
static uint64_t server_type, load_type, tick_type;

static void set_up(void)
{
	tasks = fake_tasks_create();
	server_type =
		fake_box_type(&tasks, "Microsoft.AspNetCore.Http+<Process>d__1",
			      "B+AsyncStateMachineBox<Microsoft.AspNetCore.Http+<Process>d__1>");
	load_type =
		fake_box_type(&tasks, "Shop+<Load>d__1", "B+AsyncStateMachineBox<Shop+<Load>d__1>");
	tick_type =
		fake_box_type(&tasks, "Shop+<Tick>d__2", "B+AsyncStateMachineBox<Shop+<Tick>d__2>");
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

/* So many requests, each of which waits in Shop.Load for a task of its own. */
static void make_requests(unsigned int count, uint64_t task_type)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t load = fake_box(&tasks, load_type, 0, fake_task(&tasks, task_type));
		(void)fake_box(&tasks, server_type, 0, load);
	}
}

static void check_requests(uint64_t count, uint64_t all)
{
	struct waits *waits;
	struct stuck_requests found;
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT(stuck_requests_find(waits, NULL, &found, NULL), HD_OK);
	ASSERT_UINT(found.count, count);
	ASSERT_UINT(found.all, all);
	waits_destroy(waits);
}

TEST(many_requests_that_wait_in_one_method_are_stuck)
{
	make_requests(STUCK_REQUESTS_MIN, tasks.task_type);
	check_requests(STUCK_REQUESTS_MIN, STUCK_REQUESTS_MIN);
}

TEST(few_may_be_long_polls)
{
	make_requests(STUCK_REQUESTS_MIN - 1, tasks.task_type);
	check_requests(0, STUCK_REQUESTS_MIN - 1);
}

/* The healthy one: a timer, a worker or a socket brings what they wait for. */
TEST(a_method_that_goes_on_by_itself_may_answer_them)
{
	make_requests(STUCK_REQUESTS_MIN, tasks.task_type);
	uint64_t delay = fake_task(&tasks, tasks.delay_type);
	fake_refer(&tasks, delay, FAKE_TASK_TIMER, fake_task(&tasks, tasks.task_type));
	(void)fake_box(&tasks, tick_type, 0, delay);
	check_requests(0, STUCK_REQUESTS_MIN);
}

TEST(others_that_wait_for_a_time_go_on)
{
	make_requests(STUCK_REQUESTS_MIN, tasks.task_type);
	make_requests(STUCK_REQUESTS_MIN / 2, tasks.delay_type);
	check_requests(0, STUCK_REQUESTS_MIN + STUCK_REQUESTS_MIN / 2);
}

SUITE(.name = "stuck_requests", .set_up = set_up, .tear_down = tear_down)
