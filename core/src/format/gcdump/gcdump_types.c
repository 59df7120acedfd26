/* SPDX-License-Identifier: MIT */
/* The types of a .gcdump become those of a graph. */
#include <string.h>

#include "format/gcdump/gcdump_names.h"
#include "format/gcdump/gcdump_reading.h"
#include "format/type_table.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/text.h"

/* Paths of modules that are cached: the types of one module come together. */
#define RECENT_MODULES 64u

/* A module's path as the file has it, and as the graph does. */
struct gcdump_module {
	struct gcdump_text text;
	const char *path;
};

static enum hd_status module_path(struct gcdump_reading *reading, struct gcdump_module *recent,
				  const struct gcdump_text *text, const char **ret)
{
	uint32_t hash = text->size;
	for (uint32_t i = 0; i < text->size && i < 64; i++)
		hash = hash * 31 + text->bytes[text->size - 1 - i];
	struct gcdump_module *module = &recent[hash % RECENT_MODULES];
	if (!text->size || module->text.size != text->size ||
	    memcmp(module->text.bytes, text->bytes, text->size) != 0) {
		module->text = *text;
		TRY(gcdump_keep_text(reading, text, &module->path));
	}
	*ret = module->path;
	return HD_OK;
}

/* Types that are put into the graph. */
struct typing {
	struct gcdump_reading *reading;
	struct gcdump_module recent[RECENT_MODULES];
	struct type_table table; /* by name and module */
	struct text name;
	bool is_foreign; /* the file's names are not those of the heap */
	bool is_own;     /* this program wrote the file: see is_of_large() */
	uint32_t group;  /* index in the file of the last type that is not one of large objects */
	uint32_t group_place; /* which type of the graph it is; HD_NONE: none yet */
};

static enum hd_status convert_name(struct typing *typing, struct graph_type *type)
{
	struct text *name = &typing->name;
	name->size = 0;
	gcdump_type_name(name, type->name, type->name_size);
	if (name->failed)
		return fail_nomem(typing->reading->err);
	if (name->size == type->name_size && memcmp(name->bytes, type->name, name->size) == 0)
		return HD_OK;
	char *copy = arena_alloc(typing->reading->graph->arena, name->size + 1);
	TRY_MEMORY(copy, typing->reading->err);
	memcpy(copy, name->bytes, name->size);
	copy[name->size] = '\0';
	type->name = copy;
	type->name_size = (uint32_t)name->size;
	return HD_OK;
}

static bool is_same_type(const struct graph_type *a, const struct graph_type *b)
{
	const char *x = a->module ? a->module : "", *y = b->module ? b->module : "";
	return a->name_size == b->name_size && memcmp(a->name, b->name, a->name_size) == 0 &&
	       strcmp(x, y) == 0;
}

/* Index of the type with the same name and module, or of @p type itself, which then is new. */
static enum hd_status merge_type(struct typing *typing, const struct graph_type *type,
				 uint32_t *ret)
{
	struct hd_graph *graph = typing->reading->graph;
	const char *module = type->module ? type->module : "";
	uint64_t key = type_table_hash(type->name, type->name_size) ^
		       type_table_hash(module, strlen(module)) * 0x9e3779b97f4a7c15u;
	uint32_t index = type_table_add(&typing->table, 0, key, graph->type_count);
	if (index == UINT32_MAX)
		return fail_nomem(typing->reading->err);
	*ret = index < graph->type_count && is_same_type(&graph->types[index], type)
		       ? index
		       : graph->type_count;
	return HD_OK;
}

/*
 * Is it the type that this program gave the large objects of a type, which is before it in the
 * file?  The heap has no such names, and where it had one, the size of the objects would not fit, or
 * the name would have two suffixes.
 */
static bool is_of_large(const struct gcdump_type *type)
{
	unsigned int size_class =
		gcdump_named_class((const char *)type->name.bytes, type->name.size);
	return size_class && type->size > 0 &&
	       gcdump_size_class((uint64_t)type->size) == size_class;
}

