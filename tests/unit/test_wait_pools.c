/* SPDX-License-Identifier: MIT */
/* Calls that have all objects of a pool in a channel, and wait for one more. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_pools.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "util/job.h"

#define ITEMS   3u
#define WAITERS 5u
/* Offsets of the fields in an object of the channel and of its queue. */
#define CHANNEL_ITEMS    8u
#define CHANNEL_CAPACITY 16u
#define QUEUE_ARRAY      8u
#define QUEUE_SIZE       20u

static struct fake_tasks tasks;
static uint64_t rent_type, price_type, order_type, item_type, channel, queue;
static uint64_t items[ITEMS], orders[ITEMS];

static uint64_t make_class(const char *space, const char *name, const struct fake_field *fields)
{
	const struct gc_series series = { .size = 8 - 32, .offset = 8 };
	return fake_class(tasks.types, &(struct fake_class){ .space = space,
							     .name = name,
							     .fields = fields,
							     .type = { .base_size = 32,
								       .series = &series,
								       .series_count = 1 } });
}

static void make_channel(void)
{
	const struct fake_field channel_fields[] = {
		{ .name = "_items", .element = ELEMENT_CLASS },
		{ .name = "_bufferedCapacity", .element = ELEMENT_I4, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field queue_fields[] = {
		{ .name = "_array", .element = ELEMENT_CLASS },
		{ .name = "_head", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_size", .element = ELEMENT_I4, .offset = 12 },
		{ .name = NULL }
	};
	const struct fake_field item_fields[] = { { .name = NULL } };
	item_type = fake_class(tasks.types, &(struct fake_class){ .space = "Shop",
								  .name = "Link",
								  .fields = item_fields,
								  .type = { .base_size = 24 } });
	uint64_t channel_type = make_class("System.Threading.Channels", "BoundedChannel<Shop.Link>",
					   channel_fields);
	uint64_t queue_type =
		make_class("System.Collections.Generic", "Deque<Shop.Link>", queue_fields);
	queue = fake_object(tasks.fake, queue_type, 0);
	channel = fake_object(tasks.fake, channel_type, 0);
	fake_poke_u64(&tasks.fake->memory, queue + QUEUE_ARRAY,
		      fake_object(tasks.fake, fake_array_type(tasks.fake, item_type), ITEMS));
	fake_poke_u64(&tasks.fake->memory, channel + CHANNEL_ITEMS, queue);
	fake_poke_u32(&tasks.fake->memory, channel + CHANNEL_CAPACITY, ITEMS);
}

/* A call of Rent, which waits for the channel (it stands for it: see find_pools()), and those around it. */
static uint64_t make_rent(void)
{
	return fake_box(&tasks, rent_type, 0, channel);
}

static void set_local(uint64_t box, uint64_t value)
{
	fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_LOCAL, value);
}

/* Calls that wait for their first item, and for each item one that has it and wants a second one. */
static void set_up(void)
{
	tasks = fake_tasks_create();
	rent_type =
		fake_box_type(&tasks, "Shop+<Rent>d__1", "B+AsyncStateMachineBox<Shop+<Rent>d__1>");
	price_type = fake_box_type(&tasks, "Shop+<Price>d__2",
				   "B+AsyncStateMachineBox<Shop+<Price>d__2>");
	order_type = fake_box_type(&tasks, "Shop+<Order>d__3",
				   "B+AsyncStateMachineBox<Shop+<Order>d__3>");
	make_channel();
	for (unsigned int i = 0; i < WAITERS; i++)
		(void)fake_box(&tasks, order_type, 0, make_rent());
	for (unsigned int i = 0; i < ITEMS; i++) {
		items[i] = fake_object(tasks.fake, item_type, 0);
		orders[i] = fake_box(&tasks, order_type, 2,
				     fake_box(&tasks, price_type, 0, make_rent()));
		set_local(orders[i], fake_one(&tasks, tasks.owner_type, items[i]));
	}
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

/* How many items does a pool have that hangs?  0: none does. */
static void check_pool(uint64_t expected, struct job *job, enum hd_status status)
{
	struct waits *waits;
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	struct wait_things things = { .rows = { { .address = channel, .kind = AWAIT_READ } },
				      .rows_count = 1 };
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		struct async_node *node = &waits->async->rows[i];
		if (node->object != channel)
			continue;
		node->wait = AWAIT_READ;
		things.rows[0].methods++;
	}
	ASSERT_UINT(wait_pools_find(waits, job, &things, NULL), status);
	ASSERT_UINT(things.rows[0].pool_items, expected);
	ASSERT_UINT(things.rows[0].holders, expected);
	if (expected) {
		CU_ASSERT_STRING_EQUAL(
			async_node_name(waits->async, &waits->async->rows[things.rows[0].holder]),
			"Shop.Order");
	}
	waits_destroy(waits);
}

TEST(calls_that_have_all_items_and_wait_for_one_more_hang)
{
	check_pool(ITEMS, NULL, HD_OK);
}

TEST(a_local_may_be_the_item_itself)
{
	set_local(orders[0], items[0]);
	check_pool(ITEMS, NULL, HD_OK);
}

TEST(a_channel_with_an_item_is_not_empty)
{
	fake_poke_u32(&tasks.fake->memory, queue + QUEUE_SIZE, 1);
	check_pool(0, NULL, HD_OK);
}

TEST(a_larger_pool_has_items_elsewhere)
{
	fake_poke_u32(&tasks.fake->memory, channel + CHANNEL_CAPACITY, ITEMS + 1);
	check_pool(0, NULL, HD_OK);
}

/* It is only overloaded: one call that has an item waits for something else. */
TEST(a_call_that_waits_for_something_else_gives_its_item_back)
{
	uint64_t box = fake_box(&tasks, order_type, 3, fake_task(&tasks, tasks.delay_type));
	set_local(orders[0], 0);
	set_local(box, items[0]);
	check_pool(0, NULL, HD_OK);
}

/* The local is what is left of an item that was given back, and another call has. */
TEST(an_item_that_two_calls_refer_to_may_be_given_back)
{
	uint64_t box = fake_box(&tasks, price_type, 1, fake_task(&tasks, tasks.delay_type));
	set_local(box, items[1]);
	check_pool(0, NULL, HD_OK);
}

TEST(two_calls_with_one_item_have_not_all)
{
	set_local(orders[0], items[1]);
	check_pool(0, NULL, HD_OK);
}

/* Readers of a queue of work get new items. */
TEST(items_that_nobody_has_any_more_are_made_anew)
{
	(void)fake_object(tasks.fake, item_type, 0);
	check_pool(0, NULL, HD_OK);
}

/* The pool has an object of that type for itself, which its calls refer to. */
TEST(an_object_that_all_who_wait_share_is_none_of_the_items)
{
	uint64_t pool = fake_one(&tasks, tasks.owner_type, fake_object(tasks.fake, item_type, 0));
	for (unsigned int i = 0; i < ITEMS; i++)
		fake_poke_u64(&tasks.fake->memory, orders[i] + FAKE_BOX_THIS, pool);
	check_pool(ITEMS, NULL, HD_OK);
}

TEST(an_object_that_others_share_may_be_an_item)
{
	uint64_t item = fake_object(tasks.fake, item_type, 0);
	uint64_t pool = fake_one(&tasks, tasks.owner_type, item);
	for (unsigned int i = 0; i < ITEMS; i++)
		fake_poke_u64(&tasks.fake->memory, orders[i] + FAKE_BOX_THIS, pool);
	set_local(fake_box(&tasks, price_type, 1, fake_task(&tasks, tasks.delay_type)), item);
	check_pool(0, NULL, HD_OK);
}

TEST(a_field_of_this_is_not_rented)
{
	set_local(orders[2], 0);
	fake_poke_u64(&tasks.fake->memory, orders[2] + FAKE_BOX_THIS,
		      fake_one(&tasks, tasks.owner_type, items[2]));
	check_pool(0, NULL, HD_OK);
}

/* All read at one await: they loop, and have no item of a pool. */
TEST(readers_that_stand_at_one_await_have_nothing)
{
	for (unsigned int i = 0; i < ITEMS; i++)
		fake_poke_u32(&tasks.fake->memory, orders[i] + 24, 0);
	check_pool(0, NULL, HD_OK);
}

static int is_cancelled(void *arg)
{
	(void)arg;
	return 1;
}

TEST(a_search_can_be_cancelled)
{
	check_pool(0, &(struct job){ .cancelled = is_cancelled }, HD_ERR_CANCELLED);
}

SUITE(.name = "wait_pools", .set_up = set_up, .tear_down = tear_down)
