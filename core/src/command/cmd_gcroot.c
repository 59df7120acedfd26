/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/command.h"
#include "query/gcroot.h"
#include "report/paths.h"
#include "report/root_label.h"
#include "util/bitmap.h"

enum {
	OPT_ALL,
	OPT_LIMIT,
	OPT_WEAK,
	OPT_NOSTACKS,
	OPT_FULL
};

#define DEFAULT_LIMIT 100u

const struct option gcroot_options[] = {
	[OPT_ALL] = { "all", VALUE_NONE, NULL, "show every path whole, to the object", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "show at most N roots (100; 0 = all)", NULL },
	[OPT_WEAK] = { "weak", VALUE_NONE, NULL, "paths from weak roots too", NULL },
	[OPT_NOSTACKS] = { "nostacks", VALUE_NONE, NULL, "leave out local variables", NULL },
	[OPT_FULL] = { "full", VALUE_NONE, NULL, "fold nothing", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static enum hd_status write_roots(struct call *call, const struct gcroot *gcroot,
				  const struct rooted *list, size_t count,
				  struct path_report *report)
{
	uint8_t kind = UINT8_MAX;
	for (size_t i = 0; i < count; i++) {
		const struct graph_root *root = &call->graph->roots[list[i].root];
		if (root->kind != kind) {
			kind = root->kind;
			out_styled(&call->out, STYLE_HEAD, "%s:", root_kind_heading(kind));
			out_puts(&call->out, "\n");
		}
		out_puts(&call->out, "    ");
		root_label(&call->out, call->graph, root);
		out_puts(&call->out, "\n");
		TRY(path_write(report, &gcroot->tree, root->node, call->err));
		out_puts(&call->out, "\n");
		TRY(call_check(call));
	}
	return HD_OK;
}

static void write_summary(struct call *call, const struct gcroot *gcroot, uint64_t shown)
{
	struct out *out = &call->out;
	char number[27];
	uint64_t id = graph_id(call->graph, gcroot->tree.target);
	out_printf(out, "Found %s unique roots", format_thousands(gcroot->strong_count, number));
	if (shown < gcroot->strong_count)
		out_printf(out, ", %s shown (-limit 0 shows all)", format_thousands(shown, number));
	out_puts(out, ".\n");
	if (gcroot->hidden_stack) {
		out_printf(out, "Left out by -nostacks: %s stack roots that reach %" PRIx64 ".\n",
			   format_thousands(gcroot->hidden_stack, number), id);
	}
	if (gcroot->strong_count || gcroot->hidden_stack)
		return;
	out_printf(out, "Nothing keeps %" PRIx64 " alive: it is dead%s.\n", id,
		   gcroot->weak_count ? ", only weak roots see it" : "");
}

static enum hd_status write_text(struct call *call, const struct gcroot *gcroot,
				 struct path_report *report)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, DEFAULT_LIMIT);
	size_t strong = gcroot->strong_count < limit ? gcroot->strong_count : (size_t)limit;
	size_t weak = gcroot->weak_count < limit ? gcroot->weak_count : (size_t)limit;
	TRY(write_roots(call, gcroot, gcroot->strong, strong, report));
	if (weak) {
		out_styled(&call->out, STYLE_HEAD, "Weak roots (they keep nothing alive)");
		out_puts(&call->out, "\n");
		TRY(write_roots(call, gcroot, gcroot->weak, weak, report));
	}
	write_summary(call, gcroot, strong);
	return HD_OK;
}

static enum hd_status json_roots(struct call *call, const struct gcroot *gcroot,
				 const struct rooted *list, size_t count, bool paths,
				 struct path_report *report)
{
	for (size_t i = 0; i < count; i++) {
		const struct graph_root *root = &call->graph->roots[list[i].root];
		json_object(&call->json, NULL);
		root_json(&call->json, call->graph, root);
		json_array(&call->json, "path");
		if (paths)
			TRY(path_write(report, &gcroot->tree, root->node, call->err));
		json_end(&call->json);
		json_end(&call->json);
		TRY(call_check(call));
	}
	return HD_OK;
}

static enum hd_status write_json(struct call *call, const struct gcroot *gcroot,
				 struct path_report *report)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, DEFAULT_LIMIT);
	size_t strong = gcroot->strong_count < limit ? gcroot->strong_count : (size_t)limit;
	size_t weak = gcroot->weak_count < limit ? gcroot->weak_count : (size_t)limit;
	struct json *json = &call->json;
	json_address(json, "object", graph_id(call->graph, gcroot->tree.target));
	json_bool(json, "reachable", gcroot->strong_count || gcroot->hidden_stack);
	json_number(json, "found", gcroot->strong_count);
	json_bool(json, "truncated", strong < gcroot->strong_count || weak < gcroot->weak_count);
	json_array(json, "roots");
	TRY(json_roots(call, gcroot, gcroot->strong, strong, true, report));
	TRY(json_roots(call, gcroot, gcroot->weak, weak, call->options[OPT_WEAK].given, report));
	json_end(json);
	return HD_OK;
}

enum hd_status run_gcroot(struct call *call)
{
	uint32_t node;
	TRY(call_object(call, 0, &node));
	const struct gcroot_options options = {
		.all_weak = call->options[OPT_WEAK].given,
		.no_stacks = call->options[OPT_NOSTACKS].given,
	};
	struct gcroot gcroot;
	TRY(gcroot_init(call->graph, node, &options, &call->job, &gcroot, call->err));
	job_end(&call->job);
	struct path_report report = {
		.graph = call->graph,
		.out = &call->out,
		.json = call->as_json ? &call->json : NULL,
		.job = &call->job,
		.full = call->options[OPT_FULL].given,
	};
	enum hd_status status = HD_OK;
	if (!call->as_json && !call->options[OPT_ALL].given) {
		report.shown = bitmap_alloc(call->graph->node_count);
		if (!report.shown)
			status = fail_nomem(call->err);
	}
	if (status == HD_OK) {
		status = call->as_json ? write_json(call, &gcroot, &report)
				       : write_text(call, &gcroot, &report);
	}
	call->findings = !gcroot.strong_count;
	if (report.shown)
		bitmap_free(report.shown, call->graph->node_count);
	gcroot_deinit(&gcroot);
	return status;
}
