/* SPDX-License-Identifier: MIT */
/* Full blocks of a dataflow, and the links of their items. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_blocks.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

#define CAPACITY 4u
#define SENDERS  2u
/* Offsets of the fields in objects. */
#define BLOCK_INPUT      8u
#define BLOCK_OUTPUT     16u
#define INPUT_BOUNDS     8u
#define BOUNDS_POSTPONED 8u
#define BOUNDS_CAPACITY  24u
#define BOUNDS_COUNT     28u
#define MAP_INDEX        8u
#define INDEX_COUNT      24u
#define INDEX_FREE       28u
#define OUTPUT_TASK      8u
#define OUTPUT_RESERVED  16u
#define OUTPUT_TARGETS   24u
#define OUTPUT_OFFERS    32u
#define TARGETS_FIRST    8u
#define LINK_TARGET      8u
#define LINK_NEXT        16u
#define SEND_TASK        8u
#define SEND_TARGET      16u

static struct fake_tasks tasks;
static uint64_t feed_type, block_type, input_type, bounds_type, map_type, index_type, output_type,
	registry_type, link_type, filter_type, send_type;

static void make_types(void)
{
	static const char flow[] = "System.Threading.Tasks.Dataflow",
			  inner[] = "System.Threading.Tasks.Dataflow.Internal";
	const struct fake_field block[] = { FAKE_REFERENCE("_target", 0),
					    FAKE_REFERENCE("_source", 8), FAKE_END };
	const struct fake_field input[] = { FAKE_REFERENCE("_boundingState", 0), FAKE_END };
	const struct fake_field bounds[] = { FAKE_REFERENCE("PostponedMessages", 0),
					     FAKE_NUMBER("BoundedCapacity", 16),
					     FAKE_NUMBER("CurrentCount", 20), FAKE_END };
	const struct fake_field map[] = { FAKE_REFERENCE("_mapKeyToIndex", 0), FAKE_END };
	const struct fake_field index[] = { FAKE_NUMBER("_count", 16),
					    FAKE_NUMBER("_freeCount", 20), FAKE_END };
	const struct fake_field output[] = { FAKE_REFERENCE("_taskForOutputProcessing", 0),
					     FAKE_REFERENCE("_nextMessageReservedFor", 8),
					     FAKE_REFERENCE("_targetRegistry", 16),
					     FAKE_NUMBER("_enableOffering", 24), FAKE_END };
	const struct fake_field registry[] = { FAKE_REFERENCE("_firstTarget", 0), FAKE_END };
	const struct fake_field link[] = { FAKE_REFERENCE("Target", 0), FAKE_REFERENCE("Next", 8),
					   FAKE_END };
	const struct fake_field filter[] = { FAKE_REFERENCE("_target", 0), FAKE_END };
	const struct fake_field send[] = { FAKE_REFERENCE("_task", 0), FAKE_REFERENCE("_target", 8),
					   FAKE_END };
	block_type =
		fake_class_of(&tasks, flow, "TransformBlock<System.Int32, System.Int32>", block, 2);
	input_type = fake_class_of(&tasks, inner, "TargetCore<System.Int32>", input, 2);
	bounds_type =
		fake_class_of(&tasks, inner, "BoundingStateWithPostponed<System.Int32>", bounds, 2);
	map_type = fake_class_of(&tasks, inner, "QueuedMap<System.Object, System.Int32>", map, 2);
	index_type = fake_class_of(&tasks, "System.Collections.Generic",
				   "Dictionary<System.Object, System.Int32>", index, 2);
	output_type = fake_class_of(&tasks, inner, "SourceCore<System.Int32>", output, 3);
	registry_type = fake_class_of(&tasks, inner, "TargetRegistry<System.Int32>", registry, 2);
	link_type = fake_class_of(&tasks, inner, "TargetRegistry<System.Int32>+LinkedTargetInfo",
				  link, 2);
	filter_type = fake_class_of(
		&tasks, flow, "DataflowBlock+FilteredLinkPropagator<System.Int32>", filter, 2);
	send_type =
		fake_class_of(&tasks, flow, "DataflowBlock+SendAsyncSource<System.Int32>", send, 2);
}

