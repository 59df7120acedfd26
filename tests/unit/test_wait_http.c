/* SPDX-License-Identifier: MIT */
/* Calls of HttpClient that wait for a connection. */
#include "analysis/async/async_graph.h"
#include "analysis/async/async_wait.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "util/text.h"

#define STRUCT_FLAGS  0x00040000u
#define STRUCT_ARRAY  0x000a0000u
#define NAME(field)   .name = (field), .element = ELEMENT_CLASS
#define NUMBER(field) .name = (field), .element = ELEMENT_I4
/* Offsets of the fields in an object of the pool. */
#define POOL_ARRAY   8u
#define POOL_SIZE    20u
#define POOL_ARRAY_2 24u
#define POOL_MAX     40u
#define POOL_COUNT   44u
#define POOL_PENDING 48u
#define POOL_COUNT_2 52u
/* Offsets in an array of requests, and its size. */
#define ARRAY_SLOTS 16u
#define SLOT_WAITER 8u
#define SLOT_SIZE   16u
#define SLOTS       2u
#define UNLIMITED   0x7fffffffu

static struct fake_tasks tasks;
static uint64_t pool, slots_type, send_type;

static void poke_u32(uint64_t address, uint32_t value)
{
	fake_poke_u32(&tasks.fake->memory, address, value);
}

static uint64_t make_struct(const char *name, const struct fake_field *fields)
{
	return fake_class(tasks.types, &(struct fake_class){ .name = name,
							     .fields = fields,
							     .type = { .base_size = 32,
								       .flags = STRUCT_FLAGS } });
}

static void set_up(void)
{
	const struct fake_field item[] = { { NAME("Request") },
					   { NAME("Waiter"), .offset = SLOT_WAITER },
					   { .name = NULL } };
	const struct fake_field queue[] = { { NAME("_array") },
					    { NUMBER("_head"), .offset = 8 },
					    { NUMBER("_size"), .offset = 12 },
					    { .name = NULL } };
	tasks = fake_tasks_create();
	slots_type = fake_type(tasks.fake,
			       &(struct fake_type){ .base_size = 24,
						    .component_size = SLOT_SIZE,
						    .flags = STRUCT_ARRAY,
						    .per_inst = make_struct("QueueItem", item) });
	uint64_t queue_type = make_struct("RequestQueue", queue);
	const struct fake_field fields[] = {
		{ .name = "_http11RequestQueue", .element = ELEMENT_VALUE, .type = queue_type },
		{ .name = "_http2RequestQueue",
		  .element = ELEMENT_VALUE,
		  .type = queue_type,
		  .offset = POOL_ARRAY_2 - 8 },
		{ NUMBER("_maxHttp11Connections"), .offset = POOL_MAX - 8 },
		{ NUMBER("_associatedHttp11ConnectionCount"), .offset = POOL_COUNT - 8 },
		{ NUMBER("_pendingHttp11ConnectionCount"), .offset = POOL_PENDING - 8 },
		{ NUMBER("_associatedHttp2ConnectionCount"), .offset = POOL_COUNT_2 - 8 },
		{ .name = NULL },
	};
	uint64_t type =
		fake_class(tasks.types, &(struct fake_class){ .space = "System.Net.Http",
							      .name = "HttpConnectionPool",
							      .fields = fields,
							      .type = { .base_size = 64 } });
	pool = fake_object(tasks.fake, type, 0);
	send_type =
		fake_box_type(&tasks, "Shop+<Send>d__1", "B+AsyncStateMachineBox<Shop+<Send>d__1>");
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

/* So many calls that wait, in a queue whose head is its last place. */
static void make_queue(uint64_t array_at, unsigned int count)
{
	uint64_t array = fake_object(tasks.fake, slots_type, SLOTS);
	fake_poke_u64(&tasks.fake->memory, pool + array_at, array);
	poke_u32(pool + array_at + 8, SLOTS - 1);
	poke_u32(pool + array_at + 12, count);
	for (unsigned int i = 0; i < count; i++) {
		uint64_t task = fake_task(&tasks, tasks.task_type);
		uint64_t slot = array + ARRAY_SLOTS + (SLOTS - 1 + i) % SLOTS * SLOT_SIZE;
		fake_poke_u64(&tasks.fake->memory, slot + SLOT_WAITER,
			      fake_one(&tasks, tasks.source_type, task));
		(void)fake_box(&tasks, send_type, 0, task);
	}
}

static void check_waits(unsigned int count, enum async_wait wait, const char *state)
{
	struct async_graph graph = { 0 };
	fake_types_attach(tasks.types);
	struct heap *heap = fake_heap(tasks.fake);
	struct members *members;
	ASSERT_UINT_FATAL(members_create(heap, &members, NULL), HD_OK);
	ASSERT_UINT_FATAL(async_graph_create(heap, members, false, NULL, &graph, NULL), HD_OK);
	ASSERT_UINT_FATAL(graph.rows_count, count);
	for (unsigned int i = 0; i < count; i++) {
		struct text text = { 0 };
		async_wait_append(&text, &graph, &graph.rows[i]);
		ASSERT_UINT(graph.rows[i].wait, wait);
		CU_ASSERT_STRING_EQUAL(text.bytes ? text.bytes : "", state);
		text_deinit(&text);
	}
	CU_ASSERT_EQUAL(graph.rows[0].object == pool, wait != AWAIT_SOURCE);
	async_graph_deinit(&graph);
	members_destroy(members);
}

TEST(calls_in_the_queue_wait_for_a_connection_of_the_pool)
{
	make_queue(POOL_ARRAY, SLOTS);
	poke_u32(pool + POOL_MAX, 4);
	poke_u32(pool + POOL_COUNT, 4);
	check_waits(SLOTS, AWAIT_HTTP, "to ?, 4 of 4 in use");
}

TEST(a_pool_without_a_limit_makes_connections)
{
	make_queue(POOL_ARRAY, 1);
	poke_u32(pool + POOL_MAX, UNLIMITED);
	poke_u32(pool + POOL_COUNT, 1);
	poke_u32(pool + POOL_PENDING, 1);
	check_waits(1, AWAIT_HTTP, "to ?, 1 in use or being made");
}

TEST(the_other_queue_is_for_streams)
{
	make_queue(POOL_ARRAY_2, 1);
	poke_u32(pool + POOL_COUNT_2, 1);
	check_waits(1, AWAIT_HTTP2, "to ?, 1 connection");
}

TEST(a_queue_that_is_larger_than_its_array_is_not_read)
{
	make_queue(POOL_ARRAY, 1);
	poke_u32(pool + POOL_SIZE, UNLIMITED);
	check_waits(1, AWAIT_SOURCE, "");
}

SUITE(.name = "wait_http", .set_up = set_up, .tear_down = tear_down)
