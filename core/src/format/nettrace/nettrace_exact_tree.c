/* SPDX-License-Identifier: MIT */
/* The tree of nodes that are not objects: roots by their kinds. */
#include "format/nettrace/nettrace_exact_tree.h"

#include "format/nettrace/nettrace_exact_names.h"
#include "format/nettrace/nettrace_exact_nodes.h"
#include "format/nettrace/nettrace_exact_types.h"
#include "util/alloc.h"

static enum hd_status add_link(struct exact_tree *tree, uint32_t pseudo, uint32_t node)
{
	TRY_MEMORY(PAGES_RESERVE(tree, links), tree->err);
	tree->links[tree->links_count++] = (struct exact_link){ .pseudo = pseudo, .node = node };
	return HD_OK;
}

/* Make a pseudo-node with the name in names->text. */
static enum hd_status make_exact_pseudo(struct exact_tree *tree, uint32_t parent, uint32_t *ret)
{
	struct exact_pseudo pseudo = {
		.parent = parent, .first_kid = HD_NONE, .last_kid = HD_NONE, .sibling = HD_NONE
	};
	TRY(exact_copy_text(tree->names, &pseudo.name));
	TRY(exact_new_node(tree->nodes, &pseudo.node));
	TRY_MEMORY(PAGES_RESERVE(tree, pseudos), tree->err);
	*ret = (uint32_t)tree->pseudos_count++;
	tree->pseudos[*ret] = pseudo;
	if (parent == HD_NONE)
		return HD_OK;
	struct exact_pseudo *above = &tree->pseudos[parent];
	if (above->last_kid == HD_NONE) {
		above->first_kid = *ret;
	} else {
		tree->pseudos[above->last_kid].sibling = *ret;
	}
	above->last_kid = *ret;
	return add_link(tree, parent, pseudo.node);
}

enum hd_status exact_root(struct exact_tree *tree)
{
	uint32_t root;
	exact_set_text(tree->names, "[.NET Roots]");
	return make_exact_pseudo(tree, HD_NONE, &root);
}

enum hd_status exact_kid(struct exact_tree *tree, uint32_t parent, uint32_t *ret)
{
	uint32_t *value;
	TRY(exact_value(tree->names, EXACT_KID, parent, NULL, &value));
	if (*value == HD_NONE)
		TRY(make_exact_pseudo(tree, parent, value));
	*ret = *value;
	return HD_OK;
}

enum hd_status exact_kid_named(struct exact_tree *tree, uint32_t parent, const char *name,
			       uint32_t *ret)
{
	exact_set_text(tree->names, name);
	return exact_kid(tree, parent, ret);
}

enum hd_status exact_add_child(struct exact_tree *tree, uint32_t pseudo, uint64_t address)
{
	uint32_t node;
	TRY(exact_node(tree->nodes, address, &node));
	return add_link(tree, pseudo, node);
}

uint32_t exact_after(const struct exact_tree *tree, uint32_t pseudo)
{
	if (tree->pseudos[pseudo].first_kid != HD_NONE)
		return tree->pseudos[pseudo].first_kid;
	while (pseudo != HD_NONE && tree->pseudos[pseudo].sibling == HD_NONE)
		pseudo = tree->pseudos[pseudo].parent;
	return pseudo == HD_NONE ? HD_NONE : tree->pseudos[pseudo].sibling;
}

/* Put the children of each pseudo-node together, in their order. */
static enum hd_status sort_links(struct exact_tree *tree)
{
	tree->pseudo_children = pages_alloc(tree->links_count, sizeof(*tree->pseudo_children));
	TRY_MEMORY(tree->pseudo_children, tree->err);
	for (size_t i = 0; i < tree->links_count; i++)
		tree->pseudos[tree->links[i].pseudo].child_count++;
	uint64_t at = 0;
	for (size_t i = 0; i < tree->pseudos_count; i++) {
		tree->pseudos[i].first_child = at;
		at += tree->pseudos[i].child_count;
		tree->pseudos[i].child_count = 0;
	}
	for (size_t i = 0; i < tree->links_count; i++) {
		struct exact_pseudo *pseudo = &tree->pseudos[tree->links[i].pseudo];
		tree->pseudo_children[pseudo->first_child + pseudo->child_count++] =
			tree->links[i].node;
	}
	return HD_OK;
}

enum hd_status exact_finish_pseudos(struct exact_tree *tree, struct exact_types *types)
{
	for (uint32_t i = 0; i != HD_NONE; i = exact_after(tree, i)) {
		struct exact_pseudo *pseudo = &tree->pseudos[i];
		uint32_t *value;
		tree->names->text.size = 0;
		exact_append_copy(tree->names, &pseudo->name);
		TRY(exact_value(tree->names, EXACT_PSEUDO_TYPE, 0, NULL, &value));
		if (*value == HD_NONE)
			TRY(exact_add_type(types, &pseudo->name, NULL, value));
		pseudo->type = *value;
	}
	return sort_links(tree);
}

void exact_tree_deinit(struct exact_tree *tree)
{
	pages_free(tree->pseudos, tree->pseudos_capacity, sizeof(*tree->pseudos));
	pages_free(tree->links, tree->links_capacity, sizeof(*tree->links));
	pages_free(tree->pseudo_children, tree->links_count, sizeof(*tree->pseudo_children));
}
