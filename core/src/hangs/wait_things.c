/* SPDX-License-Identifier: MIT */
#include "hangs/wait_things.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/async/async_wait.h"
#include "hangs/wait_demand.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_quiet.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

_Static_assert((int)AWAIT_KINDS <= (int)THING_BARRIER, "a kind of thing has two meanings");

/* Who waits again for a semaphore with one place waits for himself: a deadlock. */
#define PLACES_MIN 2u

#define SERVER "Microsoft.AspNetCore."

bool wait_thing_is_sure(const struct wait_thing *thing)
{
	bool is_lost = thing->kind == AWAIT_LIMITER && thing->lost && !thing->pool_items;
	return is_lost || thing->block_end == BLOCK_REFUSED || thing->kind == THING_AGENT ||
	       thing->is_alone;
}

/* One node that waits for one thing. */
struct thing_waiter {
	uint64_t address;
	uint8_t kind; /* as that of struct wait_thing */
	uint32_t node;
};

struct thing_waiters {
	struct thing_waiter *rows;
	size_t rows_count, rows_capacity;
};

/* The task of a TaskCompletionSource: it has no delegate, and is not of a class of its own. */
static bool is_source(const struct waits *waits, const struct object *object)
{
	struct async_graph *graph = waits->async;
	struct member action = fact_of(waits->members, object, FACT_TASK_ACTION);
	return action.state == MEMBER_READ && !action.bits &&
	       async_graph_type(graph, object->type) == ASYNC_TASK;
}

/* The channel behind a task of a ValueTask (ChannelWriter.WriteAsync(item).AsTask()); false: it is no such task. */
static bool read_channel(const struct waits *waits, const struct thread_wait *wait,
			 struct thing_waiter *ret)
{
	if (wait->kind != WAIT_TASK ||
	    async_graph_type(waits->async, wait->object.type) != ASYNC_OF_SOURCE)
		return false;
	struct member source = fact_of(waits->members, &wait->object, FACT_SOURCE_AS_TASK_SOURCE);
	const struct async_link *link = async_link_find(&waits->async->links, source.bits);
	if (!link || (link->kind != LINK_READ && link->kind != LINK_WRITE))
		return false;
	ret->address = link->to;
	ret->kind = link->kind == LINK_READ ? AWAIT_READ : AWAIT_WRITE;
	return true;
}

bool wait_wants_room(const struct waits *waits, const struct thread_wait *wait)
{
	struct member capacity = fact_of(waits->members, &wait->object, FACT_BLOCKING_CAPACITY);
	struct member room = fact_of(waits->members, &wait->object, FACT_BLOCKING_FREE);
	return capacity.state == MEMBER_READ && member_signed(&capacity) > 0 &&
	       room.state == MEMBER_READ && !room.bits;
}

/* Read the thing that the node itself waits for; false: it is none of these. */
static bool read_waiter(const struct waits *waits, uint32_t node, struct thing_waiter *ret)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	const struct async_node *method = wait_node_method(waits, node);
	if (method) {
		bool is_thing = method->wait == AWAIT_SEMAPHORE || method->wait == AWAIT_READ ||
				method->wait == AWAIT_WRITE || method->wait == AWAIT_SOURCE ||
				method->wait == AWAIT_SEND || method->wait == AWAIT_LIMITER ||
				method->wait == AWAIT_COMPLETION || method->wait == AWAIT_HTTP ||
				method->wait == AWAIT_HTTP2;
		*ret = (struct thing_waiter){ method->object, (uint8_t)method->wait, node };
		if (wait_delays_without_end(waits, method)) {
			ret->kind = THING_DELAY;
			is_thing = true;
		}
		return is_thing && method->object && method->next == ASYNC_NO_NODE;
	}
	if (!wait || wait->is_over || !wait->object.type)
		return false;
	*ret = (struct thing_waiter){ wait->object.address, AWAIT_SOURCE, node };
	if (wait->kind == WAIT_SEMAPHORE)
		ret->kind = AWAIT_SEMAPHORE;
	if (wait->kind == WAIT_COLLECTION)
		ret->kind = AWAIT_WRITE;
	if (wait->kind == WAIT_BARRIER)
		ret->kind = THING_BARRIER;
	if (wait->kind == WAIT_COUNTDOWN)
		ret->kind = THING_COUNTDOWN;
	if (wait->kind == WAIT_TASK && is_source(waits, &wait->object))
		ret->kind = (uint8_t)async_source_wait(waits->async, &wait->object, &ret->address);
	return read_channel(waits, wait, ret) || wait->kind == WAIT_SEMAPHORE ||
	       ret->kind >= THING_BARRIER ||
	       (wait->kind == WAIT_COLLECTION && wait_wants_room(waits, wait)) ||
	       (wait->kind == WAIT_TASK && is_source(waits, &wait->object));
}

