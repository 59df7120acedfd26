/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/heap/out_of_memory.h"
#include "analysis/threads/crash_stack.h"
#include "command/session/crash.h"
#include "command/session/crash_record.h"
#include "command/table.h"
#include "framework/owns.h"
#include "gc/heap.h"
#include "gc/walk.h"
#include "inspect/async_name.h"
#include "inspect/value.h"

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

static void find_thrown_method(struct call *call, struct exception_info *info, struct text *ret)
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

static const struct column method_columns[] = {
	{ "method", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,
	  "the innermost method of the program on the stack of the thread that received the signal" },
};
SCHEMA(method, .lines = "[That thread was in {method}\n\n]");

/* Where the thread was that received the signal, and what it told Environment.FailFast. */
static enum hd_status write_stack(struct call *call, const struct crash *crash)
{
	HD_CLEANUP(crash_stack) struct crash_stack found = { 0 };
	HD_CLEANUP(text) struct text method = { 0 }, caller = { 0 };
	struct runtime *runtime = call->heap->runtime;
	struct cell cells[FAIL_COLUMNS] = { 0 }, place = { 0 };
	if (!crash->is_there)
		return HD_OK;
	TRY(crash_stack_read(call->heap, (uint32_t)crash->fault.tid, &call->job, &found,
			     call->err));
	if (method_user_append(&method, runtime, found.method_desc))
		place = cell_text(method.bytes, method.size);
	answer_record(&call->answer, &method_schema, &place);
	if (!found.is_fail_fast)
		return HD_OK;
	if (method_user_append(&caller, runtime, found.fail_fast_by))
		cells[FAIL_METHOD] = cell_text(caller.bytes, caller.size);
	if (found.has_message)
		cells[FAIL_MESSAGE] = cell_text(found.message.bytes, found.message.size);
	answer_record(&call->answer, &fail_fast_schema, cells);
	return HD_OK;
}

#define MEMORY_LIST(X)                                                              \
	X(MEMORY_REASON, "reason", NULL, KIND_TEXT, 0, 0, "as analyzeoom names it") \
	X(MEMORY_ALLOCATION, "allocation", NULL, KIND_BYTES, 0, 0,                  \
	  "bytes that the program asked for; null: they are not noted")             \
	X(MEMORY_COLLECTION, "collection", NULL, KIND_NUMBER, 0, 0,                 \
	  "number of the collection then")                                          \
	X(MEMORY_COMMITTED, "committed", NULL, KIND_BYTES, 0, 0,                    \
	  "what the GC has committed for its heap now")                             \
	X(MEMORY_LIMIT, "limit", NULL, KIND_BYTES, 0, 0,                            \
	  "what it may commit; 0: as much as it wants; null: not known")            \
	X(MEMORY_AT_LIMIT, "at_limit", NULL, KIND_FLAG, 0, 0,                       \
	  "is less than that left up to the limit of the heap?")

COLUMNS(memory, MEMORY_COLUMNS, MEMORY_LIST);

SCHEMA(memory, .name = "out_of_memory",
       .lines =
	       "The GC had no memory for an object[ of {allocation:b}] in collection {collection}: "
	       "{committed:b} are committed, and [?limit the limit is {limit:b}|[=limit there is no "
	       "limit|the limit is not known]]\n\n");

/* The last allocation for which the GC had no memory, if there is one. */
static void write_out_of_memory(struct call *call)
{
	struct out_of_memory have;
	char number[16];
	out_of_memory_read(call->heap, &have);
	if (!have.failures)
		return;
	const char *reason = gc_failure_reason_name(have.last.reason);
	(void)snprintf(number, sizeof(number), "%" PRIu32, have.last.reason);
	struct cell cells[MEMORY_COLUMNS] = {
		[MEMORY_REASON] = cell_string(reason ? reason : number),
		[MEMORY_COLLECTION] = cell_number(have.last.collection),
		[MEMORY_COMMITTED] = cell_number(have.committed),
		[MEMORY_AT_LIMIT] = cell_flag(out_of_memory_at_limit(&have, &have.last)),
	};
	if (have.last.has_allocation)
		cells[MEMORY_ALLOCATION] = cell_number(have.last.needed);
	if (have.limits.is_known)
		cells[MEMORY_LIMIT] = cell_number(have.limits.heap);
	answer_record(&call->answer, &memory_schema, cells);
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
	TRY(crash_record_write(call));
	TRY(write_stack(call, &crash));
	write_out_of_memory(call);
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
	} else if (runtime_knows_all_threads(runtime) && runtime_knows_exceptions(runtime)) {
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
		"The core says the signal, where its thread was, the text of Environment.FailFast, and the\n"
		"exception that each thread threw last, with its message and the method of the program in\n"
		"which it was thrown. A NativeAOT program that ends by an unhandled exception or by FailFast\n"
		"notes why, with the stack of the exception: this is shown, too, and is what SOS's command\n"
		"of that name reads. It also shows whether the GC had no memory for an object, and the limit\n"
		"of its heap.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME);
