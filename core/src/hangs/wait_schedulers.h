/* SPDX-License-Identifier: MIT */
/* Async methods that want to go on in a TaskScheduler which runs one task at a time, and the thread that is in such a task. */
#pragma once

#include "hangs/wait_rows.h"

struct job;
struct wait_tasks;

struct wait_schedulers {
	struct wait_rows threads; /**< by the scheduler: the thread that runs a task of it */
	struct wait_rows
		queued; /**< those threads, by the async method whose next step is queued */
};

/**
 * Find schedulers that run one task at a time, while a thread runs one of their tasks: the framework says so of its own, and of
 * others the queue does, where it has tasks that nobody else can take.  For this, one thread only runs tasks of the scheduler,
 * and no other thread, timer, async method that waits for a time, or work item of the pool leads to the scheduler or its queue, which is reached from it
 * over a few objects.
 *
 * @param[out] ret To be given to wait_schedulers_deinit(), also on failure; empty before.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the tasks that threads run; for each scheduler of one thread in threads, async methods, timers and work items, too.
 */
HD_NODISCARD enum hd_status wait_schedulers_find(const struct wait_tasks *tasks, struct job *job,
						 struct wait_schedulers *ret, struct hd_error *err);
void wait_schedulers_deinit(struct wait_schedulers *schedulers);
