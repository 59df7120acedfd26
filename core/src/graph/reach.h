/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/graph.h>

#include "util/fail.h"

struct job;

/** The nodes that can be reached from a set of nodes, including these. */
struct reach {
	uint64_t *bitmap; /**< one bit per node */
	uint32_t node_count;
	uint64_t count; /**< objects; missing nodes do not count */
};

/** Marks the nodes that can be reached from some nodes; more can be added later. */
struct reach_pass {
	const struct csr *forward;
	uint64_t *bitmap; /**< one bit per node: reached; the caller may set others */
	uint32_t *queue;  /**< the reached nodes, in this order */
	uint64_t head, tail;
	uint32_t node_count;
};

/** Cost: 4 bytes per node that is reached, and a bit for each node.  Fails with HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status reach_pass_init(struct reach_pass *pass, const struct hd_graph *graph,
					    struct hd_error *err);
/** Also begin with @p node, unless it is marked. */
void reach_pass_add(struct reach_pass *pass, uint32_t node);
/** The same with each root that is not weak. */
void reach_pass_add_roots(struct reach_pass *pass, const struct hd_graph *graph);
/**
 * Mark everything that can be reached from what was added.
 *
 * @retval HD_OK
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status reach_pass_run(struct reach_pass *pass, struct job *job,
					   struct hd_error *err);
/** A zeroed struct is allowed. */
void reach_pass_deinit(struct reach_pass *pass);

/**
 * Mark everything that can be reached from @p starts. 4 bytes per node while it runs.
 *
 * @param[out] ret To be given to reach_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status reach_init(const struct hd_graph *graph, const uint32_t *starts,
				       size_t start_count, struct job *job, struct reach *ret,
				       struct hd_error *err);

/** Mark everything that is alive: reachable from a root that is not weak. */
HD_NODISCARD enum hd_status reach_from_roots(const struct hd_graph *graph, struct job *job,
					     struct reach *ret, struct hd_error *err);

/** Total size of the objects; takes a pass over them. */
uint64_t reach_size(const struct hd_graph *graph, const struct reach *reach);

/** A zeroed struct is allowed. */
void reach_deinit(struct reach *reach);
