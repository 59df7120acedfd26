/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/heap_gaps.h"
#include "analysis/heap/life.h"

/** How many generations are counted separately, by enum generation. */
#define BYTES_GENERATIONS 6u

/** The figures that are counted for each generation. */
enum bytes_figure {
	BYTES_SIZE,     /**< from the first object to the end of the last */
	BYTES_FREE,     /**< of Free blocks */
	BYTES_UNROOTED, /**< of objects that no root keeps alive */
	BYTES_COMMITTED,
	BYTES_FIGURES,
	BYTES_LIVE = BYTES_FIGURES, /**< of objects that roots keep alive; SOS does not show it */
	BYTES_COUNTED
};

/** Bytes of one logical heap, or of all. */
struct generation_bytes {
	uint64_t of[BYTES_COUNTED][BYTES_GENERATIONS];
};

/** Add @p other to @p sum. */
void generation_bytes_add(struct generation_bytes *sum, const struct generation_bytes *other);

/**
 * Count the bytes of each logical heap, with all workers.
 *
 * @param[in,out] ret heap->heap_count of them, zeroed.
 * @param dead For BYTES_UNROOTED and BYTES_LIVE, which are not counted when its graph is NULL.
 * @param gaps What the walk met that is not an object is added to it.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status generation_bytes_count(struct generation_bytes *ret, struct heap *heap,
						   const struct life *dead, struct job *job,
						   struct gaps *gaps, struct hd_error *err);
