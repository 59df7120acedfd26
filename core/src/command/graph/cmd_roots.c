/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/name_match.h"
#include "answer/root_row.h"
#include "command/completeness.h"
#include "command/table.h"
#include "command/threads/source_text.h"
#include "output/root_label.h"
#include "util/alloc.h"

#define KIND_COUNT (HD_ROOT_THREAD_STATIC + 1u)

#define ROOTS_OPTIONS(X)                                                                         \
	X(OPT_KIND, "kind", VALUE_CHOICE, "KIND",                                                \
	  "stack, handle, static, thread-static, finalizer, gc or internal", root_kind_names)    \
	X(OPT_FLAG, "flag", VALUE_CHOICE, "FLAG", "pinned, weak, interior or conservative",      \
	  root_flag_names)                                                                       \
	X(OPT_CONTAINER, "container", VALUE_TYPE, "TEXT",                                        \
	  "static variables of types whose name contains TEXT", NULL)                            \
	X(OPT_THREAD, "thread", VALUE_THREAD, "N", "only those of the thread with managed id N", \
	  NULL)                                                                                  \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "only how many, by kind and container", NULL)      \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N roots (0 = all)", NULL)         \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,                            \
	  "treat every word on a stack as a reference", NULL)

OPTIONS(roots, ROOTS_OPTIONS);

static bool has_flag(const struct graph_root *root, const char *name)
{
	for (size_t i = 0; root_flag_names[i]; i++) {
		if (strcmp(root_flag_names[i], name) == 0)
			return root->flags >> i & 1;
	}
	return false;
}

static bool root_passes(const struct call *call, uint32_t index)
{
	const struct graph_root *root = &call->graph->roots[index];
	const struct value *options = call->options;
	if (options[OPT_KIND].given &&
	    strcmp(root_kind_name(root->kind), options[OPT_KIND].text) != 0)
		return false;
	if (options[OPT_FLAG].given && !has_flag(root, options[OPT_FLAG].text))
		return false;
	if (options[OPT_THREAD].given) {
		const struct graph_thread *thread = root_any_thread(call->graph, index);
		if (!thread || thread->id != options[OPT_THREAD].number)
			return false;
	}
	if (!options[OPT_CONTAINER].given)
		return true;
	if (root->container == HD_NONE)
		return false;
	const struct graph_type *type = &call->graph->types[root->container];
	return type->name && name_matches(type->name, type->name_size, options[OPT_CONTAINER].text);
}

/* How many roots there are of one kind, handle and container. */
struct root_count {
	uint32_t container;
	uint8_t kind, handle;
	bool is_weak;
	uint64_t count;
};

static int compare_keys(const void *a, const void *b)
{
	const struct root_count *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->container != y->container)
		return x->container < y->container ? -1 : 1;
	if (x->handle != y->handle)
		return x->handle < y->handle ? -1 : 1;
	return (x->is_weak > y->is_weak) - (x->is_weak < y->is_weak);
}

static int compare_root_rows(const void *a, const void *b)
{
	const struct root_count *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return compare_keys(a, b);
}

/* One row per key, in place of one per root. */
static size_t join_root_rows(struct root_count *rows, size_t count)
{
	size_t kept = 0;
	if (count)
		qsort(rows, count, sizeof(*rows), compare_keys);
	for (size_t i = 0; i < count; i++) {
		if (kept && compare_keys(&rows[kept - 1], &rows[i]) == 0) {
			rows[kept - 1].count += rows[i].count;
		} else {
			rows[kept++] = rows[i];
		}
	}
	if (kept)
		qsort(rows, kept, sizeof(*rows), compare_root_rows);
	return kept;
}

#define KINDS_LIST(X)                                                                          \
	X(KINDS_KIND, "kind", NULL, KIND_TEXT, 0, 0, "kind of the roots")                      \
	X(KINDS_HANDLE, "handle", NULL, KIND_TEXT, 0, 0, "kind of the handles")                \
	X(KINDS_WEAK, "weak", NULL, KIND_FLAG, 0, 0, "do they keep nothing alive?")            \
	X(KINDS_CONTAINER, "container", NULL, KIND_TYPE, 0, 0,                                 \
	  "for statics: the type that declares them")                                          \
	X(KINDS_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "how many there are")                 \
	X(KINDS_MT, NULL, "mt", KIND_ADDRESS, 0, 0, NULL)    /* text only: of the container */ \
	X(KINDS_LABEL, NULL, "label", KIND_TEXT, 0, 0, NULL) /* text only: of a handle */

COLUMNS(kind, KINDS_COLUMNS, KINDS_LIST);

SCHEMA(kind, .name = "kinds", .is_main = true, .heading = "       Count Kind          Container",
       .lines = "{count:12,} {kind:-13} [=mt {container}|{label}][?weak [=handle |weak]]\n");

static void write_kind(struct call *call, const struct root_count *row)
{
	struct cell cells[KINDS_COLUMNS] = {
		[KINDS_KIND] = cell_string(root_kind_name(row->kind)),
		[KINDS_HANDLE] = cell_string(graph_handle_name(row->handle)),
		[KINDS_WEAK] = cell_flag(row->is_weak),
		[KINDS_COUNT] = cell_number(row->count),
	};
	if (row->container != HD_NONE) {
		const struct graph_type *type = &call->graph->types[row->container];
		cells[KINDS_CONTAINER] = cell_type(type->name, type->name_size, type->id);
		cells[KINDS_MT] = cell_number(type->id);
	}
	if (row->handle)
		cells[KINDS_LABEL] = cell_string(graph_handle_label(row->handle));
	answer_row(&call->answer, cells);
}

