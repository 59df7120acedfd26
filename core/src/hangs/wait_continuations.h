/* SPDX-License-Identifier: MIT */
/* Which nodes a task needs that is made of others: Task.WhenAll, Task.Run of an async method, Task.WaitAll. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

struct job;

/**
 * Follow m_continuationObject of the tasks that are async methods or that threads run, also through
 * tasks that only pass it on (WhenAll of a WhenAll).  What no task needs is not in it, nor are tasks
 * that are neither.
 *
 * @param runners See wait_runners_find().
 * @param[out] ret By the object that is told when the node's task is done, and goes on only then.  To be
 * given to wait_rows_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in async methods, and in the objects of the heap at most.
 */
HD_NODISCARD enum hd_status wait_continuations_find(const struct waits *waits,
						    const struct wait_rows *runners,
						    struct job *job, struct wait_rows *ret,
						    struct hd_error *err);
