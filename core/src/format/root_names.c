/* SPDX-License-Identifier: MIT */
#include "format/root_names.h"

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

static const char *const handles[GRAPH_HANDLES] = {
	[GRAPH_HANDLE_STRONG] = "strong handle",
	[GRAPH_HANDLE_PINNED] = "pinned handle",
	[GRAPH_HANDLE_WEAK_SHORT] = "weak short handle",
	[GRAPH_HANDLE_WEAK_LONG] = "weak long handle",
	[GRAPH_HANDLE_DEPENDENT] = "dependent handle",
	[GRAPH_HANDLE_REF_COUNTED] = "ref counted handle",
	[GRAPH_HANDLE_SIZED_REF] = "sized ref handle",
	[GRAPH_HANDLE_VARIABLE] = "variable handle",
	[GRAPH_HANDLE_ASYNC_PINNED] = "async pinned handle",
	[GRAPH_HANDLE_CROSS_REFERENCE] = "cross reference handle",
	[GRAPH_HANDLE_WEAK_INTERIOR] = "weak interior handle",
	[GRAPH_HANDLE_WEAK_NATIVE_COM] = "weak native COM handle",
};

const char *root_group_name(const struct hd_graph *graph, unsigned int kind)
{
	if (kind >= ROOT_KINDS)
		kind = HD_ROOT_INTERNAL;
	/* Of a heap, what the collector itself roots are the frozen segments. */
	return graph->details && kind == HD_ROOT_GC ? "(Frozen objects)" : groups[kind];
}

static const char *detail_name(const struct hd_graph *graph, const struct graph_root_detail *detail)
{
	if (detail->name && *detail->name)
		return detail->name;
	const char *method =
		detail->frame < graph->frame_count ? graph->frames[detail->frame].method : NULL;
	if (method && *method)
		return method;
	return detail->handle < GRAPH_HANDLES ? handles[detail->handle] : NULL;
}

const char *root_own_name(const struct hd_graph *graph, uint32_t index, size_t *size)
{
	const char *name = graph->details ? detail_name(graph, &graph->details[index]) : NULL;
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
