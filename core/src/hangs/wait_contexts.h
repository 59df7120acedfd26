/* SPDX-License-Identifier: MIT */
/* Async methods that want to go on in a SynchronizationContext or a TaskScheduler, and the thread that runs it. */
#pragma once

#include "hangs/wait_schedulers.h"
#include "hangs/waits.h"

struct job;
struct wait_tasks;

struct wait_contexts {
	struct wait_rows threads; /**< by the context that is the current one of a thread */
	struct wait_rows
		posted; /**< threads, by the async method that has been posted to a context */
	struct wait_schedulers schedulers;
};

/**
 * Find the contexts of threads, and the async methods that have been posted to them: their delegates
 * are reached from the context over a few objects.  The class SynchronizationContext itself has no
 * thread: it posts to the pool.  Nothing proves that a class that derives from it has only one, so
 * what follows from this is only probable.  Of a TaskScheduler that is proven.
 *
 * @param[out] ret To be given to wait_contexts_deinit(), also on failure; empty before.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in threads, and a limit for each context, and that of wait_schedulers_find().
 */
HD_NODISCARD enum hd_status wait_contexts_find(const struct wait_tasks *tasks, struct job *job,
					       struct wait_contexts *ret, struct hd_error *err);
void wait_contexts_deinit(struct wait_contexts *contexts);

/**
 * The thread that an async method needs to go on, or WAIT_NOBODY: none, or not known, as when several
 * have its context, or lead to it.
 *
 * @param[out] ret_is_scheduler It runs a TaskScheduler, and no SynchronizationContext.
 */
uint32_t wait_context_of(const struct wait_contexts *contexts, const struct waits *waits,
			 const struct async_node *method, bool *ret_is_scheduler);
