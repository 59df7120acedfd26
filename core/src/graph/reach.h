/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_GRAPH_REACH_H
#define HEAPDUMP_SRC_GRAPH_REACH_H

#include <heapdump/graph.h>

#include "util/fail.h"

struct job;

/** What a set of nodes keeps reachable, the nodes themselves included. */
struct reach {
	uint64_t *bitmap; /**< one bit per node */
	uint32_t node_count;
	uint64_t count; /**< objects; missing nodes do not count */
};

/** Marks what nodes reach: from some of them, then from more. */
struct reach_pass {
	const struct csr *forward;
	uint64_t *
		bitmap; /**< one bit per node: those that were met; others may be set from outside */
	uint32_t *queue; /**< those that were met, in this order */
	uint64_t head, tail;
	uint32_t node_count;
};

/** 4 bytes per node that is met, and a bit for each.  HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status reach_pass_init(struct reach_pass *pass, const struct hd_graph *graph,
					    struct hd_error *err);
/** Begin with @p node, too, unless it is marked. */
void reach_pass_add(struct reach_pass *pass, uint32_t node);
/** The same with each root that is not weak. */
void reach_pass_add_roots(struct reach_pass *pass, const struct hd_graph *graph);
/**
 * Mark all that is reached from what was added.
 *
 * @retval HD_OK
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status reach_pass_run(struct reach_pass *pass, struct job *job,
					   struct hd_error *err);
/** A zeroed struct is allowed. */
void reach_pass_deinit(struct reach_pass *pass);

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
