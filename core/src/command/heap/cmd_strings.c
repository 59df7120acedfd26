/* SPDX-License-Identifier: MIT */
#include "command/heap/cmd_strings.h"

#include "analysis/heap/object_strings.h"
#include "command/graph/referrers.h"
#include "command/heap/heap_call.h"
#include "command/objects/object.h"
#include "command/table.h"

#define STRINGS_OPTIONS(X)                                                                         \
	X(OPT_MIN, "min", VALUE_NUMBER, "N", "values that occur N times or more", NULL)            \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "the N values of most bytes (0 = all)", NULL)     \
	X(OPT_FULL, "full", VALUE_NONE, NULL, "whole values, not their first 64 characters", NULL) \
	X(OPT_VALUE, "value", VALUE_TEXT, "TEXT",                                                  \
	  "values that contain TEXT, and the fields that refer to them", NULL)

OPTIONS(strings, STRINGS_OPTIONS);

/* UTF-16 units of a value that are shown: shortened, and at all. */
#define SHORT_UNITS 64u
#define FULL_UNITS  ((uint32_t)1 << 24)

#define VALUE_LIST(X)                                                                              \
	X(VALUE_VALUE, "value", NULL, KIND_TEXT, 0, 0, "the text; null: it cannot be read")        \
	X(VALUE_COUNT, "count", "Count", KIND_NUMBER, 14, LOOK_THOUSANDS, "strings of this value") \
	X(VALUE_SIZE, "size", "TotalSize", KIND_BYTES, 14, LOOK_THOUSANDS, "their bytes")          \
	X(VALUE_STRING, NULL, "String", KIND_TEXT, 0, 0, NULL)                                     \
	X(VALUE_LENGTH, "length", NULL, KIND_NUMBER, 0, 0, "UTF-16 units of one")                  \
	X(VALUE_ADDRESS_OF, "address", NULL, KIND_ADDRESS, 0, 0, "address of one of them")

COLUMNS(value, VALUE_COLUMNS, VALUE_LIST);

SCHEMA(value, .name = "strings", .is_main = true);

static void write_string_row(struct call *call, const struct strings *strings,
			     const struct string_count *row, uint32_t units)
{
	HD_CLEANUP(text) struct text whole = { 0 }, shown = { 0 };
	bool is_text = answer_is_text(&call->answer), is_readable = false;
	if (is_text) {
		(void)string_text(call->heap, row->address, units, &shown);
	} else {
		is_readable = string_value(call->heap, row->address, FULL_UNITS, &whole, NULL);
	}
	const struct cell cells[VALUE_COLUMNS] = {
		[VALUE_VALUE] = cell_text(!is_readable  ? NULL
					  : whole.bytes ? whole.bytes
							: "",
					  whole.size),
		[VALUE_COUNT] = cell_number(row->count),
		[VALUE_SIZE] = cell_number(string_count_size(strings, row)),
		[VALUE_STRING] = { .shown = shown.bytes ? shown.bytes : "" },
		[VALUE_LENGTH] = cell_number(row->length),
		[VALUE_ADDRESS_OF] = cell_number(row->address),
	};
	answer_row(&call->answer, cells);
	call->out.text.failed = call->out.text.failed || whole.failed || shown.failed;
}

#define TOTAL_LIST(X)                                                          \
	X(TOTAL_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "strings")            \
	X(TOTAL_SIZE, "size", NULL, KIND_BYTES, 0, 0, "their bytes")           \
	X(TOTAL_VALUES, "values", NULL, KIND_NUMBER, 0, 0, "different values") \
	X(TOTAL_DUPLICATES, "duplicate_size", NULL, KIND_BYTES, 0, 0,          \
	  "bytes that would be saved if there were one of each value")         \
	X(TOTAL_UNREADABLE, "unreadable", NULL, KIND_NUMBER, 0, 0,             \
	  "strings whose bytes are missing")

COLUMNS(total, TOTAL_COLUMNS, TOTAL_LIST);

