/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "analysis/graph/diff.h"
#include "analysis/heap/type_counts.h"
#include "analysis/name_match.h"
#include "command/heap/heap_call.h"
#include "command/other_session.h"
#include "command/table.h"
#include "command/tracing_began.h"
#include "util/alloc.h"

#define DIFF_OPTIONS(X)                                                                 \
	X(OPT_TYPE, "type", VALUE_TYPE, "TEXT", "types whose name contains TEXT", NULL) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N types (0 = all)", NULL)

OPTIONS(diff, DIFF_OPTIONS);

static bool diff_row_differs(const struct diff_row *row)
{
	return row->count_before != row->count_after || row->size_before != row->size_after;
}

#define CHANGE_LIST(X)                                                                \
	X(CHANGE_NAME, "name", NULL, KIND_TYPE, 0, 0,                                 \
	  "name of the type; null: all types without a name")                         \
	X(CHANGE_COUNT_BEFORE, "count_before", NULL, KIND_NUMBER, 0, 0,               \
	  "its objects in what is open")                                              \
	X(CHANGE_COUNT_AFTER, "count_after", NULL, KIND_NUMBER, 0, 0, "in the other") \
	X(CHANGE_SIZE_BEFORE, "size_before", NULL, KIND_BYTES, 0, 0,                  \
	  "their bytes in what is open")                                              \
	X(CHANGE_SIZE_AFTER, "size_after", NULL, KIND_BYTES, 0, 0, "in the other")    \
	X(CHANGE_TRACING, "tracing", NULL, KIND_FLAG, 0, 0,                           \
	  "is it of tracing, which collect is, too?")

COLUMNS(change, CHANGE_COLUMNS, CHANGE_LIST);

static void change_layout(struct out *out, const struct cell *cells)
{
	char count[NUMBER_SIZE + 1], size[NUMBER_SIZE + 1], before[NUMBER_SIZE], after[NUMBER_SIZE];
	uint64_t count_before = cells[CHANGE_COUNT_BEFORE].number;
	uint64_t count_after = cells[CHANGE_COUNT_AFTER].number;
	uint64_t size_before = cells[CHANGE_SIZE_BEFORE].number;
	uint64_t size_after = cells[CHANGE_SIZE_AFTER].number;
	out_printf(out, "%14s %14s %14s %14s  ", format_change(count_before, count_after, count),
		   format_change(size_before, size_after, size),
		   format_thousands(size_before, before), format_thousands(size_after, after));
	out_type_cell(out, &cells[CHANGE_NAME]);
	if (!count_before)
		out_styled(out, STYLE_NOTE, " (new)");
	if (!count_after)
		out_styled(out, STYLE_NOTE, " (gone)");
	out_puts(out, "\n");
}

SCHEMA(change, .name = "types", .is_main = true,
       .heading = "     Count +/-       Size +/-         Before          After  Class Name",
       .layout = change_layout);

static void write_change(struct call *call, const struct diff_row *row, bool is_tracing)
{
	const struct cell name = cell_type(row->name, row->name_size, 0);
	const struct cell cells[CHANGE_COLUMNS] = {
		[CHANGE_NAME] = row->name ? name : cell_shown(name, "<unknown types>"),
		[CHANGE_COUNT_BEFORE] = cell_number(row->count_before),
		[CHANGE_COUNT_AFTER] = cell_number(row->count_after),
		[CHANGE_SIZE_BEFORE] = cell_number(row->size_before),
		[CHANGE_SIZE_AFTER] = cell_number(row->size_after),
		[CHANGE_TRACING] = cell_flag(is_tracing),
	};
	answer_row(&call->answer, cells);
}

static bool diff_row_passes(const struct call *call, const struct diff_row *row)
{
	const char *part = call->options[OPT_TYPE].text;
	return diff_row_differs(row) &&
	       (!part || (row->name && name_matches(row->name, row->name_size, part)));
}

/* Text has those of tracing after the others, under a line of their own. */
static enum hd_status write_diff_part(struct call *call, const struct diff *diff, bool of_tracing)
{
	struct answer *answer = &call->answer;
	bool has_begun = false;
	for (size_t i = 0; i < diff->row_count; i++) {
		const struct diff_row *row = &diff->rows[i];
		bool is_tracing = diff_is_tracing(row->name, row->name_size);
		if ((answer_is_text(answer) && is_tracing != of_tracing) ||
		    !diff_row_passes(call, row))
			continue;
		call->findings = true;
		if (!answer_wants_row(answer))
			continue;
		if (of_tracing && !has_begun) {
			answer_remark_styled(answer, STYLE_NOTE,
					     "From tracing (collect traces too):\n");
		}
		has_begun = true;
		write_change(call, row, is_tracing);
		TRY(call_check(call));
	}
	return HD_OK;
}

static enum hd_status write_diff_rows(struct call *call, const struct diff *diff)
{
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	struct answer *answer = &call->answer;
	answer_table(answer, &change_schema, &options);
	TRY(write_diff_part(call, diff, false));
	if (answer_is_text(answer))
		TRY(write_diff_part(call, diff, true));
	uint64_t found = answer_rows(answer);
	if (!found)
		answer_remark(answer, "(no differences by type)\n");
	if (answer_table_end(answer)) {
		answer_truncated(answer);
		answer_remark(answer, "(the first %" PRIu64 " of %" PRIu64 " types)\n",
			      options.limit, found);
	}
	return HD_OK;
}

