/* SPDX-License-Identifier: MIT */
#include "command/async/task_chains.h"

#include <string.h>

#include "analysis/async/async_wait.h"
#include "analysis/async/task_state.h"
#include "analysis/heap/object_pass.h"
#include "analysis/name_match.h"
#include "analysis/pool/callback_name.h"

#define LOOSE_LIST(X)                                                                  \
	X(LOOSE_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "the task")              \
	X(LOOSE_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "its MethodTable")                 \
	X(LOOSE_STATUS, "status", NULL, KIND_TEXT, 0, 0, "its TaskStatus")             \
	X(LOOSE_METHOD, "method", NULL, KIND_TEXT, 0, 0, "what it calls, or its type") \
	X(LOOSE_TYPE, "type", NULL, KIND_TYPE, 0, 0, "its type")                       \
	X(LOOSE_AWAITED_BY, "awaited_by", NULL, KIND_TEXT, 0, 0, "who goes on when it is complete")

COLUMNS(loose, LOOSE_COLUMNS, LOOSE_LIST);

SCHEMA(loose, .name = "tasks", .heading = "TASKS that no async method waits for",
       .lines = "{address:012a} {mt:012} ({status}) {method:m}[?awaited_by ; awaited by "
		"{awaited_by}]\n");

struct loose_tasks {
	struct call *call;
	struct async_graph *graph;
	const struct task_choice *choice;
	struct text method;
	uint64_t count;
};

static bool is_chosen(struct loose_tasks *tasks, const struct object *task,
		      const struct task_state *state)
{
	const struct task_choice *choice = tasks->choice;
	size_t size;
	const char *name = type_name(tasks->call->heap->runtime, task->type, &size);
	return (choice->with_done || state->status < TASK_RAN_TO_COMPLETION) &&
	       (!choice->mt || choice->mt == task->type->method_table) &&
	       (!choice->address || choice->address == task->address) &&
	       (!choice->type || name_matches(name, size, choice->type) ||
		name_matches(tasks->method.bytes, tasks->method.size, choice->type));
}

static void write_loose(struct loose_tasks *tasks, const struct object *task,
			const struct task_state *state)
{
	struct answer *answer = &tasks->call->answer;
	const struct async_node node = { .address = task->address, .type = task->type };
	size_t size;
	if (!answer_wants_row(answer))
		return;
	const char *name = type_name(tasks->call->heap->runtime, task->type, &size);
	/* A task that is complete has a mark in the place of who goes on. */
	enum async_root root = state->status < TASK_RAN_TO_COMPLETION
				       ? async_root_of(tasks->graph, &node)
				       : ROOT_NOBODY;
	const struct cell cells[LOOSE_COLUMNS] = {
		[LOOSE_ADDRESS] = cell_number(task->address),
		[LOOSE_MT] = cell_number(task->type->method_table),
		[LOOSE_STATUS] = cell_string(task_status_name(state->status)),
		[LOOSE_METHOD] = cell_text(tasks->method.bytes, tasks->method.size),
		[LOOSE_TYPE] = cell_type(name, size, task->type->method_table),
		[LOOSE_AWAITED_BY] = cell_shown(cell_string(async_root_name(root)),
						root == ROOT_NOBODY ? "" : NULL),
	};
	answer_row(answer, cells);
}

static enum hd_status meet_loose(void *arg, const struct object *task, struct hd_error *err)
{
	struct loose_tasks *tasks = arg;
	struct async_graph *graph = tasks->graph;
	struct task_state state;
	uint64_t target;
	enum async_type kind = async_graph_type(graph, task->type);
	if (graph->failed)
		return fail_nomem(err);
	if (async_type_is_method(kind) || !async_type_is_task(kind) ||
	    !task_state_read(graph->heap, graph->members, task, &state))
		return HD_OK;
	tasks->method.size = 0;
	(void)callback_append(&tasks->method, graph->heap, graph->members, task, &target);
	if (is_chosen(tasks, task, &state) && !async_task_leads_to_method(graph, task)) {
		tasks->count++;
		write_loose(tasks, task, &state);
	}
	return tasks->method.failed || graph->failed ? fail_nomem(err) : HD_OK;
}

enum hd_status write_task_chains(struct call *call, struct async_graph *graph,
				 const struct task_choice *choice, uint64_t *ret_count)
{
	struct loose_tasks tasks = { .call = call, .graph = graph, .choice = choice };
	const struct table_options options = { .limit = choice->limit };
	answer_table(&call->answer, &loose_schema, &options);
	enum hd_status status =
		object_pass_all(call->heap, meet_loose, &tasks, &call->job, call->err);
	text_deinit(&tasks.method);
	if (status != HD_OK)
		return status;
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, choice->limit);
	answer_remark(&call->answer, "\n");
	*ret_count = tasks.count;
	return HD_OK;
}
