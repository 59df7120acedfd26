/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_UNREACHED_H
#define HEAPDUMP_SRC_FORMAT_UNREACHED_H

#include "graph/heap_graph.h"

/** What no strong root reaches, and few nodes of it from which all of it is reached. */
struct unreached {
	const uint64_t *live; /**< a bit per node that a strong root reaches */
	uint64_t *own_live;   /**< the same, if it was not given */
	uint64_t *tops;       /**< a bit per node: those few */
	uint64_t top_count;
	uint32_t node_count;
};

/**
 * Tops are what no other unreached node refers to, and one node of each cycle that is left then.
 *
 * @param live Borrowed; NULL: it is made.
 * @param[out] ret To be given to unreached_deinit(), on failure as well.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status unreached_init(struct unreached *ret, const struct hd_graph *graph,
					   const uint64_t *live, struct job *job,
					   struct hd_error *err);
/** A zeroed struct is allowed. */
void unreached_deinit(struct unreached *unreached);

#endif
