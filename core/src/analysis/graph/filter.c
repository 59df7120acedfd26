/* SPDX-License-Identifier: MIT */
#include "analysis/graph/filter.h"

#include "analysis/name_match.h"
#include "util/bitmap.h"

enum hd_status filter_prepare(struct filter *filter, const struct hd_graph *graph,
			      struct hd_error *err)
{
	filter->types = bitmap_alloc(graph->type_count);
	TRY_MEMORY(filter->types, err);
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		bool passes = !filter->has_mt || type->id == filter->mt;
		if (passes && filter->type_part) {
			passes = type->name &&
				 name_matches(type->name, type->name_size, filter->type_part);
		}
		if (passes)
			(void)bitmap_add(filter->types, i);
	}
	filter->first = graph_lower_bound(graph, filter->begin);
	filter->last = filter->end ? graph_lower_bound(graph, filter->end) : graph->object_count;
	if (filter->last < filter->first)
		filter->last = filter->first;
	return HD_OK;
}

void filter_deinit(struct filter *filter, const struct hd_graph *graph)
{
	if (filter->types)
		bitmap_free(filter->types, graph->type_count);
	filter->types = NULL;
}

static bool filter_passes(const struct filter *filter, const struct hd_graph *graph, uint32_t node)
{
	if (!bitmap_has(filter->types, graph->node_types[node]))
		return false;
	if (filter->min || filter->has_max) {
		uint64_t size = graph_size(graph, node);
		if (size < filter->min || (filter->has_max && size > filter->max))
			return false;
	}
	if (filter->has_generation &&
	    graph->places.generation(graph->places.arg, node) != filter->generation)
		return false;
	return !filter->live || bitmap_has(filter->live->bitmap, node) != filter->dead;
}

uint32_t filter_next(const struct filter *filter, const struct hd_graph *graph, uint32_t node)
{
	while (node < filter->last && !filter_passes(filter, graph, node))
		node++;
	return node;
}
