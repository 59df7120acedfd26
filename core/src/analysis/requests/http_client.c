/* SPDX-License-Identifier: MIT */
#include "analysis/requests/http_client.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/async/async_box.h"
#include "analysis/async/task_state.h"
#include "analysis/heap/object_pass.h"
#include "analysis/requests/http_queue.h"
#include "framework/absent.h"
#include "gc/references.h"
#include "inspect/async_name.h"
#include "inspect/suspended.h"
#include "inspect/value.h"
#include "runtime/coreclr/types/continuation.h"
#include "util/alloc.h"

/* The part that an object plays for requests, by its type. */
enum http_kind {
	HTTP_NOT_ASKED,
	HTTP_OTHER,
	HTTP_REQUEST,
	HTTP_RESPONSE,
	HTTP_CONNECTION, /* of HTTP/1.1 */
	HTTP_STREAM,     /* a request of a connection of HTTP/2 */
	HTTP_POOL,
	HTTP_METHOD,      /* an async method of HttpClient */
	HTTP_SUSPENDED,   /* an async method that the runtime has suspended */
	HTTP_CANCELLATION /* a CancellationTokenSource */
};

/* The kind of a fact; if there are several, the last one in this order counts. */
enum fact_kind {
	FACT_RESPONSE, /* value: its status code */
	FACT_NO_HEAD,  /* a stream of HTTP/2 made a response, whose head has not come */
	FACT_SUSPENDED, /* value: milliseconds; by an object that may be garbage of a request that is over */
	FACT_BEGUN,    /* value: milliseconds */
	FACT_QUEUED,   /* object: the pool; value: is it for HTTP/2? */
	FACT_IN_FLIGHT /* object: the connection; value: the pool */
};

struct http_finder {
	struct heap *heap;
	struct members *members;
	struct job *job;
	struct http_client *client;
	struct type_kinds kinds;
	struct http_queues queues;
};

static const struct {
	enum net_type type;
	enum http_kind kind;
} http_types[] = {
	{ NET_HTTP_CONNECTION, HTTP_CONNECTION },
	{ NET_HTTP2_STREAM, HTTP_STREAM },
	{ NET_HTTP_POOL, HTTP_POOL },
};

static enum http_kind find_http_kind(struct runtime *runtime, const struct type *type)
{
	static const char methods[] = "System.Net.Http.HttpClient+";
	size_t size, machine_size;
	const char *name = type_name(runtime, type, &size);
	const char *machine = async_box_machine(name, size, &machine_size);
	if (machine && machine_size > strlen(methods) &&
	    memcmp(machine, methods, strlen(methods)) == 0)
		return HTTP_METHOD;
	for (size_t i = 0; i < sizeof(http_types) / sizeof(http_types[0]); i++) {
		if (net_type_is(http_types[i].type, name, size))
			return http_types[i].kind;
	}
	if (type_is_continuation(runtime, type))
		return HTTP_SUSPENDED;
	if (type_derives_from(runtime, type, 0, net_type_name(NET_CANCELLATION)))
		return HTTP_CANCELLATION;
	if (type_derives_from(runtime, type, 0, net_type_name(NET_HTTP_REQUEST)))
		return HTTP_REQUEST;
	return type_derives_from(runtime, type, 0, net_type_name(NET_HTTP_RESPONSE)) ? HTTP_RESPONSE
										     : HTTP_OTHER;
}

/* A field that has to be there; 0: null, or not there, which the heap's ledger says then. */
static uint64_t needed(struct http_finder *finder, const struct object *object, enum fact fact)
{
	return fact_of(finder->members, object, fact).bits;
}

static enum hd_status add_fact(struct http_finder *finder, struct http_fact fact,
			       struct hd_error *err)
{
	struct http_client *client = finder->client;
	if (!fact.request)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(client, facts), err);
	client->facts[client->facts_count++] = fact;
	return HD_OK;
}

static enum hd_status meet_request(struct http_finder *finder, const struct object *object,
				   struct hd_error *err)
{
	struct http_client *client = finder->client;
	TRY_MEMORY(PAGES_RESERVE(client, rows), err);
	client->rows[client->rows_count++] =
		(struct http_request){ .object = *object, .begun = INT64_MIN };
	return HD_OK;
}

