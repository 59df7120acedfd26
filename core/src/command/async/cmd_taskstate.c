/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "analysis/async/async_call.h"
#include "analysis/async/task_state.h"
#include "command/objects/object.h"
#include "command/table.h"

#define TASKSTATE_OPTIONS(X)                 \
	X(OPT_VALUE, "v", VALUE_NUMBER, "N", \
	  "of the number N in the field m_stateFlags, and not of an object", NULL)

OPTIONS(taskstate, TASKSTATE_OPTIONS);

#define STATE_LIST(X)                                                                     \
	X(STATE_STATUS, "status", "", KIND_TEXT, 0, 0, "the TaskStatus")                  \
	X(STATE_FLAGS, "flags", "", KIND_ADDRESS, 0, 0, "the field m_stateFlags")         \
	X(STATE_OPTIONS, "options", "", KIND_SET, 0, 0, "names of TaskCreationOptions")   \
	X(STATE_EXCEPTION, "exception", "", KIND_ADDRESS, 0, LOOK_LEAVE_OUT,              \
	  "the first exception of a faulted task")                                        \
	X(STATE_METHOD, "method", "", KIND_TEXT, 0, LOOK_LEAVE_OUT,                       \
	  "the async method that it is the task of")                                      \
	X(STATE_CONTINUATION, "continuation", "", KIND_ADDRESS, 0, LOOK_LEAVE_OUT,        \
	  "the object that goes on when the task is complete")                            \
	X(STATE_CONTINUATION_TYPE, "continuation_type", "", KIND_TYPE, 0, LOOK_LEAVE_OUT, \
	  "type of that")

COLUMNS(state, STATE_COLUMNS, STATE_LIST);

static void state_layout(struct out *out, const struct cell *cells)
{
	const struct cell *options = &cells[STATE_OPTIONS];
	out_printf(out, "%s (m_stateFlags %" PRIx64 ")\n", cells[STATE_STATUS].text.bytes,
		   cells[STATE_FLAGS].number);
	for (uint32_t i = 0; i < TASK_OPTIONS; i++) {
		if (options->set.bits >> i & 1)
			out_printf(out, "Option: %s\n", options->set.names[i]);
	}
	if (cells[STATE_EXCEPTION].is_there) {
		out_printf(out, "Exception: %" PRIx64 " (see printexception)\n",
			   cells[STATE_EXCEPTION].number);
	}
	if (cells[STATE_METHOD].is_there) {
		out_puts(out, "Async method: ");
		text_escape(&out->text, cells[STATE_METHOD].text.bytes,
			    cells[STATE_METHOD].text.size);
		out_puts(out, "\n");
	}
	if (!cells[STATE_CONTINUATION].is_there)
		return;
	out_printf(out, "Then goes on: %" PRIx64 " ", cells[STATE_CONTINUATION].number);
	if (cells[STATE_CONTINUATION_TYPE].is_there)
		out_type_cell(out, &cells[STATE_CONTINUATION_TYPE]);
	out_puts(out, "\n");
}

static const struct schema taskstate_schema = {
	SCHEMA_COLUMNS(state_columns),
	.layout = state_layout,
};

/* @p task NULL: only a number is known. */
static void write_state(struct call *call, struct members *members, const struct object *task,
			const struct task_state *state)
{
	struct object object;
	HD_CLEANUP(text) struct text method = { 0 };
	struct cell cells[STATE_COLUMNS] = {
		[STATE_STATUS] = cell_string(task_status_name(state->status)),
		[STATE_FLAGS] = cell_number(state->flags),
		[STATE_OPTIONS] = cell_set(task_option_names, task_options_of(state->flags)),
	};
	if (state->exception)
		cells[STATE_EXCEPTION] = cell_number(state->exception);
	if (task && async_call_append(&method, call->heap, members, task))
		cells[STATE_METHOD] = cell_text(method.bytes, method.size);
	if (state->continuation)
		cells[STATE_CONTINUATION] = cell_number(state->continuation);
	if (members && member_object(members, state->continuation, &object)) {
		size_t size;
		const char *name = type_name(call->heap->runtime, object.type, &size);
		cells[STATE_CONTINUATION_TYPE] = cell_type(name, size, object.type->method_table);
	}
	answer_record(&call->answer, &taskstate_schema, cells);
}

static enum hd_status check_taskstate(struct call *call)
{
	if (call->words[0].given == call->options[OPT_VALUE].given) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "give the address of a task, or -v and a number");
	}
	if (call->options[OPT_VALUE].number > UINT32_MAX) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "%" PRIu64 " has more than the 32 bits of the field m_stateFlags",
			    call->options[OPT_VALUE].number);
	}
	return HD_OK;
}

static enum hd_status run_taskstate(struct call *call)
{
	uint32_t flags = (uint32_t)call->options[OPT_VALUE].number;
	struct task_state state = { .flags = flags, .status = task_status_of(flags) };
	HD_CLEANUP(members) struct members *members = NULL;
	struct object object;
	if (call->options[OPT_VALUE].given) {
		write_state(call, NULL, NULL, &state);
		return HD_OK;
	}
	TRY(call_heap_object(call, call->words[0].number, &object));
	TRY(members_create(call->heap, &members, call->err));
	if (!task_state_read(call->heap, members, &object, &state))
		return call_wrong_object(call, &object, "a task", "dumpobj");
	write_state(call, members, &object, &state);
	return HD_OK;
}

COMMAND(taskstate, .alias = "tks",
	.summary = "show the status of a task, its options, and what goes on after it",
	.description =
		"The status is one of System.Threading.Tasks.TaskStatus. A faulted task has an exception,\n"
		"which printexception shows. What goes on is an async method, a thread that is blocked,\n"
		"or another task.\n",
	.example = "taskstate 7f0fd5c0b448", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_FIELDS, .options = taskstate_options,
	.words = { { "ADDRESS", VALUE_ADDRESS, true } }, .check = check_taskstate);
