/* SPDX-License-Identifier: MIT */
#include "hangs/wait_pools.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/collections/collection.h"
#include "analysis/heap/type_counts.h"
#include "gc/references.h"
#include "hangs/wait_rows.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"
#include "util/job.h"

#define BOUNDED "System.Threading.Channels.BoundedChannel<"
/* A pool of one object looks like any call that reads two items. */
#define POOL_MIN 2u
/* Objects whose fields are looked at: larger ones are no classes of a program. */
#define OBJECT_MAX 1024u

struct pool {
	const struct waits *waits;
	struct wait_thing *thing;
	const char *item_name; /* of the type of its items, without an end */
	size_t item_name_size;
	const struct type *item; /* that type; NULL: none was met */
	uint64_t items;          /* that it has room for */
	int32_t *first;          /* by method: the first await at which a call waits for it */
	struct wait_rows held; /* items, and the ends of the calls that have them and wait again */
	struct wait_rows seen; /* items, and the ends of calls, or threads, that refer to them */
	struct window window, inner;
};

static void pool_deinit(struct pool *pool)
{
	mem_free(pool->first);
	wait_rows_deinit(&pool->held);
	wait_rows_deinit(&pool->seen);
	window_deinit(&pool->window);
	window_deinit(&pool->inner);
}

/* Is it a bounded channel without an item, for which enough calls wait? */
static enum hd_status open_pool(struct pool *pool, struct job *job, bool *ret, struct hd_error *err)
{
	const struct waits *waits = pool->waits;
	struct object object;
	struct collection collection;
	struct collection_facts facts;
	*ret = false;
	if (pool->thing->kind != AWAIT_READ || pool->thing->threads ||
	    !member_object(waits->members, pool->thing->address, &object))
		return HD_OK;
	const char *name = type_name(waits->heap->runtime, object.type, NULL);
	size_t size = strlen(name), begin = strlen(BOUNDED);
	if (strncmp(name, BOUNDED, begin) != 0 || size < begin + 2 ||
	    collection_open(waits->heap, waits->members, &object, &collection) != COLLECTION_KNOWN)
		return HD_OK;
	TRY(collection_visit(&collection, job, NULL, &facts, err));
	pool->item_name = name + begin;
	pool->item_name_size = size - begin - 1;
	pool->items = facts.capacity;
	*ret = facts.has_capacity && !facts.is_broken && !facts.found &&
	       facts.capacity >= POOL_MIN && facts.capacity < pool->thing->methods;
	return HD_OK;
}

static bool is_item(struct pool *pool, const struct object *object)
{
	size_t size;
	if (pool->item)
		return object->type == pool->item;
	const char *name = type_name(pool->waits->heap->runtime, object->type, &size);
	if (size != pool->item_name_size || memcmp(name, pool->item_name, size) != 0)
		return false;
	pool->item = object->type;
	return true;
}

/* Add the item that is at @p address, or to which an object of the program there refers. */
static enum hd_status look_at(struct pool *pool, uint64_t address, uint32_t end,
			      struct wait_rows *rows, struct hd_error *err)
{
	const struct waits *waits = pool->waits;
	struct object object, other;
	struct references references;
	struct reference reference;
	if (!member_object(waits->members, address, &object))
		return HD_OK;
	if (is_item(pool, &object))
		return wait_rows_add(rows, address, end, err);
	if (!object.type->has_pointers || object.type->component_size || object.size > OBJECT_MAX ||
	    async_type_is_task(async_graph_type(waits->async, object.type)))
		return HD_OK;
	references_begin(&references, &pool->inner, &object);
	while (references_next(&references, &reference)) {
		if (member_object(waits->members, reference.value, &other) && is_item(pool, &other))
			TRY(wait_rows_add(rows, reference.value, end, err));
	}
	return HD_OK;
}

static bool leads_to_pool(const struct pool *pool, const struct async_node *method)
{
	const struct async_node *end = &pool->waits->async->rows[method->end];
	return end->wait == AWAIT_READ && end->object == pool->thing->address &&
	       end->next == ASYNC_NO_NODE;
}

/* Has it passed a wait for the pool, and waits for it again over another method, without a limit? */
static bool is_holder(const struct pool *pool, const struct async_node *method)
{
	return leads_to_pool(pool, method) && method->next != ASYNC_NO_NODE &&
	       method->state > pool->first[method->method] && !method->is_limited;
}

static enum hd_status look_at_method(struct pool *pool, uint32_t row, struct hd_error *err)
{
	struct async_graph *graph = pool->waits->async;
	const struct async_node *method = &graph->rows[row];
	bool holds = is_holder(pool, method);
	uint64_t self = async_node_this(graph, method);
	struct object object;
	struct references references;
	struct reference reference;
	if (!member_object(pool->waits->members, method->holder, &object))
		return HD_OK;
	size_t before = pool->held.rows_count;
	references_begin(&references, &pool->window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot < method->fields)
			continue;
		TRY(look_at(pool, reference.value, method->end, &pool->seen, err));
		if (holds && reference.slot != self)
			TRY(look_at(pool, reference.value, method->end, &pool->held, err));
	}
	if (pool->held.rows_count > before)
		pool->thing->holder = row;
	return HD_OK;
}

