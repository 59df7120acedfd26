/* SPDX-License-Identifier: MIT */
/* The first look at a target: the answers of other commands, in a few lines. */
#include <inttypes.h>
#include <string.h>

#include <heapdump/answer.h>

#include "command/call.h"
#include "command/table.h"

/* A heap with more objects is reported by report itself: that takes more than two seconds. */
#define REPORT_OBJECTS_MAX 4000000u
/* Findings, and commands to go on with. */
#define FINDINGS_SHOWN 3u
#define NEXT_MAX       3u
#define GROUPS_SHOWN   3u

#define PART_LIST(X)                                                                              \
	X(PART_NAME, "part", NULL, KIND_TEXT, 0, 0,                                               \
	  "target, crash, damage, hang, memory or finding")                                       \
	X(PART_STATE, "state", NULL, KIND_TEXT, 0, 0,                                             \
	  "\"found\": something is wrong; \"none\": nothing was found; \"fact\"; \"not known\": " \
	  "text says why")                                                                        \
	X(PART_SEVERITY, "severity", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "of a finding")          \
	X(PART_TEXT, "text", NULL, KIND_TEXT, 0, 0, "one sentence, or several parts")             \
	X(PART_NEXT, "next", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "the command that shows more")

COLUMNS(part, PART_COLUMNS, PART_LIST);

static void part_layout(struct out *out, const struct cell *cells)
{
	const struct cell *severity = &cells[PART_SEVERITY];
	bool is_found = strcmp(cells[PART_STATE].text.bytes, "found") == 0;
	out_printf(out, "%-8s ", cells[PART_NAME].text.bytes);
	if (severity->is_there)
		out_printf(out, "%s: ", severity->text.bytes);
	if (is_found)
		out_begin_style(out, STYLE_HEAD);
	text_escape(&out->text, cells[PART_TEXT].text.bytes, cells[PART_TEXT].text.size);
	if (is_found)
		out_end_style(out);
	out_puts(out, "\n");
}

SCHEMA(part, .name = "parts", .is_main = true, .layout = part_layout);

/* The state of a triage. */
struct triage {
	struct call *call;
	struct text next[NEXT_MAX]; /* commands to go on with, the most telling first */
	size_t next_count;
};

static void triage_deinit(struct triage *triage)
{
	for (size_t i = 0; i < NEXT_MAX; i++)
		text_deinit(&triage->next[i]);
}

static void note_next(struct triage *triage, const char *command, size_t size)
{
	for (size_t i = 0; i < triage->next_count; i++) {
		const struct text *have = &triage->next[i];
		if (have->size == size && memcmp(have->bytes, command, size) == 0)
			return;
	}
	if (size && triage->next_count < NEXT_MAX)
		text_append(&triage->next[triage->next_count++], command, size);
}

static void write_part(struct triage *triage, const char *part, const char *state,
		       const struct text *text, const char *next)
{
	const struct cell cells[PART_COLUMNS] = {
		[PART_NAME] = cell_string(part),
		[PART_STATE] = cell_string(state),
		[PART_TEXT] = cell_text(text->bytes, text->size),
		[PART_NEXT] = cell_string(next),
	};
	bool is_found = strcmp(state, "found") == 0;
	triage->call->findings |= is_found;
	triage->call->out.text.failed |= text->failed;
	if (is_found && next)
		note_next(triage, next, strlen(next));
	answer_row(&triage->call->answer, cells);
}

/*
 * Run a command.  *ret_rows NULL: it has no answer here, and a row says why; the triage goes on.
 */
static enum hd_status ask(struct triage *triage, const char *part, const char *command,
			  struct hd_rows **ret_rows)
{
	struct hd_error *err = triage->call->err;
	HD_CLEANUP(text) struct text text = { 0 };
	*ret_rows = NULL;
	enum hd_status status = command_rows(triage->call, 1, &command, ret_rows);
	if (status == HD_OK || status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED)
		return status;
	text_puts(&text, err->message);
	write_part(triage, part, "not known", &text, command);
	*err = (struct hd_error){ 0 };
	return HD_OK;
}

