/* SPDX-License-Identifier: MIT */
#include "analysis/requests/http_client.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/alloc.h"

#define STRUCT_FLAGS  0x00040000u
#define STRUCT_ARRAY  0x000a0000u
#define NAME(field)   .name = (field), .element = ELEMENT_CLASS
#define NUMBER(field) .name = (field), .element = ELEMENT_I4
#define SPACE         "System.Net.Http"
/* Task.m_stateFlags of a TaskCompletionSource's task that waits, and of one that has its result. */
#define WAITS 0x02000400u
#define RAN   0x01000400u

static struct fake_clr *fake;
static struct fake_types *types;
static struct members *members;
static struct http_client client;
static uint64_t request_type, response_type, connection_type, connection2_type, stream_type,
	pool_type, slots_type, waiter_type, task_type;

static uint64_t make_class(const char *space, const char *name, const struct fake_field *fields,
			   uint32_t base_size)
{
	return fake_class(types, &(struct fake_class){ .space = space,
						       .name = name,
						       .fields = fields,
						       .type = { .base_size = base_size } });
}

static uint64_t make_struct(const char *name, const struct fake_field *fields, uint32_t base_size)
{
	return fake_class(types, &(struct fake_class){ .name = name,
						       .fields = fields,
						       .type = { .base_size = base_size,
								 .flags = STRUCT_FLAGS } });
}

static void make_queue_types(void)
{
	const struct fake_field task[] = { { NUMBER("m_stateFlags") }, { .name = NULL } };
	const struct fake_field waiter[] = { { NAME("_task") }, { .name = NULL } };
	const struct fake_field item[] = { { NAME("Request") },
					   { NAME("Waiter"), .offset = 8 },
					   { .name = NULL } };
	const struct fake_field queue[] = { { NAME("_array") },
					    { NUMBER("_head"), .offset = 8 },
					    { NUMBER("_size"), .offset = 12 },
					    { .name = NULL } };
	task_type = make_class("System.Threading.Tasks", "Task", task, 24);
	waiter_type = make_class(SPACE, "Waiter", waiter, 24);
	uint64_t item_type = make_struct("QueueItem", item, 32);
	uint64_t queue_type = make_struct("RequestQueue", queue, 32);
	slots_type = fake_type(fake, &(struct fake_type){ .base_size = 24,
							  .component_size = 16,
							  .flags = STRUCT_ARRAY,
							  .per_inst = item_type });
	const struct fake_field pool[] = {
		{ .name = "_http11RequestQueue", .element = ELEMENT_VALUE, .type = queue_type },
		{ .name = "_http2RequestQueue",
		  .element = ELEMENT_VALUE,
		  .type = queue_type,
		  .offset = 16 },
		{ NUMBER("_maxHttp11Connections"), .offset = 32 },
		{ .name = NULL },
	};
	pool_type = make_class(SPACE, "HttpConnectionPool", pool, 56);
}

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	make_queue_types();
	const struct fake_field response[] = { { NAME("_requestMessage") },
					       { NUMBER("_statusCode"), .offset = 8 },
					       { .name = NULL } };
	const struct fake_field connection[] = {
		{ NAME("_pool") },
		{ NAME("_currentRequest"), .offset = 8 },
		{ .name = "_disposed", .element = ELEMENT_BOOLEAN, .offset = 16 },
		{ .name = NULL }
	};
	const struct fake_field connection2[] = { { NAME("_pool") }, { .name = NULL } };
	const struct fake_field stream[] = {
		{ NAME("_connection") },
		{ NAME("_request"), .offset = 8 },
		{ NUMBER("_requestCompletionState"), .offset = 16 },
		{ NUMBER("_responseCompletionState"), .offset = 20 },
		{ .name = "_responseHeadersReceived", .element = ELEMENT_BOOLEAN, .offset = 24 },
		{ .name = NULL },
	};
	request_type = make_class(SPACE, "HttpRequestMessage", NULL, 24);
	response_type = make_class(SPACE, "HttpResponseMessage", response, 32);
	connection_type = make_class(SPACE, "HttpConnection", connection, 40);
	connection2_type = make_class(SPACE, "Http2Connection", connection2, 24);
	stream_type = make_class(SPACE, "Http2Connection+Http2Stream", stream, 48);
	fake_types_attach(types);
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
}

