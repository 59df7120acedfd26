/* SPDX-License-Identifier: MIT */
/* How many wait for what a node does, as far as they can be counted: threads, calls and items in queues. */
#pragma once

#include "hangs/waits.h"

struct job;

struct wait_demand {
	uint64_t
		calls; /**< threads, and async calls that nobody awaits, whose way ends at the node */
	uint64_t items; /**< in channels that a method reads which waits for the node in the end */
	uint64_t channel; /**< the last of these; 0: none */
	bool is_start;    /**< the start of a host waits for it, in a method of the program */
};

/**
 * Count them by node.
 *
 * @param ends wait_ends()
 * @param[out] ret wait_nodes() of them.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in nodes, and in the items of channels whose readers wait for a TaskCompletionSource or a delay
 * without end.
 */
HD_NODISCARD enum hd_status wait_demand_find(const struct waits *waits, const uint32_t *ends,
					     struct job *job, struct wait_demand *ret,
					     struct hd_error *err);

/**
 * Add the number of items that are in the channel at @p channel to @p items; nothing where it cannot be read.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in them.
 */
HD_NODISCARD enum hd_status wait_count_items(const struct waits *waits, uint64_t channel,
					     struct job *job, uint64_t *items,
					     struct hd_error *err);