static enum hd_status look_at_threads(struct pool *pool, struct job *job, struct hd_error *err)
{
	const struct waits *waits = pool->waits;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_stack *stack = &waits->rows[i].stack;
		uint32_t end = (uint32_t)(waits->async->rows_count + i);
		TRY(job_check(job, 0, err));
		uint64_t last = 0; /* the frames of a recursion refer to the same */
		for (size_t k = 0; k < stack->roots_count; k++) {
			if (stack->roots[k].value != last)
				TRY(look_at(pool, stack->roots[k].value, end, &pool->seen, err));
			last = stack->roots[k].value;
		}
	}
	return HD_OK;
}

static enum hd_status look_at_methods(struct pool *pool, struct job *job, struct hd_error *err)
{
	struct async_graph *graph = pool->waits->async;
	for (size_t i = 0; i < graph->methods.rows_count; i++)
		pool->first[i] = INT32_MAX;
	for (size_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *method = &graph->rows[i];
		if (leads_to_pool(pool, method) && method->state < pool->first[method->method])
			pool->first[method->method] = method->state;
	}
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		TRY(look_at_method(pool, (uint32_t)i, err));
	}
	return graph->failed ? fail_nomem(err) : HD_OK;
}

/*
 * Is the object whose last row of those that are seen is @p last one that several calls share, all of which wait, and none
 * has for itself?  Such is a field of the pool.
 */
static bool is_shared(const struct pool *pool, size_t last)
{
	const struct async_graph *graph = pool->waits->async;
	const struct wait_row *rows = pool->seen.rows;
	uint64_t object = rows[last].object;
	if (wait_rows_only(&pool->seen, object) != WAIT_NOBODY ||
	    wait_rows_first(&pool->held, object) != WAIT_NOBODY)
		return false;
	for (size_t i = last + 1; i > 0 && rows[i - 1].object == object; i--) {
		uint32_t end = rows[i - 1].node;
		if (end >= graph->rows_count || !leads_to_pool(pool, &graph->rows[end]))
			return false;
	}
	return true;
}

/*
 * Does each item belong to one call that waits again, and to nobody else?  Count them, these calls, and the objects of their
 * type that calls share.
 */
static bool are_all_held(struct pool *pool, uint64_t *items, uint64_t *calls, uint64_t *shared)
{
	uint64_t seen = 0;
	uint32_t last = ASYNC_NO_NODE;
	*items = *calls = *shared = 0;
	wait_rows_sort(&pool->held);
	wait_rows_sort(&pool->seen);
	for (size_t i = 0; i < pool->seen.rows_count; i++) {
		if (wait_rows_has(&pool->seen, i + 1, pool->seen.rows[i].object))
			continue;
		seen++;
		*shared += is_shared(pool, i);
	}
	for (size_t i = 0; i < pool->held.rows_count; i++) {
		uint64_t item = pool->held.rows[i].object;
		if (wait_rows_only(&pool->seen, item) == WAIT_NOBODY)
			return false;
		*items += !wait_rows_has(&pool->held, i + 1, item);
		*calls += pool->held.rows[i].node != last;
		last = pool->held.rows[i].node;
	}
	return *items + *shared == seen;
}

/* Are there no other objects of that type, also none that nothing refers to? */
static enum hd_status count_items(const struct pool *pool, struct job *job, uint64_t *ret,
				  struct hd_error *err)
{
	struct heap *heap = pool->waits->heap;
	HD_CLEANUP(type_counts) struct type_counts counts = { 0 };
	HD_CLEANUP(heap_range) struct heap_range range = { 0 };
	struct gaps gaps = { 0 };
	TRY(heap_range_init(&range, heap, &(const struct range_choice){ 0 }, err));
	TRY(type_counts_walk(&counts, &gaps, heap, &range, job, err));
	bool is_whole = !gaps.damaged && !gaps.missing && !gaps.untyped;
	size_t index = pool->item->index;
	*ret = is_whole && index < counts.capacity ? counts.rows[index].count : 0;
	return HD_OK;
}

static enum hd_status judge(struct pool *pool, struct job *job, struct hd_error *err)
{
	uint64_t items, calls, shared, all;
	TRY(look_at_methods(pool, job, err));
	if (!are_all_held(pool, &items, &calls, &shared) || items != pool->items)
		return HD_OK;
	TRY(look_at_threads(pool, job, err));
	if (!are_all_held(pool, &items, &calls, &shared))
		return HD_OK;
	TRY(count_items(pool, job, &all, err));
	if (all != items + shared)
		return HD_OK;
	pool->thing->pool_items = items;
	pool->thing->holders = calls;
	return HD_OK;
}

enum hd_status wait_pools_find(const struct waits *waits, struct job *job,
			       struct wait_things *things, struct hd_error *err)
{
	for (size_t i = 0; i < things->rows_count; i++) {
		HD_CLEANUP(pool)
		struct pool pool = { .waits = waits,
				     .thing = &things->rows[i],
				     .window = { .memory = waits->heap->memory },
				     .inner = { .memory = waits->heap->memory } };
		bool is_open;
		TRY(open_pool(&pool, job, &is_open, err));
		if (!is_open)
			continue;
		pool.first = mem_alloc(waits->async->methods.rows_count + 1, sizeof(*pool.first));
		TRY_MEMORY(pool.first, err);
		TRY(judge(&pool, job, err));
	}
	return HD_OK;
}
