/* SPDX-License-Identifier: MIT */
/* Async methods, counted by method and state. */
#pragma once

#include "analysis/async/async_graph.h"

struct async_count {
	uint32_t first; /**< the row of the box with the lowest address */
	uint64_t count, bytes;
};

struct async_counts {
	struct async_count *rows; /**< most first */
	size_t rows_count, rows_capacity;
};

/**
 * Count the boxes of @p graph.
 *
 * @param[out] ret To be given to async_counts_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status async_counts_create(const struct async_graph *graph,
						struct async_counts *ret, struct hd_error *err);
void async_counts_deinit(struct async_counts *counts);