static bool is_same_text(const struct gcdump_text *a, const struct gcdump_text *b)
{
	return a->size == b->size && (!a->size || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* The type @p index of the file, as it is without a suffix for large objects. */
static struct gcdump_type without_class(struct typing *typing, uint32_t index, bool *ret_in_group)
{
	const struct gcdump *file = &typing->reading->file;
	struct gcdump_type type = file->types[index];
	if (!typing->is_own || !is_of_large(&type)) {
		typing->group = index;
		typing->group_place = HD_NONE;
		*ret_in_group = true;
		return type;
	}
	size_t suffix = strlen(gcdump_class_suffix(
		gcdump_named_class((const char *)type.name.bytes, type.name.size)));
	type.name.size -= (uint32_t)suffix;
	type.name.units -= (uint32_t)suffix;
	const struct gcdump_type *group = &file->types[typing->group];
	*ret_in_group = is_same_text(&group->name, &type.name) &&
			is_same_text(&group->module, &type.module);
	return type;
}

static enum hd_status add_gcdump_type(struct typing *typing, uint32_t index)
{
	struct gcdump_reading *reading = typing->reading;
	struct hd_graph *graph = reading->graph;
	bool in_group;
	const struct gcdump_type type = without_class(typing, index, &in_group);
	if (!reading->used[index])
		return HD_OK;
	if (in_group && typing->group_place != HD_NONE) {
		reading->type_map[index] = typing->group_place;
		return HD_OK;
	}
	struct graph_type to = { .id = (uint64_t)(in_group ? typing->group : index) + 1 };
	uint32_t place = graph->type_count;
	TRY(module_path(reading, typing->recent, &type.module, &to.module));
	if (type.name.size) {
		char *name;
		TRY_MEMORY(gcdump_utf8(graph->arena, &type.name, &name, &to.name_size),
			   reading->err);
		to.name = name;
		if (typing->is_foreign) {
			TRY(convert_name(typing, &to));
			TRY(merge_type(typing, &to, &place));
		}
	}
	reading->type_map[index] = place;
	if (place == graph->type_count)
		graph->types[graph->type_count++] = to;
	if (in_group)
		typing->group_place = place;
	return HD_OK;
}

/* As many as there are, which the graph frees. */
static enum hd_status fit_types(struct gcdump_reading *reading, uint32_t count)
{
	struct hd_graph *graph = reading->graph;
	struct graph_type *fit =
		pages_resize(graph->types, count, graph->type_count, sizeof(*graph->types));
	TRY_MEMORY(fit, reading->err);
	graph->types = fit;
	return HD_OK;
}

/* The part before the last dot in the name of a static's node; size 0: it is not a static. */
static struct gcdump_text container_of(const struct gcdump_text *name)
{
	static const char begin[] = "[static var ";
	struct gcdump_text container = { .bytes = name->bytes, .size = name->size };
	if (name->size < sizeof(begin) || memcmp(name->bytes, begin, sizeof(begin) - 1) != 0)
		return (struct gcdump_text){ 0 };
	while (container.size && container.bytes[container.size - 1] != '.')
		container.size--;
	if (container.size <= sizeof(begin))
		return (struct gcdump_text){ 0 };
	container.bytes += sizeof(begin) - 1;
	container.size -= (uint32_t)sizeof(begin); /* and the dot */
	return container;
}

/* Types without objects are kept if they declare statics. */
static enum hd_status use_containers(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	HD_CLEANUP(type_table) struct type_table table = { 0 };
	bool made = true;
	for (uint32_t i = 0; made && i < file->type_count; i++) {
		struct gcdump_text name = container_of(&file->types[i].name);
		if (name.size) {
			uint64_t key = type_table_hash((const char *)name.bytes, name.size);
			made = type_table_add(&table, 0, key, 1) != UINT32_MAX;
		}
	}
	for (uint32_t i = 0; made && table.count && i < file->type_count; i++) {
		const struct gcdump_text *name = &file->types[i].name;
		if (reading->used[i] || !name->size)
			continue;
		uint64_t key = type_table_hash((const char *)name->bytes, name->size);
		/* A new one is recognised by its different number. */
		uint32_t found = type_table_add(&table, 0, key, 0);
		made = found != UINT32_MAX;
		reading->used[i] = found == 1;
	}
	return made ? HD_OK : fail_nomem(reading->err);
}

enum hd_status gcdump_make_types(struct gcdump_reading *reading)
{
	struct hd_graph *graph = reading->graph;
	uint32_t count = 0;
	TRY(use_containers(reading));
	for (uint32_t i = 0; i < reading->file.type_count; i++)
		count += reading->used[i];
	/* A second reading of the nodes may add more. */
	pages_free(graph->types, graph->type_count, sizeof(*graph->types));
	graph->type_count = 0;
	graph->types = pages_alloc(count, sizeof(*graph->types));
	TRY_MEMORY(graph->types, reading->err);
	struct typing typing = { .reading = reading,
				 .is_foreign = gcdump_is_foreign(reading),
				 .group_place = HD_NONE };
	typing.is_own = !typing.is_foreign && !reading->exact;
	enum hd_status status = HD_OK;
	for (uint32_t i = 0; status == HD_OK && i < reading->file.type_count; i++)
		status = add_gcdump_type(&typing, i);
	type_table_deinit(&typing.table);
	text_deinit(&typing.name);
	if (status == HD_OK && graph->type_count < count)
		status = fit_types(reading, count);
	if (status != HD_OK) {
		pages_free(graph->types, count, sizeof(*graph->types));
		graph->types = NULL;
		graph->type_count = 0;
	}
	return status;
}
