/* SPDX-License-Identifier: MIT */
/* Which of some objects are still alive. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

struct job;

/**
 * Take away the pairs of objects that no root keeps alive.
 *
 * @param[out] ret_is_known false: the stack of a thread cannot be walked, the heap cannot be read, or there is no memory
 * for its graph; then all pairs stay.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the objects of the heap and their references; nothing without a pair.
 */
HD_NODISCARD enum hd_status wait_alive_keep(const struct waits *waits, struct job *job,
					    struct wait_rows *rows, bool *ret_is_known,
					    struct hd_error *err);

/**
 * Can each thread's stack be walked to its end, and all of the heap be read?  Then what is not found there is nowhere.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the objects of the heap.
 */
HD_NODISCARD enum hd_status wait_all_is_read(const struct waits *waits, struct job *job, bool *ret,
					     struct hd_error *err);
