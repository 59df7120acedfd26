/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_wait.h"

#include <inttypes.h>

#include "analysis/async/task_state.h"
#include "analysis/pool/callback_name.h"
#include "inspect/value.h"
#include "util/text.h"

/* Most objects between an async method and what it waits for: ContinueWith of ContinueWith of... */
#define STEPS_MAX 64u
/* Most characters of the name of a server. */
#define HOST_MAX 256u

const char *async_wait_name(enum async_wait wait)
{
	static const char *const names[AWAIT_KINDS] = {
		[AWAIT_NOTHING] = "async method",
		[AWAIT_SOURCE] = "TaskCompletionSource",
		[AWAIT_TASK] = "task",
		[AWAIT_UNWRAP] = "Task.Run",
		[AWAIT_CONTINUE] = "ContinueWith",
		[AWAIT_LIMITED] = "WaitAsync",
		[AWAIT_DELAY] = "Task.Delay",
		[AWAIT_ALL] = "WhenAll",
		[AWAIT_ANY] = "WhenAny",
		[AWAIT_SEMAPHORE] = "SemaphoreSlim",
		[AWAIT_READ] = "channel read",
		[AWAIT_WRITE] = "channel write",
		[AWAIT_COMPLETION] = "channel completion",
		[AWAIT_HTTP] = "HTTP connection",
		[AWAIT_HTTP2] = "HTTP/2 stream",
		[AWAIT_SEND] = "dataflow send",
		[AWAIT_LIMITER] = "rate limiter",
		[AWAIT_PERIODIC] = "PeriodicTimer",
		[AWAIT_SOCKET] = "socket",
		[AWAIT_PIPE_READ] = "pipe read",
		[AWAIT_PIPE_WRITE] = "pipe write",
		[AWAIT_OTHER_TASK] = "other task",
		[AWAIT_GRAIN] = "grain call",
		[AWAIT_SOURCE_OF_VALUE] = "ValueTask source",
		[AWAIT_AWAITER] = "awaiter",
		[AWAIT_THREAD] = "thread",
		[AWAIT_RUNS] = "nothing",
		[AWAIT_YIELD] = "its caller",
		[AWAIT_CYCLE] = "itself",
		[AWAIT_DONE] = "done",
		[AWAIT_UNKNOWN] = "not known",
	};
	return names[wait];
}

/* The object that a field of @p object refers to; 0: null, or not known. */
static uint64_t follow_field(struct async_graph *graph, const struct object *object, enum fact path)
{
	return fact_of(graph->members, object, path).bits;
}

/* A channel that nobody else has is garbage while somebody waits for it: then the operation has to do. */
static enum async_wait wait_for_channel(const struct async_link *link, enum async_type kind,
					uint64_t *ret_object)
{
	if (link && (link->kind == LINK_READ || link->kind == LINK_WRITE)) {
		*ret_object = link->to;
		return link->kind == LINK_READ ? AWAIT_READ : AWAIT_WRITE;
	}
	if (kind == ASYNC_CHANNEL_READ)
		return AWAIT_READ;
	return kind == ASYNC_CHANNEL_WRITE ? AWAIT_WRITE : AWAIT_SOURCE_OF_VALUE;
}

/* An object that is not a task is the source of a ValueTask, or has an awaiter of its own. */
static enum async_wait wait_for_other(struct async_graph *graph, const struct object *object)
{
	return async_type_is_source(&graph->types, graph->heap->runtime, object->type,
				    &graph->failed)
		       ? AWAIT_SOURCE_OF_VALUE
		       : AWAIT_AWAITER;
}

/* The kind of wait for a task with a link of that kind; AWAIT_NOTHING: it is no task of a source. */
static enum async_wait wait_behind(enum async_link_kind kind)
{
	switch (kind) {
	case LINK_SEND:
		return AWAIT_SEND;
	case LINK_COMPLETION:
		return AWAIT_COMPLETION;
	case LINK_HTTP:
		return AWAIT_HTTP;
	case LINK_HTTP2:
		return AWAIT_HTTP2;
	default:
		return AWAIT_NOTHING;
	}
}

