/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_GRAPH_REACH_H
#define HEAPDUMP_SRC_GRAPH_REACH_H

#include "graph/graph.h"

/** What a set of nodes keeps reachable, the nodes themselves included. */
struct reach {
	uint64_t *bitmap; /**< one bit per node */
	uint32_t node_count;
	uint64_t count; /**< objects; missing nodes do not count */
};

/**
 * Mark all that @p starts reach.  4 bytes per node while it runs.
 *
 * @param[out] ret To be given to reach_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status reach_init(const struct hd_graph *graph, const uint32_t *starts,
				       size_t start_count, struct job *job, struct reach *ret,
				       struct hd_error *err);

/** Mark all that is alive: reachable from a root that is not weak. */
HD_NODISCARD enum hd_status reach_from_roots(const struct hd_graph *graph, struct job *job,
					     struct reach *ret, struct hd_error *err);

/** Bytes of the objects; a pass over them. */
uint64_t reach_size(const struct hd_graph *graph, const struct reach *reach);

/** A zeroed struct is allowed. */
void reach_deinit(struct reach *reach);

#endif
