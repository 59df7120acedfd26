/* SPDX-License-Identifier: MIT */
#include "hangs/wait_items.h"

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "hangs/wait_alive.h"
#include "util/job.h"

/* Objects whose fields are looked at: larger ones are no classes of a program. */
#define OBJECT_MAX 1024u

void wait_items_deinit(struct wait_items *items)
{
	wait_rows_deinit(&items->items);
	wait_rows_deinit(&items->held);
	wait_rows_deinit(&items->seen);
	window_deinit(&items->window);
	window_deinit(&items->inner);
}

enum hd_status wait_items_find(struct wait_items *items, int kind, struct hd_error *err)
{
	const struct async_links *links = &items->waits->async->links;
	for (size_t i = 0; i < links->rows_count; i++) {
		const struct async_link *link = &links->rows[i];
		if ((int)link->kind == kind && link->to == items->thing->address)
			TRY(wait_rows_add(&items->items, link->from, 0, err));
	}
	wait_rows_sort(&items->items);
	return HD_OK;
}

static bool is_item(const struct wait_items *items, uint64_t address)
{
	return wait_rows_has(&items->items, wait_rows_of(&items->items, address), address);
}

static bool is_followed(const struct wait_items *items, const struct object *object)
{
	return object->type->has_pointers && !object->type->component_size &&
	       object->size <= OBJECT_MAX &&
	       !async_type_is_task(async_graph_type(items->waits->async, object->type));
}

/* Where items are added, and who waits for them. */
struct found_items {
	struct wait_rows *rows;
	uint32_t end;
};

/* Go on to what the object refers to; what there is no room for is looked at, but not followed. */
static enum hd_status follow(struct wait_items *items, const struct object *object,
			     unsigned int levels, size_t *count, const struct found_items *found,
			     struct hd_error *err)
{
	struct references references;
	struct reference reference;
	references_begin(&references, &items->inner, object);
	while (references_next(&references, &reference)) {
		if (*count < ITEM_OBJECTS_MAX) {
			items->ways[(*count)++] = (struct item_way){ reference.value, levels };
		} else if (is_item(items, reference.value)) {
			TRY(wait_rows_add(found->rows, reference.value, found->end, err));
		}
	}
	return HD_OK;
}

/* Add the items that are at @p address, or to which objects lead from there. */
static enum hd_status look_at(struct wait_items *items, uint64_t address, uint32_t end,
			      struct wait_rows *rows, struct hd_error *err)
{
	size_t count = 1;
	items->ways[0] = (struct item_way){ address, items->levels };
	for (size_t i = 0; i < count; i++) {
		const struct item_way way = items->ways[i];
		struct object object;
		if (is_item(items, way.address)) {
			TRY(wait_rows_add(rows, way.address, end, err));
			continue;
		}
		if (!way.levels || !member_object(items->waits->members, way.address, &object) ||
		    !is_followed(items, &object))
			continue;
		TRY(follow(items, &object, way.levels - 1, &count,
			   &(struct found_items){ rows, end }, err));
	}
	return HD_OK;
}

/* Does it wait for the thing in the end? */
static bool leads_to_thing(const struct wait_items *items, const struct async_node *method)
{
	const struct async_node *end = &items->waits->async->rows[method->end];
	return (uint8_t)end->wait == items->thing->kind && end->object == items->thing->address &&
	       end->next == ASYNC_NO_NODE;
}

static enum hd_status look_at_method(struct wait_items *items, uint32_t row, struct hd_error *err)
{
	struct async_graph *graph = items->waits->async;
	const struct async_node *method = &graph->rows[row];
	bool leads = leads_to_thing(items, method), holds = leads && !method->is_limited;
	uint64_t self = async_node_this(graph, method);
	struct object object;
	struct references references;
	struct reference reference;
	if (!member_object(items->waits->members, method->holder, &object))
		return HD_OK;
	size_t before = items->held.rows_count, seen = items->seen.rows_count;
	references_begin(&references, &items->window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot < method->fields)
			continue;
		TRY(look_at(items, reference.value, method->end, &items->seen, err));
		if (holds && reference.slot != self)
			TRY(look_at(items, reference.value, method->end, &items->held, err));
	}
	if (items->held.rows_count > before)
		items->thing->holder = row;
	items->is_with_others |= !leads && items->seen.rows_count > seen;
	return HD_OK;
}

/* Look at all methods, over so many fields. */
static enum hd_status look_at_methods(struct wait_items *items, unsigned int levels,
				      struct job *job, struct hd_error *err)
{
	const struct async_graph *graph = items->waits->async;
	unsigned int all = items->levels;
	items->levels = levels;
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (items->stops_at_others && items->is_with_others)
			break;
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		TRY(look_at_method(items, (uint32_t)i, err));
	}
	items->levels = all;
	return HD_OK;
}

enum hd_status wait_items_look(struct wait_items *items, struct job *job, struct hd_error *err)
{
	const struct waits *waits = items->waits;
	struct async_graph *graph = waits->async;
	if (!items->items.rows_count)
		return HD_OK;
	/* Who is at work with an item has it at hand: most looks end there. */
	if (items->stops_at_others) {
		TRY(look_at_methods(items, 0, job, err));
		items->held.rows_count = items->seen.rows_count = 0;
	}
	if (!items->is_with_others)
		TRY(look_at_methods(items, items->levels, job, err));
	if (items->stops_at_others && items->is_with_others)
		return HD_OK;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_stack *stack = &waits->rows[i].stack;
		uint32_t end = (uint32_t)(graph->rows_count + i);
		TRY(job_check(job, 0, err));
		for (size_t k = 0; k < stack->roots_count; k++)
			TRY(look_at(items, stack->roots[k].value, end, &items->seen, err));
	}
	wait_rows_sort(&items->held);
	wait_rows_sort(&items->seen);
	return graph->failed ? fail_nomem(err) : HD_OK;
}

/* Has a call that waits again the item, and nobody else? */
static bool is_held(const struct wait_items *items, uint64_t item)
{
	return wait_rows_of(&items->held, item) < items->held.rows_count &&
	       wait_rows_only(&items->seen, item) != WAIT_NOBODY;
}

static bool are_held(const struct wait_items *items)
{
	for (size_t i = 0; i < items->items.rows_count; i++) {
		if (!is_held(items, items->items.rows[i].object))
			return false;
	}
	return true;
}

enum hd_status wait_items_keep(struct wait_items *items, struct job *job, bool *ret_is_known,
			       struct hd_error *err)
{
	*ret_is_known = are_held(items);
	if (*ret_is_known)
		return HD_OK;
	TRY(wait_alive_keep(items->waits, job, &items->items, ret_is_known, err));
	*ret_is_known = *ret_is_known && are_held(items);
	return HD_OK;
}

uint64_t wait_items_holders(const struct wait_items *items)
{
	const struct wait_rows *held = &items->held;
	uint64_t count = 0;
	uint32_t last = ASYNC_NO_NODE;
	for (size_t i = 0; i < held->rows_count; i++) {
		count += held->rows[i].node != last;
		last = held->rows[i].node;
	}
	return count;
}
