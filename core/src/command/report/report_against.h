/* SPDX-License-Identifier: MIT */
/* report -against OTHER: the other heap. */
#pragma once

#include "command/call.h"
#include "findings/comparison.h"

/** The part of the other heap that is kept. */
struct other_heap {
	struct inventory inventory;
	struct compared_with with;
};

/**
 * Open another dump, core or process, take its inventory, and close it.
 *
 * @param minutes Between the two, as the user says; 0: the files' own times are used.
 * @param[out] ret To be given to other_heap_deinit(), also on failure.  Not to be moved.
 */
HD_NODISCARD enum hd_status other_heap_read(struct call *call, const char *name, uint64_t minutes,
					    struct other_heap *ret);
void other_heap_deinit(struct other_heap *other);
