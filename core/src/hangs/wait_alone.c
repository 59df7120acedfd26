/* SPDX-License-Identifier: MIT */
#include "hangs/wait_alone.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/async/async_wait.h"
#include "analysis/async/task_state.h"
#include "hangs/wait_graph.h"
#include "hangs/wait_parked.h"
#include "hangs/wait_parts.h"
#include "inspect/value.h"
#include "runtime/thread_state.h"
#include "stack/thread_call.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Passes over the heap: each takes out the things that somebody has. */
#define PASSES_MAX 8u
/* Methods from one of the framework to whoever calls that. */
#define CALLERS_MAX 8u

/* One node that waits for a thing, without a limit of time. */
struct alone_waiter {
	uint64_t address;
	uint64_t
		event; /* of a thread: the event or semaphore inside of it that its frames wait for; or 0 */
	uint8_t kind; /* as that of struct wait_thing */
	uint32_t node;
};

struct alone_search {
	const struct waits *waits;
	struct alone_waiter *rows;
	size_t rows_count, rows_capacity;
	uint64_t *addresses; /* of the rows, for one pass */
	bool *asked;         /* by node: does one wait for it that should end? */
	bool *waiting;       /* by node: it waits for a thing that may be alone */
	bool *blocked;       /* by node: it does so, or waits for one that does */
};

static void alone_search_deinit(struct alone_search *search)
{
	pages_free(search->rows, search->rows_capacity, sizeof(*search->rows));
	mem_free(search->addresses);
	mem_free(search->asked);
	mem_free(search->waiting);
	mem_free(search->blocked);
}

/* Was the task never started? */
static bool is_unstarted(const struct waits *waits, const struct object *task)
{
	struct task_state state;
	return task_state_read(waits->heap, waits->members, task, &state) &&
	       state.status == TASK_CREATED;
}

/* Read the task that a thread waits for; false: somebody runs it, or it is not known. */
static bool read_task(const struct waits *waits, const struct object *task,
		      struct alone_waiter *ret)
{
	struct member action = fact_of(waits->members, task, FACT_TASK_ACTION);
	if (action.state != MEMBER_READ || async_graph_type(waits->async, task->type) != ASYNC_TASK)
		return false;
	if (action.bits) {
		ret->kind = THING_START;
		return is_unstarted(waits, task);
	}
	ret->kind = (uint8_t)async_source_wait(waits->async, task, &ret->address);
	return ret->kind == AWAIT_SOURCE || ret->kind == AWAIT_COMPLETION;
}

uint64_t wait_event_of_frames(const struct waits *waits, const struct thread_wait *wait)
{
	struct runtime *runtime = waits->heap->runtime;
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		struct object object;
		if (wait->wait_end == WAIT_NO_FRAME || root->frame >= wait->wait_end ||
		    root->value == wait->object.address ||
		    !member_object(waits->members, root->value, &object))
			continue;
		if (type_derives_from(runtime, object.type, 0, wait_kind_type(WAIT_EVENT)) ||
		    type_derives_from(runtime, object.type, 0, wait_kind_type(WAIT_SEMAPHORE)))
			return object.address;
	}
	return 0;
}

static bool read_thread(const struct waits *waits, const struct thread_wait *wait,
			struct alone_waiter *ret)
{
	if (wait->is_over || !wait->object.type || wait->user_frame == WAIT_NO_FRAME ||
	    !thread_waits_without_end(runtime_target(waits->heap->runtime), wait->thread->os_id))
		return false;
	ret->address = wait->object.address;
	switch (wait->kind) {
	case WAIT_SEMAPHORE:
		ret->kind = AWAIT_SEMAPHORE;
		return true;
	case WAIT_EVENT:
		ret->kind = THING_EVENT;
		return true;
	case WAIT_PULSE:
		ret->kind = THING_PULSE;
		return true;
	case WAIT_COUNTDOWN:
		ret->kind = THING_COUNTDOWN;
		return true;
	case WAIT_BARRIER:
		ret->kind = THING_BARRIER;
		return true;
	case WAIT_COLLECTION:
		ret->kind = wait_wants_room(waits, wait) ? AWAIT_WRITE : AWAIT_READ;
		return true;
	case WAIT_TASK:
		return read_task(waits, &wait->object, ret);
	default:
		return false;
	}
}

static bool read_method(const struct waits *waits, const struct async_node *method,
			struct alone_waiter *ret)
{
	struct object task;
	ret->address = method->object;
	ret->kind = (uint8_t)method->wait;
	if (!method->object || method->next != ASYNC_NO_NODE || method->is_limited)
		return false;
	switch (method->wait) {
	case AWAIT_SEMAPHORE:
	case AWAIT_READ:
	case AWAIT_WRITE:
	case AWAIT_SOURCE:
	case AWAIT_COMPLETION:
		return true;
	case AWAIT_TASK:
		ret->kind = THING_START;
		return member_object(waits->members, method->object, &task) &&
		       is_unstarted(waits, &task);
	default:
		return false;
	}
}

