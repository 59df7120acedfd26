/* SPDX-License-Identifier: MIT */
/* Roots of a snapshot, and what weak tables keep alive. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/nettrace/nettrace_fields.h"
#include "format/nettrace/nettrace_heap.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/field_label.h"
#include "util/sort.h"
#include "util/text.h"

/* Limit for the type's part of a name: many variables may repeat a long one. */
#define NAME_MAX_BYTES 1024u

/* Translate what the runtime says about a root into the graph's terms. */
static struct raw_root root_of(const struct nt_root *root)
{
	struct raw_root raw = { .id = root->object };
	if (root->flags & NT_ROOT_PINNING)
		raw.flags |= HD_ROOT_PINNED;
	if (root->flags & NT_ROOT_WEAK)
		raw.flags |= HD_ROOT_WEAK;
	if (root->flags & NT_ROOT_INTERIOR)
		raw.flags |= HD_ROOT_INTERIOR;
	switch (root->kind) {
	case NT_ROOT_STACK:
		raw.kind = HD_ROOT_STACK;
		break;
	case NT_ROOT_FINALIZER:
		raw.kind = HD_ROOT_FINALIZER;
		break;
	case NT_ROOT_HANDLE:
		raw.kind = HD_ROOT_HANDLE;
		raw.address = root->id;
		/* The event does not say which kind of weak handle it is. */
		if (root->flags & NT_ROOT_REF_COUNTED) {
			raw.handle = GRAPH_HANDLE_REF_COUNTED;
		} else if (root->flags & NT_ROOT_PINNING) {
			raw.handle = GRAPH_HANDLE_PINNED;
		} else if (!(root->flags & NT_ROOT_WEAK)) {
			raw.handle = GRAPH_HANDLE_STRONG;
		}
		break;
	case NT_ROOT_SIZED_REF:
		raw.kind = HD_ROOT_HANDLE;
		raw.handle = GRAPH_HANDLE_SIZED_REF;
		break;
	default:
		raw.kind = HD_ROOT_INTERNAL;
		break;
	}
	return raw;
}

/* "MethodDesc 7f3545b56f50": the trace says no more about the frame of a root. */
static const char *trace_method_name(struct nt_heap *heap, uint64_t method)
{
	static const size_t size = sizeof("MethodDesc 0123456789abcdef");
	char *name = arena_alloc(heap->graph->origins.arena, size);
	if (name)
		(void)snprintf(name, size, "MethodDesc %" PRIx64, method);
	return name;
}

