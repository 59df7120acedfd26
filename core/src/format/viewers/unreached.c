/* SPDX-License-Identifier: MIT */
#include "format/viewers/unreached.h"

#include "graph/reach.h"
#include "util/bitmap.h"

/* Mark what another node that is not live refers to. */
static enum hd_status find_held_nodes(const struct csr *forward, const uint64_t *live,
				      uint64_t *held, struct job *job, struct hd_error *err)
{
	for (uint32_t node = 0; node < forward->node_count; node++) {
		if (node % JOB_STRIDE == 0 && !job_step(job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		if (bitmap_has(live, node))
			continue;
		uint64_t end = csr_begin(forward, node + 1);
		for (uint64_t i = csr_begin(forward, node); i < end; i++) {
			if (forward->targets[i] != node)
				(void)bitmap_add(held, forward->targets[i]);
		}
	}
	return HD_OK;
}

/* Go on from all nodes that were not reached, but not from those in @p held. */
static enum hd_status find_tops(struct reach_pass *pass, const uint64_t *held,
				struct unreached *ret, struct job *job, struct hd_error *err)
{
	for (uint32_t node = 0; node < ret->node_count; node++) {
		if (bitmap_has(pass->bitmap, node) || (held && bitmap_has(held, node)))
			continue;
		(void)bitmap_add(ret->tops, node);
		ret->top_count++;
		reach_pass_add(pass, node);
		TRY(reach_pass_run(pass, job, err));
	}
	return HD_OK;
}

static void copy_bits(uint64_t *to, const uint64_t *from, uint32_t count)
{
	for (size_t i = 0; i < bitmap_words(count); i++)
		to[i] = from[i];
}

/* Mark what is live, in @p pass and in @p ret. */
static enum hd_status find_live(struct reach_pass *pass, const struct hd_graph *graph,
				const uint64_t *live, struct unreached *ret, struct job *job,
				struct hd_error *err)
{
	ret->live = live;
	if (live) {
		copy_bits(pass->bitmap, live, graph->node_count);
		return HD_OK;
	}
	ret->own_live = bitmap_alloc(graph->node_count);
	TRY_MEMORY(ret->own_live, err);
	ret->live = ret->own_live;
	reach_pass_add_roots(pass, graph);
	TRY(reach_pass_run(pass, job, err));
	copy_bits(ret->own_live, pass->bitmap, graph->node_count);
	return HD_OK;
}

enum hd_status unreached_init(struct unreached *ret, const struct hd_graph *graph,
			      const uint64_t *live, struct job *job, struct hd_error *err)
{
	HD_CLEANUP(reach_pass) struct reach_pass pass = { 0 };
	*ret = (struct unreached){ .node_count = graph->node_count };
	TRY(reach_pass_init(&pass, graph, err));
	job_begin(job, "Looking for unreachable objects", graph->node_count);
	TRY(find_live(&pass, graph, live, ret, job, err));
	uint64_t *held = bitmap_alloc(ret->node_count);
	ret->tops = bitmap_alloc(ret->node_count);
	enum hd_status status = held && ret->tops
					? find_held_nodes(pass.forward, ret->live, held, job, err)
					: fail_nomem(err);
	if (status == HD_OK)
		status = find_tops(&pass, held, ret, job, err);
	bitmap_free(held, ret->node_count);
	TRY(status);
	return find_tops(&pass, NULL, ret, job, err);
}

void unreached_deinit(struct unreached *unreached)
{
	if (unreached->tops)
		bitmap_free(unreached->tops, unreached->node_count);
	if (unreached->own_live)
		bitmap_free(unreached->own_live, unreached->node_count);
	*unreached = (struct unreached){ 0 };
}
