/* SPDX-License-Identifier: MIT */
/* Tells what can end a wait: the less else can, the more it tells of a hang. */
#pragma once

#include "hangs/wait_groups.h"

/**
 * Set for each node what can end its own wait, of WhenAll and of a wait for a task that of those that it needs; of a
 * method that awaits another one nothing.
 *
 * @param[out] ret wait_nodes() of them, each an enum wait_urgency.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in nodes and parts.
 */
HD_NODISCARD enum hd_status wait_urgency_find(const struct waits *waits, uint8_t *ret,
					      struct hd_error *err);

/**
 * The same of a call, of which row @p row of waits->async is the outermost method: a limit of time may be on its way.
 *
 * @param urgencies wait_urgency_find()
 * @param own async_innermost_own()
 */
enum wait_urgency wait_urgency_of_call(const struct waits *waits, const uint8_t *urgencies,
				       uint32_t row, uint32_t own);

/** Does a thread, or the call of @p node, wait for others that are known, and so are told themselves? */
bool wait_is_for_known(const struct waits *waits, uint32_t node);
