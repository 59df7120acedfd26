/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/session/crash.h"
#include "command/table.h"
#include "gc/heap.h"
#include "gc/walk.h"
#include "inspect/locate.h"
#include "runtime/coreclr/layout_access.h"
#include "targets/target.h"

#define THROWN_LIST(X)                                                                     \
	X(THROWN_THREAD, "thread", NULL, KIND_NUMBER, 0, 0, "the managed thread id")       \
	X(THROWN_OS_ID, "os_id", NULL, KIND_NUMBER, 0, 0, "the thread's id in the system") \
	X(THROWN_ADDRESS, "exception", NULL, KIND_ADDRESS, 0, 0,                           \
	  "the exception that it threw last")                                              \
	X(THROWN_TYPE, "type", NULL, KIND_TYPE, 0, 0, "its type; null: it cannot be read") \
	X(THROWN_CRASHED, "crashed", NULL, KIND_FLAG, 0, 0, "did this thread receive the signal?")

COLUMNS(thrown, THROWN_COLUMNS, THROWN_LIST);

static void crash_thrown_layout(struct out *out, const struct cell *cells)
{
	out_printf(out, "Thread %" PRIu64 " (0x%" PRIx64 "%s) threw ", cells[THROWN_THREAD].number,
		   cells[THROWN_OS_ID].number,
		   cells[THROWN_CRASHED].flag ? ", which received the signal" : "");
	if (cells[THROWN_TYPE].is_there) {
		out_type_cell(out, &cells[THROWN_TYPE]);
	} else {
		out_puts(out, "<cannot be read>");
	}
	out_printf(out, " %" PRIx64 "\n", cells[THROWN_ADDRESS].number);
}

SCHEMA(thrown, .name = "exceptions", .is_main = true, .layout = crash_thrown_layout);

static enum hd_status write_crash_thrown(struct call *call, const struct runtime_thread *thread,
					 const struct crash *crash)
{
	struct location location;
	struct cell cells[THROWN_COLUMNS] = {
		[THROWN_THREAD] = cell_number(thread->id),
		[THROWN_OS_ID] = cell_number(thread->os_id),
		[THROWN_ADDRESS] = cell_number(thread->exception),
		[THROWN_CRASHED] = cell_flag(crash->is_there &&
					     thread->os_id == (uint64_t)(uint32_t)crash->fault.tid),
	};
	TRY(object_locate(call->heap, thread->exception, &call->job, &location, call->err));
	if (location.place == PLACE_OBJECT) {
		size_t size;
		const struct type *type = location.object.type;
		const char *name = type_name(call->heap->runtime, type, &size);
		cells[THROWN_TYPE] = cell_type(name, size, type->method_table);
	}
	answer_row(&call->answer, cells);
	return HD_OK;
}

static enum hd_status run_crashinfo(struct call *call)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	const struct runtime *runtime = call->heap->runtime;
	struct crash crash;
	uint64_t found = 0;
	crash_find(call, &crash);
	if (!crash.is_there) {
		answer_remark(&call->answer,
			      "No signal that ends a process is known: it was dumped alive, or its "
			      "core does not say more.\n");
	}
	TRY(crash_write(call, &crash, false));
	answer_table(&call->answer, &thrown_schema, &options);
	for (size_t i = 0; i < runtime_thread_count(runtime); i++) {
		const struct runtime_thread *thread = runtime_thread_at(runtime, i);
		if (!thread->exception)
			continue;
		found++;
		if (answer_wants_row(&call->answer))
			TRY(write_crash_thrown(call, thread, &crash));
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
		"and the exception that each thread threw last.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME);
