/* SPDX-License-Identifier: MIT */
/* Who must go on before a task is done. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

struct job;

struct wait_tasks {
	struct waits *waits;
	struct wait_rows
		runners; /**< threads, by the task to which their frames refer as the one that they run */
	/**
	 * Nodes, by the task made of others (WhenAll, Task.Run of an async method), or what WaitAll uses, that
	 * is told when the node's task is done, and goes on only then.
	 */
	struct wait_rows continuations;
};

/** Is @p method ("Namespace.Type.Method") one whose "this" is a task that it runs? */
bool wait_runs_task(const char *method);

/**
 * @param[out] ret To be given to wait_tasks_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the roots of all stacks, in async methods, and in the objects of the heap at most.
 */
HD_NODISCARD enum hd_status wait_tasks_init(struct waits *waits, struct job *job,
					    struct wait_tasks *ret, struct hd_error *err);
void wait_tasks_deinit(struct wait_tasks *tasks);

/** The async method that a task is, or the thread that runs it; WAIT_NOBODY: neither, or not known. */
uint32_t wait_task_node(const struct wait_tasks *tasks, uint64_t task);

/**
 * Add to waits->several what @p node needs that waits for the task of WhenAll or WhenAny at @p target,
 * or for what WaitAll uses; nothing when it is none of these.  Nodes are given in ascending order.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in the tasks that are waited for; many nodes that wait for many tasks get a part of them.
 */
HD_NODISCARD enum hd_status wait_add_several(struct wait_tasks *tasks, uint32_t node,
					     uint64_t target, struct hd_error *err);

/** The same for a thread that waits for one task, or in WaitAll or WaitAny. */
HD_NODISCARD enum hd_status wait_add_several_of_thread(struct wait_tasks *tasks,
						       const struct thread_wait *wait,
						       struct hd_error *err);