static void thing_waiters_deinit(struct thing_waiters *waiters)
{
	pages_free(waiters->rows, waiters->rows_capacity, sizeof(*waiters->rows));
}

/* Is it of the framework?  What that waits for, it has its own ways to end. */
static bool is_of_framework(const struct waits *waits, const struct async_node *method)
{
	const char *name = async_node_code(waits->async, method);
	return framework_owns(waits->heap->runtime, name, strlen(name));
}

bool wait_is_of_server(struct async_graph *graph, const struct async_node *node)
{
	return strncmp(async_node_code(graph, node), SERVER, strlen(SERVER)) == 0;
}

/* By node: does a thread, or a request of a server, wait for what the node does? */
static void find_asked(const struct waits *waits, const uint32_t *ends, bool *asked)
{
	struct async_graph *graph = waits->async;
	memset(asked, 0, wait_nodes(waits) * sizeof(*asked));
	for (size_t i = 0; i < waits->count; i++) {
		if (ends[i] < wait_nodes(waits))
			asked[ends[i]] = true;
	}
	for (size_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *method = &graph->rows[i];
		uint32_t end = ends[waits->count + i];
		if (async_node_is_awaited(method) || end >= wait_nodes(waits))
			continue;
		if (method->root == ROOT_THREAD || wait_is_of_server(graph, method))
			asked[end] = true;
	}
}

/* How many may enter the semaphore at once; 0: nothing says so. */
static uint64_t places_of(const struct waits *waits, uint64_t address)
{
	struct member highest = fact_at(waits->members, address, FACT_SEMAPHORE_MAX);
	bool is_limit = highest.state == MEMBER_READ && member_signed(&highest) > 0 &&
			member_signed(&highest) != INT32_MAX;
	return is_limit ? highest.bits : 0;
}

/* Is the semaphore one that is not free?  And is it a limit, not a signal? */
static bool is_taken(const struct waits *waits, uint64_t address, bool *is_limit)
{
	struct member highest = fact_at(waits->members, address, FACT_SEMAPHORE_MAX);
	struct member count = fact_at(waits->members, address, FACT_SEMAPHORE_FREE);
	*is_limit = highest.state == MEMBER_READ && member_signed(&highest) != INT32_MAX;
	return highest.state == MEMBER_READ && count.state == MEMBER_READ && !count.bits;
}

/* A library has it: only its own state proves that nobody gives it, however few wait, and whoever they are. */
static bool is_of_library(uint8_t kind)
{
	return kind == AWAIT_SEND || kind == AWAIT_LIMITER || kind == AWAIT_HTTP ||
	       kind == AWAIT_HTTP2;
}

static bool is_counted(const struct waits *waits, const struct thing_waiter *waiter,
		       const bool *asked)
{
	bool is_limit = false;
	const struct async_node *method = wait_node_method(waits, waiter->node);
	if (is_of_library(waiter->kind))
		return true;
	if (method && is_of_framework(waits, async_node_waiter(waits->async, method)))
		return false;
	switch (waiter->kind) {
	case AWAIT_SEMAPHORE:
		return is_taken(waits, waiter->address, &is_limit) &&
		       (is_limit || asked[waiter->node]);
	case AWAIT_READ:
		return asked[waiter->node];
	default:
		return true;
	}
}

ORDER_BY3(compare_waiters, struct thing_waiter, address, kind, node)

static enum hd_status collect_waiters(const struct waits *waits, const bool *asked,
				      struct thing_waiters *waiters, struct hd_error *err)
{
	for (uint32_t i = 0; i < wait_nodes(waits); i++) {
		struct thing_waiter waiter;
		if (!read_waiter(waits, i, &waiter) || !is_counted(waits, &waiter, asked))
			continue;
		TRY_MEMORY(PAGES_RESERVE(waiters, rows), err);
		waiters->rows[waiters->rows_count++] = waiter;
	}
	if (waiters->rows_count) {
		qsort(waiters->rows, waiters->rows_count, sizeof(*waiters->rows), compare_waiters);
	}
	return HD_OK;
}

static void add_thing(struct wait_things *things, const struct wait_thing *thing)
{
	size_t place = things->rows_count;
	if (place == WAIT_THINGS_MAX) {
		place = 0;
		for (size_t i = 1; i < WAIT_THINGS_MAX; i++) {
			const struct wait_thing *least = &things->rows[place];
			if (things->rows[i].threads + things->rows[i].methods <
			    least->threads + least->methods)
				place = i;
		}
		const struct wait_thing *least = &things->rows[place];
		if (least->threads + least->methods >= thing->threads + thing->methods)
			return;
	} else {
		things->rows_count++;
	}
	things->rows[place] = *thing;
}

