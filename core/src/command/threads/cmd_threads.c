/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/table.h"
#include "inspect/thread_name.h"
#include "targets/target.h"

#define SETTHREAD_OPTIONS(X)                                                                 \
	X(OPT_TID, "tid", VALUE_ADDRESS, "ID", "the thread with that OS id", NULL)           \
	X(OPT_THREAD, "thread", VALUE_THREAD, "N", "the thread whose managed id is N", NULL) \
	X(OPT_ALL, "all", VALUE_NONE, NULL, "choose none: commands show all threads again", NULL)

OPTIONS(setthread, SETTHREAD_OPTIONS);

#define THREAD_LIST(X)                                                                             \
	X(THREAD_CURRENT, "current", NULL, KIND_FLAG, 0, 0, "did setthread choose it?")            \
	X(THREAD_NUMBER, "number", NULL, KIND_NUMBER, 0, 0, "its place among the threads")         \
	X(THREAD_OS_ID, "os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system")                  \
	X(THREAD_ID, "id", NULL, KIND_NUMBER, 0, 0, "its managed id; null: .NET does not know it") \
	X(THREAD_NAME, "name", NULL, KIND_TEXT, 0, 0, "the name that the program gave it")

COLUMNS(os_thread, THREAD_COLUMNS, THREAD_LIST);

static const struct schema os_threads_schema = {
	.name = "threads",
	SCHEMA_COLUMNS(os_thread_columns),
	.is_main = true,
	.lines = "[?current *| ]{number} 0x{os_id:04X} ({os_id})[ managed {id}][ \"{name}\"]\n",
};
static const struct schema chosen_schema = { .name = "thread", SCHEMA_COLUMNS(os_thread_columns) };

/* Write a thread of the target, number @p index: a row, or a record as data. */
static void write_os_thread(struct call *call, size_t index, bool is_row)
{
	struct runtime *runtime = call->heap->runtime;
	const struct target_thread *thread = &runtime_target(runtime)->threads.rows[index];
	uint64_t os_id = (uint64_t)(uint32_t)thread->tid;
	HD_CLEANUP(text) struct text name = { 0 };
	struct cell cells[THREAD_COLUMNS] = {
		[THREAD_CURRENT] = cell_flag(thread->tid == call->session->selected),
		[THREAD_NUMBER] = cell_number(index),
		[THREAD_OS_ID] = cell_number(os_id),
	};
	const struct runtime_thread *found = runtime_thread_by_os_id(runtime, os_id);
	if (found) {
		cells[THREAD_ID] = cell_number(found->id);
		(void)thread_name(call->heap, found, &name);
		cells[THREAD_NAME] = cell_text(name.size ? name.bytes : NULL, name.size);
	}
	if (is_row) {
		answer_row(&call->answer, cells);
	} else {
		answer_data(&call->answer, &chosen_schema, cells);
	}
	call->out.text.failed |= name.failed;
}

static enum hd_status refuse_debugger(const struct call *call, const char *gdb, const char *lldb)
{
	if (!runtime_target(call->heap->runtime)->debugger.route)
		return HD_OK;
	return fail(call->err, HD_ERR_UNSUPPORTED, 0,
		    "the debugger selects the thread that commands are about: use its own command "
		    "(%s in GDB, %s in LLDB)",
		    gdb, lldb);
}

static enum hd_status run_threads(struct call *call)
{
	TRY(refuse_debugger(call, "info threads", "thread list"));
	enum hd_status status = HD_OK;
	answer_table(&call->answer, &os_threads_schema, NULL);
	size_t count = runtime_target(call->heap->runtime)->threads.count;
	for (size_t i = 0; i < count && status == HD_OK; i++) {
		write_os_thread(call, i, true);
		status = call_check(call);
	}
	(void)answer_table_end(&call->answer);
	return status;
}

/* The thread of the target that is asked for; NULL: *@p ret is the error. */
static const struct target_thread *find_os_thread(const struct call *call, enum hd_status *ret)
{
	const struct runtime *runtime = call->heap->runtime;
	const struct target_threads *threads = &runtime_target(runtime)->threads;
	const struct value *word = &call->words[0], *id = &call->options[OPT_THREAD];
	uint64_t os_id = call->options[OPT_TID].number;
	if (word->given && word->number < threads->count)
		return &threads->rows[word->number];
	if (word->given) {
		*ret = fail(call->err, HD_ERR_NOTFOUND, 0,
			    "no thread has the number %" PRIu64
			    ": threads lists them (-tid takes the OS id, -thread the managed one)",
			    word->number);
		return NULL;
	}
	if (id->given) {
		const struct runtime_thread *thread =
			id->number <= UINT32_MAX
				? runtime_thread_by_id(runtime, (uint32_t)id->number)
				: NULL;
		os_id = thread ? thread->os_id : 0;
		if (!os_id) {
			*ret = fail(call->err, HD_ERR_NOTFOUND, 0,
				    "%s the managed id %" PRIu64 "%s: clrthreads lists them",
				    thread ? "the thread with" : "no thread has", id->number,
				    thread ? " is not running" : "");
			return NULL;
		}
	}
	const struct target_thread *found =
		os_id && os_id <= INT32_MAX ? target_thread(runtime_target(runtime), (int32_t)os_id)
					    : NULL;
	if (!found) {
		*ret = fail(call->err, HD_ERR_NOTFOUND, 0,
			    "no thread of the target has the OS id %" PRIx64 ": threads lists them",
			    os_id);
	}
	return found;
}

static enum hd_status run_setthread(struct call *call)
{
	enum hd_status status = HD_OK;
	TRY(refuse_debugger(call, "thread N", "thread select N"));
	if (call->options[OPT_ALL].given) {
		call->session->selected = 0;
		answer_none(&call->answer, "thread");
		return HD_OK;
	}
	const struct target_thread *thread = find_os_thread(call, &status);
	if (!thread)
		return status;
	call->session->selected = thread->tid;
	size_t index = (size_t)(thread - runtime_target(call->heap->runtime)->threads.rows);
	write_os_thread(call, index, false);
	return HD_OK;
}

static enum hd_status check_setthread(struct call *call)
{
	unsigned int given = call->words[0].given;
	for (unsigned int i = OPT_TID; i <= OPT_ALL; i++)
		given += call->options[i].given;
	return given == 1 ? HD_OK : call_usage(call, "it takes one thread, or -all");
}

COMMAND(threads, .has_rows = true,
	.summary = "list all threads, with a mark at the one that setthread has chosen",
	.description = "These are the threads of the system, also those that .NET does not know;\n"
		       "clrthreads says more about those that it knows.\n",
	.top_level = TOP_LEVEL_NEVER, .needs = NEEDS_RUNTIME | NEEDS_THREADS);

COMMAND(setthread, .summary = "choose the thread that clrstack and others are about",
	.description =
		"N is the number that threads shows. clrstack, dumpstackobjects and printexception\n"
		"are about the chosen thread then, until another one is chosen or something else is\n"
		"opened; with -all they show all threads again. In a debugger, its own selected thread\n"
		"counts.\n",
	.example = "setthread 3", .top_level = TOP_LEVEL_NEVER,
	.needs = NEEDS_RUNTIME | NEEDS_THREADS, .options = setthread_options,
	.words = { { "N", VALUE_NUMBER, true } }, .check = check_setthread);