static enum hd_status add_trace_roots(struct nt_heap *heap, const struct nt_item *item)
{
	struct nt_roots *roots = &heap->roots;
	size_t row_size = NT_ROOT_SIZE(heap->pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	/* Roots of a frame are next to each other. */
	const char *method = NULL;
	uint64_t method_id = 0;
	for (uint32_t i = 0; i < rows.count; i++) {
		struct nt_root root = nt_root(rows.at + row_size * i, heap->pointer_size);
		if (!root.object)
			continue;
		TRY_MEMORY(PAGES_RESERVE(roots, rows), heap->err);
		struct raw_root *raw = &roots->rows[roots->rows_count++];
		*raw = root_of(&root);
		if (raw->kind != HD_ROOT_STACK || !root.id)
			continue;
		if (root.id != method_id)
			method = trace_method_name(heap, root.id);
		method_id = root.id;
		raw->name = method;
		TRY_MEMORY(method, heap->err);
	}
	return HD_OK;
}

static void add_pairs(struct nt_pairs *pairs, const struct nt_item *item, uint32_t pointer_size)
{
	size_t row_size = NT_WEAK_TABLE_SIZE(pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + row_size * i;
		uint64_t key = nt_load_pointer(at, pointer_size);
		uint64_t value = nt_load_pointer(at + pointer_size, pointer_size);
		if (!key || !value)
			continue;
		pairs->keys[pairs->count] = key;
		pairs->values[pairs->count++] = value;
	}
}

/* Room for the pairs of all weak tables. */
static enum hd_status allocate_pairs(struct nt_heap *heap)
{
	uint64_t count = 0;
	for (size_t i = heap->snapshot->first; i < heap->snapshot->end; i++) {
		const struct nt_item *item = &heap->trace->items[i];
		if (item->kind == NT_WEAK_TABLES) {
			count +=
				nt_indexed_rows(item, NT_WEAK_TABLE_SIZE(heap->pointer_size)).count;
		}
	}
	if (count >= HD_NONE)
		return fail(heap->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion dependent handles");
	struct nt_pairs *pairs = &heap->pairs;
	pairs->capacity = (size_t)count;
	pairs->keys = pages_alloc(count, sizeof(*pairs->keys));
	pairs->values = pages_alloc(count, sizeof(*pairs->values));
	pairs->order = pages_alloc(count, sizeof(*pairs->order));
	return pairs->keys && pairs->values && pairs->order ? HD_OK : fail_nomem(heap->err);
}

static enum hd_status sort_interior(struct nt_roots *roots, struct hd_error *err)
{
	size_t count = 0;
	for (size_t i = 0; i < roots->rows_count; i++)
		count += roots->rows[i].flags & HD_ROOT_INTERIOR ? 1 : 0;
	if (!count)
		return HD_OK;
	uint32_t *place = pages_alloc(count, sizeof(*place));
	roots->interior = pages_alloc(count, sizeof(*roots->interior));
	roots->interior_root = pages_alloc(count, sizeof(*roots->interior_root));
	roots->interior_count = count;
	bool made = place && roots->interior && roots->interior_root;
	for (size_t i = 0, next = 0; made && i < roots->rows_count; i++) {
		if (roots->rows[i].flags & HD_ROOT_INTERIOR) {
			roots->interior[next] = roots->rows[i].id;
			place[next++] = (uint32_t)i;
		}
	}
	uint32_t *order = pages_alloc(count, sizeof(*order));
	made = made && order && sort_keys(roots->interior, order, (uint32_t)count);
	for (size_t i = 0; made && i < count; i++)
		roots->interior_root[i] = place[order[i]];
	pages_free(place, count, sizeof(*place));
	pages_free(order, count, sizeof(*order));
	return made ? HD_OK : fail_nomem(err);
}

enum hd_status nt_heap_pairs(struct nt_heap *heap)
{
	struct nt_pairs *pairs = &heap->pairs;
	TRY(allocate_pairs(heap));
	for (size_t i = heap->snapshot->first; i < heap->snapshot->end; i++) {
		const struct nt_item *item = &heap->trace->items[i];
		if (item->kind == NT_WEAK_TABLES)
			add_pairs(pairs, item, heap->pointer_size);
	}
	if (pairs->count && !sort_keys(pairs->keys, pairs->order, (uint32_t)pairs->count))
		return fail_nomem(heap->err);
	return HD_OK;
}

enum hd_status nt_heap_roots(struct nt_heap *heap)
{
	TRY(nt_heap_pairs(heap));
	for (size_t i = heap->snapshot->first; i < heap->snapshot->end; i++) {
		const struct nt_item *item = &heap->trace->items[i];
		if (item->kind == NT_ROOTS)
			TRY(add_trace_roots(heap, item));
	}
	if (heap->roots.rows_count >= HD_NONE)
		return fail(heap->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion roots");
	return sort_interior(&heap->roots, heap->err);
}

/* All rows of NT_STATICS that have an object. */
struct sent_statics {
	struct nt_static *rows; /* pages */
	size_t rows_count, rows_capacity;
	struct nt_declarer *declarers; /* pages; declarers_count */
	size_t declarers_count;
	struct type_table table; /* types by TypeDef; section: their assembly */
	struct raw_type *types;  /* pages: types without objects */
	size_t types_count, types_capacity;
};

/*
 * "Type.field".  The event has the type of the object, not the class that declares the field: if
 * that is not known, the name is the one that dotnet-gcdump gives it. *@p ret_size: length of the
 * type's part.
 */
static const char *trace_static_name(struct nt_heap *heap, const struct nt_static *variable,
				     const struct nt_declarer *declarer, struct text *text,
				     uint32_t *ret_size)
{
	struct hd_graph *graph = heap->graph;
	uint32_t type = nt_types_known(&heap->types, variable->type);
	text->size = 0;
	if (declarer->metadata) {
		nt_append_type_def(declarer->metadata, declarer->type, text);
		text->size = text->size < NAME_MAX_BYTES ? text->size : NAME_MAX_BYTES;
	} else if (type < graph->type_count) {
		const struct graph_type *known = &graph->types[type];
		text_append(text, known->name,
			    known->name_size < NAME_MAX_BYTES ? known->name_size : NAME_MAX_BYTES);
	} else {
		text_printf(text, "Type(0x%llx)", (unsigned long long)variable->type);
	}
	*ret_size = (uint32_t)text->size;
	text_puts(text, ".");
	size_t begin = text->size, size;
	nt_append_utf8(text, &variable->field);
	if (text->failed)
		return NULL;
	const char *field = field_label(text->bytes + begin, text->size - begin, &size);
	char *name = arena_alloc(graph->origins.arena, begin + size + 1);
	if (name) {
		memcpy(name, text->bytes, begin);
		memcpy(name + begin, field, size);
		name[begin + size] = '\0';
	}
	return name;
}

static enum hd_status read_statics(struct nt_heap *heap, const struct nt_item *item,
				   struct sent_statics *statics)
{
	uint32_t count;
	struct nt_bytes at = nt_statics(item, &count);
	struct nt_static variable;
	for (uint32_t i = 0; i < count && nt_static_next(&at, &variable); i++) {
		if (!variable.object)
			continue;
		TRY_MEMORY(PAGES_RESERVE(statics, rows), heap->err);
		statics->rows[statics->rows_count++] = variable;
	}
	return HD_OK;
}

/* Enter all TypeDefs that belong to rows of types. */
static enum hd_status index_types(const struct nt_heap *heap, struct sent_statics *statics)
{
	const struct nt_types *types = &heap->types;
	for (uint32_t i = 0; i < types->places_count; i++) {
		uint32_t type = nt_type_def(&types->rows[i]);
		if (type && type_table_add(&statics->table, types->places[i].assembly, type, i) ==
				    UINT32_MAX)
			return fail_nomem(heap->err);
	}
	return HD_OK;
}

/* The type that declares a static, index + 1: it may have no row; 0: not known. */
static enum hd_status find_declaring_type(const struct nt_heap *heap, struct sent_statics *statics,
					  size_t row, const char *name, uint32_t name_size,
					  uint32_t *ret)
{
	const struct nt_declarer *declarer = &statics->declarers[row];
	const struct hd_graph *graph = heap->graph;
	uint32_t type = nt_types_known(&heap->types, statics->rows[row].type);
	if (!declarer->metadata) {
		*ret = type < graph->type_count ? type + 1 : 0;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(statics, types), heap->err);
	uint32_t fresh = graph->type_count + (uint32_t)statics->types_count;
	type = type_table_add(&statics->table, declarer->assembly, declarer->type, fresh);
	if (type == UINT32_MAX)
		return fail_nomem(heap->err);
	if (type == fresh) {
		statics->types[statics->types_count++] = (struct raw_type){
			.name = name,
			.name_size = name_size,
			.module = heap->types.assemblies[declarer->assembly].path,
		};
	}
	*ret = type + 1;
	return HD_OK;
}

/* Is there a file of a module that was not used?  Then it may be the one that declares a static. */
static bool has_unused_file(const struct nt_types *types)
{
	bool found = false;
	for (size_t i = 0; !found && i < types->assemblies_count; i++)
		found = nt_is_unused(&types->assemblies[i]);
	return found;
}

static enum hd_status add_trace_statics(struct nt_heap *heap, struct sent_statics *statics)
{
	struct nt_roots *roots = &heap->roots;
	const bool is_unsure = has_unused_file(&heap->types);
	HD_CLEANUP(text) struct text text = { 0 };
	enum hd_status status = HD_OK;
	for (size_t i = 0; status == HD_OK && i < statics->rows_count; i++) {
		const struct nt_static *row = &statics->rows[i];
		const char *name = NULL;
		uint32_t size, declarer = 0;
		if (PAGES_RESERVE(roots, rows))
			name = trace_static_name(heap, row, &statics->declarers[i], &text, &size);
		status = name ? find_declaring_type(heap, statics, i, name, size, &declarer)
			      : fail_nomem(heap->err);
		if (status == HD_OK && is_unsure && !statics->declarers[i].metadata &&
		    !short_names_add(&heap->graph->findings.short_names, name, strlen(name)))
			status = fail_nomem(heap->err);
		if (status != HD_OK)
			break;
		bool of_thread = row->flags & NT_STATIC_OF_THREAD;
		roots->rows[roots->rows_count++] = (struct raw_root){
			.id = row->object,
			.address = row->slot,
			.declarer = declarer,
			.kind = of_thread ? HD_ROOT_THREAD_STATIC : HD_ROOT_STATIC,
			.name = name,
		};
	}
	return status;
}

static enum hd_status find_statics(struct nt_heap *heap, struct sent_statics *statics)
{
	for (size_t i = heap->snapshot->first; i < heap->snapshot->end; i++) {
		if (heap->trace->items[i].kind == NT_STATICS)
			TRY(read_statics(heap, &heap->trace->items[i], statics));
	}
	statics->declarers = pages_alloc(statics->rows_count, sizeof(*statics->declarers));
	TRY_MEMORY(statics->declarers, heap->err);
	statics->declarers_count = statics->rows_count;
	TRY(nt_declarers_find(&heap->types, statics->rows, statics->rows_count, heap->pointer_size,
			      statics->declarers));
	TRY(index_types(heap, statics));
	TRY(add_trace_statics(heap, statics));
	return raw_graph_add_types(heap->graph, statics->types, statics->types_count, heap->err);
}

enum hd_status nt_heap_statics(struct nt_heap *heap)
{
	struct sent_statics statics = { 0 };
	enum hd_status status = find_statics(heap, &statics);
	pages_free(statics.rows, statics.rows_capacity, sizeof(*statics.rows));
	pages_free(statics.declarers, statics.declarers_count, sizeof(*statics.declarers));
	pages_free(statics.types, statics.types_capacity, sizeof(*statics.types));
	type_table_deinit(&statics.table);
	return status;
}

void nt_pairs_deinit(struct nt_pairs *pairs)
{
	pages_free(pairs->keys, pairs->capacity, sizeof(*pairs->keys));
	pages_free(pairs->values, pairs->capacity, sizeof(*pairs->values));
	pages_free(pairs->order, pairs->capacity, sizeof(*pairs->order));
	pages_free(pairs->paired, pairs->paired_capacity, sizeof(*pairs->paired));
}

void nt_roots_deinit(struct nt_roots *roots)
{
	pages_free(roots->rows, roots->rows_capacity, sizeof(*roots->rows));
	pages_free(roots->interior, roots->interior_count, sizeof(*roots->interior));
	pages_free(roots->interior_root, roots->interior_count, sizeof(*roots->interior_root));
}
