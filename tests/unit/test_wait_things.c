/* SPDX-License-Identifier: MIT */
/* Many async methods that wait for one semaphore or one task, on a heap without threads. */
#include <stdio.h>

#include "analysis/async/async_graph.h"
#include "framework/member.h"
#include "hangs/wait_things.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"

#define LIMIT 1u

static struct fake_tasks tasks;
static uint64_t enter_type, price_type;

static void set_up(void)
{
	tasks = fake_tasks_create();
	enter_type = fake_box_type(&tasks, "Shop+<Enter>d__1",
				   "B+AsyncStateMachineBox<Shop+<Enter>d__1>");
	price_type = fake_box_type(&tasks, "Shop+<Price>d__2",
				   "B+AsyncStateMachineBox<Shop+<Price>d__2>");
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

/* A semaphore that is not free, and so many that wait for it in Shop.Enter. */
static uint64_t make_semaphore(uint32_t highest, unsigned int waiters)
{
	uint64_t semaphore = fake_semaphore(&tasks, highest);
	for (unsigned int i = 0; i < waiters; i++)
		(void)fake_box(&tasks, enter_type, 0, fake_semaphore_wait(&tasks, semaphore));
	return semaphore;
}

/* How many things are found, and of how many of them nobody may take care. */
static void check_things(size_t count, size_t nobody)
{
	struct waits *waits;
	struct wait_things things;
	size_t open = 0;
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	uint32_t ends[64];
	CU_ASSERT_FATAL(wait_nodes(waits) <= 64);
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(wait_releasers_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(things.rows_count, count);
	for (size_t i = 0; i < things.rows_count; i++)
		open += !things.rows[i].may_change;
	ASSERT_UINT(open, nobody);
	waits_destroy(waits);
}

TEST(many_that_wait_for_one_semaphore_are_a_thing)
{
	(void)make_semaphore(LIMIT, WAIT_THING_MIN);
	check_things(1, 1);
}

TEST(few_that_wait_are_not)
{
	(void)make_semaphore(LIMIT, WAIT_THING_MIN - 1);
	check_things(0, 0);
}

/* Threads on a heap without any: what they wait for is made up. */
static void check_threads(bool are_over, size_t count)
{
	uint64_t semaphore = fake_semaphore(&tasks, LIMIT);
	struct thread_wait rows[WAIT_THING_MIN] = { 0 };
	struct wait_edge edges[WAIT_THING_MIN];
	uint32_t ends[WAIT_THING_MIN];
	struct waits *waits;
	struct wait_things things;
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT_FATAL(wait_nodes(waits), 0);
	for (size_t i = 0; i < WAIT_THING_MIN; i++) {
		rows[i] = (struct thread_wait){ .kind = WAIT_SEMAPHORE,
						.is_over = are_over,
						.user_frame = WAIT_NO_FRAME };
		CU_ASSERT_FATAL(member_object(waits->members, semaphore, &rows[i].object));
		edges[i] = (struct wait_edge){ .to = WAIT_NOBODY };
	}
	struct waits made = *waits;
	made.rows = rows;
	made.count = WAIT_THING_MIN;
	made.edges = edges;
	wait_ends(&made, ends);
	ASSERT_UINT(wait_things_find(&made, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(things.rows_count, count);
	waits_destroy(waits);
}

TEST(threads_that_wait_for_one_semaphore_are_a_thing)
{
	check_threads(false, 1);
}

TEST(threads_that_can_go_on_are_not)
{
	check_threads(true, 0);
}

TEST(a_free_semaphore_is_not)
{
	uint64_t semaphore = make_semaphore(LIMIT, WAIT_THING_MIN);
	fake_poke_u32(&tasks.fake->memory, semaphore + FAKE_SEMAPHORE_FREE, 1);
	check_things(0, 0);
}

TEST(a_semaphore_without_a_limit_may_be_the_signal_of_idle_workers)
{
	(void)make_semaphore(FAKE_NO_LIMIT, 2 * WAIT_THING_MIN);
	check_things(0, 0);
}

TEST(a_method_that_refers_to_the_semaphore_may_release_it)
{
	uint64_t semaphore = make_semaphore(LIMIT, WAIT_THING_MIN);
	uint64_t box = fake_box(&tasks, price_type, 1, fake_task(&tasks, tasks.task_type));
	fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_LOCAL,
		      fake_one(&tasks, tasks.owner_type, semaphore));
	/* It is what all of them wait for, and nobody completes its source. */
	check_things(2, 1);
}

TEST(a_method_that_has_not_passed_an_await_has_nothing_of_its_class)
{
	uint64_t semaphore = make_semaphore(LIMIT, WAIT_THING_MIN);
	uint64_t box = fake_box(&tasks, price_type, 0, fake_task(&tasks, tasks.task_type));
	fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_THIS,
		      fake_one(&tasks, tasks.owner_type, semaphore));
	check_things(1, 1);
}

TEST(a_method_of_the_class_that_has_passed_an_await_may_release_it)
{
	uint64_t semaphore = make_semaphore(LIMIT, WAIT_THING_MIN);
	uint64_t box = fake_box(&tasks, price_type, 1, fake_task(&tasks, tasks.task_type));
	fake_poke_u64(
		&tasks.fake->memory, box + FAKE_BOX_THIS,
		fake_one(&tasks, tasks.owner_type, fake_one(&tasks, tasks.owner_type, semaphore)));
	check_things(1, 0);
}

TEST(another_call_of_the_same_method_that_is_further_may_release_it)
{
	(void)make_semaphore(LIMIT, WAIT_THING_MIN);
	(void)fake_box(&tasks, enter_type, 1, fake_task(&tasks, tasks.task_type));
	check_things(1, 0);
}

/* Make threads that wait for a task, and a method that has its source and awaits @p awaited. */
static void make_completer(uint64_t awaited)
{
	uint64_t task = fake_task(&tasks, tasks.task_type),
		 source = fake_one(&tasks, tasks.source_type, task);
	for (unsigned int i = 0; i < WAIT_THING_MIN; i++)
		(void)fake_box(&tasks, enter_type, 0, task);
	uint64_t box = fake_box(&tasks, price_type, 0, awaited);
	fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_THIS,
		      fake_one(&tasks, tasks.owner_type, source));
}

TEST(who_sleeps_without_end_completes_nothing)
{
	make_completer(fake_task(&tasks, tasks.delay_type));
	check_things(1, 1);
}

TEST(who_sleeps_for_a_time_may)
{
	uint64_t delay = fake_task(&tasks, tasks.delay_type);
	fake_poke_u64(&tasks.fake->memory, delay + FAKE_TASK_TIMER,
		      fake_one(&tasks, tasks.owner_type, 0));
	make_completer(delay);
	check_things(1, 0);
}

/* The waiters for each of two semaphores have the other one. */
TEST(who_waits_for_what_nobody_releases_releases_nothing)
{
	uint64_t first = make_semaphore(LIMIT, WAIT_THING_MIN);
	uint64_t second = make_semaphore(LIMIT, WAIT_THING_MIN);
	uint64_t node = fake_semaphore_wait(&tasks, first);
	uint64_t other = fake_semaphore_wait(&tasks, second);
	uint64_t one = fake_box(&tasks, price_type, 1, node);
	uint64_t two = fake_box(&tasks, price_type, 1, other);
	/* Several have it, so that it is not known who does: not a deadlock. */
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t box = fake_box(&tasks, price_type, 1, i ? node : other);
		fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_LOCAL, i ? second : first);
	}
	fake_poke_u64(&tasks.fake->memory, one + FAKE_BOX_LOCAL, second);
	fake_poke_u64(&tasks.fake->memory, two + FAKE_BOX_LOCAL, first);
	check_things(2, 2);
}