static enum hd_status meet_response(struct http_finder *finder, const struct object *object,
				    struct hd_error *err)
{
	return add_fact(
		finder,
		(struct http_fact){ .request = needed(finder, object, FACT_HTTP_RESPONSE_REQUEST),
				    .object = object->address,
				    .value = needed(finder, object, FACT_HTTP_RESPONSE_STATUS),
				    .kind = FACT_RESPONSE },
		err);
}

static enum hd_status meet_connection(struct http_finder *finder, const struct object *object,
				      struct hd_error *err)
{
	/* One that was closed keeps the request that was cancelled or failed. */
	if (fact_of(finder->members, object, FACT_HTTP_CONNECTION_DISPOSED).bits)
		return HD_OK;
	return add_fact(
		finder,
		(struct http_fact){ .request = needed(finder, object, FACT_HTTP_CONNECTION_REQUEST),
				    .object = object->address,
				    .value = needed(finder, object, FACT_HTTP_CONNECTION_POOL),
				    .kind = FACT_IN_FLIGHT },
		err);
}

/* Is a direction of a stream in progress?  Its state is an enum, 0 until it is completed or has failed. */
static bool is_in_progress(struct http_finder *finder, const struct object *stream, enum fact fact)
{
	struct member state = fact_of(finder->members, stream, fact);
	return state.state == MEMBER_READ && !state.bits;
}

static enum hd_status meet_stream(struct http_finder *finder, const struct object *object,
				  struct hd_error *err)
{
	if (!is_in_progress(finder, object, FACT_HTTP2_STREAM_RESPONSE_STATE) &&
	    !is_in_progress(finder, object, FACT_HTTP2_STREAM_REQUEST_STATE))
		return HD_OK;
	struct member has_head = fact_of(finder->members, object, FACT_HTTP2_STREAM_HAS_HEAD);
	uint64_t request = needed(finder, object, FACT_HTTP2_STREAM_REQUEST);
	uint64_t connection = needed(finder, object, FACT_HTTP2_STREAM_CONNECTION);
	struct member pool = fact_at(finder->members, connection, FACT_HTTP2_CONNECTION_POOL);
	if (has_head.state == MEMBER_READ && !has_head.bits) {
		TRY(add_fact(finder, (struct http_fact){ .request = request, .kind = FACT_NO_HEAD },
			     err));
	}
	return add_fact(finder,
			(struct http_fact){ .request = request,
					    .object = connection,
					    .value = pool.bits,
					    .kind = FACT_IN_FLIGHT },
			err);
}

/* Has the one that waits got a connection, or given up? */
static bool is_request_over(struct http_finder *finder, uint64_t waiter)
{
	struct member task = fact_at(finder->members, waiter, FACT_COMPLETION_SOURCE_TASK);
	struct object object;
	struct task_state state;
	return member_object(finder->members, task.bits, &object) &&
	       task_state_read(finder->heap, finder->members, &object, &state) &&
	       state.status >= TASK_RAN_TO_COMPLETION;
}

static enum hd_status add_queued(struct http_finder *finder, const struct http_queue *queue,
				 uint64_t pool, bool is_2, struct hd_error *err)
{
	for (uint64_t i = 0; i < queue->size; i++) {
		struct http_queued queued = http_queue_at(&finder->queues, queue, i);
		if (i % 1024 == 1023)
			TRY(job_check(finder->job, 0, err));
		if (queued.request.state != MEMBER_READ ||
		    is_request_over(finder, queued.waiter.bits))
			continue;
		TRY(add_fact(finder,
			     (struct http_fact){ .request = queued.request.bits,
						 .object = pool,
						 .value = is_2,
						 .kind = FACT_QUEUED },
			     err));
	}
	return HD_OK;
}

/* By enum http_pool_number. */
static const enum fact pool_fields[HTTP_POOL_NUMBERS] = {
	FACT_HTTP_POOL_PORT,    FACT_HTTP_POOL_CONNECTIONS,   FACT_HTTP_POOL_MAX,
	FACT_HTTP_POOL_PENDING, FACT_HTTP_POOL_CONNECTIONS_2,
};

