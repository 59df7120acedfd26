/* SPDX-License-Identifier: MIT */
/* Threads and async methods that wait for each other. */
#pragma once

#include "hangs/waits.h"

/** A cycle: each of its members waits for the next one, and the last one for the first. */
struct deadlock {
	size_t begin, count;      /**< in deadlocks->members */
	size_t threads;           /**< so many members are threads, the others async methods */
	size_t following_threads; /**< others that wait for a member, directly or not */
	size_t following_chains;  /**< chains of async methods that do */
	bool is_probable;         /**< an edge of it is only probable */
};

/** All cycles; a node is in one at most, since it waits for one thing. */
struct deadlocks {
	struct deadlock *rows;
	size_t count;
	uint32_t *members; /**< nodes (waits.h) */
};

/**
 * Find the cycles of waits->edges.
 *
 * @param waits Borrowed.
 * @param[out] ret To be given to deadlocks_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in the number of nodes.
 */
HD_NODISCARD enum hd_status deadlocks_find(const struct waits *waits, struct deadlocks *ret,
					   struct hd_error *err);
void deadlocks_deinit(struct deadlocks *deadlocks);
