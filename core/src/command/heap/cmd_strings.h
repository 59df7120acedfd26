/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/object_tally.h"
#include "command/call.h"

/** The choice of strings that are listed, by their values. */
struct strings_listing {
	uint64_t min;     /**< those that occur so often and more */
	uint64_t limit;   /**< the last so many, those of most bytes; UINT64_MAX: all */
	const char *part; /**< only values that contain it, and who refers to them; NULL: all */
	bool is_full;     /**< text has whole values, not only their begin */
};

/** Answer with the equal strings among the objects of @p filter: strings and dumpheap -strings. */
HD_NODISCARD enum hd_status strings_write(struct call *call, const struct object_filter *filter,
					  const struct strings_listing *listing);
