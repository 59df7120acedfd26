/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "answer/cell_lines.h"
#include "command/async/chain_rows.h"
#include "command/table.h"
#include "command/threads/gap_rows.h"
#include "command/threads/wait_state.h"
#include "command/threads/wait_text.h"
#include "hangs/deadlocks.h"
#include "inspect/thread_name.h"
#include "output/fit.h"
#include "runtime/coreclr/code/code.h"

#define WAITS_OPTIONS(X)                                                                   \
	X(OPT_ALL, "all", VALUE_NONE, NULL,                                                \
	  "also threads that run, and those of the runtime that have nothing to do", NULL) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "show N threads (0: all, as without)", NULL)

OPTIONS(waits, WAITS_OPTIONS);

#define WAIT_LIST(X)                                                                            \
	X(WAIT_ID, "id", "ID", KIND_NUMBER, 4, 0, "its managed id")                             \
	X(WAIT_OS_ID, "os_id", "OSID", KIND_NUMBER, 6, 0, "its id in the system")               \
	X(WAIT_NAME, "name", "Name", KIND_TEXT, 16, 0, "Thread.Name")                           \
	X(WAIT_FOR, "waits_for", "Waits for", KIND_TEXT, 16, 0,                                 \
	  "the kind of wait; \"none\": it runs, \"idle\": it has nothing to do")                \
	X(WAIT_OBJECT, "object", "Object", KIND_ADDRESS, 12, 0, "what it waits for")            \
	X(WAIT_TYPE, "type", "Type", KIND_TYPE, 0, 0,                                           \
	  "type of that; of a type initializer, the type that is initialised")                  \
	X(WAIT_OWNER, "owner.id", "Owner", KIND_NUMBER, 5, LOOK_WHOLE,                          \
	  "managed id of the thread that has it")                                               \
	X(WAIT_OWNER_OS_ID, "owner.os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system")     \
	X(WAIT_OWNER_NAME, "owner.name", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "its Thread.Name") \
	X(WAIT_ASYNC, "async_method", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                       \
	  "the async method whose task it waits for")                                           \
	X(WAIT_METHOD, "method", "Method", KIND_TEXT, 0, 0,                                     \
	  "the method that waits: the program's, where one is on the stack")                    \
	X(WAIT_CALLERS, "callers", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                          \
	  "the methods of the program that have called that one, the nearest first")            \
	X(WAIT_READERS, "unknown_readers", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                \
	  "threads that read the lock and were not found: they may have ended")                 \
	X(WAIT_STATE, "state", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                              \
	  "what is known of it: \"3 of 5 left\", \"its owner is not known\"")                   \
	X(WAIT_HANDLES, "handles", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                          \
	  "type and address of each handle of WaitAny or WaitAll")

COLUMNS(wait, WAIT_COLUMNS, WAIT_LIST);

/* "Ledger in Bank.Transfer(...)": what it waits for, and where; narrow text has only the second. */
static void put_place(struct out *out, const struct cell *cells, bool is_narrow)
{
	const struct cell *async = &cells[WAIT_ASYNC], *type = &cells[WAIT_TYPE];
	const struct cell *method = &cells[WAIT_METHOD];
	bool has_what = (async->is_there || type->is_there) && !(is_narrow && method->is_there);
	if (has_what && async->is_there) {
		out_begin_name(out, FIT_METHOD);
		text_escape(&out->text, async->text.bytes, async->text.size);
		out_end_name(out);
	} else if (has_what) {
		out_type_cell(out, type);
	}
	if (!is_narrow && cells[WAIT_STATE].is_there) {
		out_printf(out, "%s(%s)", has_what ? " " : "", cells[WAIT_STATE].text.bytes);
		has_what = true;
	}
	if (!method->is_there)
		return;
	out_puts(out, has_what ? " in " : "");
	out_begin_name(out, FIT_METHOD);
	text_escape(&out->text, method->text.bytes, method->text.size);
	out_end_name(out);
}

static void wait_layout(struct out *out, const struct cell *cells)
{
	bool is_narrow = out_is_narrow(out);
	out_printf(out, "%4" PRIu64 " ", cells[WAIT_ID].number);
	if (!is_narrow)
		out_printf(out, "%6" PRIx64 " ", cells[WAIT_OS_ID].number);
	/* A name is not longer than 15 characters in the system, but may be in .NET. */
	out_padded_text(out, &cells[WAIT_NAME], is_narrow ? 14 : 16);
	out_puts(out, " ");
	out_padded_text(out, &cells[WAIT_FOR], is_narrow ? 14 : 20);
	out_puts(out, " ");
	if (cells[WAIT_OBJECT].is_there) {
		out_styled(out, STYLE_ADDRESS, "%012" PRIx64, cells[WAIT_OBJECT].number);
	} else {
		out_pad(out, 12);
	}
	if (cells[WAIT_OWNER].is_there) {
		out_printf(out, " %5" PRIu64 " ", cells[WAIT_OWNER].number);
	} else {
		out_pad(out, 7);
	}
	put_place(out, cells, is_narrow);
	out_puts(out, "\n");
	if (cells[WAIT_HANDLES].is_there) {
		out_pad(out, is_narrow ? 20 : 29);
		out_begin_sentence(out);
		text_append(&out->text, cells[WAIT_HANDLES].text.bytes,
			    cells[WAIT_HANDLES].text.size);
		out_puts(out, "\n");
	}
}

const struct schema waits_schema = {
	.name = "threads",
	SCHEMA_COLUMNS(wait_columns),
	.is_main = true,
	.heading =
		"  ID   OSID Name             Waits for            Object       Owner Type and method",
	.narrow_heading = "  ID Name           Waits for      Object       Owner Method",
	.layout = wait_layout,
};