#define TOTAL_LIST(X)                                                                              \
	X(TOTAL_COUNT_BEFORE, "count_before", NULL, KIND_NUMBER, 0, 0,                             \
	  "all objects of what is open")                                                           \
	X(TOTAL_COUNT_AFTER, "count_after", NULL, KIND_NUMBER, 0, 0, "those of the other")         \
	X(TOTAL_SIZE_BEFORE, "size_before", NULL, KIND_BYTES, 0, 0, "their bytes in what is open") \
	X(TOTAL_SIZE_AFTER, "size_after", NULL, KIND_BYTES, 0, 0, "in the other")

COLUMNS(total, TOTAL_COLUMNS, TOTAL_LIST);

static void put_diff_total(struct out *out, const char *what, uint64_t before, uint64_t after)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE + 1];
	out_printf(out, "%s %s before, %s after (%s)\n", what, format_thousands(before, a),
		   format_thousands(after, b), format_change(before, after, c));
}

static void diff_total_layout(struct out *out, const struct cell *cells)
{
	put_diff_total(out, "Objects:", cells[TOTAL_COUNT_BEFORE].number,
		       cells[TOTAL_COUNT_AFTER].number);
	put_diff_total(out, "Bytes:  ", cells[TOTAL_SIZE_BEFORE].number,
		       cells[TOTAL_SIZE_AFTER].number);
}

SCHEMA(total, .name = "total", .layout = diff_total_layout);

static void write_diff_total(struct call *call, const struct diff_side *before,
			     const struct diff_side *after)
{
	const struct cell cells[TOTAL_COLUMNS] = {
		[TOTAL_COUNT_BEFORE] = cell_number(before->count),
		[TOTAL_COUNT_AFTER] = cell_number(after->count),
		[TOTAL_SIZE_BEFORE] = cell_number(before->size),
		[TOTAL_SIZE_AFTER] = cell_number(after->size),
	};
	answer_record(&call->answer, &total_schema, cells);
}

/* One side, and the types that are made for it. */
struct side {
	struct diff_side of;
	struct graph_type *types; /* of a heap; NULL: those of the graph */
	size_t capacity;
};

static void side_deinit(struct side *side)
{
	pages_free(side->types, side->capacity, sizeof(*side->types));
}

static enum hd_status list_types(const struct type_counts *counts, struct runtime *runtime,
				 struct side *side, struct hd_error *err)
{
	size_t count =
		type_count(runtime) < counts->capacity ? type_count(runtime) : counts->capacity;
	side->types = pages_alloc(count, sizeof(*side->types));
	TRY_MEMORY(side->types, err);
	side->capacity = count;
	side->of.types = side->types;
	for (size_t i = 0; i < count; i++) {
		const struct type *type = type_at(runtime, i);
		if (!counts->rows[i].count || type->is_free)
			continue;
		size_t size;
		const char *name = type_name(runtime, type, &size);
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
	HD_CLEANUP(type_counts) struct type_counts counts = { 0 };
	struct gaps gaps = { 0 };
	HD_CLEANUP(heap_range) struct heap_range range = { 0 };
	TRY(heap_range_init(&range, call->heap, &(const struct range_choice){ 0 }, call->err));
	TRY(type_counts_walk(&counts, &gaps, call->heap, &range, &call->job, call->err));
	TRY(list_types(&counts, call->heap->runtime, side, call->err));
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

/* Make a side of the heap that the word names. */
static enum hd_status side_of_other(struct call *call, struct hd_session *other, struct side *side)
{
	if (!other->target) {
		side->of = diff_side_of(other->graph);
		return HD_OK;
	}
	struct heap *before = call->heap, *heap;
	TRY(other_session_heap(call, other, &heap));
	call->heap = heap;
	enum hd_status status = side_of_heap(call, side);
	call->heap = before;
	session_warn(other, call->sink, true);
	return status;
}

static const struct column other_columns[] = {
	{ "other", NULL, KIND_TEXT, 0, 0, "what is after, as it was named" },
};
static const struct schema other_schema = { SCHEMA_COLUMNS(other_columns) };

static enum hd_status write_diff(struct call *call, const struct diff_side *before,
				 const struct diff_side *after)
{
	HD_CLEANUP(diff) struct diff diff = { 0 };
	TRY(diff_init(before, after, &diff, call->err));
	answer_data(&call->answer, &other_schema,
		    (const struct cell[]){ cell_string(call->words[0].text) });
	TRY(write_diff_rows(call, &diff));
	write_diff_total(call, before, after);
	tracing_began_write(call, !diff_has_events(before) && diff_has_events(after), "");
	return HD_OK;
}

static enum hd_status run_diff(struct call *call)
{
	HD_CLEANUP(other_session) struct hd_session *other = NULL;
	HD_CLEANUP(side) struct side before = { 0 }, after = { 0 };
	TRY(other_session_open(call, call->words[0].text, &other));
	TRY(side_of_other(call, other, &after));
	TRY(side_of_open(call, &before));
	job_end(&call->job);
	return write_diff(call, &before.of, &after.of);
}

COMMAND(diff, .has_rows = true, .summary = "compare with another dump, core or process, by type",
	.description =
		"Before is what is open, after is OTHER. The types that grew most in bytes come first.\n"
		"Types are matched by name. Ids of two dumps cannot be compared, so objects are\n"
		"counted, not matched.\n",
	.example = "diff later.heap", .needs = NEEDS_EITHER, .options = diff_options,
	.words = { { "OTHER", VALUE_FILE, false } });
