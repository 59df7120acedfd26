/* SPDX-License-Identifier: MIT */
/* Calls of HttpClient that wait for a connection. */
#include "analysis/async/async_graph.h"
#include "analysis/async/async_wait.h"
#include "gc/layouts/handle_table.h"
#include "hangs/wait_connections.h"
#include "hangs/wait_urgency.h"
#include "support/assert_more.h"
#include "support/fake_handles.h"
#include "support/fake_sockets.h"
#include "support/suite.h"
#include "util/text.h"

#define HANDLE_TYPES  13u
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
#define POOL_MAKES_2 56u
/* Offsets in a connection, and in a stream of HTTP/2. */
#define CONNECTION_POOL    8u
#define CONNECTION_REQUEST 16u
#define CONNECTION_STREAM  24u
#define STREAM_CONNECTION  8u
#define STREAM_ANSWER      16u
#define STREAM_ASK         20u
/* Offsets in an array of requests, and its size. */
#define ARRAY_SLOTS 16u
#define SLOT_WAITER 8u
#define SLOT_SIZE   16u
#define SLOTS       2u
#define UNLIMITED   0x7fffffffu

static struct fake_tasks tasks;
static uint64_t pool, slots_type, send_type, call_type, connection_type, connection2_type,
	stream_type;
static uint64_t sends[SLOTS]; /* calls that wait in the queue */

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

static void make_connection_types(void)
{
	static const char space[] = "System.Net.Http";
	const struct fake_field connection[] = { FAKE_REFERENCE("_pool", 0),
						 FAKE_REFERENCE("_currentRequest", 8),
						 FAKE_REFERENCE("_stream", 16),
						 FAKE_FLAG("_disposed", 24), FAKE_END };
	const struct fake_field stream[] = { FAKE_REFERENCE("_connection", 0),
					     FAKE_NUMBER("_responseCompletionState", 8),
					     FAKE_NUMBER("_requestCompletionState", 12), FAKE_END };
	connection_type = fake_class_of(&tasks, space, "HttpConnection", connection, 3);
	connection2_type = fake_class_of(&tasks, space, "Http2Connection", connection, 3);
	stream_type = fake_class_of(&tasks, space, "Http2Connection+Http2Stream", stream, 1);
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
		FAKE_FLAG("_pendingHttp2Connection", POOL_MAKES_2 - 8),
		{ .name = NULL },
	};
	uint64_t type =
		fake_class(tasks.types, &(struct fake_class){ .space = "System.Net.Http",
							      .name = "HttpConnectionPool",
							      .fields = fields,
							      .type = { .base_size = 72 } });
	pool = fake_object(tasks.fake, type, 0);
	send_type =
		fake_box_type(&tasks, "Shop+<Send>d__1", "B+AsyncStateMachineBox<Shop+<Send>d__1>");
	call_type =
		fake_box_type(&tasks, "Shop+<Call>d__2", "B+AsyncStateMachineBox<Shop+<Call>d__2>");
	make_connection_types();
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
		sends[i] = fake_box(&tasks, send_type, 0, task);
	}
}

/* A connection with a request. */
static uint64_t make_connection(void)
{
	uint64_t connection = fake_object(tasks.fake, connection_type, 0);
	fake_refer(&tasks, connection, CONNECTION_POOL, pool);
	fake_refer(&tasks, connection, CONNECTION_REQUEST, pool);
	return connection;
}

/* A call that awaits another one, and has an answer on the connection. */
static uint64_t make_call(uint64_t connection, uint64_t awaited)
{
	uint64_t box = fake_box(&tasks, call_type, 1, awaited);
	uint64_t content = fake_one(&tasks, tasks.owner_type, connection);
	fake_refer(&tasks, box, FAKE_BOX_LOCAL, fake_one(&tasks, tasks.owner_type, content));
	return box;
}

