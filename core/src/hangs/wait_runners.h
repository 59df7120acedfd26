/* SPDX-License-Identifier: MIT */
/* Which thread runs a task or an async method. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

struct job;

/** Is @p method ("Namespace.Type.Method") one whose "this" is a task that it runs? */
bool wait_runs_task(const char *method);

/**
 * Find the threads that run tasks, by the task to which their frames refer: wait_rows_first() tells
 * who runs one.
 *
 * @param[out] ret To be given to wait_rows_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the roots of all stacks.
 */
HD_NODISCARD enum hd_status wait_runners_find(const struct waits *waits, struct job *job,
					      struct wait_rows *ret, struct hd_error *err);
