/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

/**
 * The nodes that no strong root reaches, and a small set of them from which all of them can be
 * reached.
 */
struct unreached {
	const uint64_t *live; /**< one bit per node: set if a strong root reaches it */
	uint64_t *own_live;   /**< the same, if the caller did not give it */
	uint64_t *tops;       /**< one bit per node: the nodes of the small set */
	uint64_t top_count;
	uint32_t node_count;
};

/**
 * Tops are the nodes that no other unreached node refers to, and one node of each cycle that
 * remains.
 *
 * @param live Borrowed; NULL: it is made.
 * @param[out] ret To be given to unreached_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status unreached_init(struct unreached *ret, const struct hd_graph *graph,
					   const uint64_t *live, struct job *job,
					   struct hd_error *err);
/** A zeroed struct is allowed. */
void unreached_deinit(struct unreached *unreached);
