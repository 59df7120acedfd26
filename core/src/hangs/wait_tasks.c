/* SPDX-License-Identifier: MIT */
#include "hangs/wait_tasks.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_several.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/job.h"

/* Methods that are remembered: common frames come again and again. */
#define REMEMBERED 4096u

/*
 * Which thread runs a task: frames of Task and of boxes of async methods, while they run their code,
 * refer to the task, which is their "this".
 */

/* Is a method one that runs tasks?  For the MethodDesc at the same place. */
struct method_answers {
	uint64_t methods[REMEMBERED];
	bool is_runner[REMEMBERED];
};

static bool method_begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

/* Task.ExecuteWithThreadLocal, Task<T>.InnerInvoke, ...; AsyncStateMachineBox<T>.MoveNext, ... */
bool wait_runs_task(const char *method)
{
	const char *last = strrchr(method, '.');
	if (!last)
		return false;
	if (method_begins_with(method, "System.Threading.Tasks."))
		return method_begins_with(last, ".Execute") || strcmp(last, ".InnerInvoke") == 0;
	if (!method_begins_with(method, "System.Runtime.CompilerServices."))
		return false;
	if (strstr(method, "RuntimeAsyncTask"))
		return method_begins_with(last, ".DispatchContinuations");
	return strstr(method, "StateMachineBox") &&
	       (method_begins_with(last, ".MoveNext") || method_begins_with(last, ".Execute"));
}

static bool is_runner(const struct waits *waits, const struct stack_frame *frame,
		      struct method_answers *answers)
{
	char name[WAIT_NAME_SIZE];
	size_t place = frame->method_desc / 8 % REMEMBERED;
	if (frame->kind != STACK_MANAGED || frame->is_dead || !frame->method_desc)
		return false;
	if (answers->methods[place] != frame->method_desc) {
		answers->methods[place] = frame->method_desc;
		answers->is_runner[place] =
			runtime_method_name(waits->heap->runtime, frame->method_desc, name,
					    sizeof(name), NULL) &&
			wait_runs_task(name);
	}
	return answers->is_runner[place];
}

static enum hd_status add_runners(const struct waits *waits, uint32_t row,
				  struct method_answers *answers, struct wait_rows *runners,
				  struct hd_error *err)
{
	const struct thread_wait *wait = &waits->rows[row];
	size_t begin = wait->wait_end == WAIT_NO_FRAME ? 0 : wait->wait_end;
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		if (root->frame < begin || root->frame >= wait->stack.frames_count ||
		    root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE) ||
		    !is_runner(waits, &wait->stack.frames[root->frame], answers))
			continue;
		TRY(wait_rows_add(runners, root->value, row, err));
	}
	return HD_OK;
}

static enum hd_status find_runners(struct wait_tasks *tasks, struct job *job, struct hd_error *err)
{
	const struct waits *waits = tasks->waits;
	HD_FREE struct method_answers *answers = mem_calloc(1, sizeof(*answers));
	TRY_MEMORY(answers, err);
	for (size_t i = 0; i < waits->count; i++) {
		TRY(add_runners(waits, (uint32_t)i, answers, &tasks->runners, err));
		TRY(job_check(job, 0, err));
	}
	wait_rows_sort(&tasks->runners);
	return HD_OK;
}

/* Objects that one task may lead to: a cycle ends here. */
#define LED_TO_MAX 65536u

struct continuation_search {
	const struct waits *waits;
	struct wait_rows *found;
	uint64_t *todo; /* objects that are told when a task of the node is done */
	size_t todo_count, todo_capacity;
	uint64_t budget; /* so many more may be looked at */
};

static enum hd_status add_todo(struct continuation_search *search, uint64_t address,
			       struct hd_error *err)
{
	if (!address || !search->budget)
		return HD_OK;
	search->budget--;
	TRY_MEMORY(PAGES_RESERVE(search, todo), err);
	search->todo[search->todo_count++] = address;
	return HD_OK;
}

/* Add the continuation that runs after the task at @p task. */
static enum hd_status add_next(struct continuation_search *search, uint64_t task,
			       struct hd_error *err)
{
	struct member next = fact_at(search->waits->members, task, FACT_TASK_NEXT);
	return next.state == MEMBER_READ ? add_todo(search, next.bits, err) : HD_OK;
}