SCHEMA(total, .name = "total",
       .lines = "Total {count:*string}, {size:*byte}; {values:*value} listed, "
		"{duplicate_size:*byte} in duplicates\n"
		"[?unreadable {unreadable:,} more could not be read: their bytes are missing\n]");

static void write_strings_total(struct call *call, const struct strings *strings)
{
	const struct cell cells[TOTAL_COLUMNS] = {
		[TOTAL_COUNT] = cell_number(strings->count),
		[TOTAL_SIZE] = cell_number(strings->size),
		[TOTAL_VALUES] = cell_number(strings->rows_count),
		[TOTAL_DUPLICATES] = cell_number(strings_duplicate_size(strings)),
		[TOTAL_UNREADABLE] = cell_number(strings->unreadable),
	};
	answer_record(&call->answer, &total_schema, cells);
}

static enum hd_status write_string_rows(struct call *call, const struct strings *strings,
					const struct strings_listing *listing)
{
	size_t skip = strings->rows_count > listing->limit
			      ? strings->rows_count - (size_t)listing->limit
			      : 0;
	char number[2][NUMBER_SIZE];
	answer_remark(&call->answer, "Statistics:\n");
	answer_table(&call->answer, &value_schema, NULL);
	if (skip) {
		answer_remark(&call->answer, "(the last %s of %s; -limit 0 lists all)\n",
			      format_thousands(listing->limit, number[0]),
			      format_thousands(strings->rows_count, number[1]));
	}
	for (size_t i = skip; i < strings->rows_count; i++) {
		write_string_row(call, strings, &strings->rows[i],
				 listing->is_full ? FULL_UNITS : SHORT_UNITS);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	if (skip)
		answer_truncated(&call->answer);
	return HD_OK;
}

/* Who refers to the strings that were found. */
static enum hd_status write_holders(struct call *call, const struct strings *strings,
				    const struct strings_listing *listing)
{
	HD_CLEANUP(string_nodes) struct string_nodes nodes = { 0 };
	TRY(session_graph(call->session, false, &call->job, &call->graph, call->err));
	TRY(string_nodes_init(call->graph, strings, listing->part, &call->job, &nodes, call->err));
	job_end(&call->job);
	answer_remark(&call->answer, "\n");
	return referrers_write(call, nodes.nodes, nodes.nodes_count, listing->limit);
}

enum hd_status strings_write(struct call *call, const struct object_filter *filter,
			     const struct strings_listing *listing)
{
	struct gaps gaps = { 0 };
	HD_CLEANUP(strings) struct strings strings = { 0 };
	TRY(object_strings(call->heap, filter, &call->job, &strings, &gaps, call->err));
	if (listing->part)
		TRY(strings_keep(&strings, listing->part, &call->job, call->err));
	strings_sort(&strings, listing->min < UINT32_MAX ? (uint32_t)listing->min : UINT32_MAX);
	job_end(&call->job);
	TRY(write_string_rows(call, &strings, listing));
	write_strings_total(call, &strings);
	gaps_report(call, &gaps);
	return listing->part && strings.rows_count ? write_holders(call, &strings, listing) : HD_OK;
}

static enum hd_status run_strings(struct call *call)
{
	const struct heap_range range = { .is_whole = true };
	const struct life life = { 0 };
	const struct object_filter filter = { .range = &range, .life = &life };
	const struct strings_listing listing = { .min = call->options[OPT_MIN].number,
						 .limit = call_limit(call, OPT_LIMIT, UINT64_MAX),
						 .is_full = call->options[OPT_FULL].given ||
							    call->out.is_full,
						 .part = call->options[OPT_VALUE].text };
	return strings_write(call, &filter, &listing);
}

COMMAND(strings, .has_rows = true, .summary = "count strings by value",
	.description =
		"Ascending by the bytes that all strings of a value take together. TEXT of -value is\n"
		"as for -type: * is any text, ^ the start and $ the end; without capitals case does\n"
		"not matter.\n",
	.example = "strings -min 2 -limit 20", .needs = NEEDS_HEAP, .options = strings_options);
