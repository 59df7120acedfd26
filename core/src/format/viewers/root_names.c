/* SPDX-License-Identifier: MIT */
#include "format/viewers/root_names.h"

#include <string.h>

static const char *const groups[ROOT_KINDS] = {
	[HD_ROOT_INTERNAL] = "(Internal)",
	[HD_ROOT_STACK] = "(Stack)",
	[HD_ROOT_FINALIZER] = "(Finalizer queue)",
	[HD_ROOT_HANDLE] = "(Handles)",
	[HD_ROOT_STATIC] = "(Static variables)",
	[HD_ROOT_GC] = "(Garbage collector)",
	[HD_ROOT_THREAD_STATIC] = "(Thread statics)",
};

const char *root_group_name(const struct hd_graph *graph, unsigned int kind)
{
	if (kind >= ROOT_KINDS)
		kind = HD_ROOT_INTERNAL;
	/* In a heap, the roots of the collector itself are the frozen segments. */
	return graph->origins.details && kind == HD_ROOT_GC ? "(Frozen objects)" : groups[kind];
}

static const char *detail_name(const struct hd_graph *graph, const struct graph_root_detail *detail)
{
	if (detail->name && *detail->name)
		return detail->name;
	const char *method = detail->frame < graph->origins.frame_count
				     ? graph->origins.frames[detail->frame].method
				     : NULL;
	if (method && *method)
		return method;
	return graph_handle_name(detail->handle) ? graph_handle_label(detail->handle) : NULL;
}

const char *root_own_name(const struct hd_graph *graph, uint32_t index, size_t *size)
{
	const char *name =
		graph->origins.details ? detail_name(graph, &graph->origins.details[index]) : NULL;
	if (name) {
		*size = strlen(name);
		return name;
	}
	uint32_t container = graph->roots[index].container;
	return container < graph->type_count ? type_own_name(graph, container, size) : NULL;
}

const char *type_own_name(const struct hd_graph *graph, uint32_t type, size_t *size)
{
	const struct graph_type *of = type < graph->type_count ? &graph->types[type] : NULL;
	const char *name = of && of->name && of->name_size ? of->name : "(unknown type)";
	*size = of && of->name && of->name_size ? of->name_size : strlen(name);
	return name;
}
