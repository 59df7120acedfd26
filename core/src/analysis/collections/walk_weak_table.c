/* SPDX-License-Identifier: MIT */
/*
 * ConditionalWeakTable: each entry has a dependent handle, whose object is the key, and what that
 * keeps alive the value.  The handle tables of the runtime know both.
 */
#include <stdlib.h>

#include "analysis/collections/collection_walk.h"
#include "gc/handles.h"
#include "util/sort.h"

ORDER_BY(compare_handles, struct handle, address)

static const struct handle *find_handle(const struct handle_list *list, uint64_t address)
{
	const struct handle wanted = { .address = address };
	if (!list->rows_count)
		return NULL;
	return bsearch(&wanted, list->rows, list->rows_count, sizeof(wanted), compare_handles);
}

/* An entry with a hash code that is not negative is in use; its key may have died since. */
static bool emit_entry(struct collection_walk *walk, const struct array_info *entries,
		       uint64_t index, const struct handle_list *handles)
{
	uint64_t address = entries->data + index * entries->element_size;
	struct member code =
		fact_of_struct(walk->members, entries->element, address, FACT_WEAK_ENTRY_HASH);
	struct member slot =
		fact_of_struct(walk->members, entries->element, address, FACT_WEAK_ENTRY_HANDLE);
	if (code.state != MEMBER_READ || slot.state != MEMBER_READ) {
		walk_broken(walk);
		return false;
	}
	if (member_signed(&code) < 0 || !slot.bits)
		return true;
	const struct handle *handle = find_handle(handles, slot.bits);
	if (!handle || !handle->object)
		return true;
	const struct collection_item item = {
		.key = { .reference = handle->object, .element_type = ELEMENT_CLASS },
		.value = { .reference = handle->secondary, .element_type = ELEMENT_CLASS },
	};
	return walk_item(walk, &item);
}

void walk_weak_table(struct collection_walk *walk, const struct collection_part *part)
{
	const struct collection_layout *layout = part->layout;
	struct handle_list handles;
	struct array_info entries;
	uint64_t used;
	if (!holder_array(walk, &part->holder, layout->items, &entries) ||
	    !holder_count(walk, &part->holder, layout->slots.used, &used) ||
	    used > entries.length || (used && !entries.element)) {
		walk_broken(walk);
		return;
	}
	walk->status = handle_list_read(walk->heap, walk->job, &handles, walk->err);
	if (walk->status != HD_OK)
		return;
	if (handles.rows_count)
		qsort(handles.rows, handles.rows_count, sizeof(*handles.rows), compare_handles);
	walk->facts.is_broken |= handles.broken > 0;
	for (uint64_t i = 0; i < used; i++) {
		if (!walk_step(walk, entries.element_size) ||
		    !emit_entry(walk, &entries, i, &handles))
			break;
	}
	handle_list_deinit(&handles);
}
