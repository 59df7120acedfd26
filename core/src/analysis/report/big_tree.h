/* SPDX-License-Identifier: MIT */
/* The upper part of the dominator tree: objects that retain much, and their children. */
#ifndef HEAPDUMP_SRC_ANALYSIS_REPORT_BIG_TREE_H
#define HEAPDUMP_SRC_ANALYSIS_REPORT_BIG_TREE_H

#include "analysis/report/facts.h"

/** Zero is allowed in big_tree_deinit(). */
struct big_tree {
	uint64_t limit;  /**< what a node of it retains at least */
	uint32_t *nodes; /**< ascending */
	size_t nodes_count, nodes_capacity;
	uint64_t *is_big; /**< bitmap */
	uint32_t *ranks;  /**< of it: a node's number without a search */
	uint32_t *begin;  /**< by node of it, then of the virtual root, and one more: in children */
	uint32_t *children; /**< all that they dominate directly */
	uint32_t children_count, node_count;
};

/** @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED */
HD_NODISCARD enum hd_status big_tree_init(struct big_tree *ret, const struct report_facts *facts,
					  uint64_t limit, struct hd_error *err);
void big_tree_deinit(struct big_tree *tree);

/** Its number, which is nodes_count for the virtual root (HD_NONE). */
size_t big_tree_index(const struct big_tree *tree, uint32_t node);
/** Does a node retain at least the limit? */
bool big_tree_has(const struct big_tree *tree, uint32_t node);

/** The child that retains most; HD_NONE: none. */
uint32_t big_tree_largest(const struct big_tree *tree, const struct report_facts *facts,
			  size_t index);

#endif
