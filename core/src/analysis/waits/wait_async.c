/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for a task: its method may await others, and the innermost one may run on
 * another thread.
 */
#include "analysis/async/async_graph.h"
#include "analysis/waits/wait_parts.h"

/* The thread that runs the method of a box: its frames refer to the box, which is their "this". */
static const struct clr_thread *runner_of(const struct waits *waits, uint64_t box)
{
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		for (size_t k = 0; k < wait->stack.roots_count; k++) {
			const struct stack_root *root = &wait->stack.roots[k];
			/* Who waits for the task refers to it, too. */
			if (root->value == box && wait->object.address != box &&
			    !(root->flags & STACK_ROOT_CONSERVATIVE))
				return wait->thread;
		}
	}
	return NULL;
}

void wait_follow_task(struct waits *waits, struct thread_wait *wait)
{
	const struct async_graph *graph = waits->async;
	if (wait->kind != WAIT_TASK || wait->owner)
		return;
	uint32_t row = async_graph_find(graph, wait->object.address);
	if (row == ASYNC_NO_BOX)
		return;
	const struct async_node *end = &graph->rows[async_graph_end(graph, row)];
	/* A method that awaits something runs on no thread. */
	if (end->wait == AWAIT_RUNS || (end->wait == AWAIT_THREAD && !end->object))
		wait->owner = runner_of(waits, end->address);
	if (wait->owner == wait->thread)
		wait->owner = NULL;
}
