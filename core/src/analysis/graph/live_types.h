/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/graph.h>

#include "util/fail.h"

struct job;
struct reach;

/** Objects of one type, or of all. */
struct live_count {
	uint64_t count; /**< objects */
	uint64_t size;  /**< their bytes */
};

/**
 * Count the objects of @p reach by type.
 *
 * @param[out] ret an element for each type of @p graph, zeroed by the caller
 * @retval HD_OK
 * @retval HD_ERR_CANCELLED
 *
 * Cost: a pass over the objects.
 */
HD_NODISCARD enum hd_status live_types_count(const struct hd_graph *graph,
					     const struct reach *reach, struct job *job,
					     struct live_count *ret, struct hd_error *err);

/** The sum for all types that @p pattern names, as name_is() means it. */
struct live_count live_types_sum(const struct hd_graph *graph, const struct live_count *counts,
				 const char *pattern);

/** The sum of all types. */
struct live_count live_types_total(const struct hd_graph *graph, const struct live_count *counts);
