/* SPDX-License-Identifier: MIT */
/* The largest groups of those that wait, and the threads that run, as an answer. */
#include "command/threads/hang_groups.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/async/async_wait.h"
#include "command/threads/failed_text.h"
#include "command/threads/wait_state.h"
#include "command/threads/wait_text.h"
#include "hangs/verdicts.h"
#include "inspect/async_name.h"

#define GROUP_LIST(X)                                                                                       \
	X(GROUP_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "so many wait there, in that way")                 \
	X(GROUP_WAITERS, "waiters", NULL, KIND_TEXT, 0, 0, "\"threads\" or \"async calls\"")                \
	X(GROUP_METHOD, "method", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                       \
	  "the method in which they wait: the program's, where one is on the stack")                        \
	X(GROUP_CALLERS, "callers", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                     \
	  "the methods of the program that have called that one, the nearest first")                        \
	X(GROUP_INSIDE, "inside", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                       \
	  "the method of a library in which all of these calls end")                                        \
	X(GROUP_WAITS_FOR, "waits_for", NULL, KIND_TEXT, 0, 0, "the kind of wait")                          \
	X(GROUP_OBJECT, "object", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                                    \
	  "the one object that all of them wait for")                                                       \
	X(GROUP_FAILED, "failed", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                                     \
	  "exceptions that the method of the first of them, which waits before it tries again, has caught") \
	X(GROUP_FAILURE, "failure", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                     \
	  "the type of these exceptions, and the last message")                                             \
	X(GROUP_SENTENCE, NULL, "sentence", KIND_TEXT, 0, 0, NULL)

COLUMNS(group, GROUP_COLUMNS, GROUP_LIST);

SCHEMA(group, .name = "groups", .lines = "[  {sentence}\n]");

/* Nothing: the method is not known. */
static void append_method(struct text *text, const struct waits *waits,
			  const struct wait_group *group)
{
	if (group->own != ASYNC_NO_NODE) {
		text_puts(text, async_node_name(waits->async, &waits->async->rows[group->own]));
		return;
	}
	(void)method_user_append(text, waits->heap->runtime,
				 wait_method(&waits->rows[group->node]));
}

/* "Shop.Bank.Audit <- Shop.Program.Main", with the callers that all of them have. */
static void append_methods(struct text *text, const struct waits *waits,
			   const struct wait_group *group)
{
	append_method(text, waits, group);
	if (!text->size || !group->callers.count)
		return;
	text_puts(text, " <- ");
	wait_callers_append(text, waits, &group->callers);
}

static const char *way_of(const struct waits *waits, const struct wait_group *group)
{
	if (group->own == ASYNC_NO_NODE)
		return wait_kind_name(waits->rows[group->node].kind);
	const struct async_node *node = wait_node_method(waits, group->node);
	return async_wait_name(waits->async->rows[node->end].wait);
}

/* The method of a library that has called for it; NULL: none, or one of the thing itself. */
static const char *inside_of(const struct waits *waits, const struct wait_group *group)
{
	static const char things[] = "System.Threading.";
	if (group->inner == ASYNC_NO_NODE)
		return NULL;
	const char *name = async_node_name(waits->async, &waits->async->rows[group->inner]);
	return strncmp(name, things, sizeof(things) - 1) == 0 ? NULL : name;
}

/*
 * "(Barrier, 5 of 6 have come)", "(channel read in Driver.Pool.Rent)": the state of the thing, if all wait for the same one,
 * and the method of a library that has called for it.
 */
static void append_way(struct text *text, const struct waits *waits, const struct wait_group *group)
{
	HD_CLEANUP(text) struct text state = { 0 };
	const char *inside = inside_of(waits, group);
	text_printf(text, " (%s", way_of(waits, group));
	if (inside) {
		text_puts(text, " in ");
		text_puts(text, inside);
	}
	if (group->object) {
		if (group->own == ASYNC_NO_NODE) {
			append_wait_state(&state, waits, &waits->rows[group->node]);
		} else {
			const struct async_node *node = wait_node_method(waits, group->node);
			async_wait_append(&state, waits->async, &waits->async->rows[node->end]);
		}
	}
	if (state.size) {
		text_puts(text, ", ");
		text_escape(text, state.bytes, state.size);
	}
	text_puts(text, ")");
}

static bool is_holder_sure(const struct waits *waits, const struct wait_group *group)
{
	const struct async_node *method = wait_node_method(waits, group->node);
	uint32_t own = method ? (uint32_t)waits->count + method->end : group->node;
	return !waits->edges[own].is_probable;
}

/* The wait at the end of what the holder of a group waits for: "Task.Delay", "Thread.Sleep"; NULL: it does not wait. */
static const char *append_holder_state(struct text *state, const struct waits *waits,
				       uint32_t holder)
{
	const struct thread_wait *thread = wait_node_thread(waits, holder);
	const struct async_node *method = wait_node_method(waits, holder);
	if (thread && (thread->kind == WAIT_NONE || thread->is_over))
		return NULL;
	if (thread) {
		append_wait_state(state, waits, thread);
		return wait_kind_name(thread->kind);
	}
	const struct async_node *end = &waits->async->rows[method->end];
	async_wait_append(state, waits->async, end);
	return async_wait_name(end->wait);
}

