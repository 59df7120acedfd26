/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/gcdump/gcdump.h"

struct exact_names;
struct exact_nodes;
struct exact_types;

/** A node that is not an object. */
struct exact_pseudo {
	uint32_t node, type;
	uint32_t parent, first_kid, last_kid, sibling; /**< indices in pseudos, or HD_NONE */
	struct gcdump_text name;
	uint64_t first_child; /**< index in pseudo_children, after sorting */
	uint32_t child_count;
};

/** A child of a pseudo-node. */
struct exact_link {
	uint32_t pseudo, node;
};

/**
 * The tree of roots: pseudo-nodes, and the objects under them; begins with only nodes, names and
 * err set.
 */
struct exact_tree {
	struct exact_nodes *nodes;
	struct exact_names *names;
	struct hd_error *err;
	struct exact_pseudo *pseudos; /**< pages */
	size_t pseudos_count, pseudos_capacity;
	struct exact_link *links; /**< pages */
	size_t links_count, links_capacity;
	uint32_t *pseudo_children; /**< pages, links_count; made by exact_finish_pseudos() */
};

/* Functions that fail do so with HD_ERR_NOMEM, or as exact_new_node() and exact_copy_text() do. */

/** Make the first pseudo-node. */
HD_NODISCARD enum hd_status exact_root(struct exact_tree *tree);
/** The child of @p parent with the name in names->text; made if it is new. */
HD_NODISCARD enum hd_status exact_kid(struct exact_tree *tree, uint32_t parent, uint32_t *ret);
HD_NODISCARD enum hd_status exact_kid_named(struct exact_tree *tree, uint32_t parent,
					    const char *name, uint32_t *ret);
/** Make the node of @p address a child. */
HD_NODISCARD enum hd_status exact_add_child(struct exact_tree *tree, uint32_t pseudo,
					    uint64_t address);
/** Give the pseudo-nodes their types, which are made in @p types, and their children. */
HD_NODISCARD enum hd_status exact_finish_pseudos(struct exact_tree *tree,
						 struct exact_types *types);
/**
 * The pseudo-node after @p pseudo, in the order in which parents come before their children;
 * HD_NONE: none.
 */
uint32_t exact_after(const struct exact_tree *tree, uint32_t pseudo);

void exact_tree_deinit(struct exact_tree *tree);
