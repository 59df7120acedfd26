/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "query/filter.h"
#include "report/root_label.h"

enum {
	OPT_KIND,
	OPT_FLAG,
	OPT_CONTAINER,
	OPT_LIMIT
};

const struct option roots_options[] = {
	[OPT_KIND] = { "kind", VALUE_CHOICE, "KIND",
		       "stack, handle, static, finalizer, gc or internal", root_kind_names },
	[OPT_FLAG] = { "flag", VALUE_CHOICE, "FLAG", "pinned, weak or interior", root_flag_names },
	[OPT_CONTAINER] = { "container", VALUE_TYPE, "TEXT",
			    "static variables of types whose name holds TEXT", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N roots (0 = all)", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static bool has_flag(const struct graph_root *root, const char *name)
{
	for (size_t i = 0; root_flag_names[i]; i++) {
		if (strcmp(root_flag_names[i], name) == 0)
			return root->flags >> i & 1;
	}
	return false;
}

static bool passes(const struct call *call, const struct graph_root *root)
{
	const struct value *options = call->options;
	if (options[OPT_KIND].given &&
	    strcmp(root_kind_name(root->kind), options[OPT_KIND].text) != 0)
		return false;
	if (options[OPT_FLAG].given && !has_flag(root, options[OPT_FLAG].text))
		return false;
	if (!options[OPT_CONTAINER].given)
		return true;
	if (root->container == HD_NONE)
		return false;
	const struct graph_type *type = &call->graph->types[root->container];
	return type->name && name_matches(type->name, type->name_size, options[OPT_CONTAINER].text);
}

static void write_row(struct call *call, const struct graph_root *root)
{
	const struct hd_graph *graph = call->graph;
	struct out *out = &call->out;
	char flags[32] = "";
	size_t used = 0;
	for (size_t i = 0; root_flag_names[i]; i++) {
		if (root->flags >> i & 1) {
			(void)snprintf(flags + used, sizeof(flags) - used, "%s%s", used ? "," : "",
				       root_flag_names[i]);
			used = strlen(flags);
		}
	}
	out_styled(out, STYLE_ADDRESS, "%16" PRIx64, graph_id(graph, root->node));
	out_printf(out, " %-9s %-20s ", root_kind_name(root->kind), flags);
	if (graph_is_missing(graph, root->node)) {
		out_styled(out, STYLE_NOTE, "<not in this dump>");
	} else {
		const struct graph_type *type = &graph->types[graph->node_types[root->node]];
		out_type(out, type->name, type->name_size, type->id);
	}
	if (root->container != HD_NONE) {
		const struct graph_type *type = &graph->types[root->container];
		out_puts(out, " (static of ");
		out_type(out, type->name, type->name_size, type->id);
		out_puts(out, ")");
	}
	out_puts(out, "\n");
}

enum hd_status run_roots(struct call *call)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX), found = 0;
	uint64_t kinds[HD_ROOT_GC + 1] = { 0 };
	if (call->as_json) {
		json_array(&call->json, "roots");
	} else {
		out_styled(&call->out, STYLE_HEAD, "%16s %-9s %-20s Class Name", "Object", "Kind",
			   "Flags");
		out_puts(&call->out, "\n");
	}
	for (uint32_t i = 0; i < call->graph->root_count; i++) {
		const struct graph_root *root = &call->graph->roots[i];
		if (!passes(call, root))
			continue;
		kinds[root->kind]++;
		if (found++ >= limit)
			continue;
		if (call->as_json) {
			json_object(&call->json, NULL);
			root_json(&call->json, call->graph, root);
			json_end(&call->json);
		} else {
			write_row(call, root);
		}
		TRY(call_check(call));
	}
	if (call->as_json) {
		json_end(&call->json);
		json_number(&call->json, "found", found);
		if (found > limit)
			json_bool(&call->json, "truncated", true);
		return HD_OK;
	}
	char number[27];
	out_printf(&call->out, "Total %s roots", format_thousands(found, number));
	for (unsigned int kind = 0; kind <= HD_ROOT_GC; kind++) {
		if (kinds[kind]) {
			out_printf(&call->out, ", %s %s", format_thousands(kinds[kind], number),
				   root_kind_names[kind]);
		}
	}
	out_puts(&call->out, found > limit ? " (-limit 0 lists all)\n" : "\n");
	return HD_OK;
}