TEST(who_has_only_the_task_cannot_complete_it)
{
	uint64_t task = fake_task(&tasks, tasks.task_type);
	(void)fake_one(&tasks, tasks.source_type, task);
	for (unsigned int i = 0; i < WAIT_THING_MIN; i++)
		(void)fake_box(&tasks, enter_type, 0, task);
	uint64_t box = fake_box(&tasks, price_type, 1, fake_task(&tasks, tasks.task_type));
	fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_LOCAL, task);
	check_things(1, 1);
}

TEST(who_has_the_source_can)
{
	make_completer(fake_task(&tasks, tasks.task_type));
	check_things(1, 0);
}

/* So many calls of Enter that await one of Price, which awaits @p awaited. */
static void make_shared(uint64_t awaited, unsigned int calls)
{
	uint64_t shared = fake_box(&tasks, price_type, 0, awaited);
	for (unsigned int i = 0; i < calls; i++)
		(void)fake_box(&tasks, enter_type, 0, shared);
}

TEST(many_calls_that_share_one_which_waits_for_a_source_are_a_thing)
{
	make_shared(fake_task(&tasks, tasks.task_type), WAIT_THING_MIN);
	check_things(1, 1);
}

TEST(few_calls_that_share_one_are_not)
{
	make_shared(fake_task(&tasks, tasks.task_type), WAIT_THING_MIN - 1);
	check_things(0, 0);
}

