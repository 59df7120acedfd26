/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/completeness.h"
#include "query/filter.h"
#include "report/root_label.h"
#include "util/alloc.h"

enum {
	OPT_KIND,
	OPT_FLAG,
	OPT_CONTAINER,
	OPT_THREAD,
	OPT_STAT,
	OPT_LIMIT,
	OPT_CONSERVATIVE
};

#define KIND_COUNT (HD_ROOT_THREAD_STATIC + 1u)

const struct option roots_options[] = {
	[OPT_KIND] = { "kind", VALUE_CHOICE, "KIND",
		       "stack, handle, static, thread-static, finalizer, gc or internal",
		       root_kind_names },
	[OPT_FLAG] = { "flag", VALUE_CHOICE, "FLAG", "pinned, weak, interior or conservative",
		       root_flag_names },
	[OPT_CONTAINER] = { "container", VALUE_TYPE, "TEXT",
			    "static variables of types whose name holds TEXT", NULL },
	[OPT_THREAD] = { "thread", VALUE_NUMBER, "N", "of the thread with managed id N", NULL },
	[OPT_STAT] = { "stat", VALUE_NONE, NULL, "only how many, by kind and container", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N roots (0 = all)", NULL },
	[OPT_CONSERVATIVE] = { "conservative", VALUE_NONE, NULL,
			       "take all words on stacks for references", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static bool has_flag(const struct graph_root *root, const char *name)
{
	for (size_t i = 0; root_flag_names[i]; i++) {
		if (strcmp(root_flag_names[i], name) == 0)
			return root->flags >> i & 1;
	}
	return false;
}

/* Thread of a root: its own, or that of its frame; or NULL. */
static const struct graph_thread *thread_of(const struct hd_graph *graph, uint32_t index)
{
	const struct graph_thread *thread = root_thread(graph, index);
	const struct graph_frame *frame = thread ? NULL : root_frame(graph, index);
	return frame && frame->thread < graph->thread_count ? &graph->threads[frame->thread]
							    : thread;
}

static bool passes(const struct call *call, uint32_t index)
{
	const struct graph_root *root = &call->graph->roots[index];
	const struct value *options = call->options;
	if (options[OPT_KIND].given &&
	    strcmp(root_kind_name(root->kind), options[OPT_KIND].text) != 0)
		return false;
	if (options[OPT_FLAG].given && !has_flag(root, options[OPT_FLAG].text))
		return false;
	if (options[OPT_THREAD].given) {
		const struct graph_thread *thread = thread_of(call->graph, index);
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

static void write_type(struct call *call, uint32_t node)
{
	const struct hd_graph *graph = call->graph;
	if (graph_is_missing(graph, node)) {
		out_styled(&call->out, STYLE_NOTE, "<not in this dump>");
		return;
	}
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	out_type(&call->out, type->name, type->name_size, type->id);
}

/* Are there columns for slots and threads? */
static bool has_slots(const struct hd_graph *graph)
{
	return graph_is_heap(graph) || graph->has_slots;
}

static void write_header(struct call *call)
{
	if (has_slots(call->graph)) {
		out_styled(&call->out, STYLE_HEAD, "%16s %-13s %-12s %16s %8s Class Name", "Object",
			   "Kind", "Flags", "Slot", "OSID");
	} else {
		out_styled(&call->out, STYLE_HEAD, "%16s %-9s %-20s Class Name", "Object", "Kind",
			   "Flags");
	}
	out_puts(&call->out, "\n");
}

/* Begin one part of the note behind a class name. */
static void begin_part(struct out *out, bool *any, const char *between)
{
	out_puts(out, *any ? between : " (");
	*any = true;
}

/* Behind the class name: a static's container, of a heap what the slot is called. */
static void write_note(struct call *call, uint32_t index)
{
	const struct hd_graph *graph = call->graph;
	const struct graph_root *root = &graph->roots[index];
	const struct graph_root_detail *detail = root_detail(graph, index);
	const struct graph_frame *frame = root_frame(graph, index);
	struct out *out = &call->out;
	bool any = false;
	if (detail && detail->slot && *detail->slot) {
		begin_part(out, &any, "");
		out_puts(out, detail->slot);
	}
	if (frame) {
		begin_part(out, &any, " of ");
		frame_label(out, frame);
	}
	if (detail && detail->name) {
		begin_part(out, &any, ", ");
		text_escape(&out->text, detail->name, strlen(detail->name));
	} else if (root->container != HD_NONE) {
		const struct graph_type *type = &graph->types[root->container];
		begin_part(out, &any, ", ");
		out_puts(out, "static of ");
		out_type(out, type->name, type->name_size, type->id);
	}
	if (detail && detail->handle) {
		begin_part(out, &any, ", ");
		out_puts(out, graph_handle_label(detail->handle));
	}
	out_puts(out, any ? ")" : "");
}

static void write_row(struct call *call, uint32_t index)
{
	const struct hd_graph *graph = call->graph;
	const struct graph_root *root = &graph->roots[index];
	const struct graph_root_detail *detail = root_detail(graph, index);
	const struct graph_thread *thread = thread_of(graph, index);
	struct out *out = &call->out;
	char flags[48] = "";
	size_t used = 0;
	for (size_t i = 0; root_flag_names[i]; i++) {
		if (root->flags >> i & 1) {
			(void)snprintf(flags + used, sizeof(flags) - used, "%s%s", used ? "," : "",
				       root_flag_names[i]);
			used = strlen(flags);
		}
	}
	out_styled(out, STYLE_ADDRESS, "%16" PRIx64, graph_id(graph, root->node));
	bool is_wide = detail && has_slots(graph);
	out_printf(out, " %-*s %-*s ", is_wide ? 13 : 9, root_kind_name(root->kind),
		   is_wide ? 12 : 20, flags);
	if (is_wide && detail->address) {
		out_printf(out, "%016" PRIx64 " ", detail->address);
	} else if (is_wide) {
		out_printf(out, "%16s ", "");
	}
	if (is_wide && thread) {
		out_printf(out, "%8" PRIx64 " ", thread->os_id);
	} else if (is_wide) {
		out_printf(out, "%8s ", "");
	}
	write_type(call, root->node);
	write_note(call, index);
	out_puts(out, "\n");
}

/* How many roots there are of one kind, handle and container. */
struct row {
	uint32_t container;
	uint8_t kind, handle;
	bool is_weak;
	uint64_t count;
};

static int compare_keys(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->container != y->container)
		return x->container < y->container ? -1 : 1;
	if (x->handle != y->handle)
		return x->handle < y->handle ? -1 : 1;
	return (x->is_weak > y->is_weak) - (x->is_weak < y->is_weak);
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return compare_keys(a, b);
}

/* One row per key, in place of one per root. */
static size_t join_rows(struct row *rows, size_t count)
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
		qsort(rows, kept, sizeof(*rows), compare_rows);
	return kept;
}

static void json_statistics_row(struct call *call, const struct row *row)
{
	struct json *json = &call->json;
	const struct graph_type *type =
		row->container == HD_NONE ? NULL : &call->graph->types[row->container];
	json_object(json, NULL);
	json_string(json, "kind", root_kind_name(row->kind));
	json_string(json, "handle", graph_handle_name(row->handle));
	json_bool(json, "weak", row->is_weak);
	if (type) {
		json_text(json, "container", type->name, type->name_size);
	} else {
		json_null(json, "container");
	}
	json_number(json, "count", row->count);
	json_end(json);
}

static void write_statistics_row(struct call *call, const struct row *row)
{
	struct out *out = &call->out;
	char number[27];
	out_printf(out, "%12s %-13s ", format_thousands(row->count, number),
		   root_kind_name(row->kind));
	if (row->container != HD_NONE) {
		const struct graph_type *type = &call->graph->types[row->container];
		out_type(out, type->name, type->name_size, type->id);
	} else if (row->handle) {
		out_puts(out, graph_handle_label(row->handle));
	}
	if (row->is_weak && !row->handle)
		out_puts(out, "weak");
	out_puts(out, "\n");
}

static enum hd_status write_statistics_rows(struct call *call, const struct row *rows, size_t count)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX), found = 0;
	for (size_t i = 0; i < count; i++) {
		found += rows[i].count;
		if (i >= limit)
			continue;
		if (call->as_json) {
			json_statistics_row(call, &rows[i]);
		} else {
			write_statistics_row(call, &rows[i]);
		}
		TRY(call_check(call));
	}
	if (call->as_json) {
		json_end(&call->json);
		json_number(&call->json, "found", found);
		json_bool(&call->json, "roots_merged", call_merges_roots(call));
		if (count > limit)
			json_bool(&call->json, "truncated", true);
		return HD_OK;
	}
	char number[COUNT_SIZE];
	out_printf(&call->out, "Total %s%s\n", format_count(found, "root", number),
		   count > limit ? " (-limit 0 lists all rows)" : "");
	merged_roots_write(call, "");
	return HD_OK;
}

static enum hd_status write_statistics(struct call *call)
{
	const struct hd_graph *graph = call->graph;
	struct row *rows = pages_alloc(graph->root_count, sizeof(*rows));
	size_t count = 0;
	if (!rows)
		return fail_nomem(call->err);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (!passes(call, i))
			continue;
		rows[count] = (struct row){ .container = root->container,
					    .kind = root->kind,
					    .is_weak = root_is_weak(root),
					    .count = 1 };
		if (graph->details)
			rows[count].handle = graph->details[i].handle;
		count++;
	}
	count = join_rows(rows, count);
	if (call->as_json) {
		json_array(&call->json, "kinds");
	} else {
		out_styled(&call->out, STYLE_HEAD, "%12s %-13s Container", "Count", "Kind");
		out_puts(&call->out, "\n");
	}
	enum hd_status status = write_statistics_rows(call, rows, count);
	pages_free(rows, graph->root_count, sizeof(*rows));
	return status;
}

