/* SPDX-License-Identifier: MIT */
/* Is there nobody in the program who goes on without something from outside, like a request? */
#pragma once

#include "hangs/waits.h"

struct job;

/**
 * Is the program quiet?  Then no thread runs its code or sleeps for a time, nothing is queued in the thread pool, no timer
 * of the program is set, and no call of its async methods waits for a time, a socket, a pipe, or anything of which it is
 * not known who ends it.  What is left waits for others of the program: tasks that somebody completes, channels, locks.
 * A server's own methods, which wait for requests, do not count.
 *
 * @param[out] ret false also where a stack or the timers cannot be read.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in threads, async methods, timers and work items.
 */
HD_NODISCARD enum hd_status wait_quiet_find(const struct waits *waits, struct job *job, bool *ret,
					    struct hd_error *err);
