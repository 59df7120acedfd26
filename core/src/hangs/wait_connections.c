/* SPDX-License-Identifier: MIT */
#include "hangs/wait_connections.h"

#include "analysis/async/async_graph.h"
#include "hangs/wait_items.h"
#include "hangs/wait_peers.h"
#include "util/job.h"

/* From a class of the program over a reader, the answer, its content, and that inside it, to the connection. */
#define CONNECTION_LEVELS 6u
/* Pools that are looked at: each may need a look at the whole heap. */
#define POOLS_MAX 8u

/* Is there no connection that is about to be made, or may be? */
static bool is_full(const struct waits *waits, const struct wait_thing *thing)
{
	bool is_2 = thing->kind == AWAIT_HTTP2;
	struct member pending = fact_at(waits->members, thing->address,
					is_2 ? FACT_HTTP_POOL_PENDING_2 : FACT_HTTP_POOL_PENDING);
	struct member count = fact_at(waits->members, thing->address, FACT_HTTP_POOL_CONNECTIONS);
	struct member most = fact_at(waits->members, thing->address, FACT_HTTP_POOL_MAX);
	if (pending.state != MEMBER_READ || pending.bits)
		return false;
	return is_2 || (count.state == MEMBER_READ && most.state == MEMBER_READ &&
			member_signed(&count) > 0 && member_signed(&count) >= member_signed(&most));
}

/* Have all connections a request?  The pool counts those of HTTP/1.1; who waits for a stream has found none. */
static bool are_all_used(const struct wait_items *items)
{
	struct member count =
		fact_at(items->waits->members, items->thing->address, FACT_HTTP_POOL_CONNECTIONS);
	uint64_t used = items->items.rows_count;
	return used && (items->thing->kind == AWAIT_HTTP2 || used == count.bits);
}

/* The connection that the item is, or is on. */
static uint64_t connection_of(const struct wait_items *items, uint64_t item)
{
	return items->thing->kind == AWAIT_HTTP2
		       ? fact_at(items->waits->members, item, FACT_HTTP2_STREAM_CONNECTION).bits
		       : item;
}

/*
 * Do all requests of the server wait for the pool, without a limit?  So many; 0: not so.  Only those count that are in
 * a method of the program.
 */
static uint64_t count_requests(const struct wait_items *items, uint32_t *ret_own)
{
	struct async_graph *graph = items->waits->async;
	uint64_t count = 0;
	for (uint32_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *method = &graph->rows[i];
		const struct async_node *end = &graph->rows[method->end];
		if (async_node_is_awaited(method) || !wait_is_of_server(graph, method))
			continue;
		uint32_t own = async_innermost_own(graph, i);
		if (own == ASYNC_NO_NODE)
			continue;
		if ((uint8_t)end->wait != items->thing->kind ||
		    end->object != items->thing->address || async_call_is_limited(graph, i))
			return 0;
		*ret_own = own;
		count++;
	}
	return count;
}

/*
 * Are all connections to this same process, and wait the requests that come over them for one more?  They are known to be
 * these only if the server has no other connection; of HTTP/2, each stream is a request.
 */
static void find_nested(struct wait_items *items)
{
	struct wait_thing *thing = items->thing;
	const struct wait_rows *used = &items->items;
	uint64_t connections = 0, last = 0, end = 0;
	uint32_t own = ASYNC_NO_NODE;
	for (size_t i = 0; i < used->rows_count; i++) {
		uint64_t connection = connection_of(items, used->rows[i].object);
		if (connection == last)
			continue;
		uint64_t other =
			wait_peer_end(items->waits, wait_peer_socket(items->waits, connection));
		if (!other || (connections && other != end))
			return;
		end = other;
		last = connection;
		connections++;
	}
	if (wait_peer_count(items->waits, end) != connections ||
	    count_requests(items, &own) != used->rows_count)
		return;
	thing->is_nested = true;
	thing->pool_items = thing->holders = used->rows_count;
	thing->holder = own;
}

static enum hd_status judge(struct wait_items *items, struct job *job, struct hd_error *err)
{
	struct wait_thing *thing = items->thing;
	uint64_t used = items->items.rows_count;
	bool is_known;
	TRY(wait_items_look(items, job, err));
	if (items->is_with_others) {
		find_nested(items);
		return HD_OK;
	}
	TRY(wait_items_keep(items, job, &is_known, err));
	if (!is_known)
		return HD_OK;
	thing->pool_items = items->items.rows_count;
	thing->lost = used - thing->pool_items;
	thing->holders = thing->pool_items ? wait_items_holders(items) : 0;
	return HD_OK;
}

enum hd_status wait_connections_find(const struct waits *waits, struct job *job,
				     struct wait_things *things, struct hd_error *err)
{
	unsigned int pools = 0;
	for (size_t i = 0; i < things->rows_count && pools < POOLS_MAX; i++) {
		struct wait_thing *thing = &things->rows[i];
		HD_CLEANUP(wait_items)
		struct wait_items items = { .waits = waits,
					    .thing = thing,
					    .levels = CONNECTION_LEVELS,
					    .stops_at_others = true,
					    .window = { .memory = waits->heap->memory },
					    .inner = { .memory = waits->heap->memory } };
		if ((thing->kind != AWAIT_HTTP && thing->kind != AWAIT_HTTP2) ||
		    !is_full(waits, thing))
			continue;
		TRY(wait_items_find(
			&items,
			thing->kind == AWAIT_HTTP2 ? LINK_HTTP_STREAM : LINK_HTTP_CONNECTION, err));
		if (!are_all_used(&items))
			continue;
		pools++;
		TRY(judge(&items, job, err));
	}
	return HD_OK;
}
