/* SPDX-License-Identifier: MIT */
#include "command/report/first_look.h"

#include <inttypes.h>
#include <string.h>

#define PART_LIST(X)                                                                              \
	X(PART_NAME, "part", NULL, KIND_TEXT, 0, 0,                                               \
	  "target, crash, damage, hang, memory or finding; or runtime: there is none")            \
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
	out_begin_sentence(out);
	if (severity->is_there)
		out_printf(out, "%s: ", severity->text.bytes);
	if (is_found)
		out_begin_style(out, STYLE_HEAD);
	text_escape(&out->text, cells[PART_TEXT].text.bytes, cells[PART_TEXT].text.size);
	if (is_found)
		out_end_style(out);
	out_puts(out, "\n");
}

const struct schema parts_schema = {
	.name = "parts", SCHEMA_COLUMNS(part_columns), .is_main = true, .layout = part_layout
};

const struct schema state_schema = { .name = "state",
				     SCHEMA_COLUMNS(part_columns),
				     .layout = part_layout };

void look_part_deinit(struct look_part *part)
{
	text_deinit(&part->text);
}

void look_part_write(struct call *call, const struct look_part *part)
{
	const struct cell cells[PART_COLUMNS] = {
		[PART_NAME] = cell_string(part->name),
		[PART_STATE] = cell_string(part->state),
		[PART_TEXT] = cell_text(part->text.bytes, part->text.size),
		[PART_NEXT] = cell_string(part->next),
	};
	call->findings |= strcmp(part->state, "found") == 0;
	call->out.text.failed |= part->text.failed;
	answer_row(&call->answer, cells);
}

void look_finding_write(struct call *call, const struct text *severity, const struct text *title,
			const struct text *next)
{
	const struct cell cells[PART_COLUMNS] = {
		[PART_NAME] = cell_string("finding"),
		[PART_STATE] = cell_string("found"),
		[PART_SEVERITY] = cell_text(severity->bytes, severity->size),
		[PART_TEXT] = cell_text(title->bytes, title->size),
		[PART_NEXT] = cell_text(next->bytes, next->size),
	};
	call->findings = true;
	call->out.text.failed |= severity->failed || title->failed || next->failed;
	answer_row(&call->answer, cells);
}

enum hd_status look_ask(struct call *call, const char *command, struct look_part *part,
			struct hd_rows **ret_rows)
{
	*ret_rows = NULL;
	part->next = command;
	enum hd_status status = command_rows(call, 1, &command, ret_rows);
	if (status == HD_OK || status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED)
		return status;
	text_puts(&part->text, call->err->message);
	part->state = "not known";
	*call->err = (struct hd_error){ 0 };
	return HD_OK;
}

const struct hd_value *look_value(const struct hd_rows *rows, const struct hd_table *table,
				  uint64_t row, const char *column)
{
	int index = hd_table_column(table, column);
	const struct hd_value *values = hd_rows_at(rows, table, row);
	return index >= 0 && values && values[index].kind != HD_KIND_NULL ? &values[index] : NULL;
}

void look_append(struct text *text, const struct hd_value *value)
{
	if (value)
		text_append(text, value->text, value->size);
}

uint64_t look_number(const struct hd_rows *rows, const char *name)
{
	const struct hd_value *value = hd_rows_member(rows, name);
	return value && value->kind != HD_KIND_NULL ? value->number : 0;
}

bool look_has_text(const struct hd_value *value)
{
	return value && (value->kind == HD_KIND_TEXT || value->kind == HD_KIND_TYPE) && value->size;
}

/* The exception of the thread that received the signal; or the first one. */
static void append_exception(struct text *text, const struct hd_rows *rows)
{
	const struct hd_table *table = hd_rows_find(rows, "exceptions");
	uint64_t count = hd_rows_count(rows, table), row = 0;
	for (uint64_t i = 0; i < count; i++) {
		const struct hd_value *crashed = look_value(rows, table, i, "crashed");
		if (crashed && crashed->number) {
			row = i;
			break;
		}
	}
	const struct hd_value *type = look_value(rows, table, row, "type");
	const struct hd_value *message = look_value(rows, table, row, "message");
	const struct hd_value *method = look_value(rows, table, row, "method");
	const struct hd_value *place = hd_rows_member(rows, "method");
	if (!count || !type) {
		text_puts(text, look_has_text(place) ? " in " : "");
		look_append(text, place);
		return;
	}
	if (!method && look_has_text(place))
		method = place;
	text_puts(text, "; ");
	look_append(text, type);
	if (message) {
		text_puts(text, ": ");
		/* The sentence goes on. */
		bool ends = message->size && message->text[message->size - 1] == '.';
		text_append(text, message->text, message->size - (method && ends));
	}
	if (method) {
		text_puts(text, " in ");
		look_append(text, method);
	}
}

