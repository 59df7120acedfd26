/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

/** A node that was asked for, and the number of links from it to the target. */
struct path_start {
	uint32_t node;
	uint32_t distance;
};

/**
 * The shortest paths from every node to one target: a breadth-first pass over the reverse edges.
 * 8 bytes per node while it is made, 4 afterwards; pages that are never touched cost nothing.
 */
struct path_tree {
	uint32_t *next; /**< 0: does not reach the target; else the next node on the path, + 1 */
	uint32_t target;
	uint32_t node_count;
	uint64_t reached; /**< nodes that reach the target, itself included */
	/**
	 * The nodes of @p wanted that reach the target, sorted by node; path_choice.is_young adds
	 * the old objects where paths begin.
	 */
	struct path_start *starts;
	size_t starts_count, starts_capacity;
};

/** The paths to find. */
struct path_choice {
	const uint64_t *wanted; /**< bitmap of the nodes to list in starts, or NULL */
	/**
	 * For a graph that knows generations, as a collection of one sees it: paths lead through
	 * objects of this generation and younger ones; an older object may only begin one.
	 */
	bool is_young;
	unsigned int generation;
};

/**
 * Build the tree.
 *
 * @param[in] choice NULL: all paths, and no starts.
 * @param[out] ret To be given to path_tree_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_UNSUPPORTED as graph_reverse()
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status path_tree_init(struct hd_graph *graph, uint32_t target,
					   const struct path_choice *choice, struct job *job,
					   struct path_tree *ret, struct hd_error *err);

/** A zeroed struct is allowed. */
void path_tree_deinit(struct path_tree *tree);

/** Does @p node reach the target? */
static inline bool path_tree_reaches(const struct path_tree *tree, uint32_t node)
{
	return tree->next[node] != 0;
}

/** The node after @p node on its path; @p node must reach the target and must not be the target. */
static inline uint32_t path_tree_next(const struct path_tree *tree, uint32_t node)
{
	return tree->next[node] - 1;
}

/** Links from a wanted node to the target, or HD_NONE when it does not reach it. */
uint32_t path_tree_distance(const struct path_tree *tree, uint32_t node);
