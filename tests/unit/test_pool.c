/* SPDX-License-Identifier: MIT */
#include "analysis/pool/hill_climbing.h"
#include "analysis/pool/pool_state.h"
#include "analysis/pool/work_counts.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"

#define STRUCT_FLAGS   0x00040000u
#define STRUCT_ARRAY   0x000a0000u
#define SLOTS          4u
#define NEVER_ENQUEUED 1000u

static struct fake_clr *fake;
static struct fake_types *types;
static struct members *members;
static uint64_t queue_type, segment_type, slots_type, stealing_type;

/* The fields of System.Collections.Concurrent.ConcurrentQueueSegment<T> (its source file). */
static void make_segment_types(void)
{
	const struct fake_field slot[] = {
		{ .name = "Item", .element = ELEMENT_CLASS },
		{ .name = "SequenceNumber", .element = ELEMENT_I4, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field ends[] = { { .name = "Head", .element = ELEMENT_I4 },
					   { .name = "Tail", .element = ELEMENT_I4, .offset = 4 },
					   { .name = NULL } };
	uint64_t slot_type = fake_class(
		types, &(struct fake_class){ .name = "Slot",
					     .fields = slot,
					     .type = { .base_size = 32, .flags = STRUCT_FLAGS } });
	uint64_t ends_type = fake_class(
		types, &(struct fake_class){ .name = "HeadAndTail",
					     .fields = ends,
					     .type = { .base_size = 24, .flags = STRUCT_FLAGS } });
	slots_type = fake_type(fake, &(struct fake_type){ .base_size = 24,
							  .component_size = 16,
							  .flags = STRUCT_ARRAY,
							  .per_inst = slot_type });
	const struct fake_field segment[] = {
		{ .name = "_slots", .element = ELEMENT_CLASS },
		{ .name = "_nextSegment", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "_slotsMask", .element = ELEMENT_I4, .offset = 16 },
		{ .name = "_frozenForEnqueues", .element = ELEMENT_BOOLEAN, .offset = 20 },
		{ .name = "_headAndTail",
		  .element = ELEMENT_VALUE,
		  .type = ends_type,
		  .offset = 24 },
		{ .name = NULL }
	};
	segment_type = fake_class(types, &(struct fake_class){ .name = "Segment",
							       .fields = segment,
							       .type = { .base_size = 48 } });
}

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	make_segment_types();
	const struct fake_field queue[] = { { .name = "_head", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	const struct fake_field stealing[] = {
		{ .name = "m_array", .element = ELEMENT_CLASS },
		{ .name = "m_headIndex", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "m_tailIndex", .element = ELEMENT_I4, .offset = 12 },
		{ .name = NULL }
	};
	queue_type = fake_class(types, &(struct fake_class){ .name = "Queue",
							     .fields = queue,
							     .type = { .base_size = 24 } });
	stealing_type = fake_class(types, &(struct fake_class){ .name = "Stealing",
								.fields = stealing,
								.type = { .base_size = 32 } });
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
}

static void tear_down(void)
{
	members_destroy(members);
	members = NULL;
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static struct heap *attach(void)
{
	fake_types_attach(types);
	struct heap *heap = fake_heap(fake);
	ASSERT_UINT(members_create(heap, &members, NULL), HD_OK);
	return heap;
}

/* A segment of SLOTS slots, of which items were put into [head, tail); those below head are gone. */
static uint64_t make_segment(uint32_t head, uint32_t tail, uint64_t next)
{
	uint64_t slots = fake_object(fake, slots_type, SLOTS);
	uint64_t segment = fake_object(fake, segment_type, 0);
	for (uint32_t i = 0; i < SLOTS; i++)
		fake_poke_u32(&fake->memory, slots + 16 + 16ull * i + 8, NEVER_ENQUEUED);
	for (uint32_t i = head; i < tail; i++) {
		uint64_t slot = slots + 16 + 16ull * (i % SLOTS);
		fake_poke_u64(&fake->memory, slot, fake_object(fake, fake->object_type, 0));
		fake_poke_u32(&fake->memory, slot + 8, i + 1);
	}
	fake_poke_u64(&fake->memory, segment + 8, slots);
	fake_poke_u64(&fake->memory, segment + 16, next);
	fake_poke_u32(&fake->memory, segment + 24, SLOTS - 1);
	fake_poke_u32(&fake->memory, segment + 32, head);
	fake_poke_u32(&fake->memory, segment + 36, tail);
	return segment;
}

static uint64_t make_queue(uint64_t head)
{
	uint64_t queue = fake_object(fake, queue_type, 0);
	fake_poke_u64(&fake->memory, queue + 8, head);
	return queue;
}

static void check_queue(struct heap *heap, uint64_t queue, size_t count, bool is_broken)
{
	const struct queue_reader reader = { heap, members, NULL };
	struct queue_items items = { 0 };
	ASSERT_UINT(concurrent_queue_append(&items, &reader, queue, NULL), HD_OK);
	ASSERT_UINT(items.rows_count, count);
	CU_ASSERT_EQUAL(items.is_broken, is_broken);
	queue_items_deinit(&items);
}

TEST(a_queue_has_the_items_of_all_its_segments)
{
	uint64_t last = make_segment(6, 9, 0); /* around its end */
	uint64_t frozen = make_segment(1, 4, last);
	fake_poke_u32(&fake->memory, frozen + 36, 4 + 2 * SLOTS);
	fake_poke_u32(&fake->memory, frozen + 28, 1);
	uint64_t both = make_queue(frozen), one = make_queue(last), none = make_queue(0);
	uint64_t empty = make_queue(make_segment(3, 3, 0));
	struct heap *heap = attach();
	check_queue(heap, both, 6, false);
	check_queue(heap, one, 3, false);
	check_queue(heap, empty, 0, false);
	check_queue(heap, none, 0, false);
	check_queue(heap, 0, 0, false);
}

TEST(a_slot_that_is_being_written_is_not_an_item)
{
	uint64_t segment = make_segment(0, 3, 0);
	uint64_t queue = make_queue(segment), slots = segment - 16 - 16 * SLOTS;
	struct heap *heap = attach();
	uint64_t found = 0;
	CU_ASSERT(memory_u64(heap->memory, segment + 8, &found));
	slots = found;
	fake_poke_u32(&fake->memory, slots + 16 + 16 + 8, 1);
	check_queue(heap, queue, 2, false);
}

TEST(a_broken_queue_has_the_items_before_the_damage)
{
	uint64_t second = make_segment(0, 2, 0), first = make_segment(0, 4, second);
	uint64_t queue = make_queue(first), wild = make_queue(0x123450);
	struct heap *heap = attach();
	check_queue(heap, queue, 6, false);
	check_queue(heap, wild, 0, true);
	fake_poke_u64(&fake->memory, first + 16, 0x123450);
	check_queue(heap, queue, 4, true);
	fake_poke_u64(&fake->memory, first + 16, second);
	fake_poke_u32(&fake->memory, second + 24, 6); /* the mask is not that of its slots */
	check_queue(heap, queue, 4, true);
	fake_poke_u32(&fake->memory, second + 24, SLOTS - 1);
	fake_poke_u32(&fake->memory, second + 36, 1000); /* more than it has room for */
	check_queue(heap, queue, 4, true);
}

TEST(segments_in_a_circle_end)
{
	uint64_t second = make_segment(0, 2, 0), first = make_segment(0, 4, second);
	uint64_t queue = make_queue(first);
	fake_poke_u64(&fake->memory, second + 16, first);
	struct heap *heap = attach();
	const struct queue_reader reader = { heap, members, NULL };
	struct queue_items items = { 0 };
	ASSERT_UINT(concurrent_queue_append(&items, &reader, queue, NULL), HD_OK);
	CU_ASSERT_TRUE(items.is_broken);
	CU_ASSERT(items.rows_count <= 18);
	queue_items_deinit(&items);
	fake_poke_u64(&fake->memory, second + 16, second);
	ASSERT_UINT(concurrent_queue_append(&items, &reader, queue, NULL), HD_OK);
	CU_ASSERT_TRUE(items.is_broken);
	queue_items_deinit(&items);
}

TEST(a_worker_has_its_own_queue)
{
	uint64_t array = fake_object(fake, fake->object_array_type, 4);
	uint64_t queue = fake_object(fake, stealing_type, 0);
	for (unsigned int i = 0; i < 4; i++)
		fake_poke_u64(&fake->memory, array + 16 + 8 * i,
			      i == 2 ? 0 : fake_object(fake, fake->object_type, 0));
	fake_poke_u64(&fake->memory, queue + 8, array);
	fake_poke_u32(&fake->memory, queue + 16, 5);
	fake_poke_u32(&fake->memory, queue + 20, 8);
	struct heap *heap = attach();
	const struct queue_reader reader = { heap, members, NULL };
	struct queue_items items = { 0 };
	ASSERT_UINT(stealing_queue_append(&items, &reader, queue, NULL), HD_OK);
	/* 5, 6 and 7, of which 6 (slot 2) was taken */
	ASSERT_UINT(items.rows_count, 2);
	CU_ASSERT_FALSE(items.is_broken);
	queue_items_deinit(&items);
	fake_poke_u32(&fake->memory, queue + 20, 4); /* tail before head: empty */
	ASSERT_UINT(stealing_queue_append(&items, &reader, queue, NULL), HD_OK);
	ASSERT_UINT(items.rows_count, 0);
	fake_poke_u32(&fake->memory, queue + 20, 400);
	ASSERT_UINT(stealing_queue_append(&items, &reader, queue, NULL), HD_OK);
	CU_ASSERT_TRUE(items.is_broken);
	ASSERT_UINT(items.rows_count, 3);
	queue_items_deinit(&items);
}

TEST(a_runtime_without_a_pool_has_no_numbers)
{
	struct heap *heap = attach();
	const struct queue_reader reader = { heap, members, NULL };
	struct pool_state pool;
	struct pool_queues queues;
	pool_state_read(members, &pool);
	ASSERT_UINT(pool.address, 0);
	ASSERT_UINT(pool.known, 0);
	ASSERT_UINT(pool_queues_read(&reader, &queues, NULL), HD_OK);
	CU_ASSERT_FALSE(queues.is_known);
	pool_queues_deinit(&queues);
}

/*
 * PortableThreadPool.HillClimbing and its LogEntry (PortableThreadPool.HillClimbing.cs): a log of
 * four entries, which begins with its last one.
 */
static uint64_t make_climber(uint64_t *ret_log)
{
	const struct fake_field entry[] = {
		{ .name = "tickCount", .element = ELEMENT_I4 },
		{ .name = "stateOrTransition", .element = ELEMENT_I4, .offset = 4 },
		{ .name = "newControlSetting", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "lastHistoryCount", .element = ELEMENT_I4, .offset = 12 },
		{ .name = "lastHistoryMean", .element = ELEMENT_R4, .offset = 16 },
		{ .name = NULL }
	};
	const struct fake_field climber[] = {
		{ .name = "_log", .element = ELEMENT_CLASS },
		{ .name = "_totalSamples", .element = ELEMENT_I8, .offset = 8 },
		{ .name = "_logStart", .element = ELEMENT_I4, .offset = 16 },
		{ .name = "_logSize", .element = ELEMENT_I4, .offset = 20 },
		{ .name = NULL }
	};
	uint64_t entry_type = fake_class(
		types, &(struct fake_class){ .name = "LogEntry",
					     .fields = entry,
					     .type = { .base_size = 40, .flags = STRUCT_FLAGS } });
	uint64_t log_type = fake_type(fake, &(struct fake_type){ .base_size = 24,
								 .component_size = 20,
								 .flags = STRUCT_ARRAY,
								 .per_inst = entry_type });
	uint64_t type = fake_class(types, &(struct fake_class){ .name = "Climber",
								.fields = climber,
								.type = { .base_size = 40 } });
	uint64_t log = fake_object(fake, log_type, 4), ret = fake_object(fake, type, 0);
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t at = log + 16 + 20ull * i;
		fake_poke_u32(&fake->memory, at, 1000 + i);
		fake_poke_u32(&fake->memory, at + 4, 6);
		fake_poke_u32(&fake->memory, at + 8, 10 + i);
		fake_poke_u32(&fake->memory, at + 12, i);
		fake_poke_u32(&fake->memory, at + 16, 0x3fc00000); /* 1.5f */
	}
	fake_poke_u64(&fake->memory, ret + 8, log);
	fake_poke_u64(&fake->memory, ret + 16, 77);
	fake_poke_u32(&fake->memory, ret + 24, 3);
	fake_poke_u32(&fake->memory, ret + 28, 2);
	*ret_log = log;
	return ret;
}

static void check_log(struct heap *heap, uint64_t climber, size_t count, bool is_broken)
{
	const struct queue_reader reader = { heap, members, NULL };
	struct hill_log log;
	ASSERT_UINT(hill_log_read(&reader, climber, &log, NULL), HD_OK);
	CU_ASSERT_TRUE(log.is_known);
	ASSERT_UINT(log.rows_count, count);
	CU_ASSERT_EQUAL(log.is_broken, is_broken);
	hill_log_deinit(&log);
}

TEST(changes_of_the_goal_come_in_their_order)
{
	uint64_t array, climber = make_climber(&array);
	struct heap *heap = attach();
	const struct queue_reader reader = { heap, members, NULL };
	struct hill_log log;
	char reason[16];
	ASSERT_UINT(hill_log_read(&reader, climber, &log, NULL), HD_OK);
	CU_ASSERT_TRUE(log.is_known);
	CU_ASSERT_FALSE(log.is_broken);
	CU_ASSERT_EQUAL(log.samples, 77);
	ASSERT_UINT(log.rows_count, 2);
	CU_ASSERT_EQUAL(log.rows[0].ticks, 1003);
	CU_ASSERT_EQUAL(log.rows[1].ticks, 1000);
	CU_ASSERT_EQUAL(log.rows[0].threads, 13);
	CU_ASSERT_EQUAL(log.rows[0].samples, 3);
	CU_ASSERT_EQUAL(log.rows[1].throughput, 1.5f);
	/* An enum that is not loaded has no names. */
	hill_change_reason(heap->runtime, &log.rows[0], reason, sizeof(reason));
	ASSERT_TEXT(reason, "6");
	hill_log_deinit(&log);
}

TEST(a_log_with_wild_bounds_has_no_changes)
{
	uint64_t array, climber = make_climber(&array);
	struct heap *heap = attach();
	check_log(heap, climber, 2, false);
	fake_poke_u32(&fake->memory, climber + 28, 4);
	check_log(heap, climber, 4, false);
	fake_poke_u32(&fake->memory, climber + 28, 5);
	check_log(heap, climber, 0, true);
	fake_poke_u32(&fake->memory, climber + 28, UINT32_MAX);
	check_log(heap, climber, 0, true);
	fake_poke_u32(&fake->memory, climber + 28, 1);
	fake_poke_u32(&fake->memory, climber + 24, 4);
	check_log(heap, climber, 0, true);
}

TEST(no_log_is_not_an_empty_one)
{
	uint64_t array, climber = make_climber(&array);
	struct heap *heap = attach();
	const struct queue_reader reader = { heap, members, NULL };
	struct hill_log log;
	const uint64_t none[] = { 0, 0x123450, array };
	for (size_t i = 0; i < 3; i++) {
		ASSERT_UINT(hill_log_read(&reader, none[i], &log, NULL), HD_OK);
		CU_ASSERT_FALSE(log.is_known);
		hill_log_deinit(&log);
	}
	fake_poke_u64(&fake->memory, climber + 8, 0x123450);
	ASSERT_UINT(pool_hill_log_read(&reader, &log, NULL), HD_OK);
	CU_ASSERT_FALSE(log.is_known);
	ASSERT_UINT(hill_log_read(&reader, climber, &log, NULL), HD_OK);
	CU_ASSERT_FALSE(log.is_known);
	hill_log_deinit(&log);
}

TEST(work_is_counted_by_what_it_calls)
{
	uint64_t one = fake_object(fake, fake->object_type, 0),
		 other = fake_object(fake, queue_type, 0);
	struct heap *heap = attach();
	struct work_counts counts = { .heap = heap, .members = members };
	for (unsigned int i = 0; i < 3; i++)
		ASSERT_UINT(work_counts_add(&counts, 1, other, NULL), HD_OK);
	ASSERT_UINT(work_counts_add(&counts, 2, other, NULL), HD_OK);
	ASSERT_UINT(work_counts_add(&counts, 1, one, NULL), HD_OK);
	ASSERT_UINT(work_counts_add(&counts, 1, 0x123450, NULL), HD_OK);
	work_counts_sort(&counts);
	ASSERT_UINT(counts.rows_count, 4);
	ASSERT_UINT(counts.rows[0].count, 3);
	ASSERT_TEXT(counts.rows[0].callback, "Queue");
	ASSERT_UINT(counts.rows[0].first, other);
	ASSERT_TEXT(counts.rows[1].callback, "<not an object>");
	ASSERT_TEXT(counts.rows[2].callback, "System.Object");
	ASSERT_UINT(counts.rows[3].group, 2);
	work_counts_deinit(&counts);
}

SUITE(.name = "pool", .set_up = set_up, .tear_down = tear_down)
