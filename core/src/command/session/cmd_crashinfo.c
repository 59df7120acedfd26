/* SPDX-License-Identifier: MIT */
#include "analysis/threads/fail_fast.h"
#include "command/session/crash.h"
#include "command/table.h"
#include "framework/owns.h"
#include "gc/heap.h"
#include "gc/walk.h"
#include "inspect/async_name.h"
#include "inspect/value.h"
#include "runtime/coreclr/layout_access.h"
#include "targets/target.h"

#define THROWN_LIST(X)                                                                             \
	X(THROWN_THREAD, "thread", NULL, KIND_NUMBER, 0, 0, "the managed thread id")               \
	X(THROWN_OS_ID, "os_id", NULL, KIND_NUMBER, 0, 0, "the thread's id in the system")         \
	X(THROWN_ADDRESS, "exception", NULL, KIND_ADDRESS, 0, 0,                                   \
	  "the exception that it threw last")                                                      \
	X(THROWN_TYPE, "type", NULL, KIND_TYPE, 0, 0, "its type; null: it cannot be read")         \
	X(THROWN_CRASHED, "crashed", NULL, KIND_FLAG, 0, 0, "did this thread receive the signal?") \
	X(THROWN_MESSAGE, "message", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                           \
	  "the exception's message")                                                               \
	X(THROWN_METHOD, "method", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                             \
	  "the method of the program in which it was thrown, or that called the framework's; else the innermost")

COLUMNS(thrown, THROWN_COLUMNS, THROWN_LIST);

SCHEMA(thrown, .name = "exceptions", .is_main = true,
       .lines = "Thread {thread} (0x{os_id:x}[?crashed , which received the signal]) threw "
		"[{type}|<cannot be read>] {exception:x}\n[  {message}\n][  in {method}\n]");

/* So many frames of an exception are asked for a method of the program. */
#define THROWN_FRAMES_MAX 200u

static void find_thrown_method(struct call *call, const struct exception_info *info,
			       struct text *ret)
{
	struct exception_frame frame;
	uint64_t first = 0;
	for (uint32_t i = 0; i < THROWN_FRAMES_MAX; i++) {
		if (!exception_frame_at(call->heap, info, i, &frame))
			break;
		ret->size = 0;
		if (!method_user_append(ret, call->heap->runtime, frame.method_desc))
			continue;
		if (!framework_owns(call->heap->runtime, ret->bytes, ret->size))
			return;
		first = first ? first : frame.method_desc;
	}
	ret->size = 0;
	(void)method_user_append(ret, call->heap->runtime, first);
}

/* Fill in the message, and the method where it was thrown. */
static void read_thrown(struct call *call, const struct object *object, struct text *message,
			struct text *method, struct cell *cells)
{
	struct exception_info info;
	if (!exception_read(call->heap, object, &info))
		return;
	if (info.message)
		text_puts(message, info.message);
	find_thrown_method(call, &info, method);
	if (message->size)
		cells[THROWN_MESSAGE] = cell_text(message->bytes, message->size);
	if (method->size)
		cells[THROWN_METHOD] = cell_text(method->bytes, method->size);
	exception_info_deinit(&info);
}

/* The heap may not be whole: the exception is read where the thread says that it is, as printexception does. */
static void write_crash_thrown(struct call *call, struct window *window,
			       const struct runtime_thread *thread, const struct crash *crash)
{
	HD_CLEANUP(text) struct text message = { 0 }, method = { 0 };
	struct object object;
	struct cell cells[THROWN_COLUMNS] = {
		[THROWN_THREAD] = cell_number(thread->id),
		[THROWN_OS_ID] = cell_number(thread->os_id),
		[THROWN_ADDRESS] = cell_number(thread->exception),
		[THROWN_CRASHED] = cell_flag(crash->is_there &&
					     thread->os_id == (uint64_t)(uint32_t)crash->fault.tid),
	};
	if (object_read(call->heap, window, thread->exception, &object) &&
	    type_is_exception(call->heap->runtime, object.type)) {
		size_t size;
		const char *name = type_name(call->heap->runtime, object.type, &size);
		cells[THROWN_TYPE] = cell_type(name, size, object.type->method_table);
		read_thrown(call, &object, &message, &method, cells);
	}
	answer_row(&call->answer, cells);
}

#define FAIL_FAST_LIST(X)                                                                     \
	X(FAIL_MESSAGE, "message", NULL, KIND_TEXT, 0, 0,                                     \
	  "a string on its frames, probably the text that it was given; null: there is none") \
	X(FAIL_METHOD, "method", NULL, KIND_TEXT, 0, 0, "the method that called it")

COLUMNS(fail_fast, FAIL_COLUMNS, FAIL_FAST_LIST);

SCHEMA(fail_fast, .name = "fail_fast",
       .lines = "The program called Environment.FailFast[ in {method}][: {message}]\n\n");

static enum hd_status write_fail_fast(struct call *call, const struct crash *crash)
{
	HD_CLEANUP(fail_fast) struct fail_fast found = { 0 };
	HD_CLEANUP(text) struct text method = { 0 };
	struct cell cells[FAIL_COLUMNS] = { 0 };
	if (crash->is_there) {
		TRY(fail_fast_find(call->heap, (uint32_t)crash->fault.tid, &call->job, &found,
				   call->err));
	}
	if (!found.is_there)
		return HD_OK;
	if (method_user_append(&method, call->heap->runtime, found.method_desc))
		cells[FAIL_METHOD] = cell_text(method.bytes, method.size);
	if (found.has_message)
		cells[FAIL_MESSAGE] = cell_text(found.message.bytes, found.message.size);
	answer_record(&call->answer, &fail_fast_schema, cells);
	return HD_OK;
}

static enum hd_status run_crashinfo(struct call *call)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	const struct runtime *runtime = call->heap->runtime;
	HD_CLEANUP(window) struct window window = { .memory = call->heap->memory };
	struct crash crash;
	uint64_t found = 0;
	crash_find(call, &crash);
	if (!crash.is_there) {
		answer_remark(&call->answer,
			      "No signal that ends a process is known: it was dumped alive, or its "
			      "core does not say more.\n");
	}
	TRY(crash_write(call, &crash, false));
	TRY(write_fail_fast(call, &crash));
	answer_table(&call->answer, &thrown_schema, &options);
	for (size_t i = 0; i < runtime_thread_count(runtime); i++) {
		const struct runtime_thread *thread = runtime_thread_at(runtime, i);
		if (!thread->exception)
			continue;
		found++;
		if (answer_wants_row(&call->answer))
			write_crash_thrown(call, &window, thread, &crash);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	if (found) {
		answer_remark(&call->answer, "printexception shows them, clrstack where the "
					     "threads are.\n");
	} else if (runtime_knows_all_threads(runtime) &&
		   coreclr_has_field(runtime, L_THREAD_EXCEPTION)) {
		answer_remark(&call->answer, "No thread has an exception that it threw.\n");
	} else {
		answer_remark(&call->answer,
			      "Whether threads have exceptions that they threw is not known (info "
			      "says why).\n");
		call->findings = true;
	}
	return HD_OK;
}

COMMAND(crashinfo, .has_rows = true,
	.summary = "show what ended the process: the signal, its thread, and exceptions",
	.description =
		"What SOS's command of that name reads is written only by NativeAOT programs; these are\n"
		"not read here. This shows what the core says itself: the signal, where its thread was,\n"
		"the text of Environment.FailFast, and the exception that each thread threw last, with its\n"
		"message and the method of the program in which it was thrown.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME);