static enum hd_status meet_pool(struct http_finder *finder, const struct object *object,
				struct hd_error *err)
{
	struct http_client *client = finder->client;
	struct http_pool pool = { .address = object->address };
	struct http_queue queue;
	for (size_t i = 0; i < HTTP_POOL_NUMBERS; i++) {
		struct member number = fact_of(finder->members, object, pool_fields[i]);
		if (number.state != MEMBER_READ)
			continue;
		pool.numbers[i] = number.bits;
		pool.known |= 1u << i;
	}
	struct member host = fact_of(finder->members, object, FACT_HTTP_POOL_HOST);
	pool.host = host.bits;
	TRY_MEMORY(PAGES_RESERVE(client, pools), err);
	client->pools[client->pools_count++] = pool;
	for (unsigned int is_2 = 0; is_2 < 2; is_2++) {
		if (http_queue_read(&finder->queues, object, is_2, &queue))
			TRY(add_queued(finder, &queue, object->address, is_2, err));
	}
	return HD_OK;
}

/* When the timer of a CancellationTokenSource was set. */
static struct member start_of_timeout(struct http_finder *finder, uint64_t source)
{
	return fact_at(finder->members,
		       fact_at(finder->members, source, FACT_CANCELLATION_TIMER).bits,
		       FACT_TIMER_START);
}

/* HttpClient's own methods have the request, and the source of its time-out. */
static enum hd_status meet_method(struct http_finder *finder, const struct object *object,
				  struct hd_error *err)
{
	struct async_box box;
	if (!async_box_read(finder->heap, finder->members, object, &box) || box.state == ASYNC_DONE)
		return HD_OK;
	struct member request =
		member_of_struct(finder->members, box.machine, box.fields, "request");
	struct member source = member_of_struct(finder->members, box.machine, box.fields, "cts");
	struct member start = start_of_timeout(finder, source.bits);
	if (request.state != MEMBER_READ || start.state != MEMBER_READ)
		return HD_OK;
	return add_fact(finder,
			(struct http_fact){ .request = request.bits,
					    .object = object->address,
					    .value = start.bits,
					    .kind = FACT_BEGUN },
			err);
}

static enum http_kind kind_of(struct http_finder *finder, const struct type *type)
{
	uint8_t *kind = type_kinds_at(&finder->kinds, type);
	if (!kind)
		return HTTP_NOT_ASKED;
	if (*kind == HTTP_NOT_ASKED)
		*kind = (uint8_t)find_http_kind(finder->heap->runtime, type);
	return *kind;
}

/* The same for one that the runtime has suspended: they are among the references that it has saved. */
static enum hd_status meet_suspended(struct http_finder *finder, const struct object *object,
				     struct hd_error *err)
{
	struct http_fact fact = { .object = object->address, .kind = FACT_SUSPENDED };
	HD_CLEANUP(window) struct window window = { .memory = finder->heap->memory };
	struct suspended method;
	struct references references;
	struct reference reference;
	bool has_start = false;
	if (!suspended_read(finder->heap, object, &method) ||
	    !async_code_is_of(finder->heap->runtime, method.method_desc,
			      "System.Net.Http.HttpClient"))
		return HD_OK;
	references_begin(&references, &window, object);
	while (references_next(&references, &reference)) {
		struct object saved;
		if (!member_object(finder->members, reference.value, &saved))
			continue;
		enum http_kind kind = kind_of(finder, saved.type);
		if (kind == HTTP_REQUEST)
			fact.request = saved.address;
		if (kind != HTTP_CANCELLATION || has_start)
			continue;
		struct member start = start_of_timeout(finder, saved.address);
		has_start = start.state == MEMBER_READ;
		fact.value = start.bits;
	}
	return has_start ? add_fact(finder, fact, err) : HD_OK;
}

static enum hd_status meet_http(void *arg, const struct object *object, struct hd_error *err)
{
	struct http_finder *finder = arg;
	switch (kind_of(finder, object->type)) {
	case HTTP_REQUEST:
		return meet_request(finder, object, err);
	case HTTP_RESPONSE:
		return meet_response(finder, object, err);
	case HTTP_CONNECTION:
		return meet_connection(finder, object, err);
	case HTTP_STREAM:
		return meet_stream(finder, object, err);
	case HTTP_POOL:
		return meet_pool(finder, object, err);
	case HTTP_METHOD:
		return meet_method(finder, object, err);
	case HTTP_SUSPENDED:
		return meet_suspended(finder, object, err);
	case HTTP_NOT_ASKED:
		return fail_nomem(err);
	case HTTP_CANCELLATION:
	case HTTP_OTHER:
		break;
	}
	return HD_OK;
}

