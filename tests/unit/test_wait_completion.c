/* SPDX-License-Identifier: MIT */
/* Calls that wait until a channel was completed and read empty. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_things.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "util/job.h"

/* Offsets of the fields in an object of the channel, its queue and its reader. */
#define CHANNEL_ITEMS      8u
#define CHANNEL_COMPLETION 16u
#define CHANNEL_COMPLETED  24u
#define QUEUE_ARRAY        8u
#define QUEUE_SIZE         20u
#define CAPACITY           4u
#define NODES              32u

static struct fake_tasks tasks;
static uint64_t stop_type, read_type, reader_type, writer_type, channel, queue, completion;

static uint64_t make_class(const char *space, const char *name, const struct fake_field *fields)
{
	const struct gc_series series = { .size = 24 - 40, .offset = 8 };
	return fake_class(tasks.types, &(struct fake_class){ .space = space,
							     .name = name,
							     .fields = fields,
							     .type = { .base_size = 40,
								       .series = &series,
								       .series_count = 1 } });
}

/* A reader or a writer of the channel. */
static uint64_t make_side(const char *name)
{
	const struct fake_field fields[] = { { .name = "_parent", .element = ELEMENT_CLASS },
					     { .name = NULL } };
	return make_class("System.Threading.Channels", name, fields);
}

static void make_channel(const char *name)
{
	const struct fake_field fields[] = {
		{ .name = "_items", .element = ELEMENT_CLASS },
		{ .name = "_completion", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "_doneWriting", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = NULL }
	};
	const struct gc_series series = { .size = 8 - 32, .offset = 8 };
	const struct fake_field queue_fields[] = {
		{ .name = "_array", .element = ELEMENT_CLASS },
		{ .name = "_head", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_size", .element = ELEMENT_I4, .offset = 12 },
		{ .name = NULL }
	};
	uint64_t queue_type =
		fake_class(tasks.types, &(struct fake_class){ .space = "System.Collections.Generic",
							      .name = "Deque<System.Object>",
							      .fields = queue_fields,
							      .type = { .base_size = 32,
									.series = &series,
									.series_count = 1 } });
	channel = fake_object(tasks.fake, make_class("System.Threading.Channels", name, fields), 0);
	queue = fake_object(tasks.fake, queue_type, 0);
	completion = fake_task(&tasks, tasks.task_type);
	fake_poke_u64(
		&tasks.fake->memory, queue + QUEUE_ARRAY,
		fake_object(tasks.fake, fake_array_type(tasks.fake, tasks.owner_type), CAPACITY));
	fake_poke_u64(&tasks.fake->memory, channel + CHANNEL_ITEMS, queue);
	fake_poke_u64(&tasks.fake->memory, channel + CHANNEL_COMPLETION,
		      fake_one(&tasks, tasks.source_type, completion));
	reader_type = make_side("BoundedChannel<System.Object>+BoundedChannelReader");
	writer_type = make_side("BoundedChannel<System.Object>+BoundedChannelWriter");
}

static void set_up(void)
{
	tasks = fake_tasks_create();
	stop_type =
		fake_box_type(&tasks, "Shop+<Stop>d__1", "B+AsyncStateMachineBox<Shop+<Stop>d__1>");
	read_type =
		fake_box_type(&tasks, "Shop+<Read>d__2", "B+AsyncStateMachineBox<Shop+<Read>d__2>");
	make_channel("BoundedChannel<System.Object>");
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

static void add_items(uint32_t count)
{
	fake_poke_u32(&tasks.fake->memory, queue + QUEUE_SIZE, count);
	fake_poke_u64(&tasks.fake->memory, channel + CHANNEL_COMPLETED,
		      fake_one(&tasks, tasks.owner_type, 0));
}

/* A call that waits for the Completion. */
static uint64_t make_stop(void)
{
	return fake_box(&tasks, stop_type, 0, completion);
}

/* A call that has @p local, and waits for a time. */
static void make_user(uint64_t local)
{
	uint64_t delay = fake_task(&tasks, tasks.delay_type);
	fake_poke_u64(&tasks.fake->memory, delay + FAKE_TASK_TIMER,
		      fake_one(&tasks, tasks.owner_type, 0));
	uint64_t box = fake_box(&tasks, read_type, 1, delay);
	fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_LOCAL, local);
}

/* Is the channel a thing with so many items, and may somebody take care of it? */
static void check_thing(size_t count, uint64_t left, bool may_change)
{
	struct waits *waits;
	struct wait_things things;
	uint32_t ends[NODES];
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	CU_ASSERT_FATAL(wait_nodes(waits) <= NODES);
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(wait_releasers_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT_FATAL(things.rows_count, count);
	if (count) {
		ASSERT_UINT(things.rows[0].address, channel);
		ASSERT_UINT(things.rows[0].kind, AWAIT_COMPLETION);
		ASSERT_UINT(things.rows[0].left, left);
		ASSERT_UINT(things.rows[0].may_change, may_change);
		CU_ASSERT_FALSE(things.rows[0].stage.is_read_by_waiter);
	}
	waits_destroy(waits);
}

TEST(one_call_waits_for_items_that_nobody_reads)
{
	add_items(3);
	(void)make_stop();
	check_thing(1, 3, false);
}

TEST(who_waits_and_has_the_reader_does_not_read)
{
	add_items(3);
	fake_poke_u64(&tasks.fake->memory, make_stop() + FAKE_BOX_LOCAL,
		      fake_one(&tasks, reader_type, channel));
	check_thing(1, 3, false);
}

TEST(another_one_with_the_reader_may_read)
{
	add_items(3);
	(void)make_stop();
	make_user(fake_one(&tasks, reader_type, channel));
	check_thing(1, 3, true);
}

TEST(a_writer_does_not_read)
{
	add_items(3);
	(void)make_stop();
	make_user(fake_one(&tasks, writer_type, channel));
	check_thing(1, 3, false);
}

TEST(the_items_count_also_before_somebody_has_completed_the_channel)
{
	add_items(1);
	fake_poke_u64(&tasks.fake->memory, channel + CHANNEL_COMPLETED, 0);
	(void)make_stop();
	check_thing(1, 1, false);
}

TEST(one_call_that_waits_for_an_empty_channel_is_no_thing)
{
	(void)make_stop();
	check_thing(0, 0, false);
}

/* Many wait for an empty channel, which another one has an end of. */
static void check_empty(uint64_t end_type, bool may_change)
{
	for (unsigned int i = 0; i < WAIT_THING_MIN; i++)
		(void)make_stop();
	make_user(fake_one(&tasks, end_type, channel));
	check_thing(1, 0, may_change);
}

TEST(a_reader_does_not_complete_an_empty_channel)
{
	check_empty(reader_type, false);
}

TEST(a_writer_may_complete_it)
{
	check_empty(writer_type, true);
}

SUITE(.name = "wait_completion", .set_up = set_up, .tear_down = tear_down)
