/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"

/** The memory that the GC has besides its segments (doc/memory.md 2.1, 2.2). */
enum gc_area_kind {
	GC_AREA_RANGE, /**< all addresses that it may use for objects, or those of the first segments */
	GC_AREA_TABLE,
	GC_AREA_FREE_REGION, /**< committed memory of a region that no generation has */
};

struct gc_area {
	uint64_t start, end;
	enum gc_area_kind kind;
	const char *name; /**< of a table: "card table"; static.  Others: NULL */
};

struct gc_areas {
	struct gc_area *rows; /**< in no order; sound bounds, but they may overlap anything */
	size_t rows_count, rows_capacity;
	bool is_partial; /**< a header could not be read, or is not what it should be */
};

/**
 * Read the header of the GC's tables, and its records of regions.  What does not pass the checks is
 * left out.
 *
 * @param has_regions false: free regions are left out, for which all records are read
 * @param[out] ret To be given to gc_areas_deinit(); untouched on failure.
 * @retval HD_OK also if nothing is found
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status gc_areas_read(const struct heap *heap, bool has_regions,
					  struct job *job, struct gc_areas *ret,
					  struct hd_error *err);
void gc_areas_deinit(struct gc_areas *areas);
