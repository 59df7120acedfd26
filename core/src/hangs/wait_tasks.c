/* SPDX-License-Identifier: MIT */
#include "hangs/wait_tasks.h"

#include "analysis/async/async_graph.h"
#include "analysis/pool/queue_items.h"
#include "hangs/wait_several.h"

void wait_tasks_deinit(struct wait_tasks *tasks)
{
	wait_rows_deinit(&tasks->runners);
	wait_rows_deinit(&tasks->continuations);
}

enum hd_status wait_tasks_init(struct waits *waits, struct job *job, struct wait_tasks *ret,
			       struct hd_error *err)
{
	*ret = (struct wait_tasks){ .waits = waits };
	TRY(wait_runners_find(waits, job, &ret->runners, err));
	return wait_continuations_find(waits, &ret->runners, job, &ret->continuations, err);
}

uint32_t wait_task_node(const struct wait_tasks *tasks, uint64_t task)
{
	uint32_t box = async_graph_find(tasks->waits->async, task);
	if (box != ASYNC_NO_NODE)
		return (uint32_t)tasks->waits->count + box;
	uint32_t runner = wait_rows_first(&tasks->runners, task);
	return runner != WAIT_NOBODY ? runner : wait_rows_first(&tasks->continuations, task);
}

static enum async_type kind_at(const struct wait_tasks *tasks, uint64_t address, struct object *ret)
{
	struct async_graph *graph = tasks->waits->async;
	if (!member_object(tasks->waits->members, address, ret))
		return ASYNC_OTHER;
	return async_type_of(&graph->types, graph->heap->runtime, ret->type, &graph->failed);
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
	if (list.state != MEMBER_READ || !member_object(members, list.bits, &object))
		return false;
	struct member items = fact_of(members, &object, FACT_LIST_ITEMS);
	struct member size = fact_of(members, &object, FACT_LIST_SIZE);
	if (items.state != MEMBER_READ || size.state != MEMBER_READ)
		return array_read(tasks->waits->heap, &object, ret);
	if (!member_object(members, items.bits, &object) ||
	    !array_read(tasks->waits->heap, &object, ret) || size.bits > ret->length)
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
