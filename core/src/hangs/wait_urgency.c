/* SPDX-License-Identifier: MIT */
#include "hangs/wait_urgency.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "hangs/wait_peers.h"
#include "hangs/wait_things.h"
#include "stack/thread_call.h"
#include "util/alloc.h"

/* A host waits for the end of the program. */
#define HOSTING "Microsoft.Extensions.Hosting."

/* A library has ways to end its waits that are not known here. */
static enum wait_urgency urgency_in_library(enum wait_urgency urgency)
{
	return urgency < WAIT_FOR_WORK ? urgency + 1 : WAIT_OF_OTHERS;
}

/* A signal may come from anywhere, but whoever waits for a limited time looks again by himself. */
static enum wait_urgency urgency_of_signal(const struct waits *waits,
					   const struct thread_wait *wait)
{
	bool is_endless =
		thread_waits_without_end(runtime_target(waits->heap->runtime), wait->thread->os_id);
	return is_endless ? WAIT_FOR_PROGRAM : WAIT_FOR_OTHERS;
}

static enum wait_urgency urgency_of_kind(const struct waits *waits, const struct thread_wait *wait)
{
	switch (wait->kind) {
	case WAIT_PULSE:
	case WAIT_SEMAPHORE:
	case WAIT_EVENT:
	case WAIT_HANDLE:
	case WAIT_ANY_HANDLE:
	case WAIT_ALL_HANDLES:
	case WAIT_SOME_HANDLES:
		return urgency_of_signal(waits, wait);
	case WAIT_COLLECTION:
		return wait_wants_room(waits, wait) ? WAIT_FOR_PROGRAM : WAIT_FOR_WORK;
	case WAIT_IDLE:
	case WAIT_SLEEP:
		return WAIT_FOR_WORK;
	case WAIT_NONE:
	case WAIT_SPIN_LOCK:
	case WAIT_SPIN:
	case WAIT_SOCKET:
	case WAIT_PROCESS:
	case WAIT_CALL:
	case WAIT_SUSPENSION:
		return WAIT_FOR_OTHERS;
	default:
		return WAIT_FOR_PROGRAM;
	}
}

static enum wait_urgency urgency_of_thread(const struct waits *waits,
					   const struct thread_wait *wait)
{
	if (wait->is_over)
		return WAIT_FOR_OTHERS;
	/* The framework's own threads look after what they have. */
	if (wait->user_frame == WAIT_NO_FRAME)
		return WAIT_OF_OTHERS;
	enum wait_urgency urgency = urgency_of_kind(waits, wait);
	uint64_t method = wait->stack.frames[wait->user_frame].method_desc;
	bool is_own = code_owner_of_method(waits->heap->runtime, method) == CODE_OF_PROGRAM;
	return is_own ? urgency : urgency_in_library(urgency);
}

/* The framework has its own ways to end what only it awaits. */
static enum wait_urgency urgency_of_source(const struct waits *waits,
					   const struct async_node *method)
{
	const struct async_node *waiter = async_node_waiter(waits->async, method);
	if (async_node_owner(waits->async, waiter) != CODE_OF_FRAMEWORK)
		return WAIT_FOR_PROGRAM;
	const char *name = async_node_code(waits->async, waiter);
	return strncmp(name, HOSTING, strlen(HOSTING)) == 0 ? WAIT_FOR_WORK : WAIT_FOR_OTHERS;
}

static enum wait_urgency urgency_of_method(const struct waits *waits,
					   const struct async_node *method)
{
	switch (method->wait) {
	case AWAIT_SOURCE:
	case AWAIT_GRAIN:
	case AWAIT_SOURCE_OF_VALUE:
	case AWAIT_SEMAPHORE:
	case AWAIT_WRITE:
	case AWAIT_COMPLETION:
	case AWAIT_HTTP:
	case AWAIT_HTTP2:
	case AWAIT_SEND:
	case AWAIT_LIMITER:
		return urgency_of_source(waits, method);
	case AWAIT_TASK:
	case AWAIT_UNWRAP:
	case AWAIT_CONTINUE:
	case AWAIT_ALL:
	case AWAIT_CYCLE:
		return WAIT_FOR_PROGRAM;
	case AWAIT_DELAY:
	case AWAIT_PERIODIC:
	case AWAIT_READ:
	case AWAIT_YIELD:
		return WAIT_FOR_WORK;
	default:
		return WAIT_FOR_OTHERS;
	}
}

/* Calls that wait for several others, which wait for several others, and so on: so many are followed. */
#define ROUNDS 4u

struct urgency_search {
	const struct waits *waits;
	struct wait_peers peers;
	uint32_t *ends; /* wait_ends() */
	uint8_t *known; /* by node */
	/* The connection of HTTP/2 that was asked last: is its other end here? */
	uint64_t connection;
	bool is_here;
};

static void urgency_search_deinit(struct urgency_search *search)
{
	wait_peers_deinit(&search->peers);
	mem_free(search->ends);
}

/* Is it a stream of HTTP/2 on a connection whose other end is here?  All of a connection are alike. */
static bool is_stream_here(struct urgency_search *search, uint64_t stream)
{
	const struct waits *waits = search->waits;
	struct object object;
	if (!member_object(waits->members, stream, &object) ||
	    async_graph_type(waits->async, object.type) != ASYNC_HTTP_STREAM)
		return false;
	uint64_t connection = fact_of(waits->members, &object, FACT_HTTP2_STREAM_CONNECTION).bits;
	if (connection != search->connection) {
		search->connection = connection;
		search->is_here = wait_peer_is_here(waits, &search->peers,
						    wait_peer_socket(waits, connection));
	}
	return search->is_here;
}

