/* SPDX-License-Identifier: MIT */
#pragma once

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

#define KEPT_MAX 16u

/**
 * Lists that the runtime keeps, of items that may also be held by others: by such an item it can be seen who is next in the
 * list, but who holds the item does not hold those.
 */
struct path_lists {
	uint32_t item_type, list_type; /**< types of the graph, or HD_NONE */
	unsigned int
		stage; /**< from this one on, references from items to items and lists are followed; 0: always */
};

/** Roots that are searched from one stage after the other: what an earlier stage reaches is not asked again. */
struct path_stages {
	const uint8_t *of_roots; /**< by root: PATH_STAGE() */
	unsigned int count;      /**< roots of this stage or a later one are left out */
	uint64_t *ends; /**< gets, by stage, how many elements of order it and those before reach */
	/**
	 * Nodes from which is searched at the end of the first stage, as if they were rooted, each once.  The way to
	 * them is found by a later stage; those to which none leads are left out.
	 */
	uint32_t kept[KEPT_MAX];
	size_t kept_count;
	struct path_lists lists;
};

/** Its stage; roots that are later in it come after the others of their kind. */
#define PATH_STAGE(stage, is_later) \
	((uint8_t)((unsigned int)(stage) << 1 | (unsigned int)(is_later)))

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
