/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ANALYSIS_ROOT_PATHS_H
#define HEAPDUMP_SRC_ANALYSIS_ROOT_PATHS_H

#include "graph/heap_graph.h"

/** A rooted object, and the root that is shown for it. */
struct seed {
	uint32_t node;
	uint32_t root; /**< index in graph->roots */
};

/**
 * The shortest paths from the strong roots to all that is alive: one breadth-first pass over the
 * references.  Among paths of the same length, those from statics come first, then thread statics,
 * handles, stacks, the finalizer queue, the runtime, frozen objects. 8 bytes per node.
 */
struct root_paths {
	uint32_t *parents; /**< 0: dead; else the node before it on its path, + 1; for a rooted
			    * object, itself + 1 */
	uint32_t *order;   /**< the live nodes, nearest first */
	uint32_t node_count;
	uint64_t live_count; /**< elements of order */
	struct seed *seeds;
	size_t seeds_count, seeds_capacity;
};

/**
 * @param no_stacks Leave out the roots on stacks.
 * @param[out] ret To be given to root_paths_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status root_paths_init(const struct hd_graph *graph, bool no_stacks,
					    struct job *job, struct root_paths *ret,
					    struct hd_error *err);

/** Roots that are searched from one stage after the other: what an earlier stage reaches is not asked again. */
struct path_stages {
	const uint8_t *of_roots; /**< by root: its stage; @c count or more: it is left out */
	unsigned int count;
	uint64_t *ends; /**< gets, by stage, how many elements of order it and those before reach */
};

/** The same in stages.  Statuses as root_paths_init(). */
HD_NODISCARD enum hd_status root_paths_staged(const struct hd_graph *graph,
					      const struct path_stages *stages, struct job *job,
					      struct root_paths *ret, struct hd_error *err);

/** A zeroed struct is allowed. */
void root_paths_deinit(struct root_paths *paths);

/** The object before @p node on its path; HD_NONE: a root refers to it, or it is dead. */
static inline uint32_t path_before(const struct root_paths *paths, uint32_t node)
{
	uint32_t parent = paths->parents[node];
	return parent && parent != node + 1 ? parent - 1 : HD_NONE;
}

#endif