static int compare_facts(const void *left, const void *right)
{
	const struct http_fact *a = left, *b = right;
	if (a->request != b->request)
		return a->request < b->request ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

static int compare_requests(const void *left, const void *right)
{
	const struct http_request *a = left, *b = right;
	return a->object.address < b->object.address ? -1 : a->object.address > b->object.address;
}

static int compare_pools(const void *left, const void *right)
{
	const struct http_pool *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

struct http_pool *http_pool_at(struct http_client *client, uint64_t address)
{
	const struct http_pool key = { .address = address };
	if (!client->pools_count)
		return NULL;
	return bsearch(&key, client->pools, client->pools_count, sizeof(key), compare_pools);
}

static void apply_fact(struct http_request *row, const struct http_fact *fact)
{
	switch ((enum fact_kind)fact->kind) {
	case FACT_RESPONSE:
		row->response = fact->object;
		row->status = fact->value;
		break;
	case FACT_NO_HEAD:
		row->response = row->status = 0;
		break;
	case FACT_SUSPENDED:
	case FACT_BEGUN:
		row->begun = (int64_t)fact->value;
		break;
	case FACT_QUEUED:
		row->state = HTTP_QUEUED;
		row->pool = fact->object;
		break;
	case FACT_IN_FLIGHT:
		row->state = HTTP_IN_FLIGHT;
		row->connection = fact->object;
		row->pool = fact->value;
		break;
	}
}

/* A request may be in the queue of a pool, and be served by another connection already: it is counted once. */
static void count_in_pool(struct http_client *client, const struct http_request *row, bool is_2)
{
	struct http_pool *pool = row->pool ? http_pool_at(client, row->pool) : NULL;
	if (!pool)
		return;
	pool->in_flight += row->state == HTTP_IN_FLIGHT;
	pool->queued += row->state == HTTP_QUEUED && !is_2;
	pool->queued_2 += row->state == HTTP_QUEUED && is_2;
}

/* Tell the requests what is known of them. */
static void join_facts(struct http_client *client)
{
	size_t at = 0;
	for (size_t i = 0; i < client->rows_count; i++) {
		struct http_request *row = &client->rows[i];
		bool is_2 = false, is_sure = false;
		while (at < client->facts_count && client->facts[at].request < row->object.address)
			at++;
		for (; at < client->facts_count && client->facts[at].request == row->object.address;
		     at++) {
			if (client->facts[at].kind == FACT_QUEUED)
				is_2 = client->facts[at].value;
			is_sure |= client->facts[at].kind == FACT_BEGUN;
			apply_fact(row, &client->facts[at]);
		}
		if (!is_sure && row->state != HTTP_IN_FLIGHT && row->state != HTTP_QUEUED)
			row->begun = INT64_MIN;
		count_in_pool(client, row, is_2);
	}
}

enum hd_status http_client_read(struct heap *heap, struct members *members, struct job *job,
				struct http_client *ret, struct hd_error *err)
{
	struct http_finder finder = { .heap = heap, .members = members, .job = job, .client = ret };
	static const enum net_type looked_for[] = { NET_HTTP_REQUEST,    NET_HTTP_RESPONSE,
						    NET_HTTP_CONNECTION, NET_HTTP2_STREAM,
						    NET_HTTP_POOL,       NET_TYPES };
	net_types_look(heap, looked_for);
	*ret = (struct http_client){ 0 };
	finder.queues = (struct http_queues){ .heap = heap, .members = members };
	for (size_t i = 0; i < heap->segment_count; i++) {
		finder.queues.slots_left +=
			(heap->segments[i].end - heap->segments[i].begin) / HTTP_SLOT_SIZE_MIN;
	}
	enum hd_status status = object_pass_all(heap, meet_http, &finder, job, err);
	type_kinds_deinit(&finder.kinds);
	ret->is_broken |= finder.queues.is_broken;
	TRY(status);
	if (ret->facts_count)
		qsort(ret->facts, ret->facts_count, sizeof(*ret->facts), compare_facts);
	if (ret->rows_count)
		qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), compare_requests);
	if (ret->pools_count)
		qsort(ret->pools, ret->pools_count, sizeof(*ret->pools), compare_pools);
	join_facts(ret);
	return HD_OK;
}

void http_client_deinit(struct http_client *client)
{
	pages_free(client->rows, client->rows_capacity, sizeof(*client->rows));
	pages_free(client->pools, client->pools_capacity, sizeof(*client->pools));
	pages_free(client->facts, client->facts_capacity, sizeof(*client->facts));
	*client = (struct http_client){ 0 };
}