/* "the GC had no memory for an object in collection 12: 99 MB are committed, and the limit is 101 MB" */
static void append_out_of_memory(struct text *text, const struct hd_rows *rows)
{
	const struct hd_value *limit = hd_rows_member(rows, "out_of_memory.limit");
	char size[32];
	text_puts(text, "; the GC had no memory for an object");
	if (look_number(rows, "out_of_memory.allocation")) {
		text_printf(text, " of %s",
			    format_bytes(look_number(rows, "out_of_memory.allocation"), size));
	}
	text_printf(text, " in collection %" PRIu64 ": %s are committed",
		    look_number(rows, "out_of_memory.collection"),
		    format_bytes(look_number(rows, "out_of_memory.committed"), size));
	if (limit && limit->kind != HD_KIND_NULL && limit->number)
		text_printf(text, ", and the limit is %s", format_bytes(limit->number, size));
}

enum hd_status look_at_crash(struct call *call, struct look_part *ret)
{
	struct text *text = &ret->text;
	struct hd_rows *rows;
	*ret = (struct look_part){ .name = "crash" };
	TRY(look_ask(call, "crashinfo", ret, &rows));
	if (!rows)
		return HD_OK;
	bool is_crash = look_has_text(hd_rows_member(rows, "crash.signal"));
	if (is_crash) {
		look_append(text, hd_rows_member(rows, "crash.signal"));
		text_printf(text, " in thread 0x%" PRIx64, look_number(rows, "crash.thread"));
		const struct hd_value *address = hd_rows_member(rows, "crash.address");
		if (address && address->kind != HD_KIND_NULL) {
			text_printf(text, ", which could not use the address 0x%" PRIx64,
				    address->number);
		}
		bool has_method = look_has_text(hd_rows_member(rows, "fail_fast.method"));
		bool has_message = look_has_text(hd_rows_member(rows, "fail_fast.message"));
		if (has_method || has_message) {
			text_puts(text, "; Environment.FailFast");
			text_puts(text, has_method ? " in " : "");
			look_append(text, hd_rows_member(rows, "fail_fast.method"));
			text_puts(text, has_message ? ": " : "");
			look_append(text, hd_rows_member(rows, "fail_fast.message"));
		} else {
			append_exception(text, rows);
		}
	} else {
		text_puts(text, "no signal that ends a process is known");
	}
	bool is_full = look_has_text(hd_rows_member(rows, "out_of_memory.reason"));
	if (is_full)
		append_out_of_memory(text, rows);
	ret->state = is_crash || is_full ? "found" : "none";
	hd_rows_free(rows);
	return HD_OK;
}

enum hd_status look_at_damage(struct call *call, struct look_part *ret)
{
	struct text *text = &ret->text;
	struct hd_rows *rows;
	char count[COUNT_SIZE];
	*ret = (struct look_part){ .name = "damage" };
	TRY(look_ask(call, "verifyheap", ret, &rows));
	if (!rows)
		return HD_OK;
	uint64_t damaged = look_number(rows, "damaged");
	uint64_t findings = hd_rows_count(rows, hd_rows_find(rows, "findings"));
	text_printf(text, "%s verified",
		    format_count(look_number(rows, "objects"), "object", count));
	if (damaged)
		text_printf(text, ", %s damaged", format_count(damaged, "place", count));
	if (findings)
		text_printf(text, ", %s", format_count(findings, "finding", count));
	ret->state = findings ? "found" : "none";
	hd_rows_free(rows);
	return HD_OK;
}

enum hd_status look_at_hang(struct call *call, struct look_part *ret)
{
	struct text *text = &ret->text;
	struct hd_rows *rows;
	*ret = (struct look_part){ .name = "hang" };
	TRY(look_ask(call, "hang", ret, &rows));
	if (!rows)
		return HD_OK;
	uint64_t verdicts = hd_rows_count(rows, hd_rows_find(rows, "verdicts"));
	look_append(text, hd_rows_member(rows, "headline"));
	if (verdicts > 1)
		text_printf(text, " And %" PRIu64 " more.", verdicts - 1);
	/* Who waits may hang for a reason that was not found. */
	bool is_open = hd_rows_count(rows, hd_rows_find(rows, "groups")) ||
		       hd_rows_count(rows, hd_rows_find(rows, "gaps"));
	ret->state = verdicts ? "found" : is_open ? "not known" : "none";
	hd_rows_free(rows);
	return HD_OK;
}

enum hd_status look_at_state(struct call *call, struct look_state *state)
{
	static enum hd_status (*const looks[LOOK_STATES])(struct call * call,
							  struct look_part * ret) = {
		look_at_crash,
		look_at_damage,
		look_at_hang,
	};
	while (state->count < LOOK_STATES) {
		struct look_part *part = &state->parts[state->count++];
		TRY(looks[part - state->parts](call, part));
	}
	return HD_OK;
}

void look_state_deinit(struct look_state *state)
{
	for (size_t i = 0; i < state->count; i++)
		look_part_deinit(&state->parts[i]);
}
