/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "analysis/threads/parallel_stacks.h"
#include "clr/code/source.h"
#include "command/table.h"
#include "command/threads/parallel_rows.h"
#include "command/threads/thread_choice.h"

/* So many threads are listed in one line, as SOS does it. */
#define IDS_SHOWN 4u

#define PARALLEL_OPTIONS(X)                                                           \
	X(OPT_ALL, "all", VALUE_NONE, NULL,                                           \
	  "list the ids of all threads that are at the same place, not only 4", NULL) \
	X(OPT_A, "a", VALUE_NONE, NULL, "the same as -all", NULL)                     \
	X(OPT_ALL_THREADS, "allthreads", VALUE_NONE, NULL, "the same as -all", NULL)  \
	X(OPT_NO_ASYNC, "noasync", VALUE_NONE, NULL,                                  \
	  "only threads; the heap is not searched for async methods", NULL)

OPTIONS(parallel, PARALLEL_OPTIONS);

/* Are two places in the code of a method on the same line of source? */
static bool is_same_line(void *arg, uint64_t method, uint64_t a, uint64_t b)
{
	struct clr *clr = arg;
	struct source_line x = { 0 }, y = { 0 };
	return clr_source_line(clr, method, a, &x) && clr_source_line(clr, method, b, &y) &&
	       x.file == y.file && x.line == y.line;
}

static const struct column total_columns[] = {
	{ "threads", NULL, KIND_NUMBER, 0, 0, "threads that have managed frames" },
	{ "roots", NULL, KIND_NUMBER, 0, 0, "different outermost frames of these" },
	{ "frameless", NULL, KIND_NUMBER, 0, 0, "threads that have no managed frames" },
	{ "partial", NULL, KIND_NUMBER, 0, 0, "stacks that could not be walked to their ends" },
	{ "async_chains", NULL, KIND_NUMBER, 0, 0, "chains of async methods that are not done" },
	{ "async_roots", NULL, KIND_NUMBER, 0, 0, "different outermost methods of these" },
};
SCHEMA(total, .name = "total");

static void write_stack_total(struct call *call, const struct parallel_stacks *stacks)
{
	struct answer *answer = &call->answer;
	uint64_t threads = stacks->threads.paths_count, chains = stacks->chains.paths_count;
	const struct cell cells[] = {
		cell_number(threads),
		cell_number(stacks->threads.roots),
		cell_number(stacks->frameless),
		cell_number(stacks->partial),
		cell_number(chains),
		cell_number(stacks->chains.roots),
	};
	char count[COUNT_SIZE], roots[COUNT_SIZE];
	answer_data(answer, &total_schema, cells);
	answer_remark(answer, "==> %s with %s\n", format_count(threads, "thread", count),
		      format_count(stacks->threads.roots, "root", roots));
	if (chains) {
		answer_remark(answer, "==> %s with %s\n",
			      format_count(chains, "async chain", count),
			      format_count(stacks->chains.roots, "root", roots));
	}
	if (stacks->frameless) {
		answer_remark(answer, "%s %s no managed frames.\n",
			      format_count(stacks->frameless, "thread", count),
			      stacks->frameless == 1 ? "has" : "have");
	}
	if (stacks->partial) {
		answer_remark(answer, "%s could not be walked to the end (clrstack says why).\n",
			      format_count(stacks->partial, "stack", count));
	}
}

static enum hd_status run_parallelstacks(struct call *call)
{
	static const struct table_options options = { .no_heading = true };
	const struct stack_tree_lines lines = { is_same_line, call->heap->clr };
	bool with_async = call->heap->is_walkable && !call->options[OPT_NO_ASYNC].given;
	HD_CLEANUP(parallel_stacks) struct parallel_stacks stacks = { 0 };
	TRY(threads_check(call));
	clr_symbols_set(call->heap->clr, call->settings.symbols);
	TRY(parallel_stacks_create(call->heap, with_async, &lines, &call->job, &stacks, call->err));
	bool all = call->options[OPT_ALL].given || call->options[OPT_A].given ||
		   call->options[OPT_ALL_THREADS].given;
	const struct parallel_rows rows = { .call = call,
					    .stacks = &stacks,
					    .ids_shown = all ? UINT32_MAX : IDS_SHOWN };
	answer_table(&call->answer, &parallel_schema, &options);
	TRY(parallel_rows_write(&rows, false));
	TRY(parallel_rows_write(&rows, true));
	(void)answer_table_end(&call->answer);
	write_stack_total(call, &stacks);
	return HD_OK;
}

COMMAND(parallelstacks, .alias = "pstacks", .has_rows = true,
	.summary = "merge the stacks of all threads, and of async methods, into trees",
	.description =
		"Threads that share their outermost frames share these lines; the number in front of a\n"
		"frame says how many threads have it. Over the innermost frames are the OS ids of the\n"
		"threads. Where these are at different lines of the same method, no line is shown.\n"
		"Below, in the same way, are the async methods that are not done: what the innermost\n"
		"waits for, or which thread runs it, then each method with the one that awaits it.\n"
		"Frames that only repeat are one line.\n",
	.example = "parallelstacks -all", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME,
	.options = parallel_options);
