/* SPDX-License-Identifier: MIT */
/* Pools of objects in a channel, all of which are taken by calls that wait for one more. */
#pragma once

#include "hangs/wait_things.h"

/**
 * Set pool_items, holders and holder of each thing that is a bounded channel with no item left, where calls that have
 * waited for it before, and wait for it again over another method, have all of its items: as many as it has room
 * for, and as there are objects of their type on the heap.  Nobody else refers to one of them, itself or over an object, so
 * that each call would give its own back only after another one does.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in async methods, roots and their references, for each such channel; and in the objects of the heap,
 * once, where all but their number fits.
 */
HD_NODISCARD enum hd_status wait_pools_find(const struct waits *waits, struct job *job,
					    struct wait_things *things, struct hd_error *err);
