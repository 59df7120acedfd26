/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

/** Which part of a heap is asked for; zero: all of it. */
struct range_choice {
	bool has_heap, has_segment, has_generation, has_begin;
	uint8_t generation;  /**< enum generation */
	uint64_t heap;       /**< index of the logical heap */
	uint64_t segment;    /**< its address, or one inside of it */
	uint64_t begin, end; /**< objects that start in [begin, end); end 0: to the last */
};

/** The part of a heap that was chosen; zero: nothing. */
struct heap_range {
	const struct segment **segments; /**< ascending */
	size_t count;
	uint64_t begin, end; /**< objects that start in [begin, end); end 0: to the last */
	bool has_generation;
	uint8_t generation; /**< enum generation; in an ephemeral segment, each object is checked */
	bool is_whole;      /**< nothing was left out */
};

/** Committed memory of a segment as SOS counts it, beginning with the page of the first object. */
uint64_t segment_committed_size(const struct segment *segment);

/**
 * Compute the range.
 *
 * @param[out] ret To be given to heap_range_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_ARGUMENT no such heap or segment
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status heap_range_init(struct heap_range *ret, const struct heap *heap,
					    const struct range_choice *choice,
					    struct hd_error *err);
/** A zeroed struct is allowed. */
void heap_range_deinit(struct heap_range *range);

/**
 * Is the object at @p address inside the range?  @p segment is the object's, one of the range's.
 */
static inline bool heap_range_has(const struct heap_range *range, const struct segment *segment,
				  uint64_t address)
{
	if (address < range->begin || (range->end && address >= range->end))
		return false;
	return !range->has_generation ||
	       segment_generation_at(segment, address) == range->generation;
}

/** Begin a walk that meets every object of the range in @p segment. */
void heap_range_walk(const struct heap_range *range, struct walker *walker,
		     const struct segment *segment);

/** Bytes of the segments, for progress. */
uint64_t heap_range_bytes(const struct heap_range *range);
