/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "analysis/heap/exception_counts.h"
#include "analysis/heap/object_pass.h"
#include "answer/cell_lines.h"
#include "command/heap/heap_call.h"
#include "command/table.h"
#include "command/threads/source_text.h"
#include "runtime/coreclr/code/code.h"

#define DUMPEXCEPTIONS_OPTIONS(X)                                                                 \
	X(OPT_LIVE, "live", VALUE_NONE, NULL, "exceptions that roots keep alive", NULL)           \
	X(OPT_DEAD, "dead", VALUE_NONE, NULL, "exceptions that no root keeps alive", NULL)        \
	X(OPT_GEN, "gen", VALUE_CHOICE, "GEN", "exceptions of this generation",                   \
	  generation_choices)                                                                     \
	X(OPT_TYPE, "type", VALUE_TYPE, "TEXT", "exceptions whose type name contains TEXT", NULL) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "show N rows (0: all, as without)", NULL)        \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,                             \
	  "with -live, -dead: treat every word on a stack as a reference", NULL)

OPTIONS(dumpexceptions, DUMPEXCEPTIONS_OPTIONS);

#define EXCEPTION_LIST(X)                                                                         \
	X(EXCEPTION_COUNT, "count", "Count", KIND_NUMBER, 8, LOOK_THOUSANDS,                      \
	  "exceptions with this type, message and stack")                                         \
	X(EXCEPTION_FIRST, "first", "First", KIND_ADDRESS, 12, 0, "address of the first of them") \
	X(EXCEPTION_MT, "mt", "MethodTable", KIND_ADDRESS, 12, 0, "MethodTable of the type")      \
	X(EXCEPTION_TYPE, "type", "Type", KIND_TYPE, 0, 0, "name of the type")                    \
	X(EXCEPTION_MESSAGE, "message", NULL, KIND_TEXT, 0, 0,                                    \
	  "its message; null: it has none, or it cannot be read")                                 \
	X(EXCEPTION_MESSAGE_CUT, "message_truncated", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,         \
	  "the message is longer, and what follows was not compared")                             \
	X(EXCEPTION_STACK_CUT, "stack_truncated", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,             \
	  "there are more frames, which were not compared or read")                               \
	X(EXCEPTION_REMOTE, "remote_stack_trace", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,             \
	  "the text that its StackTrace has before the frames")                                   \
	X(EXCEPTION_REMOTE_CUT, "remote_stack_trace_truncated", NULL, KIND_FLAG, 0,               \
	  LOOK_LEAVE_OUT, "that text is longer, and what follows was not compared")

COLUMNS(exception, EXCEPTION_COLUMNS, EXCEPTION_LIST);

static void counted_exception_layout(struct out *out, const struct cell *cells)
{
	const struct cell *message = &cells[EXCEPTION_MESSAGE], *remote = &cells[EXCEPTION_REMOTE];
	char count[27];
	out_printf(out, "%8s ", format_thousands(cells[EXCEPTION_COUNT].number, count));
	out_styled(out, STYLE_ADDRESS, "%012" PRIx64, cells[EXCEPTION_FIRST].number);
	out_printf(out, " %12" PRIx64 " ", cells[EXCEPTION_MT].number);
	out_type_cell(out, &cells[EXCEPTION_TYPE]);
	out_puts(out, "\n        Message: ");
	if (message->is_there) {
		text_escape(&out->text, message->text.bytes, message->text.size);
		out_puts(out, cells[EXCEPTION_MESSAGE_CUT].is_there ? "...\n" : "\n");
	} else {
		out_printf(out, "%s\n", message->shown ? message->shown : "<null>");
	}
	if (remote->is_there || remote->shown) {
		out_printf(out, "        RemoteStackTraceString:%s\n",
			   remote->is_there ? "" : " <cannot be read>");
	}
	out_text_lines(out, 8, remote);
	if (cells[EXCEPTION_REMOTE_CUT].is_there)
		out_puts(out, "        ...\n");
}

static const struct schema exception_counts_schema = {
	.name = "exceptions",
	SCHEMA_COLUMNS(exception_columns),
	.is_main = true,
	.heading = "   Count First         MethodTable Type",
	.layout = counted_exception_layout,
};

