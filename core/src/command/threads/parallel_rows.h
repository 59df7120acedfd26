/* SPDX-License-Identifier: MIT */
/* Trees of merged stacks, as answers. */
#ifndef HEAPDUMP_SRC_COMMAND_PARALLEL_ROWS_H
#define HEAPDUMP_SRC_COMMAND_PARALLEL_ROWS_H

#include "command/call.h"

struct parallel_stacks;

/** "frames": each with the threads whose stacks end there. */
extern const struct schema parallel_schema;

/** How trees are written. */
struct parallel_rows {
	struct call *call;
	struct parallel_stacks *stacks;
	uint32_t ids_shown; /**< threads that text lists in one line */
};

/**
 * Write the rows of the trees of threads, or of async methods: for programs each frame comes after
 * the one that called it; text has the innermost first, and a line over each tree.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status parallel_rows_write(const struct parallel_rows *rows, bool chains);

#endif
