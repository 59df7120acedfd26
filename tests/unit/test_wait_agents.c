/* SPDX-License-Identifier: MIT */
/* Agents of F# with messages, whose loops have ended or are at work. */
#include "analysis/async/async_graph.h"
#include "gc/layouts/handle_table.h"
#include "hangs/wait_agents.h"
#include "support/assert_more.h"
#include "support/fake_handles.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

#define HANDLE_TYPES 13u
#define MESSAGES     3u
/* Offsets of the fields in objects. */
#define AGENT_MAILBOX  8u
#define AGENT_STARTED  16u
#define MAILBOX_QUEUE  8u
#define MAILBOX_WAITS  16u
#define MAILBOX_PULSE  24u
#define QUEUE_ARRAY    8u
#define QUEUE_SIZE     20u
#define CELL_DONE      16u
#define ARRAY_ELEMENTS 16u

static struct fake_tasks tasks;
static uint64_t agent, mailbox, cell, handler, queue;

/* A message with a channel for its reply, whose caller waits for the cell. */
static uint64_t make_message(void)
{
	static const char control[] = "Microsoft.FSharp.Control";
	const struct fake_field one[] = { FAKE_REFERENCE("item", 0), FAKE_END };
	const struct fake_field channel[] = { FAKE_REFERENCE("replyf", 0), FAKE_END };
	const struct fake_field call[] = { FAKE_REFERENCE("resultCell", 0), FAKE_END };
	const struct fake_field result[] = { FAKE_REFERENCE("result", 0), FAKE_FLAG("disposed", 8),
					     FAKE_END };
	cell = fake_object(tasks.fake,
			   fake_class_of(&tasks, control,
					 "AsyncPrimitives+ResultCell<System.Int32>", result, 1),
			   0);
	uint64_t reply = fake_one(
		&tasks,
		fake_class_of(&tasks, "<StartupCode$FSharp-Core>", "$Mailbox+channel@1", call, 1),
		cell);
	return fake_one(&tasks, fake_class_of(&tasks, "Shop", "Message+Sum", one, 1),
			fake_one(&tasks,
				 fake_class_of(&tasks, control,
					       "FSharpAsyncReplyChannel<System.Int32>", channel, 1),
				 reply));
}

static void make_queue(uint64_t message)
{
	const struct fake_field fields[] = { FAKE_REFERENCE("_array", 0), FAKE_NUMBER("_head", 8),
					     FAKE_NUMBER("_size", 12), FAKE_END };
	uint64_t array = fake_object(tasks.fake, tasks.fake->object_array_type, MESSAGES);
	queue = fake_object(tasks.fake,
			    fake_class_of(&tasks, "System.Collections.Generic",
					  "Queue<Shop.Message>", fields, 1),
			    0);
	fake_refer(&tasks, array, ARRAY_ELEMENTS, message);
	fake_refer(&tasks, queue, QUEUE_ARRAY, array);
	fake_poke_u32(&tasks.fake->memory, queue + QUEUE_SIZE, MESSAGES);
}

/* An agent whose queue has a message that wants a reply, and two others, and a handler that nothing refers to. */
static void set_up(void)
{
	static const char control[] = "Microsoft.FSharp.Control";
	const struct fake_field mailbox_fields[] = { FAKE_REFERENCE("arrivals", 0),
						     FAKE_REFERENCE("savedCont", 8),
						     FAKE_REFERENCE("pulse", 16), FAKE_END };
	const struct fake_field agent_fields[] = { FAKE_REFERENCE("mailbox", 0),
						   FAKE_FLAG("started", 8), FAKE_END };
	const struct fake_field handler_fields[] = { FAKE_REFERENCE("x0", 0), FAKE_END };
	tasks = fake_tasks_create();
	make_queue(make_message());
	mailbox = fake_object(
		tasks.fake,
		fake_class_of(&tasks, control, "Mailbox<Shop.Message>", mailbox_fields, 3), 0);
	agent = fake_object(tasks.fake,
			    fake_class_of(&tasks, control, "FSharpMailboxProcessor<Shop.Message>",
					  agent_fields, 1),
			    0);
	fake_refer(&tasks, mailbox, MAILBOX_QUEUE, queue);
	fake_refer(&tasks, agent, AGENT_MAILBOX, mailbox);
	fake_poke_u32(&tasks.fake->memory, agent + AGENT_STARTED, 1);
	handler = fake_one(&tasks,
			   fake_class_of(&tasks, "<StartupCode$FSharp-Core>",
					 "$Mailbox+PrepareToStart@405-6<Shop.Message>",
					 handler_fields, 1),
			   agent);
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

static void check_agents(size_t count)
{
	struct waits *waits;
	struct wait_things things = { .rows_count = 0 };
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT(wait_agents_find(waits, NULL, &things, NULL), HD_OK);
	ASSERT_UINT_FATAL(things.rows_count, count);
	if (count) {
		ASSERT_UINT(things.rows[0].address, agent);
		ASSERT_UINT(things.rows[0].kind, THING_AGENT);
		ASSERT_UINT(things.rows[0].calls, 1);
		ASSERT_UINT(things.rows[0].items, MESSAGES);
		CU_ASSERT(wait_thing_is_sure(&things.rows[0]));
	}
	waits_destroy(waits);
}

TEST(an_agent_without_a_live_handler_has_ended)
{
	check_agents(1);
}

TEST(a_handler_that_is_alive_is_of_a_loop_at_work)
{
	uint64_t table = fake_handle_table(tasks.fake, HANDLE_TYPES);
	uint64_t segment = fake_handle_segment(tasks.fake, table, HANDLE_TYPES);
	(void)fake_handle_bucket(tasks.fake, &table, 1);
	fake_handle_block(tasks.fake, segment, 0, HANDLE_STRONG);
	(void)fake_handle(tasks.fake, segment, 0, 0, handler);
	check_agents(0);
}

TEST(an_agent_that_waits_for_a_message_is_about_to_get_it)
{
	fake_refer(&tasks, mailbox, MAILBOX_WAITS, queue);
	check_agents(0);
}

TEST(an_agent_that_may_wait_for_a_limited_time_is_not_judged)
{
	fake_refer(&tasks, mailbox, MAILBOX_PULSE, queue);
	check_agents(0);
}

TEST(an_agent_that_was_not_started_collects_messages)
{
	fake_poke_u32(&tasks.fake->memory, agent + AGENT_STARTED, 0);
	check_agents(0);
}

TEST(nobody_waits_for_an_agent_that_ended_with_an_empty_queue)
{
	fake_poke_u32(&tasks.fake->memory, queue + QUEUE_SIZE, 0);
	check_agents(0);
}

TEST(nobody_waits_for_a_reply_any_more)
{
	fake_poke_u32(&tasks.fake->memory, cell + CELL_DONE, 1);
	check_agents(0);
}

SUITE(.name = "wait_agents", .set_up = set_up, .tear_down = tear_down)