/* A value of a row, by the name of its column; NULL: there is none. */
static const struct hd_value *value_of(const struct hd_rows *rows, const struct hd_table *table,
				       uint64_t row, const char *column)
{
	int index = hd_table_column(table, column);
	const struct hd_value *values = hd_rows_at(rows, table, row);
	return index >= 0 && values && values[index].kind != HD_KIND_NULL ? &values[index] : NULL;
}

static void append_value(struct text *text, const struct hd_value *value)
{
	if (value)
		text_append(text, value->text, value->size);
}

static uint64_t number_of(const struct hd_rows *rows, const char *name)
{
	const struct hd_value *value = hd_rows_member(rows, name);
	return value && value->kind != HD_KIND_NULL ? value->number : 0;
}

static bool has_text(const struct hd_value *value)
{
	return value && (value->kind == HD_KIND_TEXT || value->kind == HD_KIND_TYPE) && value->size;
}

/* "core of process 19538, .NET 10.0.12, 8 threads, 72,859 objects with 5.3 MB" */
static enum hd_status look_at_target(struct triage *triage, uint64_t *ret_objects)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct hd_rows *rows;
	char count[COUNT_SIZE], size[32];
	TRY(ask(triage, "target", "info", &rows));
	if (!rows)
		return HD_OK;
	const struct hd_value *kind = hd_rows_member(rows, "kind");
	bool is_core = has_text(kind) && kind->size == 4 && memcmp(kind->text, "core", 4) == 0;
	append_value(&text, kind);
	if (number_of(rows, "pid")) {
		text_printf(&text, is_core ? " of process %" PRIu64 : " %" PRIu64,
			    number_of(rows, "pid"));
	}
	if (has_text(hd_rows_member(rows, "runtime.version"))) {
		text_puts(&text, ", .NET ");
		append_value(&text, hd_rows_member(rows, "runtime.version"));
	}
	if (number_of(rows, "threads")) {
		text_printf(&text, ", %s",
			    format_count(number_of(rows, "threads"), "thread", count));
	}
	*ret_objects = number_of(rows, "objects");
	text_printf(&text, ", %s with %s", format_count(*ret_objects, "object", count),
		    format_bytes(number_of(rows, "bytes"), size));
	write_part(triage, "target", "fact", &text, "info");
	hd_rows_free(rows);
	return HD_OK;
}

/* The exception of the thread that received the signal; or the first one. */
static void append_exception(struct text *text, const struct hd_rows *rows)
{
	const struct hd_table *table = hd_rows_find(rows, "exceptions");
	uint64_t count = hd_rows_count(rows, table), row = 0;
	for (uint64_t i = 0; i < count; i++) {
		const struct hd_value *crashed = value_of(rows, table, i, "crashed");
		if (crashed && crashed->number) {
			row = i;
			break;
		}
	}
	const struct hd_value *type = value_of(rows, table, row, "type");
	const struct hd_value *message = value_of(rows, table, row, "message");
	const struct hd_value *method = value_of(rows, table, row, "method");
	if (!count || !type)
		return;
	text_puts(text, "; ");
	append_value(text, type);
	if (message) {
		text_puts(text, ": ");
		append_value(text, message);
	}
	if (method) {
		text_puts(text, " in ");
		append_value(text, method);
	}
}

static enum hd_status look_at_crash(struct triage *triage)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct hd_rows *rows;
	TRY(ask(triage, "crash", "crashinfo", &rows));
	if (!rows)
		return HD_OK;
	bool is_crash = has_text(hd_rows_member(rows, "crash.signal"));
	if (is_crash) {
		append_value(&text, hd_rows_member(rows, "crash.signal"));
		text_printf(&text, " in thread 0x%" PRIx64, number_of(rows, "crash.thread"));
		if (has_text(hd_rows_member(rows, "fail_fast.method"))) {
			text_puts(&text, "; Environment.FailFast in ");
			append_value(&text, hd_rows_member(rows, "fail_fast.method"));
			text_puts(&text, ": ");
			append_value(&text, hd_rows_member(rows, "fail_fast.message"));
		} else {
			append_exception(&text, rows);
		}
	} else {
		text_puts(&text, "no signal that ends a process is known");
	}
	write_part(triage, "crash", is_crash ? "found" : "none", &text, "crashinfo");
	hd_rows_free(rows);
	return HD_OK;
}

