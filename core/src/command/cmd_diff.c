/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "command/command.h"
#include "query/diff.h"
#include "query/filter.h"

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
	json_end(json);
}

static bool passes(const struct call *call, const struct diff_row *row)
{
	const char *part = call->options[OPT_TYPE].text;
	return differs(row) &&
	       (!part || (row->name && name_matches(row->name, row->name_size, part)));
}

static enum hd_status write_rows(struct call *call, const struct diff *diff)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX), found = 0;
	for (size_t i = 0; i < diff->row_count; i++) {
		const struct diff_row *row = &diff->rows[i];
		if (!passes(call, row) || found++ >= limit)
			continue;
		if (call->as_json) {
			write_element(&call->json, row);
		} else {
			write_row(call, row);
		}
		TRY(call_check(call));
	}
	call->findings = found > 0;
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

static void write_total(struct call *call, const struct hd_graph *before,
			const struct hd_graph *after)
{
	char a[27], b[27], c[28];
	struct json *json = &call->json;
	if (call->as_json) {
		json_object(json, "total");
		json_number(json, "count_before", before->object_count);
		json_number(json, "count_after", after->object_count);
		json_number(json, "size_before", before->total_size);
		json_number(json, "size_after", after->total_size);
		json_end(json);
		return;
	}
	out_printf(&call->out, "Objects: %s before, %s after (%s)\n",
		   format_thousands(before->object_count, a),
		   format_thousands(after->object_count, b),
		   format_change(before->object_count, after->object_count, c));
	out_printf(&call->out, "Bytes:   %s before, %s after (%s)\n",
		   format_thousands(before->total_size, a), format_thousands(after->total_size, b),
		   format_change(before->total_size, after->total_size, c));
}

enum hd_status run_diff(struct call *call)
{
	const struct format_options options = { .lenient = call->settings.lenient };
	struct hd_graph *after = NULL;
	TRY(format_open(call->words[0].text, &options, &call->job, &after, NULL, call->err));
	job_end(&call->job);
	struct diff diff = { 0 };
	enum hd_status status = diff_init(call->graph, after, &diff, call->err);
	if (status == HD_OK) {
		if (call->as_json) {
			json_string(&call->json, "other", call->words[0].text);
			json_array(&call->json, "types");
		} else {
			out_styled(&call->out, STYLE_HEAD, "%14s %14s %14s %14s  Class Name",
				   "Count +/-", "Size +/-", "Before", "After");
			out_puts(&call->out, "\n");
		}
		status = write_rows(call, &diff);
	}
	if (status == HD_OK)
		write_total(call, call->graph, after);
	diff_deinit(&diff);
	graph_destroy(after);
	return status;
}