/* Do enough wait for it?  Nobody waits for a Barrier in an idle program. */
static bool is_worth_it(const struct waits *waits, const struct wait_thing *thing)
{
	uint64_t count = thing->threads + thing->methods;
	uint64_t places = thing->kind == AWAIT_SEMAPHORE ? places_of(waits, thing->address) : 0;
	if (places >= PLACES_MIN && count >= places)
		return true;
	if (thing->is_start || thing->calls + thing->items >= WAIT_THING_MIN)
		return true;
	if (thing->kind == THING_DELAY)
		return false;
	return count >= WAIT_THING_MIN || thing->kind >= THING_BARRIER ||
	       thing->kind == AWAIT_WRITE || thing->left || is_of_library(thing->kind);
}

static enum hd_status group_waiters(const struct waits *waits, const struct thing_waiters *waiters,
				    const struct wait_demand *demand, struct job *job,
				    struct wait_things *things, struct hd_error *err)
{
	for (size_t i = 0; i < waiters->rows_count;) {
		const struct thing_waiter *first = &waiters->rows[i];
		struct wait_thing thing = { .address = first->address, .kind = first->kind };
		for (; i < waiters->rows_count && waiters->rows[i].address == first->address &&
		       waiters->rows[i].kind == first->kind;
		     i++) {
			uint32_t node = waiters->rows[i].node;
			bool is_thread = wait_node_thread(waits, node) != NULL;
			if (!thing.methods)
				thing.first = node;
			thing.threads += is_thread;
			thing.is_collection |=
				is_thread && waits->rows[node].kind == WAIT_COLLECTION;
			thing.methods += !is_thread;
			if (demand) {
				thing.calls += demand[node].calls;
				thing.items += demand[node].items;
				thing.is_start |= demand[node].is_start;
			}
			thing.may_change |=
				waits->edges[node].to != WAIT_NOBODY || is_of_library(thing.kind);
		}
		if (thing.kind == AWAIT_COMPLETION)
			TRY(wait_count_items(waits, thing.address, job, &thing.left, err));
		if (is_worth_it(waits, &thing))
			add_thing(things, &thing);
	}
	return HD_OK;
}

ORDER_BY2(compare_things, struct wait_thing, address, kind)

enum hd_status wait_things_find(const struct waits *waits, const uint32_t *ends, struct job *job,
				struct wait_things *ret, struct hd_error *err)
{
	HD_CLEANUP(thing_waiters) struct thing_waiters waiters = { 0 };
	HD_FREE bool *asked = mem_alloc(wait_nodes(waits) + 1, sizeof(*asked));
	HD_FREE struct wait_demand *demand = NULL;
	bool is_quiet = false;
	TRY_MEMORY(asked, err);
	find_asked(waits, ends, asked);
	TRY(collect_waiters(waits, asked, &waiters, err));
	if (waiters.rows_count)
		TRY(wait_quiet_find(waits, job, &is_quiet, err));
	if (is_quiet) {
		demand = mem_alloc(wait_nodes(waits) + 1, sizeof(*demand));
		TRY_MEMORY(demand, err);
		TRY(wait_demand_find(waits, ends, job, demand, err));
	}
	ret->rows_count = 0;
	TRY(group_waiters(waits, &waiters, demand, job, ret, err));
	qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), compare_things);
	return HD_OK;
}

const struct wait_thing *wait_thing_of(const struct waits *waits, const struct wait_things *things,
				       uint32_t node)
{
	struct thing_waiter waiter;
	if (node >= wait_nodes(waits) || !read_waiter(waits, node, &waiter))
		return NULL;
	size_t row = ROWS_FROM(things->rows, things->rows_count, address, waiter.address);
	for (; row < things->rows_count && things->rows[row].address == waiter.address; row++) {
		if (things->rows[row].kind == waiter.kind)
			return &things->rows[row];
	}
	return NULL;
}

#define ENTRIES_MAX 16u

/* At which await a method waits for a thing itself; of several the first one. */
struct thing_entry {
	uint32_t method; /* row of the graph's methods */
	int32_t state;
};

static struct thing_entry *find_entry(struct thing_entry *entries, size_t count, uint32_t method)
{
	for (size_t i = 0; i < count; i++) {
		if (entries[i].method == method)
			return &entries[i];
	}
	return NULL;
}

