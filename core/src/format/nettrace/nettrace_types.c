/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace_types.h"

#include <inttypes.h>
#include <string.h>

#include "graph/heap_graph.h"
#include "metadata/image.h"
#include "metadata/metadata.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/text.h"

enum {
	TABLE_TYPES,
	TABLE_MODULES
};

/* How many levels of arrays of arrays are followed. */
#define ARRAY_DEPTH_MAX 16u
/* How many bytes the names of outer classes may add to what the runtime sent. */
#define NAME_GROWTH_MAX 4096u

struct nt_bytes nt_types_begin(const struct nt_item *item, uint32_t *ret_count)
{
	struct nt_bytes at = nt_bytes(item->payload, item->size);
	*ret_count = nt_u32(&at);
	(void)nt_u16(&at); /* instance of the runtime */
	return at;
}

bool nt_type_next(struct nt_bytes *at, struct nt_type *ret)
{
	ret->id = nt_u64(at);
	ret->module = nt_u64(at);
	ret->token = nt_u32(at);
	ret->flags = nt_u32(at);
	ret->element_type = nt_u8(at);
	ret->name = nt_utf16z(at);
	uint32_t parameters = nt_u32(at);
	const uint8_t *ids = nt_take(at, 8 * (uint64_t)parameters);
	ret->parameter = ids && parameters ? load_u64(ids) : 0;
	return !at->is_short;
}

bool nt_module_read(const struct nt_item *item, struct nt_module *ret)
{
	struct nt_bytes at = nt_bytes(item->payload, item->size);
	ret->id = nt_u64(&at);
	(void)nt_u64(&at); /* assembly */
	ret->flags = nt_u32(&at);
	(void)nt_u32(&at);
	ret->path = nt_utf16z(&at);
	ret->pdb = NULL;
	ret->pdb_age = 0;
	if (at.is_short)
		return false;
	/* Version 2 has more after it. */
	(void)nt_utf16z(&at); /* path of a native image */
	(void)nt_u16(&at);
	const uint8_t *pdb = nt_take(&at, IMAGE_GUID_SIZE);
	uint32_t age = nt_u32(&at);
	static const uint8_t none[IMAGE_GUID_SIZE];
	if (!at.is_short && memcmp(pdb, none, sizeof(none)) != 0) {
		ret->pdb = pdb;
		ret->pdb_age = age;
	}
	return true;
}

static enum hd_status add_sent_type(struct nt_types *types, const struct nt_type *type)
{
	TRY_MEMORY(PAGES_RESERVE(types, rows), types->err);
	uint32_t fresh = (uint32_t)types->rows_count;
	uint32_t index = type_table_add(&types->table, TABLE_TYPES, type->id, fresh);
	if (index == UINT32_MAX)
		return fail_nomem(types->err);
	if (index == fresh)
		types->rows_count++;
	types->rows[index] = *type;
	return HD_OK;
}

uint32_t nt_types_find(struct nt_types *types, uint64_t id)
{
	if (!PAGES_RESERVE(types, rows))
		return UINT32_MAX;
	uint32_t fresh = (uint32_t)types->rows_count;
	uint32_t index = type_table_add(&types->table, TABLE_TYPES, id, fresh);
	if (index == fresh && index != UINT32_MAX) {
		types->rows_count++;
		types->rows[index] = (struct nt_type){ .id = id };
		types->unknown++;
	}
	return index;
}

uint32_t nt_types_known(const struct nt_types *types, uint64_t id)
{
	return type_table_find(&types->table, TABLE_TYPES, id);
}

static enum hd_status add_types(struct nt_types *types, const struct nt_item *item)
{
	uint32_t count;
	struct nt_bytes at = nt_types_begin(item, &count);
	struct nt_type type;
	for (uint32_t i = 0; i < count && nt_type_next(&at, &type); i++)
		TRY(add_sent_type(types, &type));
	return HD_OK;
}

