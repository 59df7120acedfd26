/* SPDX-License-Identifier: MIT */
/* The graph's types. */
#include <stdlib.h>
#include <string.h>

#include "framework/owns.h"
#include "runtime/coreclr/modules/module.h"
#include "snapshot/snapshot_parts.h"
#include "util/alloc.h"
#include "util/arena.h"

/* A type of the runtime that has objects, or statics among the roots. */
struct used_type {
	struct type *type;
	struct type_total total;
	bool has_statics;
};

static int compare_used_types(const void *a, const void *b)
{
	const struct used_type *left = a, *right = b;
	return (left->type->method_table > right->type->method_table) -
	       (left->type->method_table < right->type->method_table);
}

static enum hd_status copy_name(struct hd_graph *graph, struct runtime *runtime,
				const struct type *from, struct graph_type *to,
				struct hd_error *err)
{
	size_t size = 0;
	const char *name = type_name(runtime, from, &size);
	char *copy = arena_alloc(graph->arena, size ? size : 1);
	TRY_MEMORY(copy, err);
	memcpy(copy, name, size);
	to->name = size ? copy : NULL;
	to->name_size = (uint32_t)size;
	return HD_OK;
}

/* Path of the assembly of a type; each is kept once. */
static enum hd_status copy_module(struct name_table *modules, struct runtime *runtime,
				  const struct type *from, struct graph_type *to,
				  struct hd_error *err)
{
	const struct name_key key = { .of = type_home_module(runtime, from) };
	if (!key.of)
		return HD_OK;
	struct name_entry *entry = name_table_find(modules, key);
	TRY_MEMORY(entry, err);
	if (!entry->is_used) {
		const struct module *module = module_find(runtime, key.of);
		struct text text = { 0 };
		TRY_MEMORY(module, err);
		if (module->path)
			text_puts(&text, module->path);
		enum hd_status status = name_table_add(modules, entry, &text, err);
		text_deinit(&text);
		TRY(status);
	}
	to->module = entry->name;
	return HD_OK;
}

/* Make the graph's types from those that are used, ascending by MethodTable. */
static enum hd_status make_snapshot_types(struct snapshot *snapshot, struct used_type *used,
					  size_t count, struct name_table *modules)
{
	struct runtime *runtime = snapshot->heap->runtime;
	struct hd_graph *graph = snapshot->graph;
	qsort(used, count, sizeof(*used), compare_used_types);
	graph->types = pages_alloc(count, sizeof(*graph->types));
	TRY_MEMORY(graph->types, snapshot->err);
	graph->type_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		struct graph_type *type = &graph->types[i];
		type->id = used[i].type->method_table;
		type->count = used[i].total.count;
		type->size = used[i].total.size;
		graph->total_size += type->size;
		snapshot->places->types[used[i].type->index] = (uint32_t)i;
		TRY(copy_name(graph, runtime, used[i].type, type, snapshot->err));
		TRY(copy_module(modules, runtime, used[i].type, type, snapshot->err));
		type->owner = framework_owns_type(runtime, used[i].type) ? TYPE_OF_FRAMEWORK
									 : TYPE_OF_PROGRAM;
	}
	return HD_OK;
}

static void add_totals(const struct snapshot *snapshot, struct used_type *used, size_t count)
{
	for (unsigned int i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];
		for (size_t k = 0; k < worker->totals_capacity && k < count; k++) {
			used[k].total.count += worker->totals[k].count;
			used[k].total.size += worker->totals[k].size;
		}
	}
	const struct root_set *roots = snapshot->roots;
	for (size_t i = 0; roots && i < roots->rows_count; i++) {
		if (roots->rows[i].source == ROOT_STATIC) {
			used[roots->statics.rows[roots->rows[i].index].type->index].has_statics =
				true;
		}
	}
}

static enum hd_status use_types(struct snapshot *snapshot, struct used_type *used, size_t count)
{
	size_t kept = 0;
	add_totals(snapshot, used, count);
	for (size_t i = 0; i < count; i++) {
		snapshot->places->types[i] = HD_NONE;
		if (!used[i].total.count && !used[i].has_statics)
			continue;
		used[kept] = used[i];
		used[kept++].type = type_at(snapshot->heap->runtime, i);
	}
	HD_CLEANUP(name_table) struct name_table modules = { .arena = snapshot->graph->arena };
	return make_snapshot_types(snapshot, used, kept, &modules);
}

enum hd_status snapshot_types(struct snapshot *snapshot)
{
	size_t count = type_count(snapshot->heap->runtime);
	HD_FREE struct used_type *used = mem_calloc(count, sizeof(*used));
	struct places *places = snapshot->places;
	places->types = mem_calloc(count, sizeof(*places->types));
	places->type_count = count;
	return used && places->types ? use_types(snapshot, used, count) : fail_nomem(snapshot->err);
}