enum async_wait async_source_wait(struct async_graph *graph, const struct object *task,
				  uint64_t *ret_object)
{
	const struct async_link *link = async_link_find(&graph->links, task->address);
	uint64_t state = follow_field(graph, task, FACT_TASK_STATE_OBJECT);
	struct object limiter;
	enum async_wait behind = link ? wait_behind(link->kind) : AWAIT_NOTHING;
	if (behind) {
		*ret_object = link->to;
		return behind;
	}
	if (state && member_object(graph->members, state, &limiter) &&
	    async_graph_type(graph, limiter.type) == ASYNC_LIMITER) {
		*ret_object = state;
		return AWAIT_LIMITER;
	}
	*ret_object = task->address;
	return AWAIT_SOURCE;
}

/* The end of a way: the thing is not a task of the framework that leads on. */
static enum async_wait wait_for_end(struct async_graph *graph, enum async_type kind,
				    const struct object *object, uint64_t *ret_object)
{
	const struct async_link *link = async_link_find(&graph->links, object->address);
	*ret_object = object->address;
	switch (kind) {
	case ASYNC_TASK:
		return follow_field(graph, object, FACT_TASK_ACTION)
			       ? AWAIT_TASK
			       : async_source_wait(graph, object, ret_object);
	case ASYNC_DELAY:
		return AWAIT_DELAY;
	case ASYNC_WHEN_ALL:
		return AWAIT_ALL;
	case ASYNC_WHEN_ANY:
		return AWAIT_ANY;
	case ASYNC_UNWRAP:
		return AWAIT_UNWRAP;
	case ASYNC_SEMAPHORE_NODE:
		*ret_object = link && link->kind == LINK_SEMAPHORE ? link->to : 0;
		return AWAIT_SEMAPHORE;
	case ASYNC_CHANNEL_OPERATION:
	case ASYNC_CHANNEL_READ:
	case ASYNC_CHANNEL_WRITE:
		return wait_for_channel(link, kind, ret_object);
	case ASYNC_PERIODIC:
		*ret_object = follow_field(graph, object, FACT_PERIODIC_OWNER);
		return AWAIT_PERIODIC;
	case ASYNC_SOCKET:
		*ret_object = follow_field(graph, object, FACT_SOCKET_ARGS_OWNER);
		return AWAIT_SOCKET;
	case ASYNC_PIPE_READER:
		return AWAIT_PIPE_READ;
	case ASYNC_PIPE_WRITER:
		return AWAIT_PIPE_WRITE;
	default:
		if (link && link->kind == LINK_CALL)
			return AWAIT_GRAIN;
		return async_type_is_task(kind) ? AWAIT_OTHER_TASK : wait_for_other(graph, object);
	}
}

/* The box behind an object that is not one: an async iterator, or an UnwrapPromise. */
static uint32_t linked_box(const struct async_graph *graph, uint64_t address)
{
	const struct async_link *link = async_link_find(&graph->links, address);
	return link && link->kind == LINK_BOX ? async_graph_find(graph, link->to) : ASYNC_NO_NODE;
}

/* A way from what is awaited to what is waited for. */
struct wait_way {
	struct object object;   /* where it is now */
	enum async_type kind;   /* of that */
	enum async_wait passed; /* the first thing on the way; AWAIT_NOTHING: none yet */
	bool is_limited;        /* it may end before what it leads to */
};

/* Does the way end here? */
static bool take_wait_end(struct async_graph *graph, struct async_node *node,
			  const struct wait_way *way)
{
	uint64_t address = way->object.address;
	if (async_type_is_task(way->kind) && task_is_complete(graph->members, &way->object)) {
		node->object = address;
		node->wait = way->passed ? way->passed : AWAIT_THREAD;
		return true;
	}
	uint32_t next = async_type_is_method(way->kind) ? async_graph_find(graph, address)
							: linked_box(graph, address);
	if (next == ASYNC_NO_NODE)
		return false;
	node->next = next;
	node->wait = way->kind == ASYNC_UNWRAP && !way->passed ? AWAIT_UNWRAP : way->passed;
	return true;
}

