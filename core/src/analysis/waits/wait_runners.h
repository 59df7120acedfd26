/* SPDX-License-Identifier: MIT */
/* Which thread runs a task or an async method. */
#ifndef HEAPDUMP_SRC_ANALYSIS_WAIT_RUNNERS_H
#define HEAPDUMP_SRC_ANALYSIS_WAIT_RUNNERS_H

#include "analysis/waits/waits.h"

struct wait_runner {
	uint64_t task; /**< what a frame that runs tasks refers to */
	uint32_t row;  /**< in waits->rows */
};

/** Ascending by task. */
struct wait_runners {
	struct wait_runner *rows;
	size_t rows_count, rows_capacity;
};

/** Is @p method ("Namespace.Type.Method") one whose "this" is a task that it runs? */
bool wait_runs_task(const char *method);

/**
 * Find the threads that run tasks.
 *
 * @param[out] ret To be given to wait_runners_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the roots of all stacks.
 */
HD_NODISCARD enum hd_status wait_runners_find(const struct waits *waits, struct job *job,
					      struct wait_runners *ret, struct hd_error *err);
void wait_runners_deinit(struct wait_runners *runners);

/** The row of the thread that runs @p task, or WAIT_NOBODY.  Cost: logarithmic. */
uint32_t wait_runner_of(const struct wait_runners *runners, uint64_t task);

#endif