static enum hd_status look_at_damage(struct triage *triage)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct hd_rows *rows;
	char count[COUNT_SIZE];
	TRY(ask(triage, "damage", "verifyheap", &rows));
	if (!rows)
		return HD_OK;
	uint64_t damaged = number_of(rows, "damaged");
	uint64_t findings = hd_rows_count(rows, hd_rows_find(rows, "findings"));
	text_printf(&text, "%s verified",
		    format_count(number_of(rows, "objects"), "object", count));
	if (damaged)
		text_printf(&text, ", %s damaged", format_count(damaged, "place", count));
	if (findings)
		text_printf(&text, ", %s", format_count(findings, "finding", count));
	write_part(triage, "damage", findings ? "found" : "none", &text, "verifyheap");
	hd_rows_free(rows);
	return HD_OK;
}

static enum hd_status look_at_hang(struct triage *triage)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct hd_rows *rows;
	TRY(ask(triage, "hang", "hang", &rows));
	if (!rows)
		return HD_OK;
	uint64_t verdicts = hd_rows_count(rows, hd_rows_find(rows, "verdicts"));
	append_value(&text, hd_rows_member(rows, "headline"));
	if (verdicts > 1)
		text_printf(&text, " And %" PRIu64 " more.", verdicts - 1);
	write_part(triage, "hang", verdicts ? "found" : "none", &text, "hang");
	hd_rows_free(rows);
	return HD_OK;
}

/* "80.6 MB: stacks 56.1 MB, GC heap 13.8 MB, images 6.2 MB" */
static enum hd_status look_at_memory(struct triage *triage)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct hd_rows *rows;
	char size[32];
	TRY(ask(triage, "memory", "memory", &rows));
	if (!rows)
		return HD_OK;
	const struct hd_table *groups = hd_rows_find(rows, "groups");
	bool is_process = value_of(rows, groups, 0, "resident") != NULL;
	const char *column = is_process ? "resident" : "in_core";
	uint64_t count = hd_rows_count(rows, groups), last = UINT64_MAX;
	text_puts(&text,
		  format_bytes(number_of(rows, is_process ? "total.resident" : "total.in_core"),
			       size));
	for (unsigned int shown = 0; shown < GROUPS_SHOWN; shown++) {
		uint64_t most = 0, row = count;
		for (uint64_t i = 0; i < count; i++) {
			const struct hd_value *value = value_of(rows, groups, i, column);
			if (value && value->number < last && value->number > most) {
				most = value->number;
				row = i;
			}
		}
		if (row == count)
			break;
		last = most;
		text_puts(&text, shown ? ", " : ": ");
		append_value(&text, value_of(rows, groups, row, "group"));
		text_printf(&text, " %s", format_bytes(most, size));
	}
	write_part(triage, "memory", "fact", &text, "memory");
	hd_rows_free(rows);
	return HD_OK;
}

