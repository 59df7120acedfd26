/* SPDX-License-Identifier: MIT */
#include "analysis/name_match.h"
#include "answer/tables.h"
#include "command/table.h"

enum {
	OPT_TYPE,
	OPT_BYCOUNT
};

static const struct option types_options[] = {
	[OPT_TYPE] = { "type", VALUE_TYPE, "TEXT", "types whose name contains TEXT", NULL },
	[OPT_BYCOUNT] = { "bycount", VALUE_NONE, NULL, "by count, not by size", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* Keep the rows whose name passes, in place. */
static void select_rows(struct statistics *statistics, const char *part)
{
	size_t kept = 0;
	for (size_t i = 0; i < statistics->row_count; i++) {
		struct type_count row = statistics->rows[i];
		if (part && (!row.name || !name_matches(row.name, row.name_size, part)))
			continue;
		statistics->rows[kept++] = row;
		statistics->count += row.count;
		statistics->size += row.size;
	}
	statistics->row_count = kept;
}

static enum hd_status run_types(struct call *call)
{
	const struct hd_graph *graph = call->graph;
	struct statistics statistics;
	TRY(statistics_of_graph(&statistics, graph, call->err));
	for (uint32_t i = 0; i < graph->type_count; i++) {
		statistics.rows[i].count = graph->types[i].count;
		statistics.rows[i].size = graph->types[i].size;
	}
	select_rows(&statistics, call->options[OPT_TYPE].text);
	statistics_sort(&statistics, call->options[OPT_BYCOUNT].given, true);
	char number[COUNT_SIZE];
	statistics_table(&call->answer, &statistics);
	answer_remark(&call->answer, "%s\n", format_count(statistics.row_count, "type", number));
	statistics_deinit(&statistics);
	return HD_OK;
}

const struct command types_command = {
	.name = "types",
	.has_rows = true,
	.summary = "list the types, also those without objects",
	.description = "",
	.example = "types -type Bubble",
	.needs = NEEDS_GRAPH,
	.options = types_options,
	.run = run_types,
};
