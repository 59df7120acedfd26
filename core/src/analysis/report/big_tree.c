/* SPDX-License-Identifier: MIT */
#include "analysis/report/big_tree.h"

#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"

bool big_tree_has(const struct big_tree *tree, uint32_t node)
{
	return bitmap_has(tree->is_big, node);
}

size_t big_tree_index(const struct big_tree *tree, uint32_t node)
{
	if (node == HD_NONE)
		return tree->nodes_count;
	return bitmap_rank(tree->is_big, tree->ranks, node);
}

/* The number of the node that dominates a live node; SIZE_MAX: that one is not big. */
static size_t parent_index(const struct big_tree *tree, const struct report_facts *facts,
			   uint32_t node)
{
	uint32_t idom = facts_idom(facts, node);
	if (!facts_is_live(facts, node) || (idom != HD_NONE && !big_tree_has(tree, idom)))
		return SIZE_MAX;
	return big_tree_index(tree, idom);
}

static enum hd_status find_big_nodes(struct big_tree *tree, const struct report_facts *facts,
				     struct hd_error *err)
{
	for (uint32_t node = 0; node < facts->graph->object_count; node++) {
		if (!facts_is_live(facts, node) || facts_retained(facts, node) < tree->limit)
			continue;
		TRY_MEMORY(PAGES_RESERVE(tree, nodes), err);
		tree->nodes[tree->nodes_count++] = node;
		(void)bitmap_add(tree->is_big, node);
	}
	return HD_OK;
}

static enum hd_status fill_tree(struct big_tree *tree, const struct report_facts *facts,
				struct hd_error *err)
{
	uint32_t count = facts->graph->object_count;
	tree->is_big = bitmap_alloc(tree->node_count);
	TRY_MEMORY(tree->is_big, err);
	TRY(find_big_nodes(tree, facts, err));
	tree->ranks = bitmap_ranks(tree->is_big, tree->node_count);
	TRY_MEMORY(tree->ranks, err);
	tree->begin = pages_alloc(tree->nodes_count + 3, sizeof(*tree->begin));
	TRY_MEMORY(tree->begin, err);
	for (uint32_t node = 0; node < count; node++) {
		size_t index = parent_index(tree, facts, node);
		if (index != SIZE_MAX)
			tree->begin[index + 2]++;
	}
	if (!job_step(facts->job, 0, 0))
		return fail_cancelled(err);
	for (size_t i = 2; i < tree->nodes_count + 3; i++)
		tree->begin[i] += tree->begin[i - 1];
	tree->children_count = tree->begin[tree->nodes_count + 2];
	tree->children = pages_alloc(tree->children_count, sizeof(*tree->children));
	TRY_MEMORY(tree->children, err);
	/* The row after is where the next child goes: at the end all have moved to their places. */
	for (uint32_t node = 0; node < count; node++) {
		size_t index = parent_index(tree, facts, node);
		if (index != SIZE_MAX)
			tree->children[tree->begin[index + 1]++] = node;
	}
	return HD_OK;
}

enum hd_status big_tree_init(struct big_tree *ret, const struct report_facts *facts, uint64_t limit,
			     struct hd_error *err)
{
	*ret = (struct big_tree){ .limit = limit, .node_count = facts->graph->node_count };
	enum hd_status status = fill_tree(ret, facts, err);
	if (status != HD_OK)
		big_tree_deinit(ret);
	return status;
}

void big_tree_deinit(struct big_tree *tree)
{
	if (tree->begin)
		pages_free(tree->begin, tree->nodes_count + 3, sizeof(*tree->begin));
	pages_free(tree->children, tree->children_count, sizeof(*tree->children));
	pages_free(tree->nodes, tree->nodes_capacity, sizeof(*tree->nodes));
	bitmap_ranks_free(tree->ranks, tree->node_count);
	if (tree->is_big)
		bitmap_free(tree->is_big, tree->node_count);
	*tree = (struct big_tree){ 0 };
}

uint32_t big_tree_largest(const struct big_tree *tree, const struct report_facts *facts,
			  size_t index)
{
	uint32_t largest = HD_NONE;
	for (uint32_t i = tree->begin[index]; i < tree->begin[index + 1]; i++) {
		uint32_t child = tree->children[i];
		if (largest == HD_NONE ||
		    facts_retained(facts, child) > facts_retained(facts, largest))
			largest = child;
	}
	return largest;
}
