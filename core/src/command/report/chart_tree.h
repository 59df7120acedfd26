/* SPDX-License-Identifier: MIT */
/* The upper part of the dominator tree as a page draws it. */
#pragma once

#include "format/viewers/dominator_stacks.h"

/** Levels that are kept, without the top. */
#define CHART_DEPTH_MAX 24u

/** The level of a part. */
enum chart_level {
	CHART_TOP,
	CHART_ROOT,      /**< a kind of roots, or one root */
	CHART_MODULE,    /**< an assembly; without a name: it is not known */
	CHART_NAMESPACE, /**< a namespace, or what the heap's types without one have */
	CHART_TYPE
};

/** How the first levels are made. */
enum chart_view {
	CHART_BY_MODULE,    /**< module, namespace, type, then what these dominate */
	CHART_BY_NAMESPACE, /**< namespace, type, then what these dominate */
	CHART_BY_ROOT,      /**< kind of root, root, then the same */
};

/** A part: what objects of its name retain below its parent. */
struct chart_node {
	const char *name; /**< borrowed from the stacks; no NUL */
	uint64_t total;
	uint32_t name_size;
	uint32_t parent; /**< HD_NONE: the top */
	uint32_t first_child, child_count;
	uint32_t rank; /**< only while the tree is made: parents before children */
	uint16_t depth;
	uint8_t level; /**< enum chart_level */
};

struct chart_tree {
	struct chart_node *nodes; /**< 0: everything; level by level, the children of a node next to
				   * each other, the largest first */
	size_t count, capacity;
};

/**
 * Take the parts with at least a thousandth of the whole, at most @p most of them: the largest.
 *
 * @param stacks Borrowed while the tree lives.
 * @param modules By frame of @p stacks: the name of the type's module, or NULL; borrowed likewise.  NULL: none is known.
 * @param[out] ret To be given to chart_tree_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status chart_tree_init(struct chart_tree *ret,
					    const struct dominator_stacks *stacks,
					    enum chart_view view, const char *const *modules,
					    size_t most, struct hd_error *err);
/** A zeroed struct is allowed. */
void chart_tree_deinit(struct chart_tree *tree);

/** Bytes of the namespace of a type: up to the last dot in front of its own name and type arguments. */
size_t chart_namespace_size(const char *name, size_t size);

/** A rectangle in a chart; all zeros: it is too small to be drawn. */
struct chart_box {
	double x, y, width, height;
};

/**
 * Give each part of a tree an area inside its parent's, as its total is to the parent's, nearly square
 * (Bruls, Huizing, van Wijk, "Squarified Treemaps", 2000).
 *
 * @param whole The area of the top.
 * @param head Height that a part keeps for its own name.
 * @param[out] ret By node.
 */
void chart_tree_squares(const struct chart_tree *tree, const struct chart_box *whole, double head,
			struct chart_box *ret);
