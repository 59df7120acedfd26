/* SPDX-License-Identifier: MIT */
#include "analysis/graph/path_tree.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/bitmap.h"

/* How far ahead in the queue the marks are prefetched. */
#define AHEAD_NEXT (CSR_AHEAD_ROWS / 2)

static void prefetch_next(const struct csr *csr, const uint32_t *next, const uint32_t *queue,
			  uint64_t head, uint64_t tail)
{
	csr_prefetch(csr, queue, head, tail);
	if (head + AHEAD_NEXT < tail) {
		uint32_t node = queue[head + AHEAD_NEXT];
		uint64_t begin = csr_begin(csr, node), end = csr_begin(csr, node + 1);
		for (uint64_t i = begin; i < end && i < begin + 4; i++)
			__builtin_prefetch(&next[csr->targets[i]], 1);
	}
}

static enum hd_status note_start(struct path_tree *tree, uint32_t node, uint32_t distance,
				 struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(tree, starts), err);
	tree->starts[tree->starts_count++] =
		(struct path_start){ .node = node, .distance = distance };
	return HD_OK;
}

/* One pass: what it needs besides the tree that it makes. */
struct path_pass {
	const struct hd_graph *graph;
	const struct csr *reverse;
	struct path_choice choice;
	uint32_t *queue;
	struct job *job;
};

static bool is_old(const struct path_pass *pass, uint32_t node)
{
	const struct graph_places *places = &pass->graph->places;
	return pass->choice.is_young &&
	       places->generation(places->arg, node) > pass->choice.generation;
}

static enum hd_status search_from_target(const struct path_pass *pass, struct path_tree *tree,
					 struct hd_error *err)
{
	const struct csr *reverse = pass->reverse;
	uint32_t *next = tree->next, *queue = pass->queue;
	uint64_t head = 0, tail = 0, level_end = 1;
	uint32_t distance = 0;
	queue[tail++] = tree->target;
	next[tree->target] = tree->target + 1;
	for (; head < tail; head++) {
		if (head == level_end) {
			distance++;
			level_end = tail;
		}
		if (head % JOB_STRIDE == 0 && !job_step(pass->job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		prefetch_next(reverse, next, queue, head, tail);
		uint32_t node = queue[head];
		bool old = is_old(pass, node);
		if (old || (pass->choice.wanted && bitmap_has(pass->choice.wanted, node)))
			TRY(note_start(tree, node, distance, err));
		if (old)
			continue;
		uint64_t end = csr_begin(reverse, node + 1);
		for (uint64_t i = csr_begin(reverse, node); i < end; i++) {
			uint32_t source = reverse->targets[i];
			if (next[source])
				continue;
			next[source] = node + 1;
			queue[tail++] = source;
		}
	}
	tree->reached = tail;
	return HD_OK;
}

static int compare_path_starts(const void *a, const void *b)
{
	uint32_t x = ((const struct path_start *)a)->node;
	uint32_t y = ((const struct path_start *)b)->node;
	return x < y ? -1 : x > y;
}

static enum hd_status make_tree(struct hd_graph *graph, uint32_t target, struct path_pass *pass,
				struct path_tree *ret, struct hd_error *err)
{
	TRY(graph_reverse(graph, pass->job, &pass->reverse, err));
	uint32_t count = graph->node_count;
	struct path_tree tree = { .target = target, .node_count = count };
	tree.next = pages_alloc(count, sizeof(*tree.next));
	pass->queue = pages_alloc(count, sizeof(*pass->queue));
	job_begin(pass->job, "Finding paths", count);
	enum hd_status status = tree.next && pass->queue ? HD_OK : fail_nomem(err);
	if (status == HD_OK)
		status = search_from_target(pass, &tree, err);
	pages_free(pass->queue, count, sizeof(*pass->queue));
	if (status != HD_OK) {
		path_tree_deinit(&tree);
		return status;
	}
	if (tree.starts_count > 1)
		qsort(tree.starts, tree.starts_count, sizeof(*tree.starts), compare_path_starts);
	*ret = tree;
	return HD_OK;
}

enum hd_status path_tree_init(struct hd_graph *graph, uint32_t target,
			      const struct path_choice *choice, struct job *job,
			      struct path_tree *ret, struct hd_error *err)
{
	struct path_pass pass = { .graph = graph, .job = job };
	if (choice)
		pass.choice = *choice;
	return make_tree(graph, target, &pass, ret, err);
}

void path_tree_deinit(struct path_tree *tree)
{
	pages_free(tree->next, tree->node_count, sizeof(*tree->next));
	pages_free(tree->starts, tree->starts_capacity, sizeof(*tree->starts));
	*tree = (struct path_tree){ 0 };
}

uint32_t path_tree_distance(const struct path_tree *tree, uint32_t node)
{
	struct path_start key = { .node = node };
	if (!tree->starts_count)
		return HD_NONE;
	const struct path_start *found =
		bsearch(&key, tree->starts, tree->starts_count, sizeof(key), compare_path_starts);
	return found ? found->distance : HD_NONE;
}
