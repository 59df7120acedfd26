/* SPDX-License-Identifier: MIT */
/* Who must go on before a task is done. */
#pragma once

#include "hangs/wait_continuations.h"
#include "hangs/wait_runners.h"

struct wait_tasks {
	struct waits *waits;
	struct wait_rows runners;
	struct wait_rows continuations;
};

/**
 * @param[out] ret To be given to wait_tasks_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
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
