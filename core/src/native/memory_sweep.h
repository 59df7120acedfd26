/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

/** Somebody's claim on addresses [start, end). */
struct memory_claim {
	uint64_t start, end;
	uint32_t priority; /**< the smallest has the address */
	uint32_t row;      /**< who claims it */
};

/** Addresses [start, end) that one row has. */
struct memory_stretch {
	uint64_t start, end;
	uint32_t row;
};

/**
 * Give each address that is claimed to the claim with the smallest priority, then the smallest row.
 * Claims may be in any order, overlap and be empty; they are sorted.
 *
 * @param[out] ret ascending, not overlapping; neighbours of one row are one stretch.  To be given to
 * mem_free(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status memory_sweep(struct memory_claim *claims, size_t count,
					 struct memory_stretch **ret, size_t *ret_count,
					 struct hd_error *err);
