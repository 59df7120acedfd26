/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/dominators.h"
#include "graph/heap_graph.h"

/**
 * Add up what the objects of each type retain, each by itself: the sum of what those retain that no
 * other object of the type dominates, so that nothing of a type counts twice.  What only several of
 * them together keep alive is not in it.
 *
 * @param[out] ret By type: graph->type_count elements, set to 0 by the caller.
 * Cost: one pass over the dominator tree; 8 bytes per node.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status retained_types(const struct hd_graph *graph,
					   const struct dominators *dominators, struct job *job,
					   uint64_t *ret, struct hd_error *err);
