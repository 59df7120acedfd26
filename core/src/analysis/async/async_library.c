/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_library.h"

#include "analysis/requests/http_queue.h"
#include "gc/references.h"
#include "inspect/value.h"

/* The bit of CallbackData._state that is set when the answer has come. */
#define GRAIN_CALL_DONE 1u
/* Messages in the queue of a grain that are looked at: several may share one. */
#define GRAIN_QUEUE_MAX 1024u

/* Link the task of SendAsync to the block. */
static enum hd_status link_send(struct async_graph *graph, const struct object *source,
				struct hd_error *err)
{
	const struct async_link link = {
		.from = fact_of(graph->members, source, FACT_COMPLETION_SOURCE_TASK).bits,
		.to = fact_of(graph->members, source, FACT_SEND_TARGET).bits,
		.kind = LINK_SEND,
	};
	return link.from && link.to ? async_link_add(&graph->links, link, err) : HD_OK;
}

/* Link a lease to the limiter that waits for its end. */
static enum hd_status link_lease(struct async_graph *graph, const struct object *lease,
				 struct hd_error *err)
{
	const struct async_link link = {
		.from = lease->address,
		.to = fact_of(graph->members, lease, FACT_LEASE_LIMITER).bits,
		.kind = LINK_LEASE,
	};
	bool is_done = fact_of(graph->members, lease, FACT_LEASE_DISPOSED).bits;
	return link.to && !is_done ? async_link_add(&graph->links, link, err) : HD_OK;
}

/* Link an agent to itself that was started, and does not wait for a message. */
static enum hd_status link_agent(struct async_graph *graph, const struct object *agent,
				 struct hd_error *err)
{
	struct members *members = graph->members;
	struct member receives = fact_of(members, agent, FACT_AGENT_RECEIVES);
	struct member pulse = fact_of(members, agent, FACT_AGENT_PULSE);
	const struct async_link link = { agent->address, agent->address, LINK_QUEUE };
	bool is_at_rest = receives.bits || pulse.bits || receives.state != MEMBER_READ ||
			  pulse.state != MEMBER_READ;
	if (is_at_rest || !fact_of(members, agent, FACT_AGENT_STARTED).bits)
		return HD_OK;
	return async_link_add(&graph->links, link, err);
}

