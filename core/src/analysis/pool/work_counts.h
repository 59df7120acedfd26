/* SPDX-License-Identifier: MIT */
/* Work items and timers, counted by what they call. */
#pragma once

#include "analysis/graph/hash_index.h"
#include "analysis/pool/pool_state.h"
#include "util/text.h"

/** Items with one group and one callback. */
struct work_count {
	uint64_t group; /**< what the caller counts them by: a queue, a period */
	uint64_t first; /**< address of the first of them */
	uint64_t count;
	char *callback; /**< what they call; owned */
	size_t callback_size;
};

/** Empty when zero-initialised, but for heap and members. */
struct work_counts {
	struct heap *heap;
	struct members *members;
	struct work_count *rows;
	size_t rows_count, rows_capacity;
	struct hash_index index;
	struct text callback; /**< of the item that is added */
};

void work_counts_deinit(struct work_counts *counts);

/**
 * Count the object at @p address; what is not an object is counted as "<not an object>".
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status work_counts_add(struct work_counts *counts, uint64_t group,
					    uint64_t address, struct hd_error *err);

/** Sort the rows: those with the highest count first, then by group and callback. */
void work_counts_sort(struct work_counts *counts);
