/* SPDX-License-Identifier: MIT */
/* ConcurrencyLimiters whose permits nobody gives back. */
#pragma once

#include "hangs/wait_things.h"

/**
 * Look at each thing that is a ConcurrencyLimiter without a free permit: a lease that was not disposed of is an object
 * that refers to it, so whoever can still give permits back has one.  Set
 *
 * - lost, where leases that are alive have not all of the permits, and those have them (if any) that wait: then no
 *   permit comes back;
 * - pool_items, holders and holder, where calls have leases that wait for the same limiter again, and nobody else
 *   refers to these.
 *
 * Only where both together are all of its permits; else nothing is set: somebody has a lease, or gets one by and by.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in leases, async methods, roots and their references, for each such limiter; and in the heap, where
 * there is a lease that no call which waits has.
 */
HD_NODISCARD enum hd_status wait_limiters_find(const struct waits *waits, struct job *job,
					       struct wait_things *things, struct hd_error *err);
