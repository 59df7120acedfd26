/* SPDX-License-Identifier: MIT */
/* Where the nodes of a heap's graph are, and the names of the links between them. */
#include "snapshot/places.h"

#include <string.h>

#include "inspect/slot_name.h"
#include "runtime/coreclr/types/continuation.h"
#include "snapshot/edge_walk.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/sort.h"

static uint64_t place_id(const void *arg, uint32_t node)
{
	return starts_address(((const struct places *)arg)->starts, node);
}

static void place_ids(const void *arg, uint32_t first, uint64_t *ret, size_t count)
{
	starts_addresses(((const struct places *)arg)->starts, first, ret, count);
}

static uint32_t place_lower_bound(const void *arg, uint64_t id)
{
	return (uint32_t)starts_rank(((const struct places *)arg)->starts, id);
}

static unsigned int place_generation(const void *arg, uint32_t node)
{
	const struct places *places = arg;
	uint64_t address = starts_address(places->starts, node);
	const struct segment *segment = heap_segment_at(places->heap, address);
	return segment ? segment_generation_at(segment, address) : GENERATION_2;
}

static uint64_t place_size(const void *arg, uint32_t node)
{
	const struct places *places = arg;
	struct object object;
	return object_read(places->heap, &places->links->window, place_id(arg, node), &object)
		       ? object.size
		       : 0;
}

static bool is_claimed(const struct root_set *roots, uint64_t slot)
{
	if (!roots)
		return false;
	size_t place = claimed_from(roots, slot);
	return place < roots->claimed_count && roots->claimed[place] == slot;
}

static bool has_edge(const struct root_set *roots, uint64_t from, uint64_t to)
{
	if (!roots)
		return false;
	for (size_t i = edges_from(roots, from);
	     i < roots->edges_count && roots->edges[i].from == from; i++) {
		if (roots->edges[i].to == to)
			return true;
	}
	return false;
}

/* The first slot of @p object that holds @p to and is an edge; it may be 0, see references_next(). */
static bool find_slot(const struct places *places, const struct object *object, uint64_t to,
		      uint64_t *ret)
{
	struct references references;
	struct reference reference;
	references_begin(&references, &places->links->window, object);
	while (references_next(&references, &reference)) {
		if (reference.value != to || is_claimed(places->roots, reference.slot))
			continue;
		*ret = reference.slot;
		return true;
	}
	return false;
}

/* The first static slot inside of @p object, or NULL. */
static const struct static_slot *static_inside(const struct root_set *roots,
					       const struct object *object)
{
	const struct static_slots *statics = &roots->statics;
	size_t low = ROWS_FROM(statics->rows, statics->rows_count, address, object->address);
	bool is_inside = low < statics->rows_count &&
			 statics->rows[low].address - object->address < object->size;
	return is_inside ? &statics->rows[low] : NULL;
}

/* Does a static variable lie in @p object? */
static bool has_claimed(const struct root_set *roots, const struct object *object)
{
	size_t place = claimed_from(roots, object->address);
	return place < roots->claimed_count &&
	       roots->claimed[place] - object->address < object->size;
}

/*
 * Name an object that the runtime keeps in its own arrays (doc/coreclr.md 10.5): interned strings,
 * and, next to static variables, the objects of assemblies and modules.
 */
static const char *runtime_element(const struct places *places, const struct object *object,
				   const struct object *to)
{
	struct link_state *links = places->links;
	struct runtime *runtime = places->heap->runtime;
	if (object->type->method_table != runtime_object_array_method_table(runtime))
		return NULL;
	const char *kind = to->type->is_string ? "interned string" : NULL;
	if (!kind && to->type->category == CATEGORY_CLASS) {
		const char *name = type_name(runtime, to->type, NULL);
		if (strcmp(name, "System.Reflection.RuntimeAssembly") == 0) {
			kind = "exposed assembly";
		} else if (strcmp(name, "System.Reflection.RuntimeModule") == 0) {
			kind = "exposed module";
		}
	}
	if (!kind)
		return NULL;
	if (!to->type->is_string && has_claimed(places->roots, object))
		return kind;
	if (!links->has_handle_arrays) {
		links->has_handle_arrays = true;
		/* If memory is exhausted, only names are lost. */
		(void)handle_arrays_read(runtime, &links->handle_arrays);
	}
	const struct handle_array *array = handle_array_at(&links->handle_arrays, object->address);
	return array && array->is_literals == to->type->is_string ? kind : NULL;
}

/*
 * An element of an array: the array may hold static variables, or be one for the statics of a type.
 */
