/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"
#include "output/out.h"

/** Name of a root kind, as in JSON and in the option -kind: "stack", "handle", ... */
const char *root_kind_name(uint8_t kind);
/** All these names; NULL ends the list. */
extern const char *const root_kind_names[];
/** Names of the flags: "pinned", "weak", ...; NULL ends the list; name i is for the flag 1 << i. */
extern const char *const root_flag_names[];

/** The details of root @p index besides its record; NULL for dump files. */
static inline const struct graph_root_detail *root_detail(const struct hd_graph *graph,
							  uint32_t index)
{
	return graph->origins.details ? &graph->origins.details[index] : NULL;
}

/** Frame and thread of a root, or NULL. */
const struct graph_frame *root_frame(const struct hd_graph *graph, uint32_t index);
const struct graph_thread *root_thread(const struct hd_graph *graph, uint32_t index);

/** 'Thread 4b94 (managed 5) "name"'. */
void thread_label(struct out *out, const struct graph_thread *thread);
