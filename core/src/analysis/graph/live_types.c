/* SPDX-License-Identifier: MIT */
#include "analysis/graph/live_types.h"

#include <string.h>

#include "analysis/name_match.h"
#include "graph/heap_graph.h"
#include "graph/reach.h"
#include "util/job.h"

enum hd_status live_types_count(const struct hd_graph *graph, const struct reach *reach,
				struct job *job, struct live_count *ret, struct hd_error *err)
{
	for (uint32_t node = 0; node < reach->node_count; node++) {
		if (node % JOB_STRIDE == 0)
			TRY(job_check(job, JOB_STRIDE, err));
		if (!(reach->bitmap[node / 64] >> node % 64 & 1) || graph_is_missing(graph, node))
			continue;
		struct live_count *count = &ret[graph->node_types[node]];
		count->count++;
		count->size += graph_size(graph, node);
	}
	return HD_OK;
}

struct live_count live_types_sum(const struct hd_graph *graph, const struct live_count *counts,
				 const char *pattern)
{
	struct live_count sum = { 0 };
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		if (!type->name || !name_is(type->name, type->name_size, pattern))
			continue;
		sum.count += counts[i].count;
		sum.size += counts[i].size;
	}
	return sum;
}

struct live_count live_types_total(const struct hd_graph *graph, const struct live_count *counts)
{
	struct live_count sum = { 0 };
	for (uint32_t i = 0; i < graph->type_count; i++) {
		sum.count += counts[i].count;
		sum.size += counts[i].size;
	}
	return sum;
}