/* A pool with as many connections as it may have, and calls that wait for one. */
static void make_full(void)
{
	make_queue(POOL_ARRAY, SLOTS);
	poke_u32(pool + POOL_MAX, SLOTS);
	poke_u32(pool + POOL_COUNT, SLOTS);
}

/* So many connections or streams are with calls that wait, and so many with nobody. */
static void check_pool(enum async_wait kind, uint64_t held, uint64_t lost)
{
	struct waits *waits;
	struct wait_things things;
	uint32_t ends[16];
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	CU_ASSERT_FATAL(wait_nodes(waits) <= 16);
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT_FATAL(things.rows_count, 1);
	ASSERT_UINT(things.rows[0].address, pool);
	ASSERT_UINT(things.rows[0].kind, kind);
	CU_ASSERT(things.rows[0].may_change);
	ASSERT_UINT(wait_connections_find(waits, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(things.rows[0].pool_items, held);
	ASSERT_UINT(things.rows[0].holders, held);
	ASSERT_UINT(things.rows[0].lost, lost);
	CU_ASSERT(!wait_thing_is_sure(&things.rows[0]));
	waits_destroy(waits);
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

TEST(calls_that_have_all_connections_and_want_one_more_hang)
{
	make_full();
	for (unsigned int i = 0; i < SLOTS; i++)
		(void)make_call(make_connection(), sends[i]);
	check_pool(AWAIT_HTTP, SLOTS, 0);
}

/* The healthy one: an answer is still to come, or is read. */
TEST(a_call_that_waits_for_something_else_gives_its_connection_back)
{
	make_full();
	(void)make_call(make_connection(), sends[0]);
	(void)make_call(make_connection(), fake_task(&tasks, tasks.delay_type));
	check_pool(AWAIT_HTTP, 0, 0);
}

TEST(answers_that_nobody_has_keep_their_connections)
{
	make_full();
	uint64_t table = fake_handle_table(tasks.fake, HANDLE_TYPES);
	uint64_t segment = fake_handle_segment(tasks.fake, table, HANDLE_TYPES);
	(void)fake_handle_bucket(tasks.fake, &table, 1);
	fake_handle_block(tasks.fake, segment, 0, HANDLE_STRONG);
	(void)fake_handle(tasks.fake, segment, 0, 0, make_call(make_connection(), sends[0]));
	(void)make_connection();
	check_pool(AWAIT_HTTP, 1, 1);
}

TEST(a_connection_without_a_request_is_free)
{
	make_full();
	(void)make_call(make_connection(), sends[0]);
	uint64_t idle = make_connection();
	fake_refer(&tasks, idle, CONNECTION_REQUEST, 0);
	(void)make_call(idle, sends[1]);
	check_pool(AWAIT_HTTP, 0, 0);
}

TEST(a_pool_that_makes_a_connection_is_not_judged)
{
	make_full();
	for (unsigned int i = 0; i < SLOTS; i++)
		(void)make_call(make_connection(), sends[i]);
	poke_u32(pool + POOL_PENDING, 1);
	check_pool(AWAIT_HTTP, 0, 0);
}

TEST(a_pool_that_may_make_a_connection_is_not_judged)
{
	make_full();
	for (unsigned int i = 0; i < SLOTS; i++)
		(void)make_call(make_connection(), sends[i]);
	poke_u32(pool + POOL_MAX, SLOTS + 1);
	check_pool(AWAIT_HTTP, 0, 0);
}

/*
 * Each call has a request in flight to this process, whose answer waits for the pool; and the server has @p more
 * connections.
 */
static void make_nested(unsigned int more)
{
	struct fake_sockets sockets = fake_sockets_create(&tasks);
	uint64_t end = fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 80);
	uint64_t server_type =
		fake_box_type(&tasks, "Microsoft.AspNetCore.Kestrel+<Execute>d__3",
			      "B+AsyncStateMachineBox<Microsoft.AspNetCore.Kestrel+<Execute>d__3>");
	make_full();
	for (unsigned int i = 0; i < SLOTS + more; i++) {
		uint64_t client =
			fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 1000 + i);
		uint64_t accepted = fake_socket(&sockets, FAKE_SOCKET_LOCAL, end);
		fake_refer(&tasks, accepted, FAKE_SOCKET_REMOTE, client);
	}
	for (unsigned int i = 0; i < SLOTS; i++) {
		uint64_t connection = make_connection();
		fake_refer(&tasks, connection, CONNECTION_STREAM,
			   fake_one(&tasks, tasks.owner_type,
				    fake_socket(&sockets, FAKE_SOCKET_REMOTE, end)));
		(void)make_call(connection, fake_task(&tasks, tasks.delay_type));
		(void)fake_box(&tasks, server_type, 0, sends[i]);
	}
}

TEST(requests_to_this_process_that_want_one_more_connection_hang)
{
	make_nested(0);
	check_pool(AWAIT_HTTP, SLOTS, 0);
}

/* Their requests may be those that wait. */
TEST(a_server_with_other_connections_may_still_answer)
{
	make_nested(1);
	check_pool(AWAIT_HTTP, 0, 0);
}

static uint64_t make_stream(uint64_t connection)
{
	uint64_t stream = fake_object(tasks.fake, stream_type, 0);
	fake_refer(&tasks, stream, STREAM_CONNECTION, connection);
	poke_u32(stream + STREAM_ASK, 1);
	return stream;
}

static void make_streams(void)
{
	uint64_t connection = fake_object(tasks.fake, connection2_type, 0);
	fake_refer(&tasks, connection, CONNECTION_POOL, pool);
	make_queue(POOL_ARRAY_2, SLOTS);
	for (unsigned int i = 0; i < SLOTS; i++)
		(void)make_call(make_stream(connection), sends[i]);
	/* One that has ended takes no place. */
	poke_u32(make_stream(connection) + STREAM_ANSWER, 1);
}

TEST(calls_that_have_all_streams_and_want_one_more_hang)
{
	make_streams();
	check_pool(AWAIT_HTTP2, SLOTS, 0);
}

/* A call that waits for the answer on a stream to port @p port, while this process has port 80. */
static void check_stream(uint32_t port, enum wait_urgency expected)
{
	struct waits *waits;
	uint8_t urgencies[8];
	struct fake_sockets sockets = fake_sockets_create(&tasks);
	uint64_t loopback = fake_ip_4(&sockets, FAKE_IP_LOOPBACK);
	uint64_t connection = fake_object(tasks.fake, connection2_type, 0);
	(void)fake_socket(&sockets, FAKE_SOCKET_LOCAL, fake_end_point(&sockets, loopback, 80));
	fake_refer(&tasks, connection, CONNECTION_STREAM,
		   fake_socket(&sockets, FAKE_SOCKET_REMOTE,
			       fake_end_point(&sockets, loopback, port)));
	fake_implement_source(&tasks, stream_type, "IValueTaskSource");
	(void)fake_box(&tasks, call_type, 0, make_stream(connection));
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT_FATAL(wait_nodes(waits), 1);
	ASSERT_UINT(wait_urgency_find(waits, urgencies, NULL), HD_OK);
	ASSERT_UINT(urgencies[0], expected);
	waits_destroy(waits);
}

TEST(a_stream_to_this_process_tells_less_than_its_server)
{
	check_stream(80, WAIT_FOR_ITSELF);
}

TEST(a_stream_to_another_process_is_waited_for)
{
	check_stream(81, WAIT_FOR_PROGRAM);
}

TEST(another_connection_of_http_2_has_streams)
{
	make_streams();
	poke_u32(pool + POOL_MAKES_2, 1);
	check_pool(AWAIT_HTTP2, 0, 0);
}

SUITE(.name = "wait_http", .set_up = set_up, .tear_down = tear_down)
