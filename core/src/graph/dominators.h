/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/graph.h>

#include "util/fail.h"

struct job;

/**
 * The dominator tree below one virtual root that refers to every strongly rooted node, and what
 * each node retains.  Kept: 4 (idom) + 4 (size; 8 if all objects together have 4 GB or more) + 4 (count)
 * bytes per node; at most 24 per node while it is computed.  Missing nodes take part, but count as 0
 * objects and 0 bytes.
 */
struct dominators {
	uint32_t *idom; /**< immediate dominator; HD_NONE: the virtual root, or unreachable */
	uint32_t *small_sizes;    /**< retained bytes, or NULL: see dominators_size() */
	uint64_t *large_sizes;    /**< likewise: one of the two is there */
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

/** Bytes that would be freed together with @p node, including its own. */
static inline uint64_t dominators_size(const struct dominators *dominators, uint32_t node)
{
	return dominators->small_sizes ? dominators->small_sizes[node]
				       : dominators->large_sizes[node];
}

/** A zeroed struct is allowed. */
void dominators_deinit(struct dominators *dominators);
