/* SPDX-License-Identifier: MIT */
/* How many objects of each size a heap has, by generation. */
#pragma once

#include "analysis/heap/heap_gaps.h"
#include "util/job.h"

/** The objects of one size in one generation. */
struct objects_of_size {
	uint64_t size; /**< bytes, rounded up to 8 */
	uint64_t count;
	uint8_t generation; /**< enum generation, never GENERATION_EPHEMERAL */
	bool is_free;       /**< Free blocks, not objects */
};

/** Objects first, then Free blocks; by generation, then ascending by size. */
struct size_counts {
	struct objects_of_size *rows;
	size_t rows_count, rows_capacity;
};

/**
 * Count them, with all workers.
 *
 * @param[out] ret To be given to size_counts_deinit(), also on failure.
 * @param gaps What the walk met that is not an object is added to it.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status size_counts_read(struct size_counts *ret, struct heap *heap,
					     struct job *job, struct gaps *gaps,
					     struct hd_error *err);
void size_counts_deinit(struct size_counts *counts);
