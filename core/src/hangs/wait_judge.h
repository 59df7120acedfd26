/* SPDX-License-Identifier: MIT */
/* Everything that is known of the things that many wait for. */
#pragma once

#include "hangs/wait_graph.h"
#include "hangs/wait_things.h"

/**
 * Find the things (wait_things_find()), and set all members of their rows: who may release them, who has them, and what
 * their own state proves.
 *
 * @param ends wait_ends()
 * @param graph Opened when it is needed.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status wait_things_judge(const struct waits *waits, const uint32_t *ends,
					      struct wait_graph *graph, struct job *job,
					      struct wait_things *ret, struct hd_error *err);
