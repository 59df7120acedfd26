/* SPDX-License-Identifier: MIT */
/* Finds the instantiation of a generic type whose method is suspended (doc/coreclr.md 21.4). */
#include "gc/references.h"
#include "inspect/suspended.h"
#include "mem/memory.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/code/saved_variables.h"
#include "runtime/coreclr/code/source.h"
#include "runtime/coreclr/types/method_table.h"

/* Longer chains of base classes are damage. */
#define PARENTS_MAX 256u

/* Its type, or the base class of that, whose code is shared with those of @p canonical; NULL: none. */
static const struct type *instantiation_of(struct runtime *runtime, const struct type *type,
					   uint64_t canonical)
{
	for (unsigned int i = 0; type && i < PARENTS_MAX; i++) {
		if (type->links.canonical == canonical)
			return type;
		type = type->parent ? type_find(runtime, type->parent) : NULL;
	}
	return NULL;
}

/* Where the debug info says that "this" is saved, or the generic context; 0: it does not say. */
static uint64_t find_slot(struct heap *heap, const struct suspended *continuation, bool is_context)
{
	uint64_t *budget = coreclr_debug_budget(heap->runtime), place = continuation->place;
	struct code_info code;
	uint32_t offset = SAVED_NOWHERE;
	if (!budget || !place || !runtime_code_at(heap->runtime, place, &code))
		return 0;
	if (is_context) {
		offset = runtime_saved_generic_context(heap->runtime, &code, place, budget);
	} else {
		(void)runtime_saved_variables(heap->runtime, &code, place, budget, &offset, 1);
	}
	return offset == SAVED_NOWHERE ? 0 : continuation->object.address + offset;
}

/* The instantiation that the saved generic context is, or the method of which it is. */
static const struct type *owner_of_context(struct heap *heap, const struct suspended *continuation,
					   uint64_t canonical)
{
	uint64_t slot = find_slot(heap, continuation, true), context;
	struct method method;
	if (!slot || !memory_u64(heap->memory, slot, &context) || !context)
		return NULL;
	const struct type *found =
		instantiation_of(heap->runtime, type_find(heap->runtime, context), canonical);
	if (!found && method_read(heap->runtime, context, &method))
		found = instantiation_of(heap->runtime, method.type, canonical);
	return found;
}

/* Searches the saved variables for one that may be "this". */
struct owner_search {
	struct heap *heap;
	const struct suspended *continuation;
	uint64_t canonical;
	uint64_t slot;            /* only this one; 0: any */
	const struct type *found; /* NULL: none */
	bool are_several;         /* of different types */
};

static void search_owner(struct owner_search *search)
{
	struct heap *heap = search->heap;
	HD_CLEANUP(window)
	struct window window = { .memory = heap->memory }, around = { .memory = heap->memory };
	struct references references;
	struct reference reference;
	search->found = NULL;
	search->are_several = false;
	references_begin(&references, &window, &search->continuation->object);
	while (references_next(&references, &reference)) {
		struct object object;
		if (reference.slot < search->continuation->data ||
		    (search->slot && reference.slot != search->slot) ||
		    !object_read(heap, &around, reference.value, &object))
			continue;
		const struct type *type =
			instantiation_of(heap->runtime, object.type, search->canonical);
		search->are_several |= type && search->found && search->found != type;
		if (type)
			search->found = type;
	}
}

const struct type *suspended_owner(struct heap *heap, const struct suspended *continuation)
{
	struct method method;
	if (!continuation->method_desc ||
	    !method_read(heap->runtime, continuation->method_desc, &method) || !method.rid ||
	    !type_is_shared(method.type))
		return NULL;
	struct owner_search search = { .heap = heap,
				       .continuation = continuation,
				       .canonical = method.type->method_table };
	const struct type *found = owner_of_context(heap, continuation, search.canonical);
	if (found)
		return found;
	search_owner(&search);
	/* Objects of several instantiations: only the debug info tells which one is "this". */
	if (search.are_several && (search.slot = find_slot(heap, continuation, false)) != 0)
		search_owner(&search);
	return search.are_several ? NULL : search.found;
}