/* ", and a call of Ledger.Post probably has it and waits (Task.Delay, of 2000 ms)" */
static void append_holder(struct text *text, const struct waits *waits,
			  const struct wait_group *group)
{
	HD_CLEANUP(text) struct text state = { 0 };
	const struct thread_wait *thread = wait_node_thread(waits, group->holder);
	if (group->holder == WAIT_NOBODY)
		return;
	const char *way = append_holder_state(&state, waits, group->holder);
	text_puts(text, ", and ");
	if (thread) {
		append_thread(text, waits->heap, thread->thread);
	} else {
		text_puts(text, "a call of ");
		text_puts(text,
			  async_node_name(waits->async, wait_node_method(waits, group->holder)));
	}
	text_puts(text, is_holder_sure(waits, group) ? " has it" : " probably has it");
	if (!way)
		return;
	text_puts(text, " and waits");
	if (thread && thread->user_frame != WAIT_NO_FRAME) {
		text_puts(text, " in ");
		(void)method_user_append(text, waits->heap->runtime, wait_method(thread));
	}
	text_printf(text, " (%s", way);
	if (state.size) {
		text_puts(text, ", ");
		text_escape(text, state.bytes, state.size);
	}
	text_puts(text, ")");
}

void append_group(struct text *text, const struct waits *waits, const struct wait_group *group,
		  const struct failed_tries *tries)
{
	HD_CLEANUP(text) struct text method = { 0 };
	const char *verb = group->count == 1 ? "waits" : "wait";
	uint64_t threads = 0;
	for (size_t i = 0; i < waits->count; i++)
		threads += waits->rows[i].kind != WAIT_IDLE;
	append_methods(&method, waits, group);
	if (group->own != ASYNC_NO_NODE) {
		text_printf(text, "%" PRIu64 " %s of %s %s", group->count,
			    group->count == 1 ? "async call" : "async calls",
			    method.size ? method.bytes : "?", verb);
	} else {
		text_printf(text, "%" PRIu64 " of %" PRIu64 " %s %s%s%s", group->count, threads,
			    threads == 1 ? "thread" : "threads", verb, method.size ? " in " : "",
			    method.size ? method.bytes : "");
	}
	append_way(text, waits, group);
	append_holder(text, waits, group);
	append_tries(text, waits->heap, failed_tries_of(tries, waits, group->node));
}

void write_groups(struct call *call, const struct verdicts *verdicts,
		  const struct wait_groups *groups, size_t told)
{
	const struct waits *waits = verdicts->waits;
	static const struct table_options options = { .no_heading = true };
	answer_table(&call->answer, &group_schema, &options);
	for (size_t i = 0; i < groups->rows_count; i++) {
		const struct wait_group *group = &groups->rows[i];
		HD_CLEANUP(text)
		struct text method = { 0 }, callers = { 0 }, sentence = { 0 }, failure = { 0 };
		bool is_thread = group->own == ASYNC_NO_NODE;
		append_method(&method, waits, group);
		wait_callers_append(&callers, waits, &group->callers);
		append_group(&sentence, waits, group, &verdicts->failed);
		text_puts(&sentence, ".");
		const struct failed_try *failed =
			failed_tries_of(&verdicts->failed, waits, group->node);
		if (failed)
			append_failure(&failure, waits->heap, failed);
		call->out.text.failed |=
			method.failed || callers.failed || sentence.failed || failure.failed;
		struct cell cells[GROUP_COLUMNS] = {
			[GROUP_COUNT] = cell_number(group->count),
			[GROUP_WAITERS] = cell_string(is_thread ? "threads" : "async calls"),
			[GROUP_INSIDE] = cell_string(inside_of(waits, group)),
			[GROUP_WAITS_FOR] = cell_string(way_of(waits, group)),
		};
		if (method.size)
			cells[GROUP_METHOD] = cell_text(method.bytes, method.size);
		if (callers.size)
			cells[GROUP_CALLERS] = cell_text(callers.bytes, callers.size);
		if (failed) {
			cells[GROUP_FAILED] = cell_number(failed->count);
			cells[GROUP_FAILURE] = cell_text(failure.bytes, failure.size);
		}
		if (group->object)
			cells[GROUP_OBJECT] = cell_number(group->object);
		if (i >= told)
			cells[GROUP_SENTENCE] = cell_text(sentence.bytes, sentence.size);
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
}

static const struct column running_columns[] = {
	{ "id", NULL, KIND_NUMBER, 0, 0, "its managed id" },
	{ "os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system" },
	{ "method", NULL, KIND_TEXT, 0, 0, "the method of the program that it is in" },
	{ NULL, "who", KIND_TEXT, 0, 0, NULL },
};

SCHEMA(running, .name = "running", .lines = "  {who} runs {method:m}\n");

void write_running(struct call *call, const struct waits *waits)
{
	static const struct table_options options = { .no_heading = true };
	HD_CLEANUP(text) struct text method = { 0 }, thread = { 0 };
	answer_table(&call->answer, &running_schema, &options);
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		if (wait->kind != WAIT_NONE || !wait_method(wait))
			continue;
		method.size = thread.size = 0;
		append_thread(&thread, call->heap, wait->thread);
		runtime_method_signature(call->heap->runtime, wait_method(wait), &method);
		const struct cell cells[] = { cell_number(wait->thread->id),
					      cell_number(wait->thread->os_id),
					      cell_text(method.bytes, method.size),
					      cell_text(thread.bytes, thread.size) };
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
}