ORDER_BY3(compare_alone, struct alone_waiter, address, kind, node)

static enum hd_status collect(struct alone_search *search, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	for (uint32_t i = 0; i < wait_nodes(waits); i++) {
		const struct thread_wait *wait = wait_node_thread(waits, i);
		struct alone_waiter row = { .node = i };
		bool is_one = wait ? read_thread(waits, wait, &row)
				   : read_method(waits, wait_node_method(waits, i), &row);
		if (!is_one)
			continue;
		row.event = wait ? wait_event_of_frames(waits, wait) : 0;
		TRY_MEMORY(PAGES_RESERVE(search, rows), err);
		search->rows[search->rows_count++] = row;
	}
	if (search->rows_count)
		qsort(search->rows, search->rows_count, sizeof(*search->rows), compare_alone);
	return HD_OK;
}

/* Should the thread end some time?  Those in the background that the program has made may wait for work as long as it runs. */
static bool should_end(const struct thread_wait *wait)
{
	return !thread_state_is(wait->thread, THREAD_STATE_BACKGROUND) ||
	       thread_state_is(wait->thread, THREAD_STATE_POOL_WORKER);
}

static void find_waiting(struct alone_search *search)
{
	memset(search->waiting, 0, wait_nodes(search->waits));
	for (size_t i = 0; i < search->rows_count; i++)
		search->waiting[search->rows[i].node] = true;
}

static void find_asked(struct alone_search *search)
{
	const struct waits *waits = search->waits;
	struct async_graph *graph = waits->async;
	find_waiting(search);
	for (uint32_t i = 0; i < wait_nodes(waits); i++) {
		const struct async_node *method = wait_node_method(waits, i);
		uint32_t node = wait_first_of(waits, search->waiting, i);
		if (node == WAIT_NOBODY)
			continue;
		search->asked[node] |=
			method ? !async_node_is_awaited(method) && wait_is_of_server(graph, method)
			       : node != i || should_end(&waits->rows[i]);
	}
}

/* Is it of the framework, and so is whoever calls it? */
static bool is_of_framework(const struct waits *waits, uint32_t node)
{
	const struct async_node *method = wait_node_method(waits, node);
	for (unsigned int i = 0; method && i < CALLERS_MAX; i++) {
		if (async_node_owner(waits->async, method) != CODE_OF_FRAMEWORK)
			return false;
		method = async_node_is_awaited(method) ? &waits->async->rows[method->outer] : NULL;
	}
	return wait_node_method(waits, node) != NULL;
}

static size_t end_of_group(const struct alone_search *search, size_t begin)
{
	const struct alone_waiter *rows = search->rows;
	size_t end = begin;
	while (end < search->rows_count && rows[end].address == rows[begin].address &&
	       rows[end].kind == rows[begin].kind)
		end++;
	return end;
}

/* Keep those who wait for the things for which some of @p keep says so. */
static void keep_groups(struct alone_search *search,
			bool (*keep)(const void *arg, const struct alone_search *search,
				     size_t begin, size_t end),
			const void *arg)
{
	size_t count = 0;
	for (size_t i = 0, end; i < search->rows_count; i = end) {
		end = end_of_group(search, i);
		bool is_kept = keep(arg, search, i, end);
		for (size_t k = i; k < end && is_kept; k++)
			search->rows[count++] = search->rows[k];
	}
	search->rows_count = count;
}

/* Does somebody wait for it who should end, and is not only the framework's? */
static bool is_asked(const void *arg, const struct alone_search *search, size_t begin, size_t end)
{
	(void)arg;
	for (size_t i = begin; i < end; i++) {
		uint32_t node = search->rows[i].node;
		if (search->asked[node] && !is_of_framework(search->waits, node))
			return true;
	}
	return false;
}

struct alone_pass {
	const struct wait_graph *graph;
	const struct reach_pass *pass;
};

static bool is_alone(const void *arg, const struct alone_search *search, size_t begin, size_t end)
{
	const struct alone_pass *alone = arg;
	bool is_reached = wait_graph_has(alone->graph, alone->pass, search->rows[begin].address);
	for (size_t i = begin; i < end && !is_reached; i++) {
		uint64_t event = search->rows[i].event;
		is_reached = event && wait_graph_has(alone->graph, alone->pass, event);
	}
	return !is_reached;
}

