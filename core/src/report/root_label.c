/* SPDX-License-Identifier: MIT */
#include "report/root_label.h"

#include <inttypes.h>

const char *const root_kind_names[] = {
	[HD_ROOT_INTERNAL] = "internal",
	[HD_ROOT_STACK] = "stack",
	[HD_ROOT_FINALIZER] = "finalizer",
	[HD_ROOT_HANDLE] = "handle",
	[HD_ROOT_STATIC] = "static",
	[HD_ROOT_GC] = "gc",
	NULL,
};

const char *const root_flag_names[] = { "pinned", "weak", "interior", NULL };

static const struct {
	const char *heading, *label;
} kinds[] = {
	[HD_ROOT_INTERNAL] = { "Runtime", "runtime internal" },
	[HD_ROOT_STACK] = { "Stack", "local variable" },
	[HD_ROOT_FINALIZER] = { "Finalizer queue", "finalizer root" },
	[HD_ROOT_HANDLE] = { "HandleTable", "handle" },
	[HD_ROOT_STATIC] = { "Static variables", "static variable" },
	[HD_ROOT_GC] = { "Garbage collector", "gc internal" },
};

const char *root_kind_name(uint8_t kind)
{
	return root_kind_names[kind];
}

const char *root_kind_heading(uint8_t kind)
{
	return kinds[kind].heading;
}

void root_label(struct out *out, const struct hd_graph *graph, const struct graph_root *root)
{
	if (root->container != HD_NONE) {
		const struct graph_type *type = &graph->types[root->container];
		out_type(out, type->name, type->name_size, type->id);
		out_puts(out, " ");
	}
	out_puts(out, "(");
	for (size_t i = 0; root_flag_names[i]; i++) {
		if (root->flags >> i & 1)
			out_printf(out, "%s ", root_flag_names[i]);
	}
	out_printf(out, "%s)", kinds[root->kind].label);
}

void root_json(struct json *json, const struct hd_graph *graph, const struct graph_root *root)
{
	json_string(json, "kind", root_kind_name(root->kind));
	json_null(json, "handle");
	json_array(json, "flags");
	for (size_t i = 0; root_flag_names[i]; i++) {
		if (root->flags >> i & 1)
			json_string(json, NULL, root_flag_names[i]);
	}
	json_end(json);
	json_null(json, "name");
	if (root->container != HD_NONE) {
		const struct graph_type *type = &graph->types[root->container];
		json_object(json, "container");
		json_address(json, "mt", type->id);
		json_text(json, "name", type->name, type->name_size);
		json_end(json);
	} else {
		json_null(json, "container");
	}
	json_null(json, "address");
	json_address(json, "object", graph_id(graph, root->node));
	json_null(json, "thread");
	json_null(json, "frame");
	json_null(json, "slot");
	json_bool(json, "weak", root_is_weak(root));
}