/* Several continuations: a List<object> with holes. */
static enum hd_status add_items(struct continuation_search *search, const struct object *list,
				struct hd_error *err)
{
	const struct waits *waits = search->waits;
	struct member items = fact_of(waits->members, list, FACT_LIST_ITEMS);
	struct member size = fact_of(waits->members, list, FACT_LIST_SIZE);
	struct array_info array;
	if (items.state != MEMBER_READ || size.state != MEMBER_READ ||
	    !array_at(waits->heap, waits->members, items.bits, &array) || size.bits > array.length)
		return HD_OK;
	for (uint64_t i = 0; i < size.bits && search->budget; i++)
		TRY(add_todo(search, array_reference(waits->heap, &array, i), err));
	return HD_OK;
}

static enum hd_status take_target(struct continuation_search *search, uint64_t address,
				  uint32_t node, struct hd_error *err)
{
	struct async_graph *graph = search->waits->async;
	struct object object;
	if (!member_object(search->waits->members, address, &object))
		return HD_OK;
	enum async_type kind = async_graph_type(graph, object.type);
	if (kind == ASYNC_LIST)
		return add_items(search, &object, err);
	if (kind != ASYNC_WHEN_ALL && kind != ASYNC_UNWRAP && kind != ASYNC_WAIT_ALL)
		return HD_OK;
	TRY(wait_rows_add(search->found, address, node, err));
	return kind == ASYNC_WAIT_ALL ? HD_OK : add_next(search, address, err);
}

static enum hd_status follow_task(struct continuation_search *search, uint64_t task, uint32_t node,
				  struct hd_error *err)
{
	search->todo_count = 0;
	TRY(add_next(search, task, err));
	for (size_t i = 0; i < search->todo_count && i < LED_TO_MAX; i++)
		TRY(take_target(search, search->todo[i], node, err));
	return HD_OK;
}

static enum hd_status follow_all(struct continuation_search *search,
				 const struct wait_rows *runners, struct job *job,
				 struct hd_error *err)
{
	const struct waits *waits = search->waits;
	const struct async_graph *graph = waits->async;
	for (size_t i = 0; i < graph->rows_count; i++) {
		TRY(follow_task(search, graph->rows[i].address, (uint32_t)(waits->count + i), err));
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
	}
	for (size_t i = 0; i < runners->rows_count; i++) {
		/* An async method that runs was followed above. */
		if (async_graph_find(graph, runners->rows[i].object) == ASYNC_NO_NODE) {
			TRY(follow_task(search, runners->rows[i].object, runners->rows[i].node,
					err));
		}
	}
	return graph->failed ? fail_nomem(err) : HD_OK;
}

/*
 * Follow m_continuationObject of the tasks that are async methods or that threads run, also through
 * tasks that only pass it on (WhenAll of a WhenAll).
 */
static enum hd_status find_continuations(struct wait_tasks *tasks, struct job *job,
					 struct hd_error *err)
{
	const struct waits *waits = tasks->waits;
	struct continuation_search search = {
		.waits = waits,
		.found = &tasks->continuations,
		.budget = waits->async->objects + waits->async->rows_count +
			  tasks->runners.rows_count,
	};
	enum hd_status status = follow_all(&search, &tasks->runners, job, err);
	pages_free(search.todo, search.todo_capacity, sizeof(*search.todo));
	wait_rows_sort(search.found);
	return status;
}

void wait_tasks_deinit(struct wait_tasks *tasks)
{
	wait_rows_deinit(&tasks->runners);
	wait_rows_deinit(&tasks->continuations);
}

enum hd_status wait_tasks_init(struct waits *waits, struct job *job, struct wait_tasks *ret,
			       struct hd_error *err)
{
	*ret = (struct wait_tasks){ .waits = waits };
	TRY(find_runners(ret, job, err));
	return find_continuations(ret, job, err);
}

uint32_t wait_task_node(const struct wait_tasks *tasks, uint64_t task)
{
	uint32_t method = async_graph_find(tasks->waits->async, task);
	if (method != ASYNC_NO_NODE)
		return (uint32_t)tasks->waits->count + method;
	uint32_t runner = wait_rows_first(&tasks->runners, task);
	return runner != WAIT_NOBODY ? runner : wait_rows_first(&tasks->continuations, task);
}

static enum async_type kind_at(const struct wait_tasks *tasks, uint64_t address, struct object *ret)
{
	struct async_graph *graph = tasks->waits->async;
	if (!member_object(tasks->waits->members, address, ret))
		return ASYNC_OTHER;
	return async_graph_type(graph, ret->type);
}

/*
 * Add the tasks of a WhenAll that are known to have somebody who must go on: all that are left, or
 * some of them.
 */