/* Somebody else wakes up after a time: he may complete the source. */
TEST(calls_that_share_one_are_not_where_another_call_waits_for_a_time)
{
	uint64_t delay = fake_task(&tasks, tasks.delay_type);
	fake_poke_u64(&tasks.fake->memory, delay + FAKE_TASK_TIMER,
		      fake_one(&tasks, tasks.owner_type, 0));
	make_shared(fake_task(&tasks, tasks.task_type), WAIT_THING_MIN);
	(void)fake_box(&tasks, price_type, 1, delay);
	check_things(0, 0);
}

TEST(calls_that_share_one_are_not_where_another_call_waits_for_what_is_not_known)
{
	make_shared(fake_task(&tasks, tasks.task_type), WAIT_THING_MIN);
	(void)fake_box(&tasks, price_type, 1, fake_one(&tasks, tasks.owner_type, 0));
	check_things(0, 0);
}

TEST(a_delay_without_end_that_many_calls_wait_for_is_a_thing)
{
	make_shared(fake_task(&tasks, tasks.delay_type), WAIT_THING_MIN);
	check_things(1, 1);
}

TEST(services_that_idle_in_delays_without_end_are_none)
{
	for (unsigned int i = 0; i < 2 * WAIT_THING_MIN; i++)
		(void)fake_box(&tasks, enter_type, 0, fake_task(&tasks, tasks.delay_type));
	check_things(0, 0);
}

/* The start of a host that awaits one method of the program, or only its own. */
static void check_start(const char *name, size_t found)
{
	char box_name[128];
	(void)snprintf(box_name, sizeof(box_name), "B+AsyncStateMachineBox<%s>", name);
	uint64_t start_type = fake_box_type(
		&tasks, "Microsoft.Extensions.Hosting.Internal.Host+<StartAsync>d__1",
		"B+AsyncStateMachineBox<Microsoft.Extensions.Hosting.Internal.Host+<StartAsync>d__1>");
	uint64_t service_type = fake_box_type(&tasks, name, box_name);
	uint64_t service = fake_box(&tasks, service_type, 0, fake_task(&tasks, tasks.delay_type));
	(void)fake_box(&tasks, start_type, 0, service);
	check_things(found, found);
}

TEST(the_start_of_a_host_that_a_service_does_not_end_is_a_thing)
{
	check_start("Shop+<Begin>d__3", 1);
}

TEST(a_host_that_waits_for_the_framework_is_not)
{
	check_start("Microsoft.Extensions.Hosting.Idle+<Wait>d__3", 0);
}

#define FAN   64u
#define ROOTS 400000u

/*
 * A deep recursion, each frame of which refers to the same object, from which many others are reached: no
 * frame must look at all of these again, which would take many seconds.
 */