/* A block with so many items, whose output was offered to all its links. */
static uint64_t make_block(uint32_t count)
{
	uint64_t block = fake_object(tasks.fake, block_type, 0);
	uint64_t input = fake_object(tasks.fake, input_type, 0);
	uint64_t bounds = fake_object(tasks.fake, bounds_type, 0);
	uint64_t map = fake_object(tasks.fake, map_type, 0);
	uint64_t output = fake_object(tasks.fake, output_type, 0);
	fake_refer(&tasks, block, BLOCK_INPUT, input);
	fake_refer(&tasks, block, BLOCK_OUTPUT, output);
	fake_refer(&tasks, input, INPUT_BOUNDS, bounds);
	fake_refer(&tasks, bounds, BOUNDS_POSTPONED, map);
	fake_refer(&tasks, map, MAP_INDEX, fake_object(tasks.fake, index_type, 0));
	fake_poke_u32(&tasks.fake->memory, bounds + BOUNDS_CAPACITY, CAPACITY);
	fake_poke_u32(&tasks.fake->memory, bounds + BOUNDS_COUNT, count);
	fake_refer(&tasks, output, OUTPUT_TARGETS, fake_object(tasks.fake, registry_type, 0));
	return block;
}

/* One more link of a block, in front of the others. */
static void link_to(uint64_t block, uint64_t target, bool has_filter)
{
	uint64_t registry =
		fake_follow(&tasks, fake_follow(&tasks, block, BLOCK_OUTPUT), OUTPUT_TARGETS);
	uint64_t link = fake_object(tasks.fake, link_type, 0);
	fake_refer(&tasks, link, LINK_TARGET,
		   has_filter ? fake_one(&tasks, filter_type, target) : target);
	fake_refer(&tasks, link, LINK_NEXT, fake_follow(&tasks, registry, TARGETS_FIRST));
	fake_refer(&tasks, registry, TARGETS_FIRST, link);
}

static void send_to(uint64_t block)
{
	for (unsigned int i = 0; i < SENDERS; i++) {
		uint64_t task = fake_task(&tasks, tasks.task_type);
		uint64_t source = fake_object(tasks.fake, send_type, 0);
		fake_refer(&tasks, source, SEND_TASK, task);
		fake_refer(&tasks, source, SEND_TARGET, block);
		(void)fake_box(&tasks, feed_type, 0, task);
	}
}