/* The entries of one thing. */
struct thing_entries {
	struct thing_entry rows[ENTRIES_MAX];
	size_t count;
	uint64_t stuck; /* calls that wait again for the thing, without a limit */
};

/* The row of the thing for which the method waits, or for one that does; NULL: it is none, or no semaphore. */
static struct wait_thing *semaphore_of(const struct async_graph *graph,
				       const struct async_node *method, struct wait_things *things)
{
	const struct async_node *end = &graph->rows[method->end];
	if (end->wait != AWAIT_SEMAPHORE || end->next != ASYNC_NO_NODE)
		return NULL;
	size_t row = ROWS_FROM(things->rows, things->rows_count, address, end->object);
	for (; row < things->rows_count && things->rows[row].address == end->object; row++) {
		if (things->rows[row].kind == AWAIT_SEMAPHORE)
			return &things->rows[row];
	}
	return NULL;
}

static void note_entry(struct thing_entries *entries, const struct async_node *method)
{
	struct thing_entry *entry = find_entry(entries->rows, entries->count, method->method);
	if (!entry && entries->count < ENTRIES_MAX) {
		entries->rows[entries->count++] =
			(struct thing_entry){ method->method, method->state };
	}
	if (entry && method->state < entry->state)
		entry->state = method->state;
}

static void note_holder(struct thing_entries *entries, const struct async_graph *graph,
			uint32_t row, struct wait_thing *thing)
{
	const struct async_node *method = &graph->rows[row];
	const struct thing_entry *entry = find_entry(entries->rows, entries->count, method->method);
	if (!entry || method->next == ASYNC_NO_NODE || method->state <= entry->state)
		return;
	thing->holder = row;
	thing->holders++;
	entries->stuck += !async_call_is_limited(graph, row);
}

/*
 * Has a call of such a method got its place, and waits for something else, runs, or is about to?  Then it may give the place
 * back.
 */
static bool has_other_holder(const struct async_graph *graph, struct thing_entries *entries,
			     const struct wait_thing *thing)
{
	for (size_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *method = &graph->rows[i];
		const struct async_node *end = &graph->rows[method->end];
		const struct thing_entry *entry = find_entry((struct thing_entry *)entries->rows,
							     entries->count, method->method);
		bool is_for_thing = end->wait == AWAIT_SEMAPHORE && end->object == thing->address;
		if (entry && !is_for_thing &&
		    (method->state >= entry->state || method->wait == AWAIT_RUNS))
			return true;
	}
	return false;
}

/* Does a thread refer to the thing? */
static bool thread_has(const struct waits *waits, const struct wait_thing *thing)
{
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_stack *stack = &waits->rows[i].stack;
		if (stack->is_partial || stack->is_missing)
			return true;
		for (size_t k = 0; k < stack->roots_count; k++) {
			if (stack->roots[k].value == thing->address)
				return true;
		}
	}
	return false;
}

/* Have those that wait again all places of the semaphore, and is nobody else known who may have one? */
static void find_full(const struct waits *waits, struct thing_entries *entries,
		      struct wait_thing *thing)
{
	uint64_t places = places_of(waits, thing->address);
	if (places < PLACES_MIN || entries->stuck < places || thing->threads ||
	    entries->count == ENTRIES_MAX || thread_has(waits, thing) ||
	    has_other_holder(waits->async, entries, thing))
		return;
	thing->pool_items = places;
}

enum hd_status wait_things_find_holders(const struct waits *waits, struct job *job,
					struct wait_things *things, struct hd_error *err)
{
	struct async_graph *graph = waits->async;
	HD_FREE struct thing_entries *entries =
		mem_calloc(things->rows_count + 1, sizeof(*entries));
	TRY_MEMORY(entries, err);
	for (unsigned int pass = 0; pass < 2 && things->rows_count; pass++) {
		for (uint32_t i = 0; i < graph->rows_count; i++) {
			const struct async_node *method = &graph->rows[i];
			struct wait_thing *thing = semaphore_of(graph, method, things);
			if (i % JOB_STRIDE == 0)
				TRY(job_check(job, 0, err));
			if (!thing)
				continue;
			struct thing_entries *own = &entries[thing - things->rows];
			if (pass == 0 && method->next == ASYNC_NO_NODE) {
				note_entry(own, async_node_waiter(graph, method));
			} else if (pass == 1) {
				note_holder(own, graph, i, thing);
			}
		}
	}
	for (size_t i = 0; i < things->rows_count; i++) {
		TRY(job_check(job, 0, err));
		if (things->rows[i].kind == AWAIT_SEMAPHORE)
			find_full(waits, &entries[i], &things->rows[i]);
	}
	return HD_OK;
}
