/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_GCDUMP_TREE_H
#define HEAPDUMP_SRC_FORMAT_GCDUMP_TREE_H

#include "graph/heap_graph.h"

struct arena;

/** A node of the tree of roots, which stands for no object. */
struct gcdump_pseudo {
	const char *name; /**< ends with NUL */
	uint32_t parent;  /**< in the tree; of the first, the root, itself */
	uint32_t child_count;
	uint64_t first_child; /**< in children */
};

/**
 * The roots of a graph as a .gcdump has them: a tree of nodes that stand for no object and have no
 * size, named as dotnet-gcdump names them.  Its nodes are the first of the file; children are nodes
 * of the tree, and behind them those of the graph plus pseudos_count.
 */
struct gcdump_tree {
	struct gcdump_pseudo *pseudos; /**< pages; a parent stands before its children */
	size_t pseudos_count, pseudos_capacity;
	uint32_t *children; /**< pages, child_count */
	uint64_t child_count;
	struct arena *arena; /**< of the names */
};

/**
 * Make the tree of all roots that are not weak.
 *
 * @param live If not NULL, the objects that have no bit here are the children of a node
 *             "[not reachable from roots]".
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

#endif
