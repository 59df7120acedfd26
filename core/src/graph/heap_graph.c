/* SPDX-License-Identifier: MIT */
#include "graph/heap_graph.h"

#include "util/alloc.h"
#include "util/arena.h"
#include "util/sort.h"

void graph_clear_roots(struct hd_graph *graph)
{
	pages_free(graph->roots, graph->root_count, sizeof(*graph->roots));
	pages_free(graph->origins.details, graph->root_count, sizeof(*graph->origins.details));
	pages_free(graph->origins.threads, graph->origins.thread_count,
		   sizeof(*graph->origins.threads));
	pages_free(graph->origins.frames, graph->origins.frame_count,
		   sizeof(*graph->origins.frames));
	arena_destroy(graph->origins.arena);
	graph->roots = NULL;
	graph->origins.details = NULL;
	graph->origins.threads = NULL;
	graph->origins.frames = NULL;
	graph->origins.arena = NULL;
	graph->root_count = 0;
	graph->origins.thread_count = graph->origins.frame_count = 0;
}

void graph_destroy(struct hd_graph *graph)
{
	if (!graph)
		return;
	graph_clear_roots(graph);
	pages_free(graph->ids, graph->node_count, sizeof(*graph->ids));
	pages_free(graph->node_types, graph->object_count, sizeof(*graph->node_types));
	pages_free(graph->sizes, graph->object_count, sizeof(*graph->sizes));
	pages_free(graph->large.rows, graph->large.count, sizeof(*graph->large.rows));
	pages_free(graph->types, graph->type_count, sizeof(*graph->types));
	pages_free(graph->domains.rows, graph->domains.count, sizeof(*graph->domains.rows));
	for (size_t i = 0; i < graph->findings.count; i++)
		mem_free(graph->findings.rows[i].detail);
	mem_free(graph->findings.rows);
	pages_free(graph->info.ranges, graph->info.range_count, sizeof(*graph->info.ranges));
	if (graph->places.destroy)
		graph->places.destroy(graph->places.arg);
	short_names_deinit(&graph->findings.short_names);
	id_index_deinit(&graph->index);
	csr_deinit(&graph->forward);
	csr_deinit(&graph->reverse);
	arena_destroy(graph->arena);
	mem_free(graph);
}

static uint64_t large_size_of(const struct hd_graph *graph, uint32_t node)
{
	size_t low = ROWS_FROM(graph->large.rows, graph->large.count, node, node);
	return low < graph->large.count && graph->large.rows[low].node == node
		       ? graph->large.rows[low].size
		       : 0;
}

uint64_t graph_size(const struct hd_graph *graph, uint32_t node)
{
	if (graph_is_missing(graph, node))
		return 0;
	if (!graph->sizes)
		return graph->places.size(graph->places.arg, node);
	uint32_t size = graph->sizes[node];
	return size == SIZE_LARGE ? large_size_of(graph, node) : size;
}

enum hd_status graph_forward(struct hd_graph *graph, struct job *job, const struct csr **ret,
			     struct hd_error *err)
{
	if (!graph_has_forward(graph))
		TRY(graph->places.forward(graph, job, err));
	*ret = &graph->forward;
	return HD_OK;
}

enum hd_status graph_reverse(struct hd_graph *graph, struct job *job, const struct csr **ret,
			     struct hd_error *err)
{
	if (graph->reverse.offsets) {
		*ret = &graph->reverse;
		return HD_OK;
	}
	if (graph_has_forward(graph)) {
		TRY(csr_reverse(&graph->forward, job, &graph->reverse, err));
	} else {
		TRY(graph->places.reverse(graph, job, err));
	}
	*ret = &graph->reverse;
	return HD_OK;
}

uint32_t hd_graph_object_count(const struct hd_graph *graph)
{
	return graph ? graph->object_count : 0;
}

uint32_t hd_graph_node_count(const struct hd_graph *graph)
{
	return graph ? graph->node_count : 0;
}

uint32_t hd_graph_type_count(const struct hd_graph *graph)
{
	return graph ? graph->type_count : 0;
}

uint32_t hd_graph_root_count(const struct hd_graph *graph)
{
	return graph ? graph->root_count : 0;
}