static enum wait_urgency urgency_of_own(struct urgency_search *search, uint32_t node)
{
	const struct waits *waits = search->waits;
	const struct thread_wait *wait = wait_node_thread(waits, node);
	const struct async_node *method = wait_node_method(waits, node);
	if (wait)
		return urgency_of_thread(waits, wait);
	if (method->wait == AWAIT_SOCKET &&
	    wait_peer_is_here(waits, &search->peers, method->object))
		return WAIT_FOR_ITSELF;
	if (method->wait == AWAIT_SOURCE_OF_VALUE && is_stream_here(search, method->object))
		return WAIT_FOR_ITSELF;
	return urgency_of_method(waits, method);
}

/* Does it wait for what others do, so that its end is theirs? */
static bool is_for_tasks(const struct waits *waits, uint32_t node)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	if (wait) {
		return wait->kind == WAIT_TASK || wait->kind == WAIT_ALL_TASKS ||
		       wait->kind == WAIT_ANY_TASK || wait->kind == WAIT_JOIN;
	}
	switch (wait_node_method(waits, node)->wait) {
	case AWAIT_TASK:
	case AWAIT_UNWRAP:
	case AWAIT_CONTINUE:
	case AWAIT_ALL:
	case AWAIT_ANY:
		return true;
	default:
		return false;
	}
}

/* How urgent is it whom @p node waits for, in the end? */
static enum wait_urgency urgency_of_end(const struct urgency_search *search, uint32_t node)
{
	uint32_t end = search->ends[node];
	return end == WAIT_IN_CYCLE ? WAIT_FOR_PROGRAM : search->known[end];
}

/* All are needed: the worst one counts.  The first of several: the best one, and any may be best that is not known. */
static enum wait_urgency urgency_of_several(const struct urgency_search *search,
					    const struct wait_several *several)
{
	enum wait_urgency found = several->is_any ? WAIT_FOR_PROGRAM : WAIT_OF_OTHERS;
	for (size_t i = 0; i < several->count; i++) {
		uint32_t to = search->waits->several.parts[several->begin + i].to;
		if (to == WAIT_NOBODY)
			return several->is_any ? WAIT_FOR_OTHERS : WAIT_FOR_PROGRAM;
		enum wait_urgency urgency = urgency_of_end(search, to);
		if (several->is_any ? urgency > found : urgency < found)
			found = urgency;
	}
	return found;
}

/* Take over the urgency of those that are waited for. */
static void follow_ends(struct urgency_search *search)
{
	const struct waits *waits = search->waits;
	for (uint32_t i = 0; i < wait_nodes(waits); i++) {
		const struct async_node *method = wait_node_method(waits, i);
		const struct wait_several *several = wait_node_several(waits, i);
		if ((method && method->next != ASYNC_NO_NODE) || !is_for_tasks(waits, i) ||
		    urgency_of_own(search, i) >= WAIT_FOR_WORK)
			continue;
		if (several) {
			search->known[i] = (uint8_t)urgency_of_several(search, several);
		} else if (search->ends[i] != i) {
			search->known[i] = (uint8_t)urgency_of_end(search, i);
		}
	}
}

enum hd_status wait_urgency_find(const struct waits *waits, uint8_t *ret, struct hd_error *err)
{
	size_t nodes = wait_nodes(waits);
	HD_CLEANUP(urgency_search)
	struct urgency_search search = { .waits = waits,
					 .ends = mem_alloc(nodes + 1, sizeof(*search.ends)),
					 .known = ret };
	TRY_MEMORY(search.ends, err);
	TRY(wait_peers_find(waits, &search.peers, err));
	wait_ends(waits, search.ends);
	for (uint32_t i = 0; i < nodes; i++) {
		const struct async_node *method = wait_node_method(waits, i);
		bool has_next = method && method->next != ASYNC_NO_NODE;
		ret[i] = (uint8_t)(has_next ? WAIT_FOR_OTHERS : urgency_of_own(&search, i));
	}
	for (unsigned int i = 0; i < ROUNDS; i++)
		follow_ends(&search);
	return waits->async && waits->async->failed ? fail_nomem(err) : HD_OK;
}

bool wait_is_for_known(const struct waits *waits, uint32_t node)
{
	const struct async_node *method = wait_node_method(waits, node);
	uint32_t own = method ? (uint32_t)waits->count + method->end : node;
	return is_for_tasks(waits, own) &&
	       (waits->edges[own].to != WAIT_NOBODY || wait_node_several(waits, own));
}

enum wait_urgency wait_urgency_of_call(const struct waits *waits, const uint8_t *urgencies,
				       uint32_t row, uint32_t own)
{
	struct async_graph *graph = waits->async;
	const struct async_node *method = &graph->rows[row];
	enum wait_urgency urgency = urgencies[waits->count + method->end];
	/* Who reads an empty queue has nothing to do, unless somebody needs what it does. */
	if (graph->rows[method->end].wait == AWAIT_READ) {
		urgency = wait_is_of_server(graph, method) ? WAIT_FOR_PROGRAM
			  : method->root == ROOT_THREAD    ? WAIT_FOR_OTHERS
							   : WAIT_FOR_WORK;
	}
	if (urgency == WAIT_FOR_PROGRAM && async_call_is_limited(graph, row))
		urgency = WAIT_FOR_OTHERS;
	bool is_own = async_node_owner(graph, &graph->rows[own]) == CODE_OF_PROGRAM;
	return is_own ? urgency : urgency_in_library(urgency);
}
