/* SPDX-License-Identifier: MIT */
/* Threads that wait for each other. */
#ifndef HEAPDUMP_SRC_ANALYSIS_DEADLOCKS_H
#define HEAPDUMP_SRC_ANALYSIS_DEADLOCKS_H

#include "analysis/waits/waits.h"

/** A cycle: each of its threads waits for the next one, and the last one for the first. */
struct deadlock {
	size_t begin, count; /**< in deadlocks->members */
	size_t followers;    /**< other threads that wait for one of them, directly or not */
	bool is_probable;    /**< an owner in it is only thread_wait.probable */
};

/** All cycles; a thread is in one at most, since it waits for one thing. */
struct deadlocks {
	struct deadlock *rows;
	size_t count;
	const struct thread_wait **members;
};

/**
 * Find the cycles of thread_wait.owner; where that is not known, of thread_wait.probable.
 *
 * @param waits Borrowed.
 * @param[out] ret To be given to deadlocks_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in the number of threads.
 */
HD_NODISCARD enum hd_status deadlocks_find(const struct waits *waits, struct deadlocks *ret,
					   struct hd_error *err);
void deadlocks_deinit(struct deadlocks *deadlocks);

#endif
