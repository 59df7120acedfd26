/* SPDX-License-Identifier: MIT */
/* Is there anybody who may release a semaphore, use a channel or complete a task that many wait for? */
#pragma once

#include "hangs/wait_things.h"

struct job;

/**
 * Set may_change of things of which somebody may take care: a thread, an async method, a timer or a work
 * item of the pool that refers to it, itself or over a few objects; another call of a method that waits
 * for it, which is further; a method of a class with a static variable that leads to it.  Who waits for
 * the thing himself does not count, nor who sleeps without end.
 *
 * Others may be there: what is only reached over a static variable of another class, and what is still to
 * come (a request, a socket).  So nobody found means probably nobody.
 *
 * @param ends wait_ends()
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in nodes, roots, timers and work items; nothing without a thing of which it is not known.
 */
HD_NODISCARD enum hd_status wait_releasers_find(const struct waits *waits, const uint32_t *ends,
						struct job *job, struct wait_things *things,
						struct hd_error *err);