/* The task inside a task that only passes something on; 0: it is not one. */
static uint64_t take_wait_step(struct async_graph *graph, struct wait_way *way)
{
	enum async_wait step = AWAIT_LIMITED;
	enum fact path = FACT_CANCELLATION_PROMISE_TASK;
	if (way->kind == ASYNC_CONTINUATION) {
		step = AWAIT_CONTINUE;
		path = FACT_CONTINUE_TASK_OF;
	} else if (way->kind == ASYNC_OF_SOURCE) {
		step = AWAIT_NOTHING;
		path = FACT_SOURCE_AS_TASK_SOURCE;
	} else if (way->kind != ASYNC_CANCELLATION) {
		return 0;
	}
	way->is_limited |= step == AWAIT_LIMITED;
	uint64_t inner = follow_field(graph, &way->object, path);
	if (inner && !way->passed)
		way->passed = step;
	return inner;
}

/* Follow what is awaited through the tasks that only pass something on. */
static void find_end(struct async_graph *graph, struct async_node *node, uint64_t awaited)
{
	struct wait_way way = { .passed = AWAIT_NOTHING };
	for (unsigned int i = 0; i < STEPS_MAX; i++) {
		if (!member_object(graph->members, awaited, &way.object)) {
			node->next = async_graph_find(graph, awaited); /* a method that runs */
			break;
		}
		way.kind = async_graph_type(graph, way.object.type);
		if (take_wait_end(graph, node, &way))
			return;
		uint64_t inner = take_wait_step(graph, &way);
		node->is_limited = way.is_limited;
		if (!inner) {
			enum async_wait end =
				wait_for_end(graph, way.kind, &way.object, &node->object);
			node->wait = way.passed && end != AWAIT_SEMAPHORE ? way.passed : end;
			return;
		}
		awaited = inner;
	}
	if (node->next != ASYNC_NO_NODE) {
		node->wait = way.passed;
		return;
	}
	node->object = awaited;
	node->wait = way.passed ? way.passed : AWAIT_AWAITER;
}

void async_wait_find(struct async_graph *graph, struct async_node *node)
{
	uint64_t awaited = node->object;
	node->object = 0;
	if (node->state == ASYNC_DONE) {
		node->wait = AWAIT_DONE;
	} else if (node->state == ASYNC_RUNS) {
		node->wait = AWAIT_RUNS;
	} else if (node->state < ASYNC_DONE) {
		node->wait = AWAIT_YIELD;
	} else if (!awaited && node->state == ASYNC_UNKNOWN) {
		node->wait = AWAIT_UNKNOWN;
		graph->unseen++;
	} else if (!awaited) {
		node->wait = AWAIT_THREAD;
	} else {
		find_end(graph, node, awaited);
	}
}

static void append_number(struct text *text, struct async_graph *graph, const struct object *object,
			  enum fact path, const char *what)
{
	struct member member = fact_of(graph->members, object, path);
	if (member.state == MEMBER_READ)
		text_printf(text, "%" PRId64 "%s", member_signed(&member), what);
}

static void append_delay(struct text *text, struct async_graph *graph, const struct object *delay)
{
	struct member timer = fact_of(graph->members, delay, FACT_DELAY_TIMER);
	struct member due = fact_at(graph->members, timer.bits, FACT_TIMER_DUE);
	if (due.state != MEMBER_READ)
		return;
	/* A timer that has come is not set again; a delay without an end has none. */
	if ((due.bits & UINT32_MAX) == UINT32_MAX) {
		text_puts(text, "its time is up");
	} else {
		text_printf(text, "of %" PRIu64 " ms", due.bits & UINT32_MAX);
	}
}

/* It does not end before both: somebody completes the channel, and it is read empty. */
static void append_completion(struct text *text, struct async_graph *graph,
			      const struct object *channel)
{
	struct member completed = fact_of(graph->members, channel, FACT_CHANNEL_COMPLETED);
	if (completed.state == MEMBER_READ)
		text_puts(text, completed.bits ? "not read empty" : "nobody has completed it");
}

