/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

/** A node of the tree of roots; it is not an object. */
struct gcdump_pseudo {
	const char *name; /**< ends with NUL */
	uint32_t parent;  /**< its parent's index in the tree; for the first node, the root, its
			   * own */
	uint32_t child_count;
	uint64_t first_child; /**< index in children */
};

/**
 * The roots of a graph in the form that a .gcdump has: a tree of nodes that are not objects and
 * have no size, with the names that dotnet-gcdump uses.  These are the first nodes of the file; a
 * child is a node of the tree, or pseudos_count + a node of the graph.
 */
struct gcdump_tree {
	struct gcdump_pseudo *pseudos; /**< pages; a parent comes before its children */
	size_t pseudos_count, pseudos_capacity;
	uint32_t *children; /**< pages, child_count */
	uint64_t child_count;
	struct arena *arena; /**< holds the names */
};

/**
 * Make the tree of all roots that are not weak.
 *
 * @param live If not NULL, the objects without a bit in it become children of a node "[not
 * reachable from roots]".
 * @param[out] ret To be given to gcdump_tree_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status gcdump_tree_init(const struct hd_graph *graph, const uint64_t *live,
					     struct job *job, struct gcdump_tree *ret,
					     struct hd_error *err);

/** A zeroed struct is allowed. */
void gcdump_tree_deinit(struct gcdump_tree *tree);
