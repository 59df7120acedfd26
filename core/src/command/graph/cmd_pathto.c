/* SPDX-License-Identifier: MIT */
#include "answer/path.h"
#include "command/completeness.h"
#include "command/table.h"

#define PATHTO_OPTIONS(X) X(OPT_FULL, "full", VALUE_NONE, NULL, "fold nothing", NULL)

OPTIONS(pathto, PATHTO_OPTIONS);

#define ENDS_LIST(X)                                                                \
	X(ENDS_SOURCE, "source", NULL, KIND_ADDRESS, 0, 0, "where the path begins") \
	X(ENDS_OBJECT, "object", NULL, KIND_ADDRESS, 0, 0, "where it leads to")     \
	X(ENDS_REACHABLE, "reachable", NULL, KIND_FLAG, 0, 0, "is there a path?")

COLUMNS(ends, ENDS_COLUMNS, ENDS_LIST);

SCHEMA(ends, .lines = "[?reachable |Could not find a path from {source:x} to {object:x}.\n]");

static enum hd_status run_pathto(struct call *call)
{
	uint32_t from, to;
	TRY(call_object(call, 0, &from));
	TRY(call_object(call, 1, &to));
	HD_CLEANUP(path_tree) struct path_tree tree = { 0 };
	TRY(path_tree_init(call->graph, to, NULL, &call->job, &tree, call->err));
	job_end(&call->job);
	struct path_report report = {
		.graph = call->graph,
		.answer = &call->answer,
		.job = &call->job,
		.full = call->options[OPT_FULL].given,
	};
	bool found = path_tree_reaches(&tree, from);
	const struct cell cells[ENDS_COLUMNS] = {
		[ENDS_SOURCE] = cell_number(graph_id(call->graph, from)),
		[ENDS_OBJECT] = cell_number(graph_id(call->graph, tree.target)),
		[ENDS_REACHABLE] = cell_flag(found),
	};
	call->findings = !found;
	answer_record(&call->answer, &ends_schema, cells);
	answer_table(&call->answer, &path_schema, NULL);
	if (found)
		TRY(path_write(&report, &tree, from, call->err));
	(void)answer_table_end(&call->answer);
	links_completeness_json(call);
	if (!found)
		links_completeness_write(call, "there may be one");
	return HD_OK;
}

COMMAND(pathto, .has_rows = true, .summary = "show the shortest path from one object to another",
	.example = "pathto 1c0010 1ce056", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_GRAPH,
	.options = pathto_options,
	.words = { { "FROM", VALUE_ADDRESS, false }, { "TO", VALUE_ADDRESS, false } });
