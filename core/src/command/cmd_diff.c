/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "command/core_kind.h"
#include "command/heap_range.h"
#include "command/type_counts.h"
#include "query/diff.h"
#include "query/filter.h"
#include "util/alloc.h"

enum {
	OPT_TYPE,
	OPT_LIMIT
};

const struct option diff_options[] = {
	[OPT_TYPE] = { "type", VALUE_TYPE, "TEXT", "types whose name holds TEXT", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N types (0 = all)", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static bool differs(const struct diff_row *row)
{
	return row->count_before != row->count_after || row->size_before != row->size_after;
}

/* "+1,234", "-5" or "0". */
static const char *format_change(uint64_t before, uint64_t after, char *buf)
{
	bool grown = after >= before;
	buf[0] = grown ? '+' : '-';
	if (before == after)
		return format_thousands(0, buf);
	(void)format_thousands(grown ? after - before : before - after, buf + 1);
	return buf;
}

static void write_row(struct call *call, const struct diff_row *row)
{
	char count[28], size[28], before[27], after[27];
	struct out *out = &call->out;
	out_printf(out, "%14s %14s %14s %14s  ",
		   format_change(row->count_before, row->count_after, count),
		   format_change(row->size_before, row->size_after, size),
		   format_thousands(row->size_before, before),
		   format_thousands(row->size_after, after));
	if (row->name) {
		out_type(out, row->name, row->name_size, 0);
	} else {
		out_styled(out, STYLE_NOTE, "<unknown types>");
	}
	if (!row->count_before)
		out_styled(out, STYLE_NOTE, " (new)");
	if (!row->count_after)
		out_styled(out, STYLE_NOTE, " (gone)");
	out_puts(out, "\n");
}

static void write_element(struct json *json, const struct diff_row *row)
{
	json_object(json, NULL);
	json_text(json, "name", row->name, row->name_size);
	json_number(json, "count_before", row->count_before);
	json_number(json, "count_after", row->count_after);
	json_number(json, "size_before", row->size_before);
	json_number(json, "size_after", row->size_after);
	json_bool(json, "tracing", diff_is_tracing(row->name, row->name_size));
	json_end(json);
}

static bool passes(const struct call *call, const struct diff_row *row)
{
	const char *part = call->options[OPT_TYPE].text;
	return differs(row) &&
	       (!part || (row->name && name_matches(row->name, row->name_size, part)));
}

/* Text has those of tracing behind the others, under a line of their own. */
static enum hd_status write_some(struct call *call, const struct diff *diff, bool of_tracing,
				 uint64_t limit, uint64_t *found)
{
	bool has_begun = false;
	for (size_t i = 0; i < diff->row_count; i++) {
		const struct diff_row *row = &diff->rows[i];
		bool is_tracing = diff_is_tracing(row->name, row->name_size);
		if ((!call->as_json && is_tracing != of_tracing) || !passes(call, row) ||
		    (*found)++ >= limit)
			continue;
		if (of_tracing && !has_begun)
			out_styled(&call->out, STYLE_NOTE, "Of tracing, which collect is, too:\n");
		has_begun = true;
		if (call->as_json) {
			write_element(&call->json, row);
		} else {
			write_row(call, row);
		}
		TRY(call_check(call));
	}
	return HD_OK;
}

static enum hd_status write_rows(struct call *call, const struct diff *diff)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX), found = 0;
	TRY(write_some(call, diff, false, limit, &found));
	if (!call->as_json)
		TRY(write_some(call, diff, true, limit, &found));
	call->findings |= found > 0;
	if (!found && !call->as_json)
		out_puts(&call->out, "(no differences by type)\n");
	if (call->as_json)
		json_end(&call->json);
	if (call->as_json && found > limit)
		json_bool(&call->json, "truncated", true);
	if (!call->as_json && found > limit) {
		out_printf(&call->out, "(the first %" PRIu64 " of %" PRIu64 " types)\n", limit,
			   found);
	}
	return HD_OK;
}

static void write_total(struct call *call, const struct diff_side *before,
			const struct diff_side *after)
{
	char a[27], b[27], c[28];
	struct json *json = &call->json;
	if (call->as_json) {
		json_object(json, "total");
		json_number(json, "count_before", before->count);
		json_number(json, "count_after", after->count);
		json_number(json, "size_before", before->size);
		json_number(json, "size_after", after->size);
		json_end(json);
		return;
	}
	out_printf(&call->out, "Objects: %s before, %s after (%s)\n",
		   format_thousands(before->count, a), format_thousands(after->count, b),
		   format_change(before->count, after->count, c));
	out_printf(&call->out, "Bytes:   %s before, %s after (%s)\n",
		   format_thousands(before->size, a), format_thousands(after->size, b),
		   format_change(before->size, after->size, c));
}

