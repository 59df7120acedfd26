/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/memory/word_rows.h"
#include "command/table.h"
#include "command/threads/thread_choice.h"
#include "util/job.h"

#define REGISTERS_OPTIONS(X)                                                                 \
	X(OPT_THREAD, "thread", VALUE_THREAD, "N", "the thread whose managed id is N", NULL) \
	X(OPT_ALL, "all", VALUE_NONE, NULL, "all threads, also where one is selected", NULL)

OPTIONS(registers, REGISTERS_OPTIONS);

static const struct table_options no_heading = { .no_heading = true };

struct registers_list {
	struct call *call;
	struct word_reader reader;
	struct word_cells kept;
	uint64_t symbols;
	size_t count;
};

static enum hd_status write_registers_of(struct registers_list *list,
					 const struct target_thread *thread)
{
	struct call *call = list->call;
	const struct arch *arch = runtime_arch(call->heap->runtime);
	answer_remark(&call->answer, "%sThread 0x%x\n", list->count++ ? "\n" : "",
		      (unsigned int)thread->tid);
	for (unsigned int i = 0; i < arch->register_count; i++) {
		struct cell cells[WORD_COLUMNS] = {
			[WORD_REGISTER] = cell_string(arch->register_names[i]),
			[WORD_THREAD] = cell_number((uint32_t)thread->tid),
		};
		TRY(word_cells(call, &list->reader, arch_word(arch, thread->registers, i),
			       &list->symbols, &list->kept, cells));
		answer_row(&call->answer, cells);
	}
	return call_check(call);
}

/* The id in the system that was chosen; any if @p choice is of all. */
static enum hd_status chosen_tid(struct call *call, const struct thread_choice *choice,
				 uint64_t *ret)
{
	const struct runtime *runtime = call->heap->runtime;
	*ret = choice->id;
	if (!choice->is_managed_id)
		return HD_OK;
	const struct runtime_thread *thread =
		choice->id <= UINT32_MAX ? runtime_thread_by_id(runtime, (uint32_t)choice->id)
					 : NULL;
	if (!thread || !thread->os_id)
		return thread_not_found(call, choice);
	*ret = thread->os_id;
	return HD_OK;
}

static enum hd_status write_chosen(struct registers_list *list, const struct thread_choice *choice)
{
	struct call *call = list->call;
	const struct target_threads *threads = &runtime_target(call->heap->runtime)->threads;
	uint64_t tid;
	TRY(chosen_tid(call, choice, &tid));
	answer_table(&call->answer, &word_schema, &no_heading);
	for (size_t i = 0; i < threads->count; i++) {
		if (!choice->is_one || (uint32_t)threads->rows[i].tid == tid)
			TRY(write_registers_of(list, &threads->rows[i]));
	}
	(void)answer_table_end(&call->answer);
	if (list->count || !choice->is_one)
		return HD_OK;
	return fail(call->err, HD_ERR_NOTFOUND, 0,
		    "the target has no thread with the OS id %" PRIx64 ": threads lists them", tid);
}

static enum hd_status run_registers(struct call *call)
{
	const struct thread_choice choice = thread_choice(
		call, &call->words[0], &call->options[OPT_THREAD], &call->options[OPT_ALL]);
	struct registers_list list = {
		.call = call,
		.reader = { .heap = call->heap },
		.symbols = WORD_SYMBOL_BYTES,
	};
	enum hd_status status = write_chosen(&list, &choice);
	word_cells_deinit(&list.kept);
	word_reader_deinit(&list.reader);
	return status;
}

COMMAND(registers, .alias = "r", .has_rows = true,
	.summary = "show the registers of the threads, and what each is the address of",
	.description =
		"ID is the OS id of a thread (hexadecimal); -thread N takes its managed id. Without\n"
		"them: the thread that the debugger or setthread has selected; all threads where there\n"
		"is none, and with -all. Beside a register is what dq shows beside a word.\n",
	.example = "registers -thread 1", .top_level = TOP_LEVEL_NEVER, .needs = NEEDS_RUNTIME,
	.options = registers_options, .words = { { "ID", VALUE_ADDRESS, true } });
