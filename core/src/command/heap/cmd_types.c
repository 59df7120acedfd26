/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "analysis/graph/retained_types.h"
#include "analysis/name_match.h"
#include "answer/tables.h"
#include "command/completeness.h"
#include "command/table.h"
#include "gc/heap.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "util/alloc.h"
#include "util/sort.h"

#define TYPES_OPTIONS(X)                                                                           \
	X(OPT_TYPE, "type", VALUE_TYPE, "TEXT", "types whose name contains TEXT", NULL)            \
	X(OPT_BYCOUNT, "bycount", VALUE_NONE, NULL, "by count, not by size", NULL)                 \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N types, the last (0 = all)", NULL) \
	X(OPT_RETAINED, "retained", VALUE_NONE, NULL,                                              \
	  "also the bytes that objects of the type retain, and by these", NULL)                    \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,                              \
	  "treat every word on a stack as a reference", NULL)

OPTIONS(types, TYPES_OPTIONS);

/* Keep the rows whose name passes, in place. */
static void select_rows(struct statistics *statistics, const char *part)
{
	size_t kept = 0;
	for (size_t i = 0; i < statistics->row_count; i++) {
		struct type_count row = statistics->rows[i];
		if (part && (!row.name || !name_matches(row.name, row.name_size, part)))
			continue;
		statistics->rows[kept++] = row;
		statistics->count += row.count;
		statistics->size += row.size;
	}
	statistics->row_count = kept;
}

#define RETAINED_LIST(X)                                                                    \
	X(RETAINED_MT, "mt", "MT", KIND_ADDRESS, 12, LOOK_ADDRESS,                          \
	  "MethodTable, or the dump's type id")                                             \
	X(RETAINED_COUNT, "count", "Count", KIND_NUMBER, 12, LOOK_THOUSANDS, "its objects") \
	X(RETAINED_SIZE, "size", "TotalSize", KIND_BYTES, 14, LOOK_THOUSANDS,               \
	  "bytes of its objects")                                                           \
	X(RETAINED_BYTES, "retained", "Retained", KIND_BYTES, 14, LOOK_THOUSANDS,           \
	  "bytes that would be freed with its objects, each by itself")                     \
	X(RETAINED_TYPE, "type", "Class Name", KIND_TYPE, 0, 0, "name of the type")

COLUMNS(retained, RETAINED_COLUMNS, RETAINED_LIST);

SCHEMA(retained, .name = "types", .is_main = true);

/* A type and what its objects retain. */
struct retaining_type {
	const struct graph_type *type;
	uint64_t retained;
};

static int by_retained(const void *a, const void *b)
{
	const struct retaining_type *x = a, *y = b;
	if (x->retained != y->retained)
		return x->retained < y->retained ? -1 : 1;
	if (x->type->size != y->type->size)
		return x->type->size < y->type->size ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

static void write_retaining(struct call *call, const struct retaining_type *rows, size_t count)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX);
	size_t skip = count > limit ? count - (size_t)limit : 0;
	char number[COUNT_SIZE];
	answer_table(&call->answer, &retained_schema, NULL);
	for (size_t i = skip; i < count; i++) {
		const struct graph_type *type = rows[i].type;
		const struct cell cells[RETAINED_COLUMNS] = {
			[RETAINED_MT] = cell_number(type->id),
			[RETAINED_COUNT] = cell_number(type->count),
			[RETAINED_SIZE] = cell_number(type->size),
			[RETAINED_BYTES] = cell_number(rows[i].retained),
			[RETAINED_TYPE] = cell_type(type->name, type->name_size, type->id),
		};
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	if (skip)
		answer_truncated(&call->answer);
	answer_remark(&call->answer, "%s\n", format_count(count, "type", number));
	completeness_json(call);
	completeness_write(call, RETAINED_ROUGHLY);
}

/* Types with objects, those that retain most last. */
static enum hd_status run_retained_types(struct call *call)
{
	const struct hd_graph *graph = call->graph;
	const struct dominators *dominators;
	const char *part = call->options[OPT_TYPE].text;
	TRY(session_dominators(call->session, &call->job, &dominators, call->err));
	uint64_t *retained = pages_alloc(graph->type_count, sizeof(*retained));
	struct retaining_type *rows = pages_alloc(graph->type_count, sizeof(*rows));
	enum hd_status status = retained && rows ? retained_types(graph, dominators, &call->job,
								  retained, call->err)
						 : fail_nomem(call->err);
	size_t count = 0;
	for (uint32_t i = 0; status == HD_OK && i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		bool is_asked =
			!part || (type->name && name_matches(type->name, type->name_size, part));
		if (type->count && is_asked)
			rows[count++] = (struct retaining_type){ type, retained[i] };
	}
	job_end(&call->job);
	if (status == HD_OK && count)
		qsort(rows, count, sizeof(*rows), by_retained);
	if (status == HD_OK)
		write_retaining(call, rows, count);
	pages_free(retained, graph->type_count, sizeof(*retained));
	pages_free(rows, graph->type_count, sizeof(*rows));
	return status;
}

