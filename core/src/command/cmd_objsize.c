/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/command.h"
#include "query/reach.h"
#include "report/statistics.h"
#include "util/bitmap.h"

enum {
	OPT_STAT,
	OPT_SHORT,
	OPT_LIMIT
};

const struct option objsize_options[] = {
	[OPT_STAT] = { "stat", VALUE_NONE, NULL, "only the statistics by type", NULL },
	[OPT_SHORT] = { "short", VALUE_NONE, NULL, "only the addresses (ids), one a line", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N objects (0 = all)", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static enum hd_status list_objects(struct call *call, const struct reach *reach,
				   struct statistics *statistics)
{
	const struct hd_graph *graph = call->graph;
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX), listed = 0;
	bool rows = !call->options[OPT_STAT].given;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		if (node % 4096 == 0)
			TRY(call_check(call));
		if (!bitmap_has(reach->bitmap, node))
			continue;
		statistics_add(statistics, graph->node_types[node], graph_size(graph, node));
		if (!rows || listed++ >= limit)
			continue;
		if (call->as_json) {
			object_json(&call->json, graph, node);
		} else if (call->options[OPT_SHORT].given) {
			out_printf(&call->out, "%" PRIx64 "\n", graph_id(graph, node));
		} else {
			object_row(&call->out, graph, node, false);
		}
	}
	if (rows && limit < reach->count && call->as_json) {
		json_end(&call->json);
		json_bool(&call->json, "truncated", true);
	} else if (rows && call->as_json) {
		json_end(&call->json);
	}
	return HD_OK;
}

static enum hd_status write_json(struct call *call, uint32_t node, const struct reach *reach,
				 struct statistics *statistics)
{
	json_address(&call->json, "object", graph_id(call->graph, node));
	json_number(&call->json, "count", reach->count);
	json_number(&call->json, "size", reach->size);
	if (!call->options[OPT_STAT].given)
		json_array(&call->json, "objects");
	TRY(list_objects(call, reach, statistics));
	statistics_sort(statistics, false, false);
	statistics_json(statistics, &call->json);
	return HD_OK;
}

static enum hd_status write_text(struct call *call, uint32_t node, const struct reach *reach,
				 struct statistics *statistics)
{
	struct out *out = &call->out;
	if (call->options[OPT_SHORT].given)
		return list_objects(call, reach, statistics);
	const struct graph_type *type = &call->graph->types[call->graph->node_types[node]];
	out_printf(out, "Objects which %" PRIx64 " (", graph_id(call->graph, node));
	out_type(out, type->name, type->name_size, type->id);
	out_puts(out, ") transitively keep alive:\n\n");
	if (!call->options[OPT_STAT].given)
		object_row_header(out);
	TRY(list_objects(call, reach, statistics));
	statistics_sort(statistics, false, false);
	out_puts(out, call->options[OPT_STAT].given ? "Statistics:\n" : "\nStatistics:\n");
	statistics_text(statistics, out);
	return HD_OK;
}

enum hd_status run_objsize(struct call *call)
{
	uint32_t node;
	TRY(call_object(call, 0, &node));
	struct reach reach;
	TRY(reach_init(call->graph, &node, 1, &call->job, &reach, call->err));
	struct statistics statistics;
	enum hd_status status = statistics_of_graph(&statistics, call->graph, call->err);
	if (status == HD_OK) {
		status = call->as_json ? write_json(call, node, &reach, &statistics)
				       : write_text(call, node, &reach, &statistics);
	}
	statistics_deinit(&statistics);
	reach_deinit(&reach);
	return status;
}