/* Link a closure of its loop to the agent that it has. */
static enum hd_status link_loop(struct async_graph *graph, const struct object *loop,
				struct hd_error *err)
{
	HD_CLEANUP(window) struct window window = { .memory = graph->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	references_begin(&references, &window, loop);
	while (references_next(&references, &reference)) {
		const struct async_link link = { loop->address, reference.value, LINK_AGENT };
		if (member_object(graph->members, reference.value, &object) &&
		    async_graph_type(graph, object.type) == ASYNC_AGENT)
			return async_link_add(&graph->links, link, err);
	}
	return HD_OK;
}

/* Link the source of an answer that has not come to the message; its object is used again for other calls. */
static enum hd_status link_call(struct async_graph *graph, const struct object *call,
				struct hd_error *err)
{
	const struct async_link link = {
		.from = fact_of(graph->members, call, FACT_GRAIN_CALL_ANSWER).bits,
		.to = fact_of(graph->members, call, FACT_GRAIN_CALL_MESSAGE).bits,
		.kind = LINK_CALL,
	};
	struct member state = fact_of(graph->members, call, FACT_GRAIN_CALL_STATE);
	bool is_done = state.state != MEMBER_READ || state.bits & GRAIN_CALL_DONE;
	return link.from && link.to && !is_done ? async_link_add(&graph->links, link, err) : HD_OK;
}

/* Link the messages in the queue of a grain, each with the time when it came, to the one that it works on. */
static enum hd_status link_activation(struct async_graph *graph, const struct object *activation,
				      struct hd_error *err)
{
	struct members *members = graph->members;
	struct async_link link = {
		.to = fact_of(members, activation, FACT_ACTIVATION_BLOCKED_BY).bits,
		.kind = LINK_QUEUED,
	};
	uint64_t list = fact_of(members, activation, FACT_ACTIVATION_WAITING).bits;
	uint64_t items = fact_at(members, list, FACT_LIST_ITEMS).bits;
	uint64_t count = fact_at(members, list, FACT_LIST_SIZE).bits;
	struct array_info array;
	struct object message;
	if (!link.to || !count || !array_at(graph->heap, members, items, &array))
		return HD_OK;
	for (uint64_t i = 0; i < count && i < array.length && i < GRAIN_QUEUE_MAX; i++) {
		if (!memory_u64(graph->heap->memory, array.data + i * array.element_size,
				&link.from) ||
		    !member_object(members, link.from, &message) ||
		    async_graph_type(graph, message.type) != ASYNC_GRAIN_MESSAGE)
			break;
		TRY(async_link_add(&graph->links, link, err));
	}
	return HD_OK;
}

/* Link the tasks of those that wait in the queues of HttpClient to the pool.  Each is an object, and none is null. */
static enum hd_status link_http_pool(struct async_graph *graph, const struct object *pool,
				     struct hd_error *err)
{
	struct async_links *links = &graph->links;
	struct http_queues queues = { graph->heap, graph->members, links->limit - links->rows_count,
				      false };
	struct http_queue queue;
	for (unsigned int is_2 = 0; is_2 < 2; is_2++) {
		struct async_link link = { .to = pool->address,
					   .kind = is_2 ? LINK_HTTP2 : LINK_HTTP };
		if (!http_queue_read(&queues, pool, is_2, &queue))
			continue;
		for (uint64_t i = 0; i < queue.size; i++) {
			uint64_t waiter = http_queue_at(&queues, &queue, i).waiter.bits;
			link.from =
				fact_at(graph->members, waiter, FACT_COMPLETION_SOURCE_TASK).bits;
			queues.is_broken |= !link.from;
			if (!link.from)
				break;
			TRY(async_link_add(links, link, err));
		}
	}
	links->is_broken |= queues.is_broken;
	return HD_OK;
}

/* Link a connection of HTTP/1.1 that has a request, and is not closed, to its pool. */
static enum hd_status link_http_connection(struct async_graph *graph,
					   const struct object *connection, struct hd_error *err)
{
	const struct async_link link = {
		.from = connection->address,
		.to = fact_of(graph->members, connection, FACT_HTTP_CONNECTION_POOL).bits,
		.kind = LINK_HTTP_CONNECTION,
	};
	bool is_used = fact_of(graph->members, connection, FACT_HTTP_CONNECTION_REQUEST).bits &&
		       !fact_of(graph->members, connection, FACT_HTTP_CONNECTION_DISPOSED).bits;
	return link.to && is_used ? async_link_add(&graph->links, link, err) : HD_OK;
}

/* Link a stream of HTTP/2 to the pool of its connection, until both its directions have ended. */
static enum hd_status link_http_stream(struct async_graph *graph, const struct object *stream,
				       struct hd_error *err)
{
	uint64_t connection = fact_of(graph->members, stream, FACT_HTTP2_STREAM_CONNECTION).bits;
	const struct async_link link = {
		.from = stream->address,
		.to = fact_at(graph->members, connection, FACT_HTTP2_CONNECTION_POOL).bits,
		.kind = LINK_HTTP_STREAM,
	};
	struct member response = fact_of(graph->members, stream, FACT_HTTP2_STREAM_RESPONSE_STATE);
	struct member request = fact_of(graph->members, stream, FACT_HTTP2_STREAM_REQUEST_STATE);
	/* An enum, 0 while it is in progress. */
	bool is_used = (response.state == MEMBER_READ && !response.bits) ||
		       (request.state == MEMBER_READ && !request.bits);
	return link.to && is_used ? async_link_add(&graph->links, link, err) : HD_OK;
}

/* Any address of the machine itself, such as 127.0.0.1: who listens at all addresses has it, too. */
#define THIS_MACHINE UINT64_C(0x200000000)
#define OF_IP_6      UINT64_C(0x100000000)
/* 16-bit numbers of an address of IPv6; which of them has the mark of one that maps IPv4. */
#define NUMBERS 8u
#define MAPPED  5u

/* @p address: its first byte is the lowest. */
static uint64_t number_of_ip_4(uint64_t address)
{
	bool is_loopback = (address & 0xff) == 127;
	return is_loopback || !address ? THIS_MACHINE : address;
}

static uint64_t number_of_ip_6(const uint16_t *numbers)
{
	uint32_t hash = 0;
	unsigned int used = 0;
	for (unsigned int i = 0; i < NUMBERS; i++) {
		hash = hash * 31 + numbers[i];
		used |= numbers[i] ? 1u << i : 0;
	}
	if (!(used & ((1u << MAPPED) - 1)) && numbers[MAPPED] == 0xffff) {
		return number_of_ip_4((uint32_t)(numbers[6] >> 8 | (numbers[6] & 0xff) << 8) |
				      (uint64_t)(numbers[7] >> 8 | (numbers[7] & 0xff) << 8) << 16);
	}
	bool is_loopback = !(used & ~(1u << 7)) && numbers[7] <= 1;
	return is_loopback ? THIS_MACHINE : OF_IP_6 | hash;
}

/* A number for an IPEndPoint; 0: it is none, or has no port yet. */
static uint64_t number_of_end_point(struct async_graph *graph, uint64_t end_point)
{
	struct members *members = graph->members;
	uint64_t port = fact_at(members, end_point, FACT_END_POINT_PORT).bits;
	uint64_t address = fact_at(members, end_point, FACT_END_POINT_ADDRESS).bits;
	struct member ip_4 = fact_at(members, address, FACT_IP_ADDRESS_4);
	struct member ip_6 = fact_at(members, address, FACT_IP_ADDRESS_6);
	struct array_info array;
	uint16_t numbers[NUMBERS];
	if (!port || ip_4.state != MEMBER_READ || ip_6.state != MEMBER_READ)
		return 0;
	if (!ip_6.bits)
		return port << 34 | number_of_ip_4(ip_4.bits);
	if (!array_at(graph->heap, members, ip_6.bits, &array) || array.length != NUMBERS ||
	    array.element_size != sizeof(numbers[0]) ||
	    !memory_read(graph->heap->memory, array.data, numbers, sizeof(numbers)))
		return 0;
	return port << 34 | number_of_ip_6(numbers);
}

/* Link a socket that is not closed to both its ends, where they are known. */
static enum hd_status link_socket(struct async_graph *graph, const struct object *socket,
				  struct hd_error *err)
{
	struct members *members = graph->members;
	struct async_link link = { .from = socket->address };
	if (fact_of(members, socket, FACT_SOCKET_DISPOSED).bits)
		return HD_OK;
	uint64_t remote =
		number_of_end_point(graph, fact_of(members, socket, FACT_SOCKET_REMOTE).bits);
	uint64_t local =
		number_of_end_point(graph, fact_of(members, socket, FACT_SOCKET_LOCAL).bits);
	uint64_t bound =
		number_of_end_point(graph, fact_of(members, socket, FACT_SOCKET_BOUND).bits);
	/* Who connects without a bind has the other end there, too. */
	if (!local && bound != remote)
		local = bound;
	link.kind = LINK_REMOTE;
	link.to = remote;
	if (remote)
		TRY(async_link_add(&graph->links, link, err));
	link.kind = LINK_LOCAL;
	link.to = local;
	return local ? async_link_add(&graph->links, link, err) : HD_OK;
}

enum hd_status async_links_of_library(struct async_graph *graph, const struct object *object,
				      struct hd_error *err)
{
	switch (async_graph_type(graph, object->type)) {
	case ASYNC_SEND:
		return link_send(graph, object, err);
	case ASYNC_LEASE:
		return link_lease(graph, object, err);
	case ASYNC_AGENT:
		return link_agent(graph, object, err);
	case ASYNC_AGENT_LOOP:
		return link_loop(graph, object, err);
	case ASYNC_GRAIN_CALL:
		return link_call(graph, object, err);
	case ASYNC_HTTP_POOL:
		return link_http_pool(graph, object, err);
	case ASYNC_HTTP_CONNECTION:
		return link_http_connection(graph, object, err);
	case ASYNC_HTTP_STREAM:
		return link_http_stream(graph, object, err);
	case ASYNC_SOCKET_ITSELF:
		return link_socket(graph, object, err);
	case ASYNC_ACTIVATION:
		return link_activation(graph, object, err);
	default:
		return HD_OK;
	}
}
