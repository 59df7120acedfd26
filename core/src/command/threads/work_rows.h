/* SPDX-License-Identifier: MIT */
/* Writes the queues of the thread pool as tables. */
#pragma once

#include "analysis/pool/pool_state.h"
#include "command/call.h"

/** Work items of all queues. */
uint64_t pool_queues_count(const struct pool_queues *queues);

/**
 * Write the table "work_items": the items of each queue, merged by the method that they call, most
 * first.
 *
 * @param[in] limit So many rows.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status write_merged_work(struct call *call, struct members *members,
					      const struct pool_queues *queues, uint64_t limit);
