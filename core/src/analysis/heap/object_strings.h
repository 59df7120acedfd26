/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/object_tally.h"
#include "graph/heap_graph.h"
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

/**
 * Keep the values that contain @p part, as name_matches() has it; count and size are of these then.
 *
 * Cost: each value is read once, up to 1,048,576 UTF-16 units.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status strings_keep(struct strings *strings, const char *part, struct job *job,
					 struct hd_error *err);

/** Objects of a graph. */
struct string_nodes {
	uint32_t *nodes; /**< ascending */
	size_t nodes_count, nodes_capacity;
};

/**
 * The strings of @p graph, the graph of their heap, whose value contains @p part.
 *
 * @param[out] ret To be given to string_nodes_deinit(), also on failure.
 * Cost and statuses as strings_keep(), for each string.
 */
HD_NODISCARD enum hd_status string_nodes_init(const struct hd_graph *graph,
					      const struct strings *strings, const char *part,
					      struct job *job, struct string_nodes *ret,
					      struct hd_error *err);
void string_nodes_deinit(struct string_nodes *nodes);

/** Bytes that would be saved if there were one string of each value. */
uint64_t strings_duplicate_size(const struct strings *strings);