enum roots_total_column {
	TOTAL_FOUND,
	TOTAL_MERGED,
	TOTAL_TRUNCATED,
	TOTAL_KINDS, /* text only: a column for each kind; absent where there are none */
	TOTAL_COLUMNS = TOTAL_KINDS + KIND_COUNT
};

static const struct column total_columns[TOTAL_COLUMNS] = {
	[TOTAL_FOUND] = { "found", NULL, KIND_NUMBER, 0, 0, "all roots" },
	[TOTAL_MERGED] = { "roots_merged", NULL, KIND_FLAG, 0, 0,
			   "are all roots of one kind to one object counted once, as in a .gcdump?" },
	[TOTAL_TRUNCATED] = { "truncated", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,
			      "are there more rows?" },
};

static void put_roots_total(struct out *out, const struct cell *cells, const char *if_truncated)
{
	char number[COUNT_SIZE];
	out_printf(out, "Total %s", format_count(cells[TOTAL_FOUND].number, "root", number));
	for (unsigned int kind = 0; kind < KIND_COUNT; kind++) {
		const struct cell *count = &cells[TOTAL_KINDS + kind];
		if (count->is_there) {
			out_printf(out, ", %s %s", format_thousands(count->number, number),
				   root_kind_names[kind]);
		}
	}
	out_printf(out, "%s\n", cells[TOTAL_TRUNCATED].is_there ? if_truncated : "");
}

static void roots_total_layout(struct out *out, const struct cell *cells)
{
	put_roots_total(out, cells, " (-limit 0 lists all)");
}

static void rows_total_layout(struct out *out, const struct cell *cells)
{
	put_roots_total(out, cells, " (-limit 0 lists all rows)");
}

SCHEMA(total, .layout = roots_total_layout);
static const struct schema rows_total_schema = { SCHEMA_COLUMNS(total_columns),
						 .layout = rows_total_layout };

/* @p kinds NULL: not counted. */
static void write_roots_total(struct call *call, const struct schema *schema, uint64_t found,
			      const uint64_t *kinds, bool is_cut)
{
	struct cell cells[TOTAL_COLUMNS] = {
		[TOTAL_FOUND] = cell_number(found),
		[TOTAL_MERGED] = cell_flag(call_merges_roots(call)),
	};
	if (is_cut)
		cells[TOTAL_TRUNCATED] = cell_flag(true);
	for (unsigned int kind = 0; kinds && kind < KIND_COUNT; kind++) {
		if (kinds[kind])
			cells[TOTAL_KINDS + kind] = cell_number(kinds[kind]);
	}
	answer_record(&call->answer, schema, cells);
	merged_roots_write(call, "");
}

static enum hd_status write_root_kinds(struct call *call, const struct root_count *rows,
				       size_t count)
{
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	uint64_t found = 0;
	answer_table(&call->answer, &kind_schema, &options);
	for (size_t i = 0; i < count; i++) {
		found += rows[i].count;
		if (answer_wants_row(&call->answer))
			write_kind(call, &rows[i]);
		TRY(call_check(call));
	}
	bool is_cut = answer_table_end(&call->answer);
	write_roots_total(call, &rows_total_schema, found, NULL, is_cut);
	return HD_OK;
}

static enum hd_status write_root_statistics(struct call *call)
{
	const struct hd_graph *graph = call->graph;
	struct root_count *rows = pages_alloc(graph->root_count, sizeof(*rows));
	size_t count = 0;
	TRY_MEMORY(rows, call->err);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (!root_passes(call, i))
			continue;
		rows[count] = (struct root_count){ .container = root->container,
						   .kind = root->kind,
						   .is_weak = root_is_weak(root),
						   .count = 1 };
		if (graph->origins.details)
			rows[count].handle = graph->origins.details[i].handle;
		count++;
	}
	count = join_root_rows(rows, count);
	enum hd_status status = write_root_kinds(call, rows, count);
	pages_free(rows, graph->root_count, sizeof(*rows));
	return status;
}

static enum hd_status write_root_list(struct call *call)
{
	HD_CLEANUP(root_row) struct root_row row = { 0 };
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	uint64_t found = 0, kinds[KIND_COUNT] = { 0 };
	struct answer *answer = &call->answer;
	answer_table(answer, root_list_schema(call->graph), &options);
	for (uint32_t i = 0; i < call->graph->root_count; i++) {
		if (!root_passes(call, i))
			continue;
		kinds[call->graph->roots[i].kind]++;
		found++;
		if (!answer_wants_row(answer))
			continue;
		root_row_fill(&row, answer, call->graph, i);
		if (answer_is_data(answer))
			source_text_root(call, i, &row);
		answer_row(answer, row.cells);
		TRY(call_check(call));
	}
	bool is_cut = answer_table_end(answer);
	write_roots_total(call, &total_schema, found, kinds, is_cut);
	return HD_OK;
}

static enum hd_status check_thread(struct call *call)
{
	const struct hd_graph *graph = call->graph;
	const struct value *thread = &call->options[OPT_THREAD];
	for (uint32_t i = 0; thread->given && i < graph->origins.thread_count; i++) {
		if (graph->origins.threads[i].id == thread->number)
			return HD_OK;
	}
	if (!thread->given)
		return HD_OK;
	return fail(call->err, HD_ERR_NOTFOUND, 0,
		    "no thread has the managed id %" PRIu64 ": clrthreads lists them",
		    thread->number);
}

static enum hd_status run_roots(struct call *call)
{
	TRY(check_thread(call));
	return call->options[OPT_STAT].given ? write_root_statistics(call) : write_root_list(call);
}

COMMAND(roots, .has_rows = true, .summary = "list the roots",
	.description =
		"In a core or process each root has its slot, its name or frame, and its thread.\n"
		"-stat counts the roots of each kind and container.\n",
	.example = "roots -kind static", .needs = NEEDS_GRAPH, .options = roots_options);
