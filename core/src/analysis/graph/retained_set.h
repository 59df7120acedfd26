/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

/** The objects that would be freed if a set of objects went away together. */
struct retained_set {
	uint64_t alive; /**< objects of the set that a root keeps alive */
	uint64_t count,
		size; /**< objects that the roots reach only through the set, with the set itself */
};

/**
 * Count what @p count objects @p nodes retain together; no node may come twice.  For a single
 * object this is its subtree of dominators.
 *
 * Cost: two passes over what is alive, 4 bytes per node and two bits.
 *
 * @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status retained_set_count(struct hd_graph *graph, const uint32_t *nodes,
					       size_t count, struct job *job,
					       struct retained_set *ret, struct hd_error *err);