/* The types that the runtime has loaded and that are not in the graph: structs, enums, interfaces. */
struct loaded_types {
	struct call *call;
	uint64_t *known; /* ids of the graph's types, ascending */
	struct loaded_type {
		const struct type *type;
	} * rows;
	size_t known_count, rows_count, rows_capacity;
	enum hd_status status;
};

static void loaded_types_deinit(struct loaded_types *loaded)
{
	pages_free(loaded->known, loaded->known_count, sizeof(*loaded->known));
	pages_free(loaded->rows, loaded->rows_capacity, sizeof(*loaded->rows));
}

static bool keep_loaded(void *arg, const struct type *type)
{
	struct loaded_types *loaded = arg;
	loaded->status = job_check(&loaded->call->job, 1, loaded->call->err);
	if (loaded->status != HD_OK)
		return false;
	size_t at = lower_bound_u64(loaded->known, loaded->known_count, type->method_table);
	bool is_known = at < loaded->known_count && loaded->known[at] == type->method_table;
	if (type->is_free || is_known)
		return true;
	if (PAGES_RESERVE(loaded, rows)) {
		loaded->rows[loaded->rows_count++].type = type;
	} else {
		loaded->status = fail_nomem(loaded->call->err);
	}
	return loaded->status == HD_OK;
}

static enum hd_status find_loaded(struct loaded_types *loaded)
{
	const struct hd_graph *graph = loaded->call->graph;
	loaded->known = pages_alloc(graph->type_count, sizeof(*loaded->known));
	TRY_MEMORY(loaded->known, loaded->call->err);
	loaded->known_count = graph->type_count;
	for (uint32_t i = 0; i < graph->type_count; i++)
		loaded->known[i] = graph->types[i].id;
	sort_u64(loaded->known, loaded->known_count);
	enum hd_status status =
		type_for_each(loaded->call->heap->runtime, keep_loaded, loaded, loaded->call->err);
	if (status == HD_ERR_UNSUPPORTED) /* a runtime that keeps no list of them */
		return HD_OK;
	return status == HD_OK ? loaded->status : status;
}

/* Rows for the types of the graph; of a target also for its loaded types. */
static enum hd_status count_types(struct call *call, struct statistics *statistics)
{
	const struct hd_graph *graph = call->graph;
	HD_CLEANUP(loaded_types) struct loaded_types loaded = { .call = call };
	if (call->heap)
		TRY(find_loaded(&loaded));
	TRY(statistics_of_graph(statistics, graph, loaded.rows_count, call->err));
	for (uint32_t i = 0; i < graph->type_count; i++) {
		statistics->rows[i].count = graph->types[i].count;
		statistics->rows[i].size = graph->types[i].size;
	}
	for (size_t i = 0; i < loaded.rows_count; i++) {
		struct type_count *row = &statistics->rows[graph->type_count + i];
		size_t size = 0;
		row->id = loaded.rows[i].type->method_table;
		row->name = type_name(call->heap->runtime, loaded.rows[i].type, &size);
		row->name_size = (uint32_t)size;
	}
	return HD_OK;
}

static enum hd_status run_types(struct call *call)
{
	HD_CLEANUP(statistics) struct statistics statistics = { 0 };
	if (call->options[OPT_RETAINED].given)
		return run_retained_types(call);
	TRY(count_types(call, &statistics));
	select_rows(&statistics, call->options[OPT_TYPE].text);
	statistics_sort(&statistics, call->options[OPT_BYCOUNT].given, true);
	char number[COUNT_SIZE];
	statistics.limit = call->options[OPT_LIMIT].number;
	statistics_table(&call->answer, &statistics);
	answer_remark(&call->answer, "%s\n", format_count(statistics.row_count, "type", number));
	return HD_OK;
}

COMMAND(types, .has_rows = true, .summary = "list the types, also those without objects",
	.description =
		"Of a core or a process all types that the runtime has loaded: also structs, enums and\n"
		"interfaces, which have no objects of their own.\n"
		"\n"
		"With -retained the types that have objects: an object retains what would be freed if\n"
		"it went away (see retained). Objects of the type below another one of it are not\n"
		"counted twice. What only several objects together keep alive is in no row: retained\n"
		"TYPE says what all of one type retain together.\n",
	.example = "types -type Bubble", .needs = NEEDS_GRAPH, .options = types_options);
