/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_GRAPH_DOMINATORS_H
#define HEAPDUMP_SRC_GRAPH_DOMINATORS_H

#include <heapdump/graph.h>

#include "util/fail.h"

struct job;

/**
 * The dominator tree below one virtual root that refers to every strongly rooted node, and what
 * each node retains.  Kept: 4 (idom) + 8 (size) + 4 (count) bytes per node; at most 24 per node
 * while it is computed.  Missing nodes take part, but count as 0 objects and 0 bytes.
 */
struct dominators {
	uint32_t *idom; /**< immediate dominator; HD_NONE: the virtual root, or unreachable */
	uint64_t *retained_size;  /**< bytes that would be freed together with the node, including
				   * its own */
	uint32_t *retained_count; /**< objects, counted in the same way; 0 only for nodes that no
				   * strong root reaches, and missing nodes */
	uint32_t node_count;
};

/**
 * Compute with semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems",
 * 2005), iteratively.
 *
 * @param graph Its reverse edges are built if they do not exist yet.
 * @param job May be NULL.
 * @param[out] ret To be given to dominators_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_UNSUPPORTED as graph_reverse()
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status dominators_init(struct hd_graph *graph, struct job *job,
					    struct dominators *ret, struct hd_error *err);

/** A zeroed struct is allowed. */
void dominators_deinit(struct dominators *dominators);

#endif
