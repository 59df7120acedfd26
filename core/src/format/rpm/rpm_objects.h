/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct rpm_range;

/** The size of an object of SIZE_LARGE bytes or more; objects ascend in a chunk. */
struct rpm_large {
	size_t object; /**< its number in the chunk; the merge adds those of the chunks before */
	uint64_t size;
};

/** Objects and their references, in the order of the lines. */
struct rpm_objects {
	/* one element per object; pages, all four with the same capacity */
	uint64_t *ids;
	uint32_t *types; /**< row in rpm_types */
	uint32_t *sizes; /**< SIZE_LARGE: see large */
	uint32_t *degrees;
	size_t count, capacity;
	uint64_t *refs; /**< pages; ids, in the order of the objects */
	size_t refs_count, refs_capacity;
	struct rpm_large *large; /**< pages */
	size_t large_count, large_capacity;
	bool ascending; /**< ids strictly ascend */
};

/**
 * Make room for more objects: as many as @p range will need if its rest is like the part up to its
 * position.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED over 4 billion
 * @retval HD_ERR_NOMEM the arrays may be gone, and the count 0
 */
HD_NODISCARD enum hd_status rpm_objects_grow(struct rpm_objects *objects,
					     const struct rpm_range *range, struct hd_error *err);

/**
 * Make room for @p count more references.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status rpm_objects_reserve_refs(struct rpm_objects *objects, size_t count,
						     const struct rpm_range *range,
						     struct hd_error *err);

void rpm_objects_deinit(struct rpm_objects *objects);
