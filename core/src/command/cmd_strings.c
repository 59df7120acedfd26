/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "command/object.h"
#include "command/strings.h"
#include "inspect/strings.h"

enum {
	OPT_MIN,
	OPT_LIMIT,
	OPT_FULL
};

const struct option strings_options[] = {
	[OPT_MIN] = { "min", VALUE_NUMBER, "N", "values that occur N times and more", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "the N values of most bytes (0 = all)", NULL },
	[OPT_FULL] = { "full", VALUE_NONE, NULL, "whole values, not their first 64 characters",
		       NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* UTF-16 units of a value that are shown: shortened, and at all. */
#define SHORT_UNITS 64u
#define FULL_UNITS  ((uint32_t)1 << 24)

static void row_json(struct call *call, const struct strings *strings,
		     const struct string_count *row)
{
	struct json *json = &call->json;
	struct text text = { 0 };
	bool readable = string_value(call->heap, row->address, FULL_UNITS, &text, NULL);
	json_object(json, NULL);
	json_text(json, "value", readable ? text.bytes ? text.bytes : "" : NULL, text.size);
	json_number(json, "count", row->count);
	json_number(json, "size", string_count_size(strings, row));
	json_number(json, "length", row->length);
	json_address(json, "address", row->address);
	json_end(json);
	call->out.text.failed = call->out.text.failed || text.failed;
	text_deinit(&text);
}

static void row_text(struct call *call, const struct strings *strings,
		     const struct string_count *row, uint32_t units)
{
	struct out *out = &call->out;
	struct text text = { 0 };
	char count[27], size[27];
	(void)string_text(call->heap, row->address, units, &text);
	out_printf(out, "%14s %14s ", format_thousands(row->count, count),
		   format_thousands(string_count_size(strings, row), size));
	text_append(&out->text, text.bytes, text.size);
	out_puts(out, "\n");
	text_deinit(&text);
}

/* Bytes that would be saved if each value stood once. */
static uint64_t duplicate_size(const struct strings *strings)
{
	uint64_t size = 0;
	for (size_t i = 0; i < strings->rows_count; i++) {
		const struct string_count *row = &strings->rows[i];
		size += string_count_size(strings, row) / row->count * (row->count - 1);
	}
	return size;
}

static void write_total(struct call *call, const struct strings *strings)
{
	char number[4][COUNT_SIZE];
	if (call->as_json) {
		struct json *json = &call->json;
		json_object(json, "total");
		json_number(json, "count", strings->count);
		json_number(json, "size", strings->size);
		json_number(json, "values", strings->rows_count);
		json_number(json, "duplicate_size", duplicate_size(strings));
		json_number(json, "unreadable", strings->unreadable);
		json_end(json);
		return;
	}
	out_printf(&call->out, "Total %s, %s; %s listed, %s in duplicates\n",
		   format_count(strings->count, "string", number[0]),
		   format_count(strings->size, "byte", number[1]),
		   format_count(strings->rows_count, "value", number[2]),
		   format_count(duplicate_size(strings), "byte", number[3]));
	if (strings->unreadable) {
		out_printf(&call->out, "%s more could not be read: their bytes are missing\n",
			   format_thousands(strings->unreadable, number[0]));
	}
}

/* What to write of sorted strings: the last rows. */
struct listing {
	uint64_t limit;
	uint32_t units; /* of each value, in text */
};

static enum hd_status write_rows(struct call *call, const struct strings *strings,
				 const struct listing *listing)
{
	size_t skip = strings->rows_count > listing->limit
			      ? strings->rows_count - (size_t)listing->limit
			      : 0;
	char number[2][27];
	if (call->as_json) {
		json_array(&call->json, "strings");
	} else {
		out_puts(&call->out, "Statistics:\n");
		out_styled(&call->out, STYLE_HEAD, "%14s %14s %s", "Count", "TotalSize", "String");
		out_puts(&call->out, "\n");
		if (skip) {
			out_printf(&call->out, "(the last %s of %s; -limit 0 lists all)\n",
				   format_thousands(listing->limit, number[0]),
				   format_thousands(strings->rows_count, number[1]));
		}
	}
	for (size_t i = skip; i < strings->rows_count; i++) {
		if (call->as_json) {
			row_json(call, strings, &strings->rows[i]);
		} else {
			row_text(call, strings, &strings->rows[i], listing->units);
		}
		TRY(call_check(call));
	}
	if (call->as_json) {
		json_end(&call->json);
		if (skip)
			json_bool(&call->json, "truncated", true);
	}
	return HD_OK;
}

/* The options of dumpheap -strings that strings has not, as a filter's argument. */
struct sizes {
	const struct heap_range *range;
	const struct life *life;
	uint64_t min, max; /* max 0: none */
};

static bool accept(void *arg, const struct walker *walker)
{
	const struct sizes *sizes = arg;
	const struct object *object = &walker->object;
	if (object->size < sizes->min || (sizes->max && object->size > sizes->max))
		return false;
	if (!sizes->range->is_whole &&
	    !heap_range_has(sizes->range, walker->segment, object->address))
		return false;
	return life_has(sizes->life, object->address);
}

/* Value of the option of that name, 0 when it is not there or was not given. */
static uint64_t option_number(const struct call *call, const char *name)
{
	for (size_t i = 0; call->command->options[i].name; i++) {
		if (strcmp(call->command->options[i].name, name) == 0 && call->options[i].given)
			return call->options[i].number;
	}
	return 0;
}

static enum hd_status write_collected(struct call *call, struct strings *strings, uint64_t min,
				      bool full)
{
	struct gaps gaps = { 0 };
	for (size_t i = 0; i < strings->gaps_count; i++)
		gaps_add(&gaps, call->heap, &strings->gaps[i]);
	strings_sort(strings, min < UINT32_MAX ? (uint32_t)min : UINT32_MAX);
	job_end(&call->job);
	uint64_t limit = option_number(call, "limit");
	struct listing listing = { .limit = limit ? limit : UINT64_MAX,
				   .units = full ? FULL_UNITS : SHORT_UNITS };
	TRY(write_rows(call, strings, &listing));
	write_total(call, strings);
	gaps_report(call, &gaps);
	return HD_OK;
}

enum hd_status strings_write(struct call *call, const struct heap_range *range,
			     const struct life *life)
{
	bool counts = call->command->options == strings_options;
	struct sizes sizes = { .range = range,
			       .life = life,
			       .min = counts ? 0 : option_number(call, "min"),
			       .max = counts ? 0 : option_number(call, "max") };
	struct strings_filter filter = { .segments = range->segments,
					 .segment_count = range->count,
					 .accept = accept,
					 .arg = &sizes };
	struct strings strings;
	TRY(strings_collect(call->heap, &filter, &call->job, &strings, call->err));
	enum hd_status status =
		write_collected(call, &strings, counts ? option_number(call, "min") : 0,
				counts && call->options[OPT_FULL].given);
	strings_deinit(&strings);
	return status;
}

enum hd_status run_strings(struct call *call)
{
	struct heap_range range = { .is_whole = true };
	struct life life = { 0 };
	return strings_write(call, &range, &life);
}