static enum hd_status add_parts_of_all(struct wait_tasks *tasks, uint64_t target,
				       struct hd_error *err)
{
	const struct wait_rows *found = &tasks->continuations;
	for (size_t i = wait_rows_of(found, target);
	     wait_rows_has(found, i, target) && wait_parts_have_room(tasks->waits, 1); i++) {
		TRY(wait_part_add(tasks->waits, (struct wait_edge){ .to = found->rows[i].node },
				  err));
	}
	return HD_OK;
}

/* The first of two tasks. */
static enum hd_status add_two(struct wait_tasks *tasks, const struct object *promise,
			      struct hd_error *err)
{
	static const enum fact fields[] = { FACT_WHEN_ANY_FIRST, FACT_WHEN_ANY_SECOND };
	for (unsigned int i = 0; i < 2; i++) {
		struct member task = fact_of(tasks->waits->members, promise, fields[i]);
		uint32_t node =
			task.state == MEMBER_READ ? wait_task_node(tasks, task.bits) : WAIT_NOBODY;
		TRY(wait_part_add(tasks->waits, (struct wait_edge){ .to = node }, err));
	}
	return HD_OK;
}

/* An array of tasks, or a list of them. */
static bool read_tasks(const struct wait_tasks *tasks, const struct object *promise,
		       struct array_info *ret)
{
	struct members *members = tasks->waits->members;
	struct member list = fact_of(members, promise, FACT_WHEN_ANY_TASKS);
	struct object object;
	if (!member_object(members, list.bits, &object))
		return false;
	struct member items = fact_of(members, &object, FACT_LIST_ITEMS);
	struct member size = fact_of(members, &object, FACT_LIST_SIZE);
	if (items.state != MEMBER_READ || size.state != MEMBER_READ)
		return array_read(tasks->waits->heap, &object, ret);
	if (!array_at(tasks->waits->heap, members, items.bits, ret) || size.bits > ret->length)
		return false;
	ret->length = (uint32_t)size.bits;
	return true;
}

/* All tasks must be there: one that is not known may be done at any time. */
static enum hd_status add_parts_of_any(struct wait_tasks *tasks, const struct object *promise,
				       struct hd_error *err)
{
	struct array_info array;
	if (fact_of(tasks->waits->members, promise, FACT_WHEN_ANY_FIRST).state == MEMBER_READ)
		return add_two(tasks, promise, err);
	if (!read_tasks(tasks, promise, &array) ||
	    !wait_parts_have_room(tasks->waits, array.length))
		return wait_part_add(tasks->waits, (struct wait_edge){ .to = WAIT_NOBODY }, err);
	for (uint64_t i = 0; i < array.length; i++) {
		uint64_t task = array_reference(tasks->waits->heap, &array, i);
		TRY(wait_part_add(tasks->waits,
				  (struct wait_edge){ .to = wait_task_node(tasks, task) }, err));
	}
	return HD_OK;
}

enum hd_status wait_add_several(struct wait_tasks *tasks, uint32_t node, uint64_t target,
				struct hd_error *err)
{
	struct wait_several several = { .node = node, .begin = tasks->waits->several.parts_count };
	struct object object;
	enum async_type kind = kind_at(tasks, target, &object);
	if (kind == ASYNC_WHEN_ALL || kind == ASYNC_WAIT_ALL) {
		TRY(add_parts_of_all(tasks, target, err));
	} else if (kind == ASYNC_WHEN_ANY) {
		several.is_any = true;
		TRY(add_parts_of_any(tasks, &object, err));
	}
	return wait_several_add(tasks->waits, several, err);
}

/* Find the object that WaitAll or WaitAny uses: the frames of the wait refer to it. */
static uint64_t find_in_frames(const struct wait_tasks *tasks, const struct thread_wait *wait,
			       enum async_type wanted)
{
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		struct object object;
		if (root->frame < wait->wait_end &&
		    !(root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE)) &&
		    kind_at(tasks, root->value, &object) == wanted)
			return root->value;
	}
	return 0;
}

enum hd_status wait_add_several_of_thread(struct wait_tasks *tasks, const struct thread_wait *wait,
					  struct hd_error *err)
{
	uint64_t target = 0;
	if (wait->wait_end == WAIT_NO_FRAME)
		return HD_OK;
	if (wait->kind == WAIT_ALL_TASKS) {
		target = find_in_frames(tasks, wait, ASYNC_WAIT_ALL);
	} else if (wait->kind == WAIT_ANY_TASK) {
		target = find_in_frames(tasks, wait, ASYNC_WHEN_ANY);
	} else if (wait->kind == WAIT_TASK && wait->object.type) {
		target = wait->object.address;
	}
	return wait_add_several(tasks, (uint32_t)(wait - tasks->waits->rows), target, err);
}
