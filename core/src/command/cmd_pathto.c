/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/completeness.h"
#include "report/paths.h"

enum {
	OPT_FULL
};

const struct option pathto_options[] = {
	[OPT_FULL] = { "full", VALUE_NONE, NULL, "fold nothing", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static enum hd_status write_path(struct call *call, const struct path_tree *tree, uint32_t from)
{
	struct path_report report = {
		.graph = call->graph,
		.out = &call->out,
		.json = call->as_json ? &call->json : NULL,
		.job = &call->job,
		.full = call->options[OPT_FULL].given,
	};
	bool found = path_tree_reaches(tree, from);
	call->findings = !found;
	if (call->as_json) {
		json_address(&call->json, "source", graph_id(call->graph, from));
		json_address(&call->json, "object", graph_id(call->graph, tree->target));
		json_bool(&call->json, "reachable", found);
		json_array(&call->json, "path");
	}
	if (found)
		TRY(path_write(&report, tree, from, call->err));
	if (call->as_json) {
		json_end(&call->json);
		links_completeness_json(call);
	} else if (!found) {
		out_printf(&call->out, "Could not find a path from %" PRIx64 " to %" PRIx64 ".\n",
			   graph_id(call->graph, from), graph_id(call->graph, tree->target));
		links_completeness_write(call, "there may be one");
	}
	return HD_OK;
}

enum hd_status run_pathto(struct call *call)
{
	uint32_t from, to;
	TRY(call_object(call, 0, &from));
	TRY(call_object(call, 1, &to));
	struct path_tree tree;
	TRY(path_tree_init(call->graph, to, NULL, &call->job, &tree, call->err));
	job_end(&call->job);
	enum hd_status status = write_path(call, &tree, from);
	path_tree_deinit(&tree);
	return status;
}