/* "to 127.0.0.1:80, 4 of 4 in use" */
static void append_http(struct text *text, struct async_graph *graph, const struct object *pool,
			bool is_2)
{
	HD_CLEANUP(text) struct text host = { 0 };
	struct member name = fact_of(graph->members, pool, FACT_HTTP_POOL_HOST);
	struct member port = fact_of(graph->members, pool, FACT_HTTP_POOL_PORT);
	struct member most = fact_of(graph->members, pool, FACT_HTTP_POOL_MAX);
	struct member count =
		fact_of(graph->members, pool,
			is_2 ? FACT_HTTP_POOL_CONNECTIONS_2 : FACT_HTTP_POOL_CONNECTIONS);
	struct member made = fact_of(graph->members, pool, FACT_HTTP_POOL_PENDING);
	text_puts(text, "to ");
	if (string_value(graph->heap, name.bits, HOST_MAX, &host, NULL)) {
		text_escape(text, host.bytes, host.size);
	} else {
		text_puts(text, "?");
	}
	if (port.state == MEMBER_READ)
		text_printf(text, ":%" PRId64, member_signed(&port));
	if (count.state != MEMBER_READ)
		return;
	if (is_2) {
		text_printf(text,
			    member_signed(&count) == 1 ? ", %" PRId64 " connection"
						       : ", %" PRId64 " connections",
			    member_signed(&count));
		return;
	}
	text_printf(text, ", %" PRId64, member_signed(&count));
	if (most.state == MEMBER_READ && member_signed(&most) != INT32_MAX)
		text_printf(text, " of %" PRId64, member_signed(&most));
	text_puts(text, " in use");
	if (made.state == MEMBER_READ && made.bits)
		text_puts(text, " or being made");
}

/* Write the object's own class: the framework does not know it. */
static void append_class(struct text *text, struct async_graph *graph, const struct type *type)
{
	size_t size;
	const char *name = type_name(graph->heap->runtime, type, &size);
	text_append(text, name, size);
}

void async_wait_append(struct text *text, struct async_graph *graph, const struct async_node *node)
{
	struct object object;
	uint64_t target;
	if (node->wait == AWAIT_RUNS)
		text_puts(text, "it runs, or is about to");
	if (!member_object(graph->members, node->object, &object))
		return;
	switch (node->wait) {
	case AWAIT_SEMAPHORE:
		append_number(text, graph, &object, FACT_SEMAPHORE_FREE, " free");
		break;
	case AWAIT_COMPLETION:
		append_completion(text, graph, &object);
		break;
	case AWAIT_HTTP:
	case AWAIT_HTTP2:
		append_http(text, graph, &object, node->wait == AWAIT_HTTP2);
		break;
	case AWAIT_LIMITER:
		append_number(text, graph, &object, FACT_LIMITER_FREE, " free");
		break;
	case AWAIT_ALL:
		append_number(text, graph, &object, FACT_WHEN_ALL_LEFT, " left");
		append_number(text, graph, &object, FACT_WHEN_ALL_OF_LEFT, " left");
		break;
	case AWAIT_DELAY:
		append_delay(text, graph, &object);
		break;
	case AWAIT_TASK:
		(void)callback_append(text, graph->heap, graph->members, &object, &target);
		break;
	case AWAIT_SEND:
	case AWAIT_SOURCE_OF_VALUE:
	case AWAIT_AWAITER:
	case AWAIT_OTHER_TASK:
		append_class(text, graph, object.type);
		break;
	default:
		break;
	}
}

const char *async_root_name(enum async_root root)
{
	static const char *const names[] = {
		[ROOT_NOBODY] = "nobody",   [ROOT_THREAD] = "a thread",      [ROOT_TASK] = "a task",
		[ROOT_SEVERAL] = "several", [ROOT_OTHER] = "something else",
	};
	return names[root];
}

static enum async_root root_kind(struct async_graph *graph, const struct type *type)
{
	enum async_type kind = async_graph_type(graph, type);
	switch (kind) {
	case ASYNC_WAIT_ONE:
	case ASYNC_WAIT_ALL:
		return ROOT_THREAD;
	case ASYNC_LIST:
		return ROOT_SEVERAL;
	default:
		return async_type_is_task(kind) ? ROOT_TASK : ROOT_OTHER;
	}
}

enum async_root async_root_of(struct async_graph *graph, const struct async_node *node)
{
	struct object object = { .address = node->address, .type = node->type };
	uint64_t continuation = follow_field(graph, &object, FACT_TASK_NEXT);
	if (!member_object(graph->members, continuation, &object))
		return ROOT_NOBODY;
	return root_kind(graph, object.type);
}