static void write_finding(struct triage *triage, const struct hd_rows *rows,
			  const struct hd_table *table, uint64_t row)
{
	HD_CLEANUP(text) struct text text = { 0 }, next = { 0 }, severity = { 0 };
	const struct hd_value *bytes = value_of(rows, table, row, "stake.bytes");
	char size[32];
	append_value(&text, value_of(rows, table, row, "title"));
	if (bytes && bytes->number)
		text_printf(&text, "  %s", format_bytes(bytes->number, size));
	append_value(&next, value_of(rows, table, row, "next"));
	append_value(&severity, value_of(rows, table, row, "severity"));
	const struct cell cells[PART_COLUMNS] = {
		[PART_NAME] = cell_string("finding"),
		[PART_STATE] = cell_string("found"),
		[PART_SEVERITY] = cell_text(severity.bytes, severity.size),
		[PART_TEXT] = cell_text(text.bytes, text.size),
		[PART_NEXT] = cell_text(next.bytes, next.size),
	};
	triage->call->findings = true;
	triage->call->out.text.failed |= text.failed || next.failed || severity.failed;
	answer_row(&triage->call->answer, cells);
	note_next(triage, next.bytes, next.size);
}

static enum hd_status look_at_findings(struct triage *triage, uint64_t objects)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct hd_rows *rows;
	uint64_t shown = 0;
	char count[COUNT_SIZE];
	if (objects > REPORT_OBJECTS_MAX) {
		text_printf(&text, "not looked for among %s: report does",
			    format_count(objects, "object", count));
		write_part(triage, "finding", "not known", &text, "report");
		note_next(triage, "report", 6);
		return HD_OK;
	}
	TRY(ask(triage, "finding", "report", &rows));
	if (!rows)
		return HD_OK;
	const struct hd_table *table = hd_rows_find(rows, "findings");
	for (uint64_t i = 0; i < hd_rows_count(rows, table) && shown < FINDINGS_SHOWN; i++) {
		const struct hd_value *severity = value_of(rows, table, i, "severity");
		bool is_told = severity && (severity->text[0] == 'h' || severity->text[0] == 'm');
		if (!is_told)
			continue;
		write_finding(triage, rows, table, i);
		shown++;
	}
	if (!shown) {
		text_puts(&text, "none of severity high or medium");
		write_part(triage, "finding", "none", &text, "report");
	}
	hd_rows_free(rows);
	return HD_OK;
}

static void write_next(struct triage *triage)
{
	static const char *const usual[] = { "report", "dumpheap -stat", "clrstack -all" };
	const char *words[NEXT_MAX];
	struct answer *answer = &triage->call->answer;
	for (size_t i = 0; i < NEXT_MAX; i++)
		note_next(triage, usual[i], strlen(usual[i]));
	answer_remark(answer, "Go on with:\n");
	for (size_t i = 0; i < triage->next_count; i++) {
		HD_CLEANUP(text) struct text shown = { 0 };
		words[i] = triage->next[i].bytes ? triage->next[i].bytes : "";
		triage->call->out.text.failed |= triage->next[i].failed;
		text_escape(&shown, triage->next[i].bytes, triage->next[i].size);
		answer_remark(answer, "  %s\n", shown.bytes ? shown.bytes : "");
	}
	answer_list(answer, "next", words, triage->next_count);
}

static enum hd_status run_triage(struct call *call)
{
	static const struct table_options options = { .no_heading = true };
	HD_CLEANUP(triage) struct triage triage = { .call = call };
	uint64_t objects = 0;
	answer_table(&call->answer, &part_schema, &options);
	TRY(look_at_target(&triage, &objects));
	TRY(look_at_crash(&triage));
	TRY(look_at_damage(&triage));
	TRY(look_at_hang(&triage));
	TRY(look_at_memory(&triage));
	TRY(look_at_findings(&triage, objects));
	(void)answer_table_end(&call->answer);
	write_next(&triage);
	return HD_OK;
}

COMMAND(triage, .has_rows = true,
	.summary =
		"the first look: what it is, crash, damage, hang, memory, findings, and how to go on",
	.description =
		"Runs info, crashinfo, verifyheap, hang, memory and report, and shows the main line of each,\n"
		"and three commands to go on with. A part that has no answer for this target says why. A heap\n"
		"with more than 4,000,000 objects is not reported here: report takes some seconds then.\n"
		"Ends with status 1 when there is a crash, damage, a verdict of hang, or a finding of\n"
		"severity high or medium.\n",
	.needs = NEEDS_ACCOUNT);