/* Who waits for one of the things that are left, and who waits for these in turn. */
static void find_blocked(struct alone_search *search)
{
	find_waiting(search);
	for (uint32_t i = 0; i < wait_nodes(search->waits); i++) {
		search->blocked[i] =
			wait_first_of(search->waits, search->waiting, i) != WAIT_NOBODY;
	}
}

/* Take out what somebody has that may go on, until nothing changes. */
static enum hd_status find_alone(struct alone_search *search, struct wait_graph *graph,
				 struct job *job, struct hd_error *err)
{
	size_t before = 0;
	search->addresses = mem_alloc(search->rows_count + 1, sizeof(*search->addresses));
	TRY_MEMORY(search->addresses, err);
	for (unsigned int i = 0; search->rows_count && search->rows_count != before; i++) {
		struct reach_pass pass;
		before = search->rows_count;
		find_blocked(search);
		for (size_t k = 0; k < before; k++)
			search->addresses[k] = search->rows[k].address;
		const struct wait_cut cut = { .blocked = search->blocked,
					      .weak = search->addresses,
					      .weak_count = before };
		TRY(wait_graph_reach(graph, &cut, job, &pass, err));
		const struct alone_pass alone = { graph, &pass };
		keep_groups(search, is_alone, &alone);
		reach_pass_deinit(&pass);
		if (i == PASSES_MAX)
			search->rows_count = 0;
	}
	return HD_OK;
}

/* The kinds for which one waits who is to wait as long as the process lives. */
static bool is_for_parking(uint8_t kind)
{
	return kind == AWAIT_SEMAPHORE || kind == AWAIT_SOURCE || kind == THING_EVENT ||
	       kind == THING_PULSE;
}

/* Take out the main thread, or the method that it waits for, where it waits on purpose. */
static enum hd_status leave_parked(struct alone_search *search, struct job *job,
				   struct hd_error *err)
{
	size_t count = 0;
	find_waiting(search);
	for (size_t i = 0, end; i < search->rows_count; i = end) {
		const struct alone_waiter *first = &search->rows[i];
		bool is_parked = false;
		end = end_of_group(search, i);
		if (end == i + 1 && is_for_parking(first->kind)) {
			TRY(wait_is_parked(search->waits, search->waiting, first->node, job,
					   &is_parked, err));
		}
		for (size_t k = i; k < end && !is_parked; k++)
			search->rows[count++] = search->rows[k];
	}
	search->rows_count = count;
	return HD_OK;
}

static void add_things(const struct alone_search *search, struct wait_things *things)
{
	for (size_t i = 0, end; i < search->rows_count; i = end) {
		const struct alone_waiter *first = &search->rows[i];
		struct wait_thing thing = { .address = first->address, .kind = first->kind };
		size_t row = 0;
		end = end_of_group(search, i);
		for (size_t k = i; k < end; k++) {
			uint32_t node = search->rows[k].node;
			bool is_thread = wait_node_thread(search->waits, node) != NULL;
			if (!thing.methods)
				thing.first = node;
			thing.threads += is_thread;
			thing.methods += !is_thread;
			thing.is_collection |= is_thread && (thing.kind == AWAIT_READ ||
							     thing.kind == AWAIT_WRITE);
		}
		while (row < things->rows_count && (things->rows[row].address != thing.address ||
						    things->rows[row].kind != thing.kind))
			row++;
		if (row == WAIT_THINGS_MAX)
			continue;
		if (row == things->rows_count)
			things->rows[things->rows_count++] = thing;
		things->rows[row].is_alone = true;
		things->rows[row].stage.is_behind = things->rows[row].may_change = false;
	}
}

enum hd_status wait_alone_find(const struct waits *waits, struct wait_graph *graph, struct job *job,
			       struct wait_things *things, struct hd_error *err)
{
	size_t nodes = wait_nodes(waits) + 1;
	bool is_known = false;
	HD_CLEANUP(alone_search)
	struct alone_search search = { .waits = waits,
				       .asked = mem_calloc(nodes, sizeof(bool)),
				       .waiting = mem_calloc(nodes, sizeof(bool)),
				       .blocked = mem_calloc(nodes, sizeof(bool)) };
	TRY_MEMORY(search.asked && search.waiting && search.blocked, err);
	TRY(collect(&search, err));
	find_asked(&search);
	keep_groups(&search, is_asked, NULL);
	if (!search.rows_count)
		return HD_OK;
	TRY(wait_graph_open(graph, job, &is_known, err));
	if (!is_known)
		return HD_OK;
	TRY(find_alone(&search, graph, job, err));
	TRY(leave_parked(&search, job, err));
	add_things(&search, things);
	return waits->async->failed ? fail_nomem(err) : HD_OK;
}
