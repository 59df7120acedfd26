/* SPDX-License-Identifier: MIT */
#include "analysis/graph/retained_set.h"

#include "graph/reach.h"
#include "util/bitmap.h"

/* Find what is alive without the nodes, by a pass from the roots that does not enter them. */
static enum hd_status reach_without(struct hd_graph *graph, const uint32_t *nodes, size_t count,
				    struct job *job, struct reach_pass *ret, struct hd_error *err)
{
	TRY(reach_pass_init(ret, graph, err));
	for (size_t i = 0; i < count; i++)
		(void)bitmap_add(ret->bitmap, nodes[i]);
	reach_pass_add_roots(ret, graph);
	job_begin(job, "Marking what stays", graph->node_count);
	enum hd_status status = reach_pass_run(ret, job, err);
	if (status != HD_OK)
		reach_pass_deinit(ret);
	return status;
}

enum hd_status retained_set_count(struct hd_graph *graph, const uint32_t *nodes, size_t count,
				  struct job *job, struct retained_set *ret, struct hd_error *err)
{
	const struct csr *forward;
	HD_CLEANUP(reach) struct reach live = { 0 };
	struct reach_pass rest;
	TRY(graph_forward(graph, job, &forward, err));
	TRY(reach_from_roots(graph, job, &live, err));
	TRY(reach_without(graph, nodes, count, job, &rest, err));
	struct retained_set set = { .count = live.count, .size = reach_size(graph, &live) };
	for (size_t i = 0; i < count; i++)
		set.alive += bitmap_has(live.bitmap, nodes[i]);
	/* The pass's queue has what it reached, without the nodes themselves. */
	for (uint64_t i = 0; i < rest.tail; i++) {
		set.count -= !graph_is_missing(graph, rest.queue[i]);
		set.size -= graph_size(graph, rest.queue[i]);
	}
	reach_pass_deinit(&rest);
	*ret = set;
	return HD_OK;
}
