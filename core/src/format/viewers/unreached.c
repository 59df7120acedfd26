/* SPDX-License-Identifier: MIT */
#include "format/viewers/unreached.h"

#include "util/alloc.h"
#include "util/bitmap.h"

/* Nodes that were seen, and those of them whose references were not followed yet. */
struct unreached_walk {
	const struct csr *edges;
	uint64_t *seen;
	uint32_t *stack;
	size_t stack_count, stack_capacity;
	uint64_t units;
	struct job *job;
	struct hd_error *err;
};

static enum hd_status see(struct unreached_walk *walk, uint32_t node)
{
	if (!bitmap_add(walk->seen, node))
		return HD_OK;
	if (!PAGES_RESERVE(walk, stack))
		return fail_nomem(walk->err);
	walk->stack[walk->stack_count++] = node;
	return HD_OK;
}

/* See all that @p node reaches. */
static enum hd_status see_all_from(struct unreached_walk *walk, uint32_t node)
{
	TRY(see(walk, node));
	while (walk->stack_count) {
		node = walk->stack[--walk->stack_count];
		uint64_t end = csr_begin(walk->edges, node + 1);
		for (uint64_t i = csr_begin(walk->edges, node); i < end; i++)
			TRY(see(walk, walk->edges->targets[i]));
		if (++walk->units % JOB_STRIDE == 0 && !job_step(walk->job, 0, JOB_STRIDE))
			return fail_cancelled(walk->err);
	}
	return HD_OK;
}

static enum hd_status find_live(struct unreached_walk *walk, const struct hd_graph *graph)
{
	for (uint32_t i = 0; i < graph->root_count; i++) {
		if (!root_is_weak(&graph->roots[i]))
			TRY(see_all_from(walk, graph->roots[i].node));
	}
	return HD_OK;
}

/* Mark what another node that is not live refers to. */
static enum hd_status find_held_nodes(const struct unreached_walk *walk, const uint64_t *live,
				      uint64_t *held)
{
	for (uint32_t node = 0; node < walk->edges->node_count; node++) {
		if (node % JOB_STRIDE == 0 && !job_step(walk->job, 0, JOB_STRIDE))
			return fail_cancelled(walk->err);
		if (bitmap_has(live, node))
			continue;
		uint64_t end = csr_begin(walk->edges, node + 1);
		for (uint64_t i = csr_begin(walk->edges, node); i < end; i++) {
			if (walk->edges->targets[i] != node)
				(void)bitmap_add(held, walk->edges->targets[i]);
		}
	}
	return HD_OK;
}

/* Walk from all that was not seen, but not from what is in @p held. */
static enum hd_status find_tops(struct unreached_walk *walk, const uint64_t *held,
				struct unreached *ret)
{
	for (uint32_t node = 0; node < ret->node_count; node++) {
		if (bitmap_has(walk->seen, node) || (held && bitmap_has(held, node)))
			continue;
		(void)bitmap_add(ret->tops, node);
		ret->top_count++;
		TRY(see_all_from(walk, node));
	}
	return HD_OK;
}

static enum hd_status find_unreached(struct unreached_walk *walk, const struct hd_graph *graph,
				     const uint64_t *live, uint64_t *held, struct unreached *ret)
{
	size_t words = bitmap_words(graph->node_count);
	if (!live) {
		ret->own_live = bitmap_alloc(graph->node_count);
		if (!ret->own_live)
			return fail_nomem(walk->err);
		TRY(find_live(walk, graph));
		for (size_t i = 0; i < words; i++)
			ret->own_live[i] = walk->seen[i];
	}
	ret->live = live ? live : ret->own_live;
	for (size_t i = 0; i < words; i++)
		walk->seen[i] = ret->live[i];
	TRY(find_held_nodes(walk, ret->live, held));
	TRY(find_tops(walk, held, ret));
	return find_tops(walk, NULL, ret);
}

enum hd_status unreached_init(struct unreached *ret, const struct hd_graph *graph,
			      const uint64_t *live, struct job *job, struct hd_error *err)
{
	*ret = (struct unreached){ .node_count = graph->node_count };
	struct unreached_walk walk = { .edges = &graph->forward, .job = job, .err = err };
	uint64_t *held = bitmap_alloc(graph->node_count);
	walk.seen = bitmap_alloc(graph->node_count);
	ret->tops = bitmap_alloc(graph->node_count);
	job_begin(job, "Looking for unreachable objects", graph->node_count);
	enum hd_status status = held && walk.seen && ret->tops
					? find_unreached(&walk, graph, live, held, ret)
					: fail_nomem(err);
	bitmap_free(held, graph->node_count);
	bitmap_free(walk.seen, graph->node_count);
	pages_free(walk.stack, walk.stack_capacity, sizeof(*walk.stack));
	return status;
}

void unreached_deinit(struct unreached *unreached)
{
	if (unreached->tops)
		bitmap_free(unreached->tops, unreached->node_count);
	if (unreached->own_live)
		bitmap_free(unreached->own_live, unreached->node_count);
	*unreached = (struct unreached){ 0 };
}
