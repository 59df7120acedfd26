/* SPDX-License-Identifier: MIT */
#include "graph/root.h"

#include <stddef.h>

static const struct {
	const char *name, *label;
} handles[GRAPH_HANDLES] = {
	[GRAPH_HANDLE_NONE] = { NULL, "handle" },
	[GRAPH_HANDLE_STRONG] = { "strong", "strong handle" },
	[GRAPH_HANDLE_PINNED] = { "pinned", "pinned handle" },
	[GRAPH_HANDLE_WEAK_SHORT] = { "weak-short", "weak short handle" },
	[GRAPH_HANDLE_WEAK_LONG] = { "weak-long", "weak long handle" },
	[GRAPH_HANDLE_DEPENDENT] = { "dependent", "dependent handle" },
	[GRAPH_HANDLE_REF_COUNTED] = { "ref-counted", "ref counted handle" },
	[GRAPH_HANDLE_SIZED_REF] = { "sized-ref", "sized ref handle" },
	[GRAPH_HANDLE_VARIABLE] = { "variable", "variable handle" },
	[GRAPH_HANDLE_ASYNC_PINNED] = { "async-pinned", "async pinned handle" },
	[GRAPH_HANDLE_CROSS_REFERENCE] = { "cross-reference", "cross reference handle" },
	[GRAPH_HANDLE_WEAK_INTERIOR] = { "weak-interior", "weak interior handle" },
	[GRAPH_HANDLE_WEAK_NATIVE_COM] = { "weak-native-com", "weak native COM handle" },
};

const char *graph_handle_name(uint8_t handle)
{
	return handle < GRAPH_HANDLES ? handles[handle].name : NULL;
}

const char *graph_handle_label(uint8_t handle)
{
	return handles[handle < GRAPH_HANDLES ? handle : GRAPH_HANDLE_NONE].label;
}
