/* SPDX-License-Identifier: MIT */
/* Items in binary trees, in their order. */
#include "analysis/collections/collection_walk.h"

/*
 * Red-black trees have at most 2 log2(n + 1) levels, AVL trees fewer: what is deeper is no tree, and
 * so is a circle.  Nodes that are met again and again end when there are more than the heap holds.
 */
#define TREE_DEPTH_MAX 128u

/* The way from the root to a node: the nodes whose items, and right sides, are still to come. */
struct tree_path {
	const struct tree_fields *fields;
	uint64_t nodes[TREE_DEPTH_MAX];
	unsigned int depth;
};

/* Is the node one of those that stand for an empty tree? */
static bool is_leaf(struct collection_walk *walk, const struct tree_fields *fields,
		    const struct holder *node)
{
	if (!fields->height)
		return false;
	struct member height = holder_member(walk->members, node, fields->height);
	if (height.state != MEMBER_READ)
		walk_broken(walk);
	return !height.bits;
}

/* Go from the node at @p address to the left, as far as it goes; false: it is broken. */
static bool go_left(struct collection_walk *walk, struct tree_path *path, uint64_t address)
{
	while (address) {
		struct holder node;
		if (!walk_step(walk, NODE_SIZE_MIN))
			return false;
		if (path->depth == TREE_DEPTH_MAX || !holder_at(walk, address, &node)) {
			walk_broken(walk);
			return false;
		}
		if (is_leaf(walk, path->fields, &node))
			return !walk_has_ended(walk);
		path->nodes[path->depth++] = address;
		struct member left = holder_member(walk->members, &node, path->fields->left);
		if (left.state != MEMBER_READ) {
			walk_broken(walk);
			return false;
		}
		address = left.bits;
	}
	return true;
}

/* The next node in order; what is right of it is on the path when it returns. */
static bool next_node(struct collection_walk *walk, struct tree_path *path, struct holder *ret)
{
	if (!path->depth || walk_has_ended(walk))
		return false;
	if (!holder_at(walk, path->nodes[--path->depth], ret)) {
		walk_broken(walk);
		return false;
	}
	return true;
}

static bool go_right(struct collection_walk *walk, struct tree_path *path,
		     const struct holder *node)
{
	struct member right = holder_member(walk->members, node, path->fields->right);
	if (right.state != MEMBER_READ) {
		walk_broken(walk);
		return false;
	}
	return go_left(walk, path, right.bits);
}

/* The further items of a node: those of a tree that it refers to. */
static bool emit_more(struct collection_walk *walk, const struct collection_layout *layout,
		      const struct holder *node)
{
	struct member root = holder_member(walk->members, node, layout->more);
	struct tree_path path = { .fields = &layout->tree };
	struct holder inner;
	if (root.state != MEMBER_READ) {
		walk_broken(walk);
		return false;
	}
	if (!go_left(walk, &path, root.bits))
		return false;
	while (next_node(walk, &path, &inner)) {
		if (!walk_node(walk, &inner, &layout->more_item) || !go_right(walk, &path, &inner))
			return false;
	}
	return !walk_has_ended(walk);
}

void walk_tree(struct collection_walk *walk, const struct collection_part *part)
{
	const struct collection_layout *layout = part->layout;
	struct tree_path path = { .fields = &layout->tree };
	struct member root = holder_member(walk->members, &part->holder, layout->items);
	struct holder node;
	uint64_t count;
	if (!holder_count(walk, &part->holder, layout->count, &count) ||
	    root.state != MEMBER_READ) {
		walk_broken(walk);
		return;
	}
	walk_add_count(walk, count);
	if (!go_left(walk, &path, root.bits))
		return;
	while (next_node(walk, &path, &node)) {
		if (!walk_node(walk, &node, &layout->item) ||
		    (layout->more && !emit_more(walk, layout, &node)) ||
		    !go_right(walk, &path, &node))
			return;
	}
}