static uint32_t find_assembly(struct nt_types *types, uint64_t id)
{
	if (!PAGES_RESERVE(types, assemblies))
		return UINT32_MAX;
	uint32_t fresh = (uint32_t)types->assemblies_count;
	uint32_t index = type_table_add(&types->table, TABLE_MODULES, id, fresh);
	if (index == fresh && index != UINT32_MAX) {
		types->assemblies_count++;
		types->assemblies[index] = (struct nt_assembly){ .id = id, .first = HD_NONE };
	}
	return index;
}

const char *nt_copy_utf8(struct hd_graph *graph, const struct nt_utf16 *utf16)
{
	HD_CLEANUP(text) struct text text = { 0 };
	nt_append_utf8(&text, utf16);
	char *copy = text.failed ? NULL : arena_alloc(graph->arena, text.size + 1);
	if (copy) {
		if (text.size)
			memcpy(copy, text.bytes, text.size);
		copy[text.size] = '\0';
	}
	return copy;
}

static enum hd_status add_sent_module(struct nt_types *types, const struct nt_item *item,
				      struct hd_graph *graph)
{
	struct nt_module module;
	if (!nt_module_read(item, &module) || module.flags & NT_MODULE_NATIVE)
		return HD_OK;
	uint32_t index = find_assembly(types, module.id);
	if (index == UINT32_MAX)
		return fail_nomem(types->err);
	struct nt_assembly *assembly = &types->assemblies[index];
	if (item->kind == NT_MODULE_RUNDOWN) {
		assembly->position = ++types->positions;
		assembly->is_dynamic = module.flags & NT_MODULE_DYNAMIC;
		assembly->pdb = module.pdb;
		assembly->pdb_age = module.pdb_age;
	}
	if (assembly->path || !module.path.units)
		return HD_OK;
	assembly->path = nt_copy_utf8(graph, &module.path);
	return assembly->path ? HD_OK : fail_nomem(types->err);
}

enum hd_status nt_types_read(const struct nt_trace *trace, const struct nt_snapshot *snapshot,
			     struct hd_graph *graph, struct nt_types *types)
{
	for (size_t i = snapshot->process_first; i < snapshot->process_end; i++) {
		const struct nt_item *item = &trace->items[i];
		if (item->kind == NT_TYPES)
			TRY(add_types(types, item));
		if (item->kind == NT_MODULE || item->kind == NT_MODULE_RUNDOWN)
			TRY(add_sent_module(types, item, graph));
		types->has_rundown_end |= item->kind == NT_RUNDOWN_END;
		types->has_loss |= item->kind == NT_LOST;
	}
	return HD_OK;
}

void nt_types_deinit(struct nt_types *types)
{
	for (size_t i = 0; i < types->assemblies_count; i++)
		metadata_destroy(types->assemblies[i].metadata);
	pages_free(types->rows, types->rows_capacity, sizeof(*types->rows));
	pages_free(types->assemblies, types->assemblies_capacity, sizeof(*types->assemblies));
	pages_free(types->places, types->places_capacity, sizeof(*types->places));
	type_table_deinit(&types->table);
}

/* Does the name of @p longer consist of that of @p shorter and a suffix? */
static bool name_begins_with(const struct nt_utf16 *longer, const struct nt_utf16 *shorter)
{
	return shorter->units && shorter->units <= longer->units &&
	       memcmp(longer->bytes, shorter->bytes, 2 * (size_t)shorter->units) == 0;
}

/*
 * The innermost element type of an array; the type itself if that is not known, or it is not an
 * array.
 */
static size_t base_row(struct nt_types *types, size_t row)
{
	size_t base = row;
	for (unsigned int i = 0; i < ARRAY_DEPTH_MAX; i++) {
		const struct nt_type *type = &types->rows[base];
		if (!(type->flags & NT_TYPE_ARRAY) || !type->parameter)
			return base;
		uint32_t element = nt_types_known(types, type->parameter);
		if (element == UINT32_MAX ||
		    !name_begins_with(&type->name, &types->rows[element].name))
			return base;
		base = element;
	}
	return base;
}