static void tear_down(void)
{
	http_client_deinit(&client);
	members_destroy(members);
	members = NULL;
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static uint64_t make_request(void)
{
	return fake_object(fake, request_type, 0);
}

static void make_response(uint64_t request, uint32_t status)
{
	uint64_t response = fake_object(fake, response_type, 0);
	fake_poke_u64(&fake->memory, response + 8, request);
	fake_poke_u32(&fake->memory, response + 16, status);
}

static uint64_t make_connection(uint64_t pool, uint64_t request)
{
	uint64_t connection = fake_object(fake, connection_type, 0);
	fake_poke_u64(&fake->memory, connection + 8, pool);
	fake_poke_u64(&fake->memory, connection + 16, request);
	return connection;
}

static void make_stream(uint64_t connection, uint64_t request, uint32_t sent, uint32_t received,
			bool has_head)
{
	uint64_t stream = fake_object(fake, stream_type, 0);
	fake_poke_u64(&fake->memory, stream + 8, connection);
	fake_poke_u64(&fake->memory, stream + 16, request);
	fake_poke_u32(&fake->memory, stream + 24, sent);
	fake_poke_u32(&fake->memory, stream + 28, received);
	fake_poke_u32(&fake->memory, stream + 32, has_head);
}

static uint64_t make_waiter(uint32_t flags)
{
	uint64_t task = fake_object(fake, task_type, 0), waiter = fake_object(fake, waiter_type, 0);
	fake_poke_u32(&fake->memory, task + 8, flags);
	fake_poke_u64(&fake->memory, waiter + 8, task);
	return waiter;
}

/* A pool whose queue number @p which is a ring of three slots that begins at @p head. */
static uint64_t make_pool(unsigned int which, const uint64_t *requests, uint32_t count,
			  uint32_t head, uint32_t flags)
{
	uint64_t waiters[3] = { make_waiter(WAITS), make_waiter(flags), make_waiter(WAITS) };
	uint64_t slots = fake_object(fake, slots_type, 3), pool = fake_object(fake, pool_type, 0);
	for (uint32_t i = 0; i < count && i < 3; i++) {
		uint64_t at = slots + 16 + 16ull * ((head + i) % 3);
		fake_poke_u64(&fake->memory, at, requests[i]);
		fake_poke_u64(&fake->memory, at + 8, waiters[i]);
	}
	fake_poke_u64(&fake->memory, pool + 8 + 16 * which, slots);
	fake_poke_u32(&fake->memory, pool + 16 + 16 * which, head);
	fake_poke_u32(&fake->memory, pool + 20 + 16 * which, count);
	fake_poke_u32(&fake->memory, pool + 40, 4);
	return pool;
}

static void read_client(void)
{
	struct heap *heap = fake_heap(fake);
	ASSERT_UINT(members_create(heap, &members, NULL), HD_OK);
	ASSERT_UINT(http_client_read(heap, members, NULL, &client, NULL), HD_OK);
}

static const struct http_request *row_of(uint64_t address)
{
	for (size_t i = 0; i < client.rows_count; i++) {
		if (client.rows[i].object.address == address)
			return &client.rows[i];
	}
	return NULL;
}

static void check_row(uint64_t address, enum http_state state, uint64_t connection, uint64_t status)
{
	const struct http_request *row = row_of(address);
	REQUIRE(row);
	ASSERT_UINT(row->state, state);
	ASSERT_UINT(row->connection, connection);
	ASSERT_UINT(row->status, status);
	CU_ASSERT_EQUAL(row->response != 0, status != 0);
}

TEST(a_request_is_in_flight_as_long_as_a_connection_has_it)
{
	uint64_t pool = make_pool(0, NULL, 0, 0, WAITS);
	uint64_t over = make_request(), sent = make_request(), answered = make_request();
	make_response(over, 404);
	make_response(answered, 200);
	uint64_t first = make_connection(pool, sent), second = make_connection(pool, answered);
	(void)make_connection(pool, 0);
	read_client();
	ASSERT_UINT(client.rows_count, 3);
	check_row(over, HTTP_OUTSIDE, 0, 404);
	check_row(sent, HTTP_IN_FLIGHT, first, 0);
	check_row(answered, HTTP_IN_FLIGHT, second, 200);
	CU_ASSERT_FATAL(client.pools_count == 1);
	ASSERT_UINT(client.pools[0].in_flight, 2);
	ASSERT_UINT(client.pools[0].queued, 0);
	ASSERT_UINT(client.pools[0].numbers[HTTP_POOL_MAX], 4);
	ASSERT_UINT(client.pools[0].known, 1u << HTTP_POOL_MAX);
	CU_ASSERT(!client.is_broken);
}

TEST(a_request_of_a_closed_connection_is_not_in_flight)
{
	uint64_t pool = make_pool(0, NULL, 0, 0, WAITS), cancelled = make_request();
	uint64_t again = make_request(), closed = make_connection(pool, cancelled);
	fake_poke_u32(&fake->memory, closed + 24, 1);
	/* This one was sent again, by another connection. */
	fake_poke_u32(&fake->memory, make_connection(pool, again) + 24, 1);
	uint64_t other = make_connection(pool, again);
	read_client();
	check_row(cancelled, HTTP_OUTSIDE, 0, 0);
	check_row(again, HTTP_IN_FLIGHT, other, 0);
	CU_ASSERT_FATAL(client.pools_count == 1);
	ASSERT_UINT(client.pools[0].in_flight, 1);
}

/* It makes the response, of status 200, before it has got anything. */
TEST(a_stream_is_in_flight_until_both_sides_are_complete)
{
	uint64_t pool = make_pool(0, NULL, 0, 0, WAITS);
	uint64_t connection = fake_object(fake, connection2_type, 0), requests[4];
	fake_poke_u64(&fake->memory, connection + 8, pool);
	for (size_t i = 0; i < 4; i++) {
		requests[i] = make_request();
		make_response(requests[i], 200);
	}
	make_stream(connection, requests[0], 1, 0, false);
	make_stream(connection, requests[1], 1, 0, true);
	make_stream(connection, requests[2], 0, 1, true);
	make_stream(connection, requests[3], 1, 2, true);
	read_client();
	check_row(requests[0], HTTP_IN_FLIGHT, connection, 0);
	check_row(requests[1], HTTP_IN_FLIGHT, connection, 200);
	check_row(requests[2], HTTP_IN_FLIGHT, connection, 200);
	check_row(requests[3], HTTP_OUTSIDE, 0, 200);
	CU_ASSERT_FATAL(client.pools_count == 1);
	ASSERT_UINT(client.pools[0].in_flight, 3);
}

TEST(the_queue_of_a_pool_is_a_ring)
{
	uint64_t requests[3] = { make_request(), make_request(), make_request() };
	uint64_t later[1] = { make_request() };
	uint64_t pool = make_pool(0, requests, 3, 2, RAN), other = make_pool(1, later, 1, 0, WAITS);
	/* This one got a connection while its entry is still there, that one without being told. */
	uint64_t connection = make_connection(pool, requests[2]);
	read_client();
	check_row(requests[0], HTTP_QUEUED, 0, 0);
	check_row(requests[1], HTTP_OUTSIDE, 0, 0);
	check_row(requests[2], HTTP_IN_FLIGHT, connection, 0);
	check_row(later[0], HTTP_QUEUED, 0, 0);
	const struct http_pool *found = http_pool_at(&client, pool);
	REQUIRE(found);
	ASSERT_UINT(found->queued, 1);
	ASSERT_UINT(found->in_flight, 1);
	found = http_pool_at(&client, other);
	REQUIRE(found);
	ASSERT_UINT(found->queued, 0);
	ASSERT_UINT(found->queued_2, 1);
	CU_ASSERT_PTR_NULL(http_pool_at(&client, pool + 8));
	CU_ASSERT(!client.is_broken);
}

TEST(a_queue_that_claims_more_than_its_array_has_is_broken)
{
	uint64_t requests[3] = { make_request(), make_request(), make_request() };
	(void)make_pool(0, requests, 4, 0, WAITS);
	(void)make_pool(1, requests, 2, 3, WAITS); /* its head is outside */
	read_client();
	CU_ASSERT(client.is_broken);
	check_row(requests[0], HTTP_OUTSIDE, 0, 0);
}

/* Many pools may claim one long array: no more slots are looked at than the heap has room for. */
TEST(shared_queues_end)
{
	enum {
		SLOTS = 200,
		POOLS = 40
	};
	uint64_t slots = fake_object(fake, slots_type, SLOTS), request = make_request();
	for (uint32_t i = 0; i < SLOTS; i++)
		fake_poke_u64(&fake->memory, slots + 16 + 16ull * i, request);
	for (uint32_t i = 0; i < POOLS; i++) {
		uint64_t pool = fake_object(fake, pool_type, 0);
		fake_poke_u64(&fake->memory, pool + 8, slots);
		fake_poke_u32(&fake->memory, pool + 20, SLOTS);
	}
	read_client();
	CU_ASSERT(client.is_broken);
	CU_ASSERT(client.facts_count && client.facts_count < (size_t)SLOTS * POOLS);
	check_row(request, HTTP_QUEUED, 0, 0);
}

TEST(exhausted_memory_is_said)
{
	uint64_t requests[3] = { make_request(), make_request(), make_request() };
	uint64_t pool = make_pool(0, requests, 3, 0, WAITS);
	make_response(requests[0], 200);
	(void)make_connection(pool, requests[0]);
	read_client();
	enum hd_status status = HD_ERR_NOMEM;
	bool was_exhausted = false;
	for (uint64_t nth = 1; nth < 500 && status != HD_OK; nth++) {
		http_client_deinit(&client);
		alloc_fail_at(nth);
		status = http_client_read(fake->heap, members, NULL, &client, NULL);
		alloc_fail_at(0);
		was_exhausted |= status == HD_ERR_NOMEM;
	}
	CU_ASSERT(was_exhausted);
	ASSERT_UINT(status, HD_OK);
	ASSERT_UINT(client.rows_count, 3);
}

SUITE(.name = "http client", .set_up = set_up, .tear_down = tear_down)
