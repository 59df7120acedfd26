/* SPDX-License-Identifier: MIT */
#include "hangs/wait_rentals.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "framework/owns.h"
#include "gc/references.h"
#include "hangs/wait_graph.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_rows.h"
#include "inspect/value.h"
#include "mem/memory.h"
#include "util/alloc.h"
#include "util/job.h"

/* Pools that are looked at, objects of one, and methods from the one that waits outwards whose "this" may be the pool. */
#define POOLS_MAX   8u
#define RENTALS_MAX 4096u
#define CALLERS_MAX 3u

struct rental {
	uint64_t pool, channel;
	struct array_info all; /* the objects of the pool */
};

struct rental_search {
	const struct waits *waits;
	struct wait_graph *graph;
	struct wait_things *things;
	struct window window;
	struct wait_rows waiters; /* by channel: the nodes that wait to read */
	bool *waiting, *blocked;  /* by node: those of one channel, and who waits for these, too */
};

static void rental_search_deinit(struct rental_search *search)
{
	window_deinit(&search->window);
	wait_rows_deinit(&search->waiters);
	mem_free(search->waiting);
	mem_free(search->blocked);
}

static enum hd_status collect(struct rental_search *search, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	for (uint32_t i = 0; i < waits->async->rows_count; i++) {
		const struct async_node *method = &waits->async->rows[i];
		if (method->wait == AWAIT_READ && method->object && !method->is_limited &&
		    method->next == ASYNC_NO_NODE) {
			TRY(wait_rows_add(&search->waiters, method->object,
					  (uint32_t)waits->count + i, err));
		}
	}
	wait_rows_sort(&search->waiters);
	return HD_OK;
}

/* Does the object at @p address refer to the one at @p to? */
static bool refers_to(const struct waits *waits, uint64_t address, uint64_t to)
{
	HD_CLEANUP(window) struct window window = { .memory = waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!member_object(waits->members, address, &object) || object.type->component_size)
		return false;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (reference.value == to)
			return true;
	}
	return false;
}

/* Is it an array that is full of objects of one type, each of which refers to the pool? */
static bool are_rentals(const struct waits *waits, uint64_t address, uint64_t pool,
			struct array_info *ret)
{
	struct object object;
	const struct type *type = NULL;
	if (!array_at(waits->heap, waits->members, address, ret) || !ret->length ||
	    ret->length > RENTALS_MAX)
		return false;
	for (uint32_t i = 0; i < ret->length; i++) {
		uint64_t rental = array_reference(waits->heap, ret, i);
		if (!member_object(waits->members, rental, &object) ||
		    (type && type != object.type))
			return false;
		type = object.type;
		if (!refers_to(waits, rental, pool))
			return false;
	}
	return !framework_owns_type(waits->heap->runtime, type);
}

/* Does a reference of an object lead to the channel, itself or by its reader or writer? */
static bool leads_to_channel(const struct waits *waits, uint64_t address, uint64_t channel)
{
	struct object object;
	if (address == channel)
		return true;
	if (!member_object(waits->members, address, &object))
		return false;
	enum async_type kind = async_graph_type(waits->async, object.type);
	return (kind == ASYNC_CHANNEL_READER || kind == ASYNC_CHANNEL_WRITER) &&
	       refers_to(waits, address, channel);
}

/* Is the object at @p address a pool with that channel? */
static bool is_pool(struct rental_search *search, uint64_t address, uint64_t channel,
		    struct rental *ret)
{
	const struct waits *waits = search->waits;
	struct references references;
	struct reference reference;
	struct object object;
	bool has_channel = false, has_all = false;
	if (!member_object(waits->members, address, &object) || object.type->component_size)
		return false;
	references_begin(&references, &search->window, &object);
	while (references_next(&references, &reference)) {
		has_channel |= leads_to_channel(waits, reference.value, channel);
		has_all = has_all || are_rentals(waits, reference.value, address, &ret->all);
	}
	ret->pool = address;
	ret->channel = channel;
	return has_channel && has_all;
}

/* The pool whose method waits, or calls the one that does. */
static bool find_pool(struct rental_search *search, uint32_t row, uint64_t channel,
		      struct rental *ret)
{
	const struct waits *waits = search->waits;
	struct async_graph *graph = waits->async;
	for (unsigned int i = 0; row != ASYNC_NO_NODE && i < CALLERS_MAX; i++) {
		uint64_t slot = async_node_this(graph, &graph->rows[row]), address = 0;
		if (slot && memory_u64(waits->heap->memory, slot, &address) && address &&
		    is_pool(search, address, channel, ret))
			return true;
		row = graph->rows[row].outer;
	}
	return false;
}