#define STACK_LIST(X)                                                              \
	X(STACK_METHOD, "method", NULL, KIND_TEXT, 0, 0, "its name and arguments") \
	X(STACK_IP, "ip", NULL, KIND_ADDRESS, 0, 0,                                \
	  "where the call returns to, or the instruction that failed")             \
	X(STACK_FILE, "file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                  \
	  "path of the source file, as the compiler saw it")                       \
	X(STACK_LINE, "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file")

COLUMNS(stack, STACK_COLUMNS, STACK_LIST);

static const struct schema exception_stack_schema = {
	.name = "stack",
	SCHEMA_COLUMNS(stack_columns),
	.lines = "        StackFrame: {method:m?<unknown>}{file:s}\n",
};

static void write_stack(struct call *call, const struct exception_count *row)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	HD_CLEANUP(text) struct text name = { 0 };
	answer_table(&call->answer, &exception_stack_schema, &options);
	for (uint32_t i = 0; i < row->frames_count && answer_wants_row(&call->answer); i++) {
		const struct exception_frame *frame = &row->frames[i];
		struct cell cells[STACK_COLUMNS] = { [STACK_IP] = cell_number(frame->ip) };
		name.size = 0;
		if (frame->method_desc) {
			runtime_method_signature(call->heap->runtime, frame->method_desc, &name);
			cells[STACK_METHOD] = cell_text(name.bytes, name.size);
			source_text_cells(call, frame->method_desc, frame->within,
					  &cells[STACK_FILE], &cells[STACK_LINE]);
		}
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	call->out.text.failed |= name.failed;
	if (row->is_stack_cut)
		answer_remark(&call->answer, "        StackFrame: ...\n");
}

static enum hd_status write_exception_counts(struct call *call,
					     const struct exception_counts *counts)
{
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	answer_table(&call->answer, &exception_counts_schema, &options);
	for (size_t i = 0; i < counts->rows_count; i++) {
		const struct exception_count *row = &counts->rows[i];
		if (!answer_wants_row(&call->answer))
			continue;
		size_t size;
		const char *name = type_name(call->heap->runtime, row->type, &size);
		struct cell cells[EXCEPTION_COLUMNS] = {
			[EXCEPTION_COUNT] = cell_number(row->count),
			[EXCEPTION_FIRST] = cell_number(row->first),
			[EXCEPTION_MT] = cell_number(row->type->method_table),
			[EXCEPTION_TYPE] = cell_type(name, size, row->type->method_table),
			[EXCEPTION_MESSAGE] = cell_text(row->message.bytes, row->message.size),
			[EXCEPTION_REMOTE] = cell_text(row->remote.bytes, row->remote.size),
		};
		if (row->message.is_lost)
			cells[EXCEPTION_MESSAGE].shown = "<cannot be read>";
		if (row->remote.is_lost)
			cells[EXCEPTION_REMOTE].shown = "<cannot be read>";
		if (row->remote.is_cut)
			cells[EXCEPTION_REMOTE_CUT] = cell_flag(true);
		if (row->message.is_cut)
			cells[EXCEPTION_MESSAGE_CUT] = cell_flag(true);
		if (row->is_stack_cut)
			cells[EXCEPTION_STACK_CUT] = cell_flag(true);
		answer_row_begin(&call->answer, cells);
		write_stack(call, row);
		answer_row_end(&call->answer);
		TRY(call_check(call));
	}
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, options.limit);
	return HD_OK;
}

static const struct column total_columns[] = {
	{ "count", NULL, KIND_NUMBER, 0, 0, "exceptions that were asked for" },
};
static const struct schema exceptions_total_schema = { .name = "total",
						       SCHEMA_COLUMNS(total_columns) };

static enum hd_status count_exceptions(struct call *call, struct object_pass *pass,
				       struct exception_counts *counts)
{
	for (;;) {
		enum pass_result result;
		if (call->out.stopped)
			return fail_cancelled(call->err);
		TRY(object_pass_next(pass, &result, call->err));
		if (result == PASS_END)
			return HD_OK;
		if (result != PASS_OBJECT)
			continue;
		uint64_t before = counts->bytes;
		TRY(exception_counts_add(counts, &pass->walker.object, call->err));
		if (counts->bytes != before)
			TRY(job_check_memory(&call->job, counts->bytes, call->err));
	}
}

static enum hd_status list_exceptions(struct call *call, const struct object_filter *filter,
				      struct exception_counts *counts)
{
	HD_CLEANUP(object_pass) struct object_pass pass = { 0 };
	TRY(object_pass_open(&pass, call->heap, filter, &call->job, call->err));
	TRY(count_exceptions(call, &pass, counts));
	job_end(&call->job);
	exception_counts_sort(counts);
	life_write(filter->life, call);
	TRY(write_exception_counts(call, counts));
	char count[COUNT_SIZE];
	const struct cell total[] = { cell_number(counts->total) };
	answer_data(&call->answer, &exceptions_total_schema, total);
	answer_remark(&call->answer, "\n    Total: %s\n",
		      format_count(counts->total, "object", count));
	gaps_report(call, &pass.tally.gaps);
	return HD_OK;
}

static enum hd_status run_dumpexceptions(struct call *call)
{
	const struct value *options = call->options;
	/* As in SOS, both together are neither. */
	bool has_life = options[OPT_LIVE].given != options[OPT_DEAD].given;
	HD_CLEANUP(heap_range) struct heap_range range = { 0 };
	struct life life = { 0 };
	const struct range_choice choice = range_choice(NULL, NULL, &options[OPT_GEN], NULL);
	const struct object_filter filter = { .range = &range,
					      .life = &life,
					      .type_part = options[OPT_TYPE].text };
	HD_CLEANUP(members) struct members *members = NULL;
	HD_CLEANUP(exception_counts) struct exception_counts counts = { .heap = call->heap };
	TRY(members_create(call->heap, &members, call->err));
	counts.members = members;
	TRY(heap_range_init(&range, call->heap, &choice, call->err));
	if (has_life)
		TRY(call_life(call, options[OPT_DEAD].given, &life));
	return list_exceptions(call, &filter, &counts);
}

COMMAND(dumpexceptions, .has_rows = true,
	.summary = "list the exceptions on the heap, equal ones together",
	.description =
		"Most first. Exceptions are equal when their types, messages and stacks are. An\n"
		"exception that was never thrown has no stack: the runtime makes a few at its start.\n"
		"printexception shows one with all that it has.\n",
	.example = "dumpexceptions -type Timeout", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_FIELDS, .options = dumpexceptions_options);
