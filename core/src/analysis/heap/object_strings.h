/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ANALYSIS_OBJECT_STRINGS_H
#define HEAPDUMP_SRC_ANALYSIS_OBJECT_STRINGS_H

#include "analysis/heap/object_tally.h"
#include "inspect/string_counts.h"

/**
 * Count the strings among the objects of @p filter by value; its type_part is not used here.
 *
 * @param[out] ret To be given to strings_deinit(); untouched on failure.
 * @param gaps What the walk met that is not an object is added to it.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM also when more than the job's max_mem would be needed
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status object_strings(struct heap *heap, const struct object_filter *filter,
					   struct job *job, struct strings *ret, struct gaps *gaps,
					   struct hd_error *err);

/** Bytes that would be saved if there were one string of each value. */
uint64_t strings_duplicate_size(const struct strings *strings);

#endif
