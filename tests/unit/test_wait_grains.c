/* SPDX-License-Identifier: MIT */
/* Grains of Orleans that call each other. */
#include "analysis/async/async_graph.h"
#include "hangs/deadlocks.h"
#include "hangs/wait_grains.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

/* Offsets of the fields in objects. */
#define CALL_ANSWER        8u
#define CALL_MESSAGE       16u
#define CALL_STATE         24u
#define ACTIVATION_QUEUE   8u
#define ACTIVATION_BLOCKED 16u
#define LIST_ITEMS         8u
#define LIST_SIZE          16u
#define ARRAY_ELEMENTS     16u

static struct fake_tasks tasks;
static uint64_t place_type, reserve_type, invoke_type, call_type, message_type, activation_type,
	list_type;
/* The messages that two grains work on, and the sources of the answers that they wait for. */
static uint64_t messages[2], sources[2], calls[2], activations[2];

static void make_types(void)
{
	static const char space[] = "Orleans.Runtime";
	const struct fake_field call[] = { FAKE_REFERENCE("context", 0),
					   FAKE_REFERENCE("<Message>k__BackingField", 8),
					   FAKE_NUMBER("_state", 16), FAKE_END };
	const struct fake_field message[] = { FAKE_REFERENCE("_headers", 0), FAKE_END };
	const struct fake_field activation[] = { FAKE_REFERENCE("_waitingRequests", 0),
						 FAKE_REFERENCE("_blockingRequest", 8), FAKE_END };
	const struct fake_field list[] = { FAKE_REFERENCE("_items", 0), FAKE_NUMBER("_size", 8),
					   FAKE_END };
	call_type = fake_class_of(&tasks, space, "CallbackData", call, 2);
	message_type = fake_class_of(&tasks, space, "Message", message, 1);
	activation_type = fake_class_of(&tasks, space, "ActivationData", activation, 2);
	list_type = fake_class_of(&tasks, "System.Collections.Generic",
				  "List<Orleans.Runtime.Message>", list, 1);
	place_type = fake_box_type(&tasks, "Shop+<Place>d__1",
				   "B+AsyncStateMachineBox<Shop+<Place>d__1>");
	reserve_type = fake_box_type(&tasks, "Shop+<Reserve>d__2",
				     "B+AsyncStateMachineBox<Shop+<Reserve>d__2>");
	invoke_type = fake_box_type(&tasks, "System.Client+<Invoke>d__3",
				    "B+AsyncStateMachineBox<System.Client+<Invoke>d__3>");
}

/* A grain whose method of @p type waits for an answer, below the method of the library that has the message. */
static void make_grain(unsigned int grain, uint64_t type)
{
	const struct fake_field none[] = { FAKE_END };
	uint64_t source_type = fake_class_of(&tasks, "Orleans.Serialization.Invocation",
					     "ResponseCompletionSource<System.Int32>", none, 1);
	messages[grain] = fake_object(tasks.fake, message_type, 0);
	sources[grain] = fake_object(tasks.fake, source_type, 0);
	uint64_t box = fake_box(&tasks, invoke_type, 0, fake_box(&tasks, type, 0, sources[grain]));
	fake_refer(&tasks, box, FAKE_BOX_LOCAL, messages[grain]);
	activations[grain] = fake_object(tasks.fake, activation_type, 0);
	fake_refer(&tasks, activations[grain], ACTIVATION_BLOCKED, messages[grain]);
}

/* The answer that a grain waits for belongs to @p message. */
static void make_call(unsigned int grain, uint64_t message)
{
	calls[grain] = fake_object(tasks.fake, call_type, 0);
	fake_refer(&tasks, calls[grain], CALL_ANSWER, sources[grain]);
	fake_refer(&tasks, calls[grain], CALL_MESSAGE, message);
}

/* A message in the queue of a grain. */
static uint64_t make_queued(unsigned int grain)
{
	uint64_t message = fake_object(tasks.fake, message_type, 0);
	uint64_t array = fake_object(tasks.fake, tasks.fake->object_array_type, 4);
	uint64_t list = fake_object(tasks.fake, list_type, 0);
	fake_refer(&tasks, array, ARRAY_ELEMENTS, message);
	fake_refer(&tasks, list, LIST_ITEMS, array);
	fake_poke_u32(&tasks.fake->memory, list + LIST_SIZE, 1);
	fake_refer(&tasks, activations[grain], ACTIVATION_QUEUE, list);
	return message;
}

/* The first one calls the second one, which calls the first one: that message is in its queue. */
static void set_up(void)
{
	tasks = fake_tasks_create();
	make_types();
	make_grain(0, place_type);
	make_grain(1, reserve_type);
	make_call(0, messages[1]);
	make_call(1, make_queued(0));
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
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
		ASSERT_UINT(deadlocks.rows[0].count, 2);
		CU_ASSERT(deadlocks.rows[0].is_probable);
	}
	deadlocks_deinit(&deadlocks);
	waits_destroy(waits);
}

TEST(grains_that_call_each_other_hang)
{
	check_deadlocks(1);
}

TEST(an_answer_that_has_come_is_waited_for_no_more)
{
	fake_poke_u32(&tasks.fake->memory, calls[0] + CALL_STATE, 1);
	check_deadlocks(0);
}

/* The object of the source is used again: only the call without an answer counts. */
TEST(an_old_call_with_the_same_source_does_not_count)
{
	uint64_t old = fake_object(tasks.fake, call_type, 0);
	fake_refer(&tasks, old, CALL_ANSWER, sources[0]);
	fake_refer(&tasks, old, CALL_MESSAGE, fake_object(tasks.fake, message_type, 0));
	fake_poke_u32(&tasks.fake->memory, old + CALL_STATE, 5);
	check_deadlocks(1);
}

/* The grain is reentrant, or has a free turn: nobody works on the message yet. */
TEST(a_message_that_is_not_queued_is_taken_soon)
{
	fake_refer(&tasks, activations[0], ACTIVATION_QUEUE, 0);
	check_deadlocks(0);
}

TEST(a_grain_that_works_on_nothing_takes_the_next_message)
{
	fake_refer(&tasks, activations[0], ACTIVATION_BLOCKED, 0);
	check_deadlocks(0);
}

TEST(a_message_that_two_methods_have_is_of_neither)
{
	uint64_t box = fake_box(&tasks, invoke_type, 0, fake_task(&tasks, tasks.delay_type));
	fake_refer(&tasks, box, FAKE_BOX_LOCAL, messages[0]);
	check_deadlocks(0);
}

SUITE(.name = "wait_grains", .set_up = set_up, .tear_down = tear_down)