/* The first trace session of a process leaves objects that are not the program's own. */
static void write_tracing(struct call *call, const struct diff_side *before,
			  const struct diff_side *after)
{
	bool began = !diff_has_events(before) && diff_has_events(after);
	if (call->as_json) {
		json_bool(&call->json, "tracing_began", began);
	} else if (began) {
		out_puts(
			&call->out,
			"Between the two the process was traced for the first time, as collect "
			"does: some 2,900 objects\n(230 KB) come of that. Those of "
			"System.Reflection and System.String among them are not told from\nthe "
			"program's own: compare with a snapshot that was taken after the first.\n");
	}
}

/* One side, and the types that are made for it. */
struct side {
	struct diff_side of;
	struct graph_type *types; /* of a heap; NULL: those of the graph */
	size_t capacity;
};

static enum hd_status list_types(const struct type_counts *counts, struct clr *clr,
				 struct side *side, struct hd_error *err)
{
	size_t count = type_count(clr) < counts->capacity ? type_count(clr) : counts->capacity;
	side->types = pages_alloc(count, sizeof(*side->types));
	if (!side->types)
		return fail_nomem(err);
	side->capacity = count;
	side->of.types = side->types;
	for (size_t i = 0; i < count; i++) {
		const struct type *type = type_at(clr, i);
		if (!counts->rows[i].count || type->is_free)
			continue;
		size_t size;
		const char *name = type_name(clr, type, &size);
		side->types[side->of.type_count++] =
			(struct graph_type){ .id = type->method_table,
					     .name = name,
					     .name_size = (uint32_t)size,
					     .count = counts->rows[i].count,
					     .size = counts->rows[i].size };
		side->of.count += counts->rows[i].count;
		side->of.size += counts->rows[i].size;
	}
	return HD_OK;
}

/* The types of call->heap, by a walk: references do not matter. */
static enum hd_status side_of_heap(struct call *call, struct side *side)
{
	const struct value none = { 0 };
	struct type_counts counts = { 0 };
	struct gaps gaps = { 0 };
	struct heap_range range;
	TRY(heap_range_init(&range, call, &none, &none, &none, &none, &none));
	enum hd_status status = type_counts_walk(&counts, &gaps, call, &range);
	if (status == HD_OK)
		status = list_types(&counts, call->heap->clr, side, call->err);
	type_counts_deinit(&counts);
	heap_range_deinit(&range);
	TRY(status);
	gaps_report(call, &gaps);
	return HD_OK;
}

static enum hd_status side_of_open(struct call *call, struct side *side)
{
	if (call->heap)
		return side_of_heap(call, side);
	side->of = diff_side_of(call->graph);
	return HD_OK;
}

/* What stands behind the word: opened in a session of its own. */
static enum hd_status side_of_other(struct call *call, struct hd_session *other, struct side *side)
{
	TRY(session_open(other, call->words[0].text, &call->settings, &call->job, call->err));
	if (!other->target) {
		side->of = diff_side_of(other->graph);
		return HD_OK;
	}
	struct heap *before = call->heap, *heap;
	TRY(session_heap(other, &call->job, &heap, call->err));
	if (!heap->is_walkable) {
		const char *advice, *reason = no_heap_reason(heap, &advice);
		return fail(call->err, HD_ERR_FAULT, 0, "%.100s: %s; %s", call->words[0].text,
			    reason, advice ? advice : "info says what is missing");
	}
	call->heap = heap;
	enum hd_status status = side_of_heap(call, side);
	call->heap = before;
	session_warn(other, call->sink);
	return status;
}

static enum hd_status write_diff(struct call *call, const struct diff_side *before,
				 const struct diff_side *after)
{
	struct diff diff;
	TRY(diff_init(before, after, &diff, call->err));
	if (call->as_json) {
		json_string(&call->json, "other", call->words[0].text);
		json_array(&call->json, "types");
	} else {
		out_styled(&call->out, STYLE_HEAD, "%14s %14s %14s %14s  Class Name", "Count +/-",
			   "Size +/-", "Before", "After");
		out_puts(&call->out, "\n");
	}
	enum hd_status status = write_rows(call, &diff);
	if (status == HD_OK)
		write_total(call, before, after);
	if (status == HD_OK)
		write_tracing(call, before, after);
	diff_deinit(&diff);
	return status;
}

enum hd_status run_diff(struct call *call)
{
	struct side before = { 0 }, after = { 0 };
	struct hd_session *other;
	TRY(session_create_like(call->session, &other, call->err));
	enum hd_status status = side_of_other(call, other, &after);
	if (status == HD_OK)
		status = side_of_open(call, &before);
	job_end(&call->job);
	if (status == HD_OK)
		status = write_diff(call, &before.of, &after.of);
	pages_free(before.types, before.capacity, sizeof(*before.types));
	pages_free(after.types, after.capacity, sizeof(*after.types));
	hd_session_destroy(other);
	return status;
}
