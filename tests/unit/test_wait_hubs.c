/* SPDX-License-Identifier: MIT */
/* Hubs of SignalR that wait for the results of clients. */
#include "analysis/async/async_graph.h"
#include "hangs/deadlocks.h"
#include "hangs/wait_hubs.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

#define CONNECTION_NAME 8u

static struct fake_tasks tasks;
static uint64_t invoke_type, ask_type, run_type, own_name, other_name, connection;

static void set_up(void)
{
	const struct fake_field fields[] = { FAKE_REFERENCE("_connectionContext", 0), FAKE_END };
	tasks = fake_tasks_create();
	invoke_type = fake_box_type(
		&tasks, "Microsoft.AspNetCore.SignalR.Manager+<InvokeConnectionAsync>d__1",
		"B+AsyncStateMachineBox<Microsoft.AspNetCore.SignalR.Manager+<InvokeConnectionAsync>d__1>");
	ask_type =
		fake_box_type(&tasks, "Shop+<Ask>d__2", "B+AsyncStateMachineBox<Shop+<Ask>d__2>");
	run_type = fake_box_type(
		&tasks, "Microsoft.AspNetCore.SignalR.HubConnectionHandler<Desk>+<RunHub>d__3",
		"B+AsyncStateMachineBox<Microsoft.AspNetCore.SignalR.HubConnectionHandler<Desk>+<RunHub>d__3>");
	own_name = fake_string(tasks.fake, "own");
	other_name = fake_string(tasks.fake, "other");
	uint64_t type = fake_class_of(&tasks, "Microsoft.AspNetCore.SignalR",
				      "HubConnectionContext", fields, 1);
	connection = fake_object(tasks.fake, type, 0);
	fake_refer(&tasks, connection, CONNECTION_NAME,
		   fake_one(&tasks, tasks.owner_type, own_name));
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

/* A method of a hub that waits for the result of the client @p name, below what reads the messages of the connection. */
static void make_hub(uint64_t name, uint64_t reader_type)
{
	uint64_t invoke = fake_box(&tasks, invoke_type, 0, fake_task(&tasks, tasks.task_type));
	fake_refer(&tasks, invoke, FAKE_BOX_LOCAL, name);
	uint64_t run = fake_box(&tasks, reader_type, 0, fake_box(&tasks, ask_type, 0, invoke));
	fake_refer(&tasks, run, FAKE_BOX_LOCAL, connection);
}

static void check_deadlocks(size_t count)
{
	struct waits *waits;
	struct deadlocks deadlocks = { 0 };
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT_FATAL(deadlocks_find(waits, &deadlocks, NULL), HD_OK);
	ASSERT_UINT_FATAL(deadlocks.count, count);
	if (count) {
		ASSERT_UINT(deadlocks.rows[0].count, 3);
		CU_ASSERT(deadlocks.rows[0].is_probable);
	}
	deadlocks_deinit(&deadlocks);
	waits_destroy(waits);
}

TEST(a_hub_that_waits_for_its_own_client_hangs)
{
	make_hub(own_name, run_type);
	check_deadlocks(1);
}

TEST(another_client_may_answer)
{
	make_hub(other_name, run_type);
	check_deadlocks(0);
}

TEST(who_does_not_read_messages_may_wait_for_any_client)
{
	make_hub(own_name, ask_type);
	check_deadlocks(0);
}

SUITE(.name = "wait_hubs", .set_up = set_up, .tear_down = tear_down)