/*
 * "System.Collections.Generic.Dictionary<System.Char, System.String>+Entry[]"; true: it may lack
 * its outer class, because the file of its module was not used.
 */
static bool append_full_name(struct nt_types *types, size_t row, struct text *raw,
			     struct text *name)
{
	const struct nt_type *type = &types->rows[row];
	if (!type->name.units) {
		if (type->token || type->flags || type->module) {
			text_printf(name,
				    type->flags & NT_TYPE_ARRAY ? "ArrayType(0x%x)" : "Type(0x%x)",
				    type->token);
		} else {
			text_printf(name, "UNKNOWN 0x%" PRIx64, type->id);
		}
		return false;
	}
	size_t base = base_row(types, row);
	struct nt_utf16 inner = types->rows[base].name, suffix = type->name;
	suffix.bytes += 2 * (size_t)inner.units;
	suffix.units -= inner.units;
	raw->size = 0;
	bool is_short = nt_append_outer(types, base, raw);
	if (raw->size > NAME_GROWTH_MAX)
		raw->size = 0;
	if (types->rows[base].element_type == NT_ELEMENT_FNPTR) {
		text_puts(raw, "fnptr"); /* as in a core; it is sent as "FNPTR" */
	} else {
		nt_append_utf8(raw, &inner);
	}
	if (raw->failed) {
		name->failed = true;
		return false;
	}
	nt_append_type_name(name, raw->bytes, raw->size);
	nt_append_utf8(name, &suffix);
	return is_short;
}

static enum hd_status name_row(struct nt_types *types, size_t row, struct text *raw,
			       struct text *name, struct hd_graph *graph)
{
	const struct nt_assembly *assembly = &types->assemblies[types->places[row].assembly];
	name->size = 0;
	bool is_short = append_full_name(types, row, raw, name);
	if (!name->size) /* only a '\' */
		text_printf(name, "Type(0x%x)", types->rows[row].token);
	char *copy = name->failed ? NULL : arena_alloc(graph->arena, name->size + 1);
	TRY_MEMORY(copy, types->err);
	if (is_short) {
		TRY_MEMORY(short_names_add(&graph->findings.short_names, name->bytes, name->size),
			   types->err);
	}
	memcpy(copy, name->bytes, name->size);
	copy[name->size] = '\0';
	graph->types[row] = (struct graph_type){ .id = types->rows[row].id,
						 .name = copy,
						 .name_size = (uint32_t)name->size,
						 .module = assembly->path };
	return HD_OK;
}

/* Find the module of each type; afterwards the array does not grow. */
static enum hd_status find_type_assemblies(struct nt_types *types)
{
	for (size_t i = 0; i < types->rows_count; i++) {
		uint32_t index = find_assembly(types, types->rows[i].module);
		if (index == UINT32_MAX || !PAGES_RESERVE(types, places))
			return fail_nomem(types->err);
		struct nt_assembly *assembly = &types->assemblies[index];
		types->places[types->places_count++] =
			(struct nt_place){ .assembly = index, .next = assembly->first };
		assembly->first = (uint32_t)i;
	}
	return HD_OK;
}

enum hd_status nt_types_name(struct nt_types *types, struct hd_graph *graph)
{
	TRY(find_type_assemblies(types));
	graph->types = pages_alloc(types->rows_count, sizeof(*graph->types));
	TRY_MEMORY(graph->types, types->err);
	graph->type_count = (uint32_t)types->rows_count;
	HD_CLEANUP(text) struct text raw = { 0 }, name = { 0 };
	for (size_t i = 0; i < types->rows_count; i++) {
		TRY(name_row(types, i, &raw, &name, graph));
		if (i % 1024 == 0 && !job_step(types->job, 0, 0))
			return fail_cancelled(types->err);
	}
	return HD_OK;
}