static void write_total(struct call *call, const uint64_t *kinds, uint64_t found, bool is_cut)
{
	char number[COUNT_SIZE];
	out_printf(&call->out, "Total %s", format_count(found, "root", number));
	for (unsigned int kind = 0; kind < KIND_COUNT; kind++) {
		if (kinds[kind]) {
			out_printf(&call->out, ", %s %s", format_thousands(kinds[kind], number),
				   root_kind_names[kind]);
		}
	}
	out_puts(&call->out, is_cut ? " (-limit 0 lists all)\n" : "\n");
}

static enum hd_status write_roots(struct call *call)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX), found = 0;
	uint64_t kinds[KIND_COUNT] = { 0 };
	if (call->as_json) {
		json_array(&call->json, "roots");
	} else {
		write_header(call);
	}
	for (uint32_t i = 0; i < call->graph->root_count; i++) {
		if (!passes(call, i))
			continue;
		kinds[call->graph->roots[i].kind]++;
		if (found++ >= limit)
			continue;
		if (call->as_json) {
			json_object(&call->json, NULL);
			root_json(&call->json, call->graph, i);
			json_end(&call->json);
		} else {
			write_row(call, i);
		}
		TRY(call_check(call));
	}
	if (!call->as_json) {
		write_total(call, kinds, found, found > limit);
		merged_roots_write(call, "");
		return HD_OK;
	}
	json_end(&call->json);
	json_number(&call->json, "found", found);
	json_bool(&call->json, "roots_merged", call_merges_roots(call));
	if (found > limit)
		json_bool(&call->json, "truncated", true);
	return HD_OK;
}

static enum hd_status check_thread(struct call *call)
{
	const struct hd_graph *graph = call->graph;
	const struct value *thread = &call->options[OPT_THREAD];
	for (uint32_t i = 0; thread->given && i < graph->thread_count; i++) {
		if (graph->threads[i].id == thread->number)
			return HD_OK;
	}
	if (!thread->given)
		return HD_OK;
	return fail(call->err, HD_ERR_NOTFOUND, 0,
		    "no thread has the managed id %" PRIu64 ": clrthreads lists them",
		    thread->number);
}

enum hd_status run_roots(struct call *call)
{
	TRY(check_thread(call));
	return call->options[OPT_STAT].given ? write_statistics(call) : write_roots(call);
}