static void append_element(const struct places *places, const struct object *object, uint64_t slot,
			   uint64_t to, struct text *text)
{
	const struct root_set *roots = places->roots;
	struct runtime *runtime = places->heap->runtime;
	const struct static_slot *of = roots ? static_slot_at(&roots->statics, slot) : NULL;
	if (of) {
		text_puts(text, " (static variable: ");
		static_slot_name(runtime, of, text);
		text_puts(text, ")");
		return;
	}
	slot_name(places->heap, object, slot, text);
	struct object array;
	if (!roots || !object_read(places->heap, &places->links->window, to, &array))
		return;
	const char *element = runtime_element(places, object, &array);
	if (element)
		text_printf(text, " (%s)", element);
	if (!roots->statics.rows_count || !array.type->component_size || !array.type->has_pointers)
		return;
	of = static_inside(roots, &array);
	if (!of)
		return;
	size_t size;
	const char *name = type_name(runtime, of->type, &size);
	text_puts(text, " (statics of ");
	text_append(text, name, size);
	text_puts(text, ")");
}

/* All objects of a type share the names of fields: they are looked up once. */
static void append_field(const struct places *places, const struct object *object, uint64_t slot,
			 struct text *text)
{
	/* Suspended async methods share a type when what they save has the same shape. */
	if (type_is_continuation(places->heap->runtime, object->type)) {
		text_puts(text, ".");
		slot_name(places->heap, object, slot, text);
		return;
	}
	const struct name_key key = { .of = object->type->method_table,
				      .part = slot - object->address };
	struct name_entry *entry = name_table_find(&places->links->names, key);
	if (entry && entry->is_used) {
		text_puts(text, entry->name ? entry->name : "");
		return;
	}
	HD_CLEANUP(text) struct text name = { 0 };
	text_puts(&name, ".");
	slot_name(places->heap, object, slot, &name);
	/* If memory is exhausted, only speed is lost. */
	if (!entry || name_table_add(&places->links->names, entry, &name, NULL) != HD_OK)
		text->failed |= name.failed;
	text_append(text, name.bytes ? name.bytes : "", name.size);
}

/* The name of the link to @p to in a slot of @p object; 0: its type's LoaderAllocator. */
static void append_slot(const struct places *places, const struct object *object, uint64_t slot,
			uint64_t to, struct text *text)
{
	if (!slot) {
		text_puts(text, " (LoaderAllocator)");
	} else if (object->type->component_size) {
		append_element(places, object, slot, to, text);
	} else {
		append_field(places, object, slot, text);
	}
}

static void place_link(const void *arg, uint32_t from, uint32_t to, struct text *text)
{
	const struct places *places = arg;
	uint64_t source = place_id(arg, from), value = place_id(arg, to), slot;
	struct object object;
	if (!object_read(places->heap, &places->links->window, source, &object))
		return;
	if (find_slot(places, &object, value, &slot)) {
		append_slot(places, &object, slot, value, text);
	} else if (has_edge(places->roots, source, value)) {
		text_puts(text, " (dependent handle)");
	}
}

bool places_slot_link(const struct hd_graph *graph, const struct object *object, uint64_t slot,
		      uint64_t to, struct text *text)
{
	const struct places *places = graph->places.arg;
	if (is_claimed(places->roots, slot))
		return false;
	append_slot(places, object, slot, to, text);
	return true;
}

static void place_destroy(void *arg)
{
	HD_FREE struct places *places = arg;
	starts_destroy(places->starts);
	mem_free(places->edges);
	mem_free(places->types);
	if (places->links) {
		window_deinit(&places->links->window);
		name_table_deinit(&places->links->names);
		arena_destroy(places->links->arena);
		handle_arrays_deinit(&places->links->handle_arrays);
	}
	mem_free(places->links);
}

static enum hd_status links_create(struct places *places, struct hd_error *err)
{
	struct link_state *links = mem_calloc(1, sizeof(*links));
	places->links = links;
	TRY_MEMORY(links, err);
	links->window.memory = places->heap->memory;
	links->arena = links->names.arena = arena_create();
	return links->arena ? HD_OK : fail_nomem(err);
}

enum hd_status places_create(struct hd_graph *graph, struct heap *heap,
			     const struct root_set *roots, struct places **ret,
			     struct hd_error *err)
{
	struct places *places = mem_calloc(1, sizeof(*places));
	TRY_MEMORY(places, err);
	places->heap = heap;
	places->roots = roots;
	enum hd_status status = links_create(places, err);
	if (status != HD_OK) {
		place_destroy(places);
		return status;
	}
	graph->places = (struct graph_places){ .id = place_id,
					       .ids = place_ids,
					       .lower_bound = place_lower_bound,
					       .link = place_link,
					       .generation = place_generation,
					       .size = place_size,
					       .forward = places_forward,
					       .reverse = places_reverse,
					       .destroy = place_destroy,
					       .arg = places };
	*ret = places;
	return HD_OK;
}
