/* SPDX-License-Identifier: MIT */
#include "command/report/report_file.h"

#include <strings.h>

#include "command/answer_aside.h"
#include "command/completeness.h"
#include "command/report/page.h"
#include "command/report/report_answer.h"
#include "util/output_file.h"

/* The form in which a file is written. */
enum report_kind {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_CSV,
	REPORT_PAGE,
	REPORT_KINDS
};

static const struct {
	const char *ending, *name;
	enum answer_format format;
} report_kinds[REPORT_KINDS] = {
	[REPORT_TEXT] = { ".txt", "text", FORMAT_TEXT },
	[REPORT_JSON] = { ".json", "json", FORMAT_JSON },
	[REPORT_CSV] = { ".csv", "csv", FORMAT_CSV },
	[REPORT_PAGE] = { ".html", "html", FORMAT_TEXT },
};

static enum report_kind kind_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *point = strrchr(slash ? slash : path, '.');
	unsigned int kind = REPORT_TEXT;
	while (kind < REPORT_KINDS && (!point || strcasecmp(point, report_kinds[kind].ending) != 0))
		kind++;
	return (enum report_kind)kind;
}

enum hd_status report_file_check(const struct call *call, const char *path)
{
	if (kind_of_path(path) == REPORT_KINDS) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "the name of a report ends in .html, .json, .txt or .csv: %.80s does "
			    "not",
			    path);
	}
	if (call->settings.format == FORMAT_CSV || call->settings.format == FORMAT_NDJSON) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "with -o, --format is text or json: the rows go to a file that ends in "
			    ".csv");
	}
	return HD_OK;
}

static int write_to_file(void *arg, const char *bytes, size_t size)
{
	return output_file_write(arg, bytes, size) ? 0 : -1;
}

static enum hd_status write_report_kind(struct call *call, const struct report *report,
					enum report_kind kind, uint64_t most)
{
	if (kind == REPORT_PAGE) {
		TRY(page_write(call, report));
	} else {
		if (call->as_json)
			call_begin_document(call);
		HD_CLEANUP(look_state) struct look_state state = { .count = 0 };
		TRY(report_answer(call, report, &state, most));
		if (call->as_json)
			call_end_document(call, HD_OK);
	}
	return answer_aside_flush(call);
}

static enum hd_status write_whole(struct call *call, const struct report *report, const char *path,
				  uint64_t most, uint64_t *ret_size)
{
	enum report_kind kind = kind_of_path(path);
	struct output_file file;
	struct answer_aside aside;
	TRY(output_file_open(&file, path, &call->job, call->err));
	const struct hd_sink sink = { .struct_size = sizeof(sink),
				      .arg = &file,
				      .write = write_to_file };
	answer_set_aside(call, &sink, report_kinds[kind].format, &aside);
	enum hd_status status = write_report_kind(call, report, kind, most);
	answer_take_back(call, &aside);
	if (status != HD_OK && !file.error) {
		output_file_abandon(&file);
		return status;
	}
	*ret_size = file.size;
	return output_file_commit(&file, call->err);
}

#define WRITTEN_LIST(X)                                                                          \
	X(WRITTEN_FILE, "file", NULL, KIND_TEXT, 0, 0, "with -o: what was written")              \
	X(WRITTEN_FORMAT, "format", NULL, KIND_TEXT, 0, 0, "text, json, csv or html")            \
	X(WRITTEN_BYTES, "size", NULL, KIND_BYTES, 0, 0, "bytes of the file")                    \
	X(WRITTEN_HIGH, "severities.high", NULL, KIND_NUMBER, 0, 0, "findings of severity high") \
	X(WRITTEN_MEDIUM, "severities.medium", NULL, KIND_NUMBER, 0, 0, "of severity medium")    \
	X(WRITTEN_LOW, "severities.low", NULL, KIND_NUMBER, 0, 0, "of severity low")             \
	X(WRITTEN_INFO, "severities.info", NULL, KIND_NUMBER, 0, 0, "that are only facts")

COLUMNS(written, WRITTEN_COLUMNS, WRITTEN_LIST);

enum hd_status report_file_write(struct call *call, const struct report *report, const char *path,
				 uint64_t most)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(written_columns),
		.lines =
			"Wrote {file} ({size:b}): {severities.high:*finding} of severity high, "
			"{severities.medium} medium, {severities.low} low, {severities.info} only facts.\n"
	};
	uint64_t size = 0, counts[SEVERITY_INFO + 1] = { 0 };
	TRY(write_whole(call, report, path, most, &size));
	call->is_written = true;
	job_end(&call->job);
	for (size_t i = 0; i < report->findings_count; i++)
		counts[report->findings[i].severity]++;
	answer_record(&call->answer, &schema,
		      (const struct cell[]){ cell_string(path),
					     cell_string(report_kinds[kind_of_path(path)].name),
					     cell_number(size), cell_number(counts[SEVERITY_HIGH]),
					     cell_number(counts[SEVERITY_MEDIUM]),
					     cell_number(counts[SEVERITY_LOW]),
					     cell_number(counts[SEVERITY_INFO]) });
	report_missing(call, report);
	report_remark_names(call, report);
	completeness_write(call, "so is what was written");
	return HD_OK;
}
