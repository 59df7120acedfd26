/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/graph/link_names.h"

/** The objects of one type that refer by one field. */
struct referrer_count {
	uint32_t type, name; /**< index in graph->types; number of the link's name */
	uint64_t references;
	uint64_t objects, size; /**< how many objects have such references, and their bytes */
	uint32_t last;          /**< object that was counted last */
};

/** Who refers directly to some objects, by type and field. */
struct referrer_counts {
	struct link_names names;
	struct referrer_count *rows; /**< most references first */
	size_t rows_count, rows_capacity;
	struct hash_index index;
	uint64_t references; /**< of all rows */
	uint64_t roots;      /**< roots that refer to the objects; repeated records count once */
};

/**
 * Count the references to @p count objects @p nodes; no node may come twice.
 *
 * Cost: 8 bytes for each reference to them, and sorting these; the reverse references of @p graph
 * are made if they do not exist yet.
 *
 * @param[out] ret To be given to referrer_counts_deinit(); untouched on failure.
 * @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED  @retval HD_ERR_UNSUPPORTED see graph_reverse()
 */
HD_NODISCARD enum hd_status referrer_counts_init(struct hd_graph *graph, const uint32_t *nodes,
						 size_t count, struct job *job,
						 struct referrer_counts *ret, struct hd_error *err);
void referrer_counts_deinit(struct referrer_counts *counts);
