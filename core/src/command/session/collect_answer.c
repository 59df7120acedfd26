/* SPDX-License-Identifier: MIT */
#include "command/session/collect_answer.h"

#include <string.h>

#include "command/session/export_graph.h"
#include "util/sink.h"

/* "PATH has the first 190 objects of the heap" */
static void put_rest(const struct collect_answer *wanted, struct text *line)
{
	char number[NUMBER_SIZE];
	text_puts(line, "; ");
	if (output_is_stdout(wanted->path)) {
		text_puts(line, "what was written");
	} else {
		text_escape(line, wanted->path, strlen(wanted->path));
	}
	text_printf(line, " has only the first %s objects of the heap",
		    format_thousands(wanted->objects, number));
}

/* Write the text of a finding; in the shell and in debuggers it comes next to the answer. */
static void find_detail(const struct collect_answer *wanted, const struct finding *finding,
			struct text *ret)
{
	text_puts(ret, finding->detail);
	if (finding->kind == FINDING_PARTIAL)
		put_rest(wanted, ret);
}

static void warn_finding(const struct hd_sink *sink, const struct finding *finding,
			 const struct text *detail)
{
	HD_CLEANUP(text) struct text line = { 0 };
	if (!detail->bytes)
		return;
	text_printf(&line, "%s: ", finding_name(finding->kind));
	text_append(&line, detail->bytes, detail->size);
	if (finding->advice) {
		text_puts(&line, "; ");
		text_puts(&line, finding->advice);
	}
	if (line.bytes)
		sink_warn(sink, line.bytes);
}

static const struct column finding_columns[] = {
	{ "kind", NULL, KIND_TEXT, 0, 0, "what it is, in a word" },
	{ "detail", NULL, KIND_TEXT, 0, 0, "what it is, as a sentence" },
	{ "advice", NULL, KIND_TEXT, 0, 0, "what can be done" },
};

static void write_collect_findings(struct call *call, const struct collect_answer *wanted)
{
	static const struct schema schema = { .name = "findings", SCHEMA_COLUMNS(finding_columns) };
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	const struct findings *findings = &wanted->collected->findings;
	answer_table(&call->answer, &schema, &options);
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->rows[i];
		struct text detail = { 0 };
		find_detail(wanted, finding, &detail);
		const struct cell cells[] = { cell_string(finding_name(finding->kind)),
					      cell_string(detail.bytes),
					      cell_string(finding->advice) };
		if (answer_is_text(&call->answer)) {
			warn_finding(call->sink, finding, &detail);
		} else {
			answer_row(&call->answer, cells);
		}
		text_deinit(&detail);
	}
	(void)answer_table_end(&call->answer);
}

#define COLLECTED_LIST(X)                                                                     \
	X(COLLECTED_PID, "pid", NULL, KIND_NUMBER, 0, 0, "id of the process")                 \
	X(COLLECTED_FILE, "file", NULL, KIND_TEXT, 0, 0, "what was written")                  \
	X(COLLECTED_FORMAT, "format", NULL, KIND_TEXT, 0, 0, "name of its format")            \
	X(COLLECTED_OBJECTS, "objects", NULL, KIND_NUMBER, 0, 0, "how many objects it has")   \
	X(COLLECTED_REFERENCES, "references", NULL, KIND_NUMBER, 0, 0, "how many references") \
	X(COLLECTED_ROOTS, "roots", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                     \
	  "how many roots, where that is known")                                              \
	X(COLLECTED_BYTES, "bytes", NULL, KIND_BYTES, 0, 0, "bytes of the file")              \
	X(COLLECTED_SECONDS, "seconds", NULL, KIND_REAL, 0, 0, "how long it took")            \
	X(COLLECTED_BUFFER, "buffer", NULL, KIND_BYTES, 0, 0,                                 \
	  "memory of the process at the last try")                                            \
	X(COLLECTED_TRIES, "tries", NULL, KIND_NUMBER, 0, 0, "how often it was tried")        \
	X(COLLECTED_COMPLETE, "complete", NULL, KIND_FLAG, 0, 0, "is the whole heap in it?")

COLUMNS(collected, COLLECTED_COLUMNS, COLLECTED_LIST);

/* "2 objects, 1 reference, 3 roots, 100 bytes, in 0.3 s" */
static void put_collected(struct text *line, const struct cell *cells)
{
	char number[COUNT_SIZE];
	text_puts(line, format_count(cells[COLLECTED_OBJECTS].number, "object", number));
	text_printf(line, ", %s",
		    format_count(cells[COLLECTED_REFERENCES].number, "reference", number));
	if (cells[COLLECTED_ROOTS].is_there) {
		text_printf(line, ", %s",
			    format_count(cells[COLLECTED_ROOTS].number, "root", number));
	}
	if (cells[COLLECTED_BYTES].number) {
		text_printf(line, ", %s",
			    format_count(cells[COLLECTED_BYTES].number, "byte", number));
	}
	text_printf(line, ", in %.1f s", cells[COLLECTED_SECONDS].real);
}

static void collected_layout(struct out *out, const struct cell *cells)
{
	const struct cell *file = &cells[COLLECTED_FILE];
	out_puts(out, "Wrote ");
	text_escape(&out->text, file->text.bytes, file->text.size);
	out_puts(out, ": ");
	put_collected(&out->text, cells);
	out_puts(out, ".\n");
}

/* Tell in the answer what was written; where the answer is the dump itself, by warnings. */
static void write_collect_record(struct call *call, const char *path, const struct cell *cells)
{
	static const struct schema schema = { SCHEMA_COLUMNS(collected_columns),
					      .layout = collected_layout };
	HD_CLEANUP(text) struct text line = { 0 };
	if (!output_is_stdout(path)) {
		answer_record(&call->answer, &schema, cells);
		return;
	}
	text_puts(&line, "wrote ");
	put_collected(&line, cells);
	if (line.bytes)
		sink_note(call->sink, line.bytes);
}

void collect_answer_write(struct call *call, const struct collect_answer *wanted)
{
	const struct cell cells[COLLECTED_COLUMNS] = {
		[COLLECTED_PID] = cell_number((uint64_t)wanted->pid),
		[COLLECTED_FILE] = cell_string(wanted->path),
		[COLLECTED_FORMAT] = cell_string(wanted->format),
		[COLLECTED_OBJECTS] = cell_number(wanted->objects),
		[COLLECTED_REFERENCES] = cell_number(wanted->references),
		[COLLECTED_ROOTS] = { .is_there = wanted->has_roots, .number = wanted->roots },
		[COLLECTED_BYTES] = cell_number(wanted->size),
		[COLLECTED_SECONDS] = cell_real(wanted->seconds),
		[COLLECTED_BUFFER] = cell_number(wanted->collected->buffer),
		[COLLECTED_TRIES] = cell_number(wanted->collected->tries),
		[COLLECTED_COMPLETE] = cell_flag(wanted->is_complete),
	};
	write_collect_record(call, wanted->path, cells);
	write_collect_findings(call, wanted);
}
