/* SPDX-License-Identifier: MIT */
#include "command/command.h"
#include "query/filter.h"
#include "report/statistics.h"

enum {
	OPT_TYPE,
	OPT_BYCOUNT
};

const struct option types_options[] = {
	[OPT_TYPE] = { "type", VALUE_TYPE, "TEXT", "types whose name holds TEXT", NULL },
	[OPT_BYCOUNT] = { "bycount", VALUE_NONE, NULL, "by count, not by size", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

enum hd_status run_types(struct call *call)
{
	const struct hd_graph *graph = call->graph;
	struct statistics statistics;
	TRY(statistics_init(&statistics, graph, call->err));
	const char *part = call->options[OPT_TYPE].text;
	statistics.row_count = 0;
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		if (part && (!type->name || !name_matches(type->name, type->name_size, part)))
			continue;
		statistics.rows[statistics.row_count++] =
			(struct type_count){ .type = i, .count = type->count, .size = type->size };
		statistics.count += type->count;
		statistics.size += type->size;
	}
	statistics_sort(&statistics, graph, call->options[OPT_BYCOUNT].given, true);
	if (call->as_json) {
		statistics_json(&statistics, graph, &call->json);
	} else {
		statistics_text(&statistics, graph, &call->out);
		char number[27];
		if (!call->as_json) {
			out_printf(&call->out, "%s types\n",
				   format_thousands(statistics.row_count, number));
		}
	}
	statistics_deinit(&statistics);
	return HD_OK;
}