uint64_t hd_graph_reference_count(const struct hd_graph *graph)
{
	if (!graph)
		return 0;
	return graph_has_forward(graph) ? graph->forward.edge_count : graph->reverse.edge_count;
}

/* There are few missing nodes, or the file is hostile: a binary search is enough. */
static uint32_t find_missing(const struct hd_graph *graph, uint64_t id)
{
	uint32_t count = graph->node_count - graph->object_count;
	if (!count)
		return HD_NONE;
	const uint64_t *missing = graph->ids + graph->object_count;
	uint32_t place = (uint32_t)lower_bound_u64(missing, count, id);
	return place < count && missing[place] == id ? graph->object_count + place : HD_NONE;
}

uint32_t graph_lower_bound(const struct hd_graph *graph, uint64_t id)
{
	if (graph->places.lower_bound)
		return graph->places.lower_bound(graph->places.arg, id);
	return id_index_lower_bound(&graph->index, graph->ids, id);
}

/* Objects outside all ranges are the frozen ones, which belong to no generation. */
#define GENERATION_OUTSIDE 5u

static unsigned int generation_by_range(const void *arg, uint32_t node)
{
	const struct hd_graph *graph = arg;
	const struct graph_range *ranges = graph->info.ranges;
	uint64_t id = graph_id(graph, node);
	size_t low = ROWS_ABOVE(ranges, graph->info.range_count, end, id);
	return low < graph->info.range_count && ranges[low].start <= id ? ranges[low].generation
									: GENERATION_OUTSIDE;
}

void graph_use_ranges(struct hd_graph *graph)
{
	if (graph_is_heap(graph) || !graph->info.range_count)
		return;
	graph->places.generation = generation_by_range;
	graph->places.arg = graph;
}

uint32_t hd_graph_find(const struct hd_graph *graph, uint64_t id)
{
	if (!graph)
		return HD_NONE;
	if (graph->places.lower_bound) {
		uint32_t place = graph_lower_bound(graph, id);
		return place < graph->object_count && graph_id(graph, place) == id ? place
										   : HD_NONE;
	}
	uint32_t node = id_index_find(&graph->index, graph->ids, id);
	return node != HD_NONE ? node : find_missing(graph, id);
}

int hd_graph_object(const struct hd_graph *graph, uint32_t node, struct hd_object *ret)
{
	if (!graph || !ret || node >= graph->node_count)
		return -1;
	bool missing = graph_is_missing(graph, node);
	*ret = (struct hd_object){
		.id = graph_id(graph, node),
		.size = graph_size(graph, node),
		.type = missing ? HD_NONE : graph->node_types[node],
		.missing = missing,
		.reference_count = graph_has_forward(graph) ? csr_degree(&graph->forward, node) : 0,
	};
	return 0;
}

int hd_graph_type(const struct hd_graph *graph, uint32_t type, struct hd_type *ret)
{
	if (!graph || !ret || type >= graph->type_count)
		return -1;
	const struct graph_type *of = &graph->types[type];
	*ret = (struct hd_type){
		.id = of->id,
		.name = of->name,
		.name_size = of->name_size,
		.object_count = of->count,
		.object_size = of->size,
	};
	return 0;
}

int hd_graph_root(const struct hd_graph *graph, uint32_t index, struct hd_root *ret)
{
	if (!graph || !ret || index >= graph->root_count)
		return -1;
	const struct graph_root *root = &graph->roots[index];
	*ret = (struct hd_root){
		.node = root->node,
		.container = root->container,
		.kind = root->kind,
		.flags = root->flags,
	};
	return 0;
}

size_t hd_graph_references(const struct hd_graph *graph, uint32_t node, uint64_t first,
			   uint32_t *buf, size_t capacity)
{
	if (!graph || !buf || node >= graph->node_count || !graph_has_forward(graph) ||
	    first >= csr_degree(&graph->forward, node))
		return 0;
	uint64_t begin = csr_begin(&graph->forward, node) + first;
	uint64_t end = csr_begin(&graph->forward, node + 1);
	size_t count = 0;
	for (; begin < end && count < capacity; begin++)
		buf[count++] = graph->forward.targets[begin];
	return count;
}
