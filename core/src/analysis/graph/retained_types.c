/* SPDX-License-Identifier: MIT */
#include "analysis/graph/retained_types.h"

#include "util/alloc.h"
#include "util/job.h"

/* The dominator tree by first child and next sibling, + 1; 0: none. */
struct dominated {
	uint32_t *first, *next;
	uint32_t top; /* the first that nothing dominates, + 1 */
	uint32_t count;
};

static void dominated_deinit(struct dominated *tree)
{
	pages_free(tree->first, tree->count, sizeof(*tree->first));
	pages_free(tree->next, tree->count, sizeof(*tree->next));
	*tree = (struct dominated){ 0 };
}

static bool is_alive(const struct dominators *dominators, uint32_t node)
{
	return dominators->retained_count[node] || dominators->idom[node] != HD_NONE;
}

static enum hd_status dominated_init(struct dominated *tree, const struct dominators *dominators,
				     struct hd_error *err)
{
	*tree = (struct dominated){ .count = dominators->node_count };
	tree->first = pages_alloc(tree->count, sizeof(*tree->first));
	tree->next = pages_alloc(tree->count, sizeof(*tree->next));
	if (!tree->first || !tree->next) {
		dominated_deinit(tree);
		return fail_nomem(err);
	}
	for (uint32_t node = tree->count; node-- > 0;) {
		uint32_t idom = dominators->idom[node];
		if (!is_alive(dominators, node))
			continue;
		uint32_t *head = idom == HD_NONE ? &tree->top : &tree->first[idom];
		tree->next[node] = *head;
		*head = node + 1;
	}
	return HD_OK;
}

/* The next node of the preorder, + 1; on the way up @p open counts down what is left. */
static uint32_t next_dominated(const struct hd_graph *graph, const struct dominated *tree,
			       const uint32_t *idom, uint32_t node, uint32_t *open)
{
	if (tree->first[node])
		return tree->first[node];
	for (; node != HD_NONE; node = idom[node]) {
		if (!graph_is_missing(graph, node))
			open[graph->node_types[node]]--;
		if (tree->next[node])
			return tree->next[node];
	}
	return 0;
}

enum hd_status retained_types(const struct hd_graph *graph, const struct dominators *dominators,
			      struct job *job, uint64_t *ret, struct hd_error *err)
{
	HD_CLEANUP(dominated) struct dominated tree = { 0 };
	TRY(dominated_init(&tree, dominators, err));
	/* Objects of each type on the way from the top to here. */
	uint32_t *open = pages_alloc(graph->type_count, sizeof(*open));
	enum hd_status status = open ? HD_OK : fail_nomem(err);
	job_begin(job, "Adding up types", dominators->node_count);
	uint64_t steps = 0;
	for (uint32_t at = tree.top; at && status == HD_OK;) {
		uint32_t node = at - 1;
		if (!graph_is_missing(graph, node) && !open[graph->node_types[node]]++)
			ret[graph->node_types[node]] += dominators_size(dominators, node);
		if (++steps % JOB_STRIDE == 0 && !job_step(job, 0, JOB_STRIDE))
			status = fail_cancelled(err);
		at = next_dominated(graph, &tree, dominators->idom, node, open);
	}
	pages_free(open, graph->type_count, sizeof(*open));
	return status;
}
