/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/graph/filter.h"
#include "analysis/graph/link_names.h"
#include "analysis/graph/root_paths.h"

/** Branches below this depth are not distinguished. */
#define TYPE_TREE_DEPTH_MAX 250u

/** Roots with one name (depth 0), or objects of one type that a link of one name leads to. */
struct tree_branch {
	uint32_t parent; /**< branch; HD_NONE: roots */
	uint32_t depth;
	uint32_t type;        /**< HD_NONE: roots */
	uint32_t name;        /**< the link's or the root's name, see link_name() */
	uint32_t root;        /**< if it is roots: one of them, for what they have in common */
	uint32_t members;     /**< first of the nodes that wait to be looked at, + 1 */
	uint64_t count, size; /**< counted objects whose path leads through here */
	uint64_t own_count;   /**< those of them whose path ends here */
	bool is_open;         /**< its branches are known, so it is shown */
	bool is_touched;      /**< its sums may have changed since it was queued */
	bool repeats;         /**< paths come through here again, as in a list: see
			       * type_tree_init() */
};

/** The paths to find. */
struct type_tree_choice {
	const uint64_t *types; /**< bitmap of the types */
	uint64_t limit;        /**< the number of branches to open */
	bool no_stacks;        /**< no paths from stacks */
};

/** The shortest paths from the roots to all objects of some types, merged. */
struct type_tree {
	const struct hd_graph *graph;
	struct link_names names;
	struct tree_branch *branches; /**< parents before children */
	size_t branches_count, branches_capacity;
	uint64_t count, size;             /**< all objects of those types */
	uint64_t found_count, found_size; /**< those of them that a path leads to */
	bool is_cut;                      /**< there are more branches than the limit */
};

/**
 * Make it: one pass from all roots, then one branch at a time, those with most bytes first.  Where
 * a path comes to the same type by the same link a second time, the part between is left out: so a
 * list of a million links is one branch, which repeats.
 *
 * @param[out] ret To be given to type_tree_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status type_tree_init(const struct hd_graph *graph,
					   const struct type_tree_choice *choice, struct job *job,
					   struct type_tree *ret, struct hd_error *err);
/** A zeroed struct is allowed. */
void type_tree_deinit(struct type_tree *tree);

/**
 * For what makes such trees: the branch that is like @p branch, made if it is new.
 *
 * @param index Of the branches of @p tree.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status tree_branch_find(struct type_tree *tree, struct hash_index *index,
					     const struct tree_branch *branch, uint32_t *ret,
					     struct hd_error *err);

/** The nearest branch on the way up from @p index, itself included, that has that type and link, or HD_NONE. */
uint32_t tree_branch_above(const struct type_tree *tree, uint32_t index, uint32_t type,
			   uint32_t name);

/** The name by which roots of one kind differ, or the method that has the variable; or NULL. */
const char *tree_root_name(const struct hd_graph *graph, uint32_t root);
