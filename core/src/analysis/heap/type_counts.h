/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/heap_gaps.h"
#include "analysis/heap/heap_range.h"
#include "analysis/statistics.h"

/** Objects and bytes of one type. */
struct count {
	uint64_t count, size;
};

/** Counts by type of a walk over a heap; empty when zero-initialised. */
struct type_counts {
	struct count *rows; /**< by type index */
	size_t capacity;
};

/** Make room for type @p index; false when memory is exhausted. */
bool type_counts_grow(struct type_counts *counts, size_t index);
void type_counts_deinit(struct type_counts *counts);

/** Count one object; false when memory is exhausted. */
static inline bool type_counts_add(struct type_counts *counts, const struct object *object)
{
	size_t index = object->type->index;
	if (index >= counts->capacity && !type_counts_grow(counts, index))
		return false;
	counts->rows[index].count++;
	counts->rows[index].size += object->size;
	return true;
}

/** Add @p other to @p sum; false when memory is exhausted. */
bool type_counts_merge(struct type_counts *sum, const struct type_counts *other);

/**
 * Count the objects of a part of the heap, with all workers.
 *
 * @param counts,gaps What was met is added to them.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status type_counts_walk(struct type_counts *counts, struct gaps *gaps,
					     struct heap *heap, const struct heap_range *range,
					     struct job *job, struct hd_error *err);

/**
 * Rows of statistics; types whose name does not hold @p part (may be NULL) are left out.
 *
 * @param[out] ret To be given to statistics_deinit(); untouched on failure.
 */
HD_NODISCARD enum hd_status type_counts_statistics(const struct type_counts *counts,
						   struct runtime *runtime, const char *part,
						   struct statistics *ret, struct hd_error *err);

/** Keep only the row of @p method_table. */
void statistics_keep(struct statistics *statistics, uint64_t method_table);
