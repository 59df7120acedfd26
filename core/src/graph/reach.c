/* SPDX-License-Identifier: MIT */
#include "graph/reach.h"

#include "util/alloc.h"
#include "util/bitmap.h"

#define AHEAD_BITS (CSR_AHEAD_ROWS / 2)

static void prefetch_for(const struct csr *csr, const uint64_t *bitmap, const uint32_t *queue,
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

static enum hd_status mark(const struct hd_graph *graph, uint32_t *queue, uint64_t tail,
			   struct job *job, struct reach *reach, struct hd_error *err)
{
	const struct csr *forward = &graph->forward;
	for (uint64_t head = 0; head < tail; head++) {
		if (head % JOB_STRIDE == 0 && !job_step(job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		prefetch_for(forward, reach->bitmap, queue, head, tail);
		uint32_t node = queue[head];
		uint64_t end = csr_begin(forward, node + 1);
		for (uint64_t i = csr_begin(forward, node); i < end; i++) {
			if (bitmap_add(reach->bitmap, forward->targets[i]))
				queue[tail++] = forward->targets[i];
		}
	}
	return HD_OK;
}

/* Begin with @p reach's bitmap and the queue; add_starts() has put the first nodes in. */
static enum hd_status finish(const struct hd_graph *graph, uint32_t *queue, uint64_t tail,
			     struct job *job, struct reach *reach, struct reach *ret,
			     struct hd_error *err)
{
	job_begin(job, "Marking objects", graph->node_count);
	enum hd_status status = mark(graph, queue, tail, job, reach, err);
	pages_free(queue, graph->node_count, sizeof(*queue));
	if (status != HD_OK) {
		reach_deinit(reach);
		return status;
	}
	reach->count = bitmap_count(reach->bitmap, graph->object_count);
	*ret = *reach;
	return HD_OK;
}

static enum hd_status begin(const struct hd_graph *graph, struct reach *reach, uint32_t **queue,
			    struct hd_error *err)
{
	*reach = (struct reach){ .node_count = graph->node_count };
	reach->bitmap = bitmap_alloc(graph->node_count);
	*queue = pages_alloc(graph->node_count, sizeof(**queue));
	if (reach->bitmap && *queue)
		return HD_OK;
	reach_deinit(reach);
	pages_free(*queue, graph->node_count, sizeof(**queue));
	return fail_nomem(err);
}

enum hd_status reach_init(const struct hd_graph *graph, const uint32_t *starts, size_t start_count,
			  struct job *job, struct reach *ret, struct hd_error *err)
{
	struct reach reach;
	uint32_t *queue;
	TRY(begin(graph, &reach, &queue, err));
	uint64_t tail = 0;
	for (size_t i = 0; i < start_count; i++) {
		if (bitmap_add(reach.bitmap, starts[i]))
			queue[tail++] = starts[i];
	}
	return finish(graph, queue, tail, job, &reach, ret, err);
}

enum hd_status reach_from_roots(const struct hd_graph *graph, struct job *job, struct reach *ret,
				struct hd_error *err)
{
	struct reach reach;
	uint32_t *queue;
	TRY(begin(graph, &reach, &queue, err));
	uint64_t tail = 0;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (!root_is_weak(root) && bitmap_add(reach.bitmap, root->node))
			queue[tail++] = root->node;
	}
	return finish(graph, queue, tail, job, &reach, ret, err);
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