/* Mark who waits for the channel of row @p begin, and for these; is a thread or a request among them? */
static bool find_blocked(struct rental_search *search, size_t begin)
{
	const struct waits *waits = search->waits;
	const struct wait_rows *rows = &search->waiters;
	bool is_asked = false;
	memset(search->waiting, 0, wait_nodes(waits));
	for (size_t i = begin; wait_rows_has(rows, i, rows->rows[begin].object); i++)
		search->waiting[rows->rows[i].node] = true;
	for (uint32_t i = 0; i < wait_nodes(waits); i++) {
		const struct async_node *method = wait_node_method(waits, i);
		search->blocked[i] = wait_first_of(waits, search->waiting, i) != WAIT_NOBODY;
		is_asked |= search->blocked[i] &&
			    (!method || (!async_node_is_awaited(method) &&
					 wait_is_of_server(waits->async, method)));
	}
	return is_asked;
}

/* Is somebody in a method of the pool who may go on? */
static bool is_in_use(const struct rental_search *search, uint64_t pool)
{
	const struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_stack *stack = &waits->rows[i].stack;
		for (size_t k = 0; !search->blocked[i] && k < stack->roots_count; k++) {
			if (stack->roots[k].value == pool)
				return true;
		}
	}
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		const struct async_node *method = &waits->async->rows[i];
		if (!search->blocked[waits->count + i] &&
		    (!method->holder || refers_to(waits, method->holder, pool)))
			return true;
	}
	return false;
}

/* How many of the objects are reached without the pool and its channel, and without those who are @p blocked. */
static enum hd_status count_reached(const struct rental_search *search, const struct rental *rental,
				    const bool *blocked, struct job *job, uint64_t *ret,
				    struct hd_error *err)
{
	const uint64_t without[] = { rental->pool, rental->channel };
	const struct wait_cut cut = { .blocked = blocked, .objects = without, .objects_count = 2 };
	struct reach_pass pass;
	TRY(wait_graph_reach(search->graph, &cut, job, &pass, err));
	*ret = 0;
	for (uint32_t i = 0; i < rental->all.length; i++) {
		uint64_t address = array_reference(search->waits->heap, &rental->all, i);
		*ret += wait_graph_has(search->graph, &pass, address);
	}
	reach_pass_deinit(&pass);
	return HD_OK;
}

/* The channel of a pool is no thing of its own. */
static void drop_channel(struct wait_things *things, uint64_t channel)
{
	size_t count = 0;
	for (size_t i = 0; i < things->rows_count; i++) {
		if (things->rows[i].address != channel)
			things->rows[count++] = things->rows[i];
	}
	things->rows_count = count;
}

static enum hd_status look_at(struct rental_search *search, const struct rental *rental,
			      size_t begin, struct job *job, struct hd_error *err)
{
	const struct wait_rows *rows = &search->waiters;
	struct wait_things *things = search->things;
	struct wait_thing thing = { .address = rental->pool,
				    .kind = THING_RENTAL,
				    .first = rows->rows[begin].node,
				    .pool_items = rental->all.length,
				    .is_alone = true };
	bool is_known;
	uint64_t reached;
	if (!find_blocked(search, begin) || is_in_use(search, rental->pool))
		return HD_OK;
	TRY(wait_graph_open(search->graph, job, &is_known, err));
	if (!is_known)
		return HD_OK;
	TRY(count_reached(search, rental, search->blocked, job, &reached, err));
	if (reached)
		return HD_OK;
	TRY(count_reached(search, rental, NULL, job, &reached, err));
	thing.lost = thing.pool_items - reached;
	for (size_t i = begin; wait_rows_has(rows, i, rental->channel); i++)
		thing.methods++;
	drop_channel(things, rental->channel);
	if (things->rows_count < WAIT_THINGS_MAX)
		things->rows[things->rows_count++] = thing;
	return HD_OK;
}

enum hd_status wait_rentals_find(const struct waits *waits, struct wait_graph *graph,
				 struct job *job, struct wait_things *things, struct hd_error *err)
{
	size_t nodes = wait_nodes(waits) + 1, pools = 0;
	HD_CLEANUP(rental_search)
	struct rental_search search = { .waits = waits,
					.graph = graph,
					.things = things,
					.window = { .memory = waits->heap->memory },
					.waiting = mem_calloc(nodes, sizeof(bool)),
					.blocked = mem_calloc(nodes, sizeof(bool)) };
	TRY_MEMORY(search.waiting && search.blocked, err);
	TRY(collect(&search, err));
	for (size_t i = 0; i < search.waiters.rows_count && pools < POOLS_MAX; i++) {
		const struct wait_row *row = &search.waiters.rows[i];
		struct rental rental;
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		if ((i && row[-1].object == row->object) ||
		    !find_pool(&search, row->node - (uint32_t)waits->count, row->object, &rental))
			continue;
		pools++;
		TRY(look_at(&search, &rental, i, job, err));
	}
	return waits->async->failed ? fail_nomem(err) : HD_OK;
}
