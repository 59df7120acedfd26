/* SPDX-License-Identifier: MIT */
#include "analysis/heap/life.h"

#include "graph/heap_graph.h"
#include "graph/root.h"
#include "util/alloc.h"

struct life life_of(const struct hd_graph *graph, const struct reach *live, bool is_dead)
{
	struct life life = { .graph = graph, .live = live, .is_dead = is_dead };
	for (uint32_t i = 0; i < graph->root_count; i++)
		life.roots += !root_is_weak(&graph->roots[i]);
	return life;
}

enum hd_status reach_without_finalizers(const struct hd_graph *graph, struct job *job,
					struct reach *ret, struct hd_error *err)
{
	HD_FREE uint32_t *starts = mem_alloc((size_t)graph->root_count + 1, sizeof(*starts));
	size_t count = 0;
	TRY_MEMORY(starts, err);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (!root_is_weak(root) && root->kind != HD_ROOT_FINALIZER)
			starts[count++] = root->node;
	}
	return reach_init(graph, starts, count, job, ret, err);
}

bool life_has(const struct life *life, uint64_t address)
{
	if (!life->graph)
		return true;
	uint32_t node = hd_graph_find(life->graph, address);
	return node != HD_NONE && life_has_node(life, node);
}