static void set_up(void)
{
	tasks = fake_tasks_create();
	feed_type =
		fake_box_type(&tasks, "Shop+<Feed>d__1", "B+AsyncStateMachineBox<Shop+<Feed>d__1>");
	make_types();
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

static struct wait_things find_things(void)
{
	struct waits *waits;
	struct wait_things things;
	uint32_t ends[32];
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	CU_ASSERT_FATAL(wait_nodes(waits) <= 32);
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	wait_blocks_find(waits, &things);
	waits_destroy(waits);
	return things;
}

/* Calls wait to send to @p first, and what becomes of the items of @p last is known; 0: not. */
static void check_block(uint64_t first, uint64_t last, enum block_end end)
{
	struct wait_things things = find_things();
	ASSERT_UINT_FATAL(things.rows_count, 1);
	ASSERT_UINT(things.rows[0].kind, AWAIT_SEND);
	ASSERT_UINT(things.rows[0].address, first);
	ASSERT_UINT(things.rows[0].methods, SENDERS);
	ASSERT_UINT(things.rows[0].block, last);
	ASSERT_UINT(things.rows[0].block_end, end);
	CU_ASSERT_EQUAL(things.rows[0].may_change, end != BLOCK_HAS_NO_LINK || first != last);
	CU_ASSERT_EQUAL(wait_thing_is_sure(&things.rows[0]), end == BLOCK_REFUSED);
}

/* A full block with a filter in front of one that has room, and those who send to it. */
static uint64_t make_refused(void)
{
	uint64_t block = make_block(CAPACITY);
	link_to(block, make_block(0), true);
	send_to(block);
	return block;
}

TEST(an_item_that_all_filters_refuse_stays)
{
	uint64_t block = make_refused();
	link_to(block, make_block(CAPACITY - 1), true);
	check_block(block, block, BLOCK_REFUSED);
}

TEST(a_link_without_a_filter_takes_the_item)
{
	uint64_t block = make_refused();
	link_to(block, make_block(0), false);
	check_block(block, 0, BLOCK_GOES_ON);
}

/* The healthy one: a slow stage, which has work. */
TEST(a_full_target_takes_the_item_later)
{
	uint64_t block = make_block(CAPACITY), slow = make_block(CAPACITY);
	link_to(block, slow, true);
	send_to(block);
	fake_refer(&tasks, slow, BLOCK_OUTPUT, 0);
	check_block(block, 0, BLOCK_GOES_ON);
}

TEST(a_target_that_has_postponed_something_may_take_it)
{
	uint64_t block = make_block(CAPACITY), target = make_block(0);
	uint64_t bounds =
		fake_follow(&tasks, fake_follow(&tasks, target, BLOCK_INPUT), INPUT_BOUNDS);
	uint64_t index =
		fake_follow(&tasks, fake_follow(&tasks, bounds, BOUNDS_POSTPONED), MAP_INDEX);
	fake_poke_u32(&tasks.fake->memory, index + INDEX_COUNT, 1);
	link_to(block, target, true);
	send_to(block);
	check_block(block, 0, BLOCK_GOES_ON);
}

TEST(what_was_postponed_once_does_not_count)
{
	uint64_t block = make_block(CAPACITY), target = make_block(0);
	uint64_t bounds =
		fake_follow(&tasks, fake_follow(&tasks, target, BLOCK_INPUT), INPUT_BOUNDS);
	uint64_t index =
		fake_follow(&tasks, fake_follow(&tasks, bounds, BOUNDS_POSTPONED), MAP_INDEX);
	fake_poke_u32(&tasks.fake->memory, index + INDEX_COUNT, 2);
	fake_poke_u32(&tasks.fake->memory, index + INDEX_FREE, 2);
	link_to(block, target, true);
	send_to(block);
	check_block(block, block, BLOCK_REFUSED);
}

TEST(an_output_that_still_offers_goes_on)
{
	uint64_t block = make_refused();
	fake_poke_u32(&tasks.fake->memory, fake_follow(&tasks, block, BLOCK_OUTPUT) + OUTPUT_OFFERS,
		      1);
	check_block(block, 0, BLOCK_GOES_ON);
}

TEST(a_task_that_offers_goes_on)
{
	uint64_t block = make_refused();
	fake_refer(&tasks, fake_follow(&tasks, block, BLOCK_OUTPUT), OUTPUT_TASK,
		   fake_task(&tasks, tasks.task_type));
	check_block(block, 0, BLOCK_GOES_ON);
}

TEST(a_reserved_item_is_taken)
{
	uint64_t block = make_refused();
	fake_refer(&tasks, fake_follow(&tasks, block, BLOCK_OUTPUT), OUTPUT_RESERVED, block);
	check_block(block, 0, BLOCK_GOES_ON);
}

TEST(a_block_with_room_wakes_its_senders)
{
	uint64_t block = make_refused();
	uint64_t bounds =
		fake_follow(&tasks, fake_follow(&tasks, block, BLOCK_INPUT), INPUT_BOUNDS);
	fake_poke_u32(&tasks.fake->memory, bounds + BOUNDS_COUNT, CAPACITY - 1);
	check_block(block, 0, BLOCK_GOES_ON);
}

TEST(full_blocks_are_followed_to_the_last_one)
{
	uint64_t first = make_block(CAPACITY), last = make_block(CAPACITY);
	link_to(last, make_block(0), true);
	link_to(first, last, false);
	send_to(first);
	check_block(first, last, BLOCK_REFUSED);
}

TEST(two_full_targets_are_not_followed)
{
	uint64_t block = make_refused();
	link_to(block, make_block(CAPACITY), false);
	link_to(block, make_block(CAPACITY), false);
	check_block(block, 0, BLOCK_GOES_ON);
}

TEST(who_asks_a_block_without_a_link_is_looked_for)
{
	uint64_t block = make_block(CAPACITY);
	send_to(block);
	check_block(block, block, BLOCK_HAS_NO_LINK);
}

TEST(a_ring_has_no_last_block)
{
	uint64_t first = make_block(CAPACITY), second = make_block(CAPACITY);
	link_to(first, second, false);
	link_to(second, first, false);
	send_to(first);
	check_block(first, 0, BLOCK_GOES_ON);
}

TEST(a_list_of_links_without_an_end_is_not_followed_for_ever)
{
	uint64_t block = make_refused();
	uint64_t link = fake_follow(
		&tasks,
		fake_follow(&tasks, fake_follow(&tasks, block, BLOCK_OUTPUT), OUTPUT_TARGETS),
		TARGETS_FIRST);
	fake_refer(&tasks, link, LINK_NEXT, link);
	check_block(block, 0, BLOCK_GOES_ON);
}

TEST(a_block_is_told_once)
{
	uint64_t last = make_refused(), first = make_block(CAPACITY);
	link_to(first, last, false);
	send_to(first);
	struct wait_things things = find_things();
	ASSERT_UINT_FATAL(things.rows_count, 2);
	ASSERT_UINT(things.rows[0].block, last);
	ASSERT_UINT(things.rows[1].block, last);
	CU_ASSERT(!things.rows[0].stage.is_behind);
	CU_ASSERT(things.rows[1].stage.is_behind);
}

SUITE(.name = "wait_blocks", .set_up = set_up, .tear_down = tear_down)