/* Texts of one row. */
struct wait_words {
	struct text name, owner_name, method, callers, async, state, handles;
};

/* Fill in the state of the thing that it waits for. */
static void set_state(const struct waits *waits, const struct thread_wait *wait,
		      struct wait_words *words, struct cell *cells)
{
	words->state.size = words->handles.size = 0;
	append_wait_state(&words->state, waits, wait);
	append_wait_handles(&words->handles, waits, wait);
	if (words->state.size)
		cells[WAIT_STATE] = cell_text(words->state.bytes, words->state.size);
	if (words->handles.size)
		cells[WAIT_HANDLES] = cell_text(words->handles.bytes, words->handles.size);
	if (wait->unknown_readers)
		cells[WAIT_READERS] = cell_number(wait->unknown_readers);
}

static void write_wait(struct call *call, const struct waits *waits, const struct thread_wait *wait,
		       struct wait_words *words)
{
	struct heap *heap = call->heap;
	struct cell cells[WAIT_COLUMNS] = {
		[WAIT_ID] = cell_number(wait->thread->id),
		[WAIT_OS_ID] = cell_number(wait->thread->os_id),
		[WAIT_FOR] = cell_string(wait_kind_name(wait->kind)),
	};
	words->name.size = words->owner_name.size = words->method.size = words->async.size = 0;
	if (!thread_name(heap, wait->thread, &words->name) &&
	    runtime_is_finalizer_thread(heap->runtime, wait->thread))
		text_puts(&words->name, "finalizer");
	cells[WAIT_NAME] = cell_text(words->name.size ? words->name.bytes : NULL, words->name.size);
	const struct type *type = wait->object.type ? wait->object.type : wait->initializer;
	if (wait->object.type)
		cells[WAIT_OBJECT] = cell_number(wait->object.address);
	if (type) {
		size_t size;
		const char *name = type_name(heap->runtime, type, &size);
		cells[WAIT_TYPE] = cell_type(name, size, type->method_table);
		if (wait->object.type && append_async_name(&words->async, waits, &wait->object))
			cells[WAIT_ASYNC] = cell_text(words->async.bytes, words->async.size);
	}
	if (wait->blamed_owner) {
		cells[WAIT_OWNER] = cell_number(wait->blamed_owner->id);
		cells[WAIT_OWNER_OS_ID] = cell_number(wait->blamed_owner->os_id);
		if (thread_name(heap, wait->blamed_owner, &words->owner_name)) {
			cells[WAIT_OWNER_NAME] =
				cell_text(words->owner_name.bytes, words->owner_name.size);
		}
	}
	uint64_t method = wait_method(wait);
	if (method) {
		runtime_method_signature(heap->runtime, method, &words->method);
		cells[WAIT_METHOD] = cell_text(words->method.bytes, words->method.size);
	}
	words->callers.size = 0;
	append_callers(&words->callers, waits, (uint32_t)(wait - waits->rows));
	if (words->callers.size)
		cells[WAIT_CALLERS] = cell_text(words->callers.bytes, words->callers.size);
	set_state(waits, wait, words, cells);
	answer_row(&call->answer, cells);
}

static enum hd_status write_waits(struct call *call, const struct waits *waits)
{
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	bool all = call->options[OPT_ALL].given;
	struct wait_words words = { 0 };
	enum hd_status status = HD_OK;
	answer_table(&call->answer, &waits_schema, &options);
	for (size_t i = 0; i < waits->count && status == HD_OK; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		if (!all && (wait->kind == WAIT_NONE || wait->kind == WAIT_IDLE))
			continue;
		if (answer_wants_row(&call->answer))
			write_wait(call, waits, wait, &words);
		status = call_check(call);
	}
	text_deinit(&words.name);
	text_deinit(&words.owner_name);
	text_deinit(&words.method);
	text_deinit(&words.callers);
	text_deinit(&words.async);
	text_deinit(&words.state);
	text_deinit(&words.handles);
	TRY(status);
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, options.limit);
	return HD_OK;
}

static enum hd_status run_waits(struct call *call)
{
	struct waits *waits;
	HD_CLEANUP(deadlocks) struct deadlocks deadlocks = { 0 };
	struct wait_gaps gaps;
	TRY(waits_create(call->heap, &call->job, &waits, call->err));
	wait_gaps_find(waits, &gaps);
	enum hd_status status = deadlocks_find(waits, &deadlocks, call->err);
	if (status == HD_OK) {
		write_deadlocks(call, waits, &deadlocks);
		status = write_waits(call, waits);
	}
	if (status == HD_OK) {
		status = write_chain_rows(call, waits->async);
	}
	if (status == HD_OK)
		write_gap_rows(call, &gaps, GAPS_OF_WAITS);
	call->findings = deadlocks.count > 0 || gaps.is_any;
	waits_destroy(waits);
	return status;
}

COMMAND(waits, .has_rows = true,
	.summary = "show what each thread and each async method waits for, and who has it",
	.description =
		"Deadlocks come first: threads and async methods that wait for each other. Locks,\n"
		"events, semaphores, tasks, joins, type initializers and calls of native code are told\n"
		"by the methods on the stacks, by the objects that these refer to, and by the runtime's\n"
		"monitors. Owner is the thread that must go on first; a semaphore, an event or a barrier\n"
		"has none. A semaphore that is not free has probably been entered by the only thread or\n"
		"async method that refers to it and waits for something else.\n"
		"Below are the async methods that no thread runs, equal chains together.\n"
		"Ends with status 1 when there is a deadlock, and when threads or locks cannot be read, so\n"
		"that one may not be seen.\n",
	.needs = NEEDS_HEAP, .options = waits_options);
