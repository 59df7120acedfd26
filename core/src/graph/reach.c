/* SPDX-License-Identifier: MIT */
#include "graph/reach.h"

#include "graph/heap_graph.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"

#define AHEAD_BITS (CSR_AHEAD_ROWS / 2)

static void prefetch_bits(const struct csr *csr, const uint64_t *bitmap, const uint32_t *queue,
			  uint64_t head, uint64_t tail)
{
	csr_prefetch(csr, queue, head, tail);
	if (head + AHEAD_BITS < tail) {
		uint32_t node = queue[head + AHEAD_BITS];
		uint64_t begin = csr_begin(csr, node), end = csr_begin(csr, node + 1);
		for (uint64_t i = begin; i < end && i < begin + 4; i++)
			__builtin_prefetch(&bitmap[csr->targets[i] / 64], 1);
	}
}

enum hd_status reach_pass_init(struct reach_pass *pass, const struct hd_graph *graph,
			       struct hd_error *err)
{
	*pass = (struct reach_pass){ .forward = &graph->forward, .node_count = graph->node_count };
	pass->bitmap = bitmap_alloc(graph->node_count);
	pass->queue = pages_alloc(graph->node_count, sizeof(*pass->queue));
	if (pass->bitmap && pass->queue)
		return HD_OK;
	reach_pass_deinit(pass);
	return fail_nomem(err);
}

void reach_pass_add(struct reach_pass *pass, uint32_t node)
{
	if (bitmap_add(pass->bitmap, node))
		pass->queue[pass->tail++] = node;
}

void reach_pass_add_roots(struct reach_pass *pass, const struct hd_graph *graph)
{
	for (uint32_t i = 0; i < graph->root_count; i++) {
		if (!root_is_weak(&graph->roots[i]))
			reach_pass_add(pass, graph->roots[i].node);
	}
}

enum hd_status reach_pass_run(struct reach_pass *pass, struct job *job, struct hd_error *err)
{
	const struct csr *forward = pass->forward;
	uint64_t *bitmap = pass->bitmap, head = pass->head, tail = pass->tail;
	uint32_t *queue = pass->queue;
	for (; head < tail; head++) {
		if (head % JOB_STRIDE == 0 && !job_step(job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		prefetch_bits(forward, bitmap, queue, head, tail);
		uint32_t node = queue[head];
		uint64_t end = csr_begin(forward, node + 1);
		for (uint64_t i = csr_begin(forward, node); i < end; i++) {
			if (bitmap_add(bitmap, forward->targets[i]))
				queue[tail++] = forward->targets[i];
		}
	}
	pass->head = head;
	pass->tail = tail;
	return HD_OK;
}

void reach_pass_deinit(struct reach_pass *pass)
{
	bitmap_free(pass->bitmap, pass->node_count);
	pages_free(pass->queue, pass->node_count, sizeof(*pass->queue));
	*pass = (struct reach_pass){ 0 };
}

/* Run @p pass, to which the first nodes were added; @p ret takes over its marks. */
static enum hd_status reach_finish(struct reach_pass *pass, const struct hd_graph *graph,
				   struct job *job, struct reach *ret, struct hd_error *err)
{
	job_begin(job, "Marking objects", graph->node_count);
	enum hd_status status = reach_pass_run(pass, job, err);
	if (status == HD_OK) {
		*ret = (struct reach){ .bitmap = pass->bitmap, .node_count = pass->node_count };
		ret->count = bitmap_count(ret->bitmap, graph->object_count);
		pass->bitmap = NULL;
	}
	reach_pass_deinit(pass);
	return status;
}

enum hd_status reach_init(const struct hd_graph *graph, const uint32_t *starts, size_t start_count,
			  struct job *job, struct reach *ret, struct hd_error *err)
{
	struct reach_pass pass;
	TRY(reach_pass_init(&pass, graph, err));
	for (size_t i = 0; i < start_count; i++)
		reach_pass_add(&pass, starts[i]);
	return reach_finish(&pass, graph, job, ret, err);
}

enum hd_status reach_from_roots(const struct hd_graph *graph, struct job *job, struct reach *ret,
				struct hd_error *err)
{
	struct reach_pass pass;
	TRY(reach_pass_init(&pass, graph, err));
	reach_pass_add_roots(&pass, graph);
	return reach_finish(&pass, graph, job, ret, err);
}

uint64_t reach_size(const struct hd_graph *graph, const struct reach *reach)
{
	uint64_t size = 0, end = graph->object_count;
	for (uint64_t node = bitmap_next(reach->bitmap, 0, end); node < end;
	     node = bitmap_next(reach->bitmap, node + 1, end))
		size += graph_size(graph, (uint32_t)node);
	return size;
}

void reach_deinit(struct reach *reach)
{
	bitmap_free(reach->bitmap, reach->node_count);
	*reach = (struct reach){ 0 };
}