TEST(what_many_frames_refer_to_is_looked_at_once)
{
	struct waits *waits;
	struct wait_things things;
	struct fake_field fields[FAN + 1] = { 0 };
	const struct gc_series series = { .size = -16, .offset = 8 };
	for (uint32_t i = 0; i < FAN; i++) {
		fields[i] = (struct fake_field){ .name = "f",
						 .element = ELEMENT_CLASS,
						 .offset = 8 * i };
	}
	uint64_t type =
		fake_class(tasks.types, &(struct fake_class){ .name = "Wide",
							      .fields = fields,
							      .type = { .base_size = 16 + 8 * FAN,
									.series = &series,
									.series_count = 1 } });
	uint64_t from = fake_object(tasks.fake, type, 0);
	for (uint32_t i = 0; i < FAN; i++)
		fake_poke_u64(&tasks.fake->memory, from + 8 + 8ull * i, from);
	(void)make_semaphore(LIMIT, WAIT_THING_MIN);
	(void)fake_thread(tasks.fake);
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	struct thread_stack *stack = &waits->rows[0].stack;
	stack->roots = pages_alloc(ROOTS, sizeof(*stack->roots));
	CU_ASSERT_FATAL(stack->roots != NULL);
	stack->roots_count = stack->roots_capacity = ROOTS;
	for (size_t i = 0; i < ROOTS; i++)
		stack->roots[i] = (struct stack_root){ .value = from };
	waits->rows[0].kind = WAIT_NONE;
	uint32_t ends[64];
	CU_ASSERT_FATAL(wait_nodes(waits) <= 64);
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(wait_releasers_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(things.rows_count, 1);
	waits_destroy(waits);
}

/* Threads that wait for a BlockingCollection with a limit, and with so much room. */
static void check_collection(uint32_t room, size_t found)
{
	struct waits *waits;
	struct wait_things things;
	uint32_t ends[64];
	const struct fake_field fields[] = {
		{ .name = "_freeNodes", .element = ELEMENT_CLASS },
		{ .name = "_boundedCapacity", .element = ELEMENT_I4, .offset = 8 },
		{ .name = NULL }
	};
	uint64_t type = fake_class(tasks.types,
				   &(struct fake_class){ .space = "System.Collections.Concurrent",
							 .name = "BlockingCollection",
							 .fields = fields,
							 .type = { .base_size = 32 } });
	uint64_t free = fake_semaphore(&tasks, FAKE_NO_LIMIT);
	uint64_t queue = fake_object(tasks.fake, type, 0);
	fake_poke_u32(&tasks.fake->memory, free + FAKE_SEMAPHORE_FREE, room);
	fake_poke_u64(&tasks.fake->memory, queue + 8, free);
	fake_poke_u32(&tasks.fake->memory, queue + 16, 10);
	for (unsigned int i = 0; i < WAIT_THING_MIN; i++)
		(void)fake_thread(tasks.fake);
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	for (size_t i = 0; i < waits->count; i++) {
		waits->rows[i].kind = WAIT_COLLECTION;
		CU_ASSERT_FATAL(member_object(waits->members, queue, &waits->rows[i].object));
	}
	CU_ASSERT_FATAL(wait_nodes(waits) <= 64);
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT_FATAL(things.rows_count, found);
	if (found) {
		ASSERT_UINT(things.rows[0].address, queue);
		CU_ASSERT_TRUE(things.rows[0].is_collection);
	}
	waits_destroy(waits);
}

TEST(many_that_wait_for_room_in_a_collection_are_a_thing)
{
	check_collection(0, 1);
}

TEST(those_that_wait_for_something_to_take_are_idle)
{
	check_collection(10, 0);
}

/* A thread that waits for the task of a write to a full channel: writer.WriteAsync(item).AsTask().Wait(). */
TEST(a_thread_that_waits_for_a_write_wants_room_in_the_channel)
{
	struct waits *waits;
	struct wait_things things;
	uint32_t ends[64];
	const struct fake_field channel_fields[] = { FAKE_REFERENCE("_blockedWritersHead", 0),
						     FAKE_END };
	const struct fake_field write_fields[] = { FAKE_REFERENCE("<Next>k__BackingField", 0),
						   FAKE_END };
	const struct fake_field task_fields[] = { FAKE_NUMBER("m_stateFlags", 0),
						  FAKE_REFERENCE("_source", 8), FAKE_END };
	const char *const space = "System.Threading.Channels";
	uint64_t channel_type =
		fake_class_of(&tasks, space, "BoundedChannel<System.Int32>", channel_fields, 1);
	uint64_t write_type = fake_class_of(
		&tasks, space, "BlockedWriteAsyncOperation<System.Int32>", write_fields, 1);
	uint64_t task_type = fake_class(
		tasks.types, &(struct fake_class){ .space = "System.Threading.Tasks",
						   .name = "ValueTask+ValueTaskSourceAsTask",
						   .fields = task_fields,
						   .type = { .base_size = 40 } });
	uint64_t write = fake_one(&tasks, write_type, 0);
	uint64_t channel = fake_one(&tasks, channel_type, write);
	uint64_t task = fake_object(tasks.fake, task_type, 0);
	fake_poke_u64(&tasks.fake->memory, task + 16, write);
	(void)fake_thread(tasks.fake);
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	waits->rows[0].kind = WAIT_TASK;
	CU_ASSERT_FATAL(member_object(waits->members, task, &waits->rows[0].object));
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT_FATAL(things.rows_count, 1);
	ASSERT_UINT(things.rows[0].address, channel);
	ASSERT_UINT(things.rows[0].kind, AWAIT_WRITE);
	CU_ASSERT_FALSE(things.rows[0].is_collection);
	waits_destroy(waits);
}

static int is_cancelled(void *arg)
{
	(void)arg;
	return 1;
}

/* Calls of Enter that are past their wait, and await Price, which waits for the semaphore again. */
static void check_holders(unsigned int past, unsigned int not_past)
{
	struct waits *waits;
	struct wait_things things;
	uint32_t ends[64];
	struct job cancelled = { .cancelled = is_cancelled };
	uint64_t semaphore = make_semaphore(LIMIT, WAIT_THING_MIN);
	for (unsigned int i = 0; i < past + not_past; i++) {
		uint64_t again =
			fake_box(&tasks, price_type, 0, fake_semaphore_wait(&tasks, semaphore));
		(void)fake_box(&tasks, enter_type, i < past ? 2 : 0, again);
	}
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	CU_ASSERT_FATAL(wait_nodes(waits) <= 64);
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT_FATAL(things.rows_count, 1);
	ASSERT_UINT(wait_things_find_holders(waits, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(things.rows[0].holders, past);
	if (past) {
		CU_ASSERT_STRING_EQUAL(
			async_node_name(waits->async, &waits->async->rows[things.rows[0].holder]),
			"Shop.Enter");
	}
	ASSERT_UINT(wait_things_find_holders(waits, &cancelled, &things, NULL), HD_ERR_CANCELLED);
	waits_destroy(waits);
}

TEST(calls_that_wait_again_for_what_they_have_are_found)
{
	check_holders(3, 2);
}

TEST(calls_that_have_not_waited_for_it_themselves_have_nothing)
{
	check_holders(0, 4);
}

#define PLACES 3u

/*
 * A semaphore with PLACES, for which one call waits in Enter, and others in Price that calls of Enter await; one more call
 * of Enter is at @p state and awaits @p awaited, if that is not 0.
 */
static void check_places(unsigned int nested, uint32_t state, uint64_t awaited, uint64_t expected)
{
	struct waits *waits;
	struct wait_things things;
	uint32_t ends[64];
	uint64_t semaphore = make_semaphore(PLACES, 1);
	for (unsigned int i = 0; i < nested; i++) {
		uint64_t again =
			fake_box(&tasks, price_type, 0, fake_semaphore_wait(&tasks, semaphore));
		(void)fake_box(&tasks, enter_type, 2, again);
	}
	if (awaited)
		(void)fake_box(&tasks, enter_type, state, awaited);
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	CU_ASSERT_FATAL(wait_nodes(waits) <= 64);
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT_FATAL(things.rows_count, 1);
	ASSERT_UINT(wait_things_find_holders(waits, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(things.rows[0].address, semaphore);
	ASSERT_UINT(things.rows[0].pool_items, expected);
	waits_destroy(waits);
}

TEST(calls_that_have_all_places_and_want_one_more_hang)
{
	check_places(PLACES, 0, 0, PLACES);
}

TEST(a_place_that_nobody_is_known_to_have_may_be_given_back)
{
	check_places(PLACES - 1, 0, 0, 0);
}

/* The healthy one: those that wait again gave their places back before, and others are at work in these. */
TEST(a_call_at_work_may_have_a_place)
{
	uint64_t delay = fake_task(&tasks, tasks.delay_type);
	check_places(PLACES, 1, delay, 0);
}

/* It has the place, and was not run since. */
TEST(a_call_that_is_about_to_go_on_has_a_place)
{
	uint64_t done = fake_task(&tasks, tasks.task_type);
	fake_poke_u32(&tasks.fake->memory, done + 8, 0x01000000);
	check_places(PLACES, 0, done, 0);
}

SUITE(.name = "wait_things", .set_up = set_up, .tear_down = tear_down)
