/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_REPORT_ROOT_LABEL_H
#define HEAPDUMP_SRC_REPORT_ROOT_LABEL_H

#include "graph/graph.h"
#include "report/json.h"

/** Name of a root kind as JSON and -kind have it: "stack", "handle", ... */
const char *root_kind_name(uint8_t kind);
/** All of them, NULL ends. */
extern const char *const root_kind_names[];
/** Names of the flags: "pinned", "weak", ...; NULL ends; bit i is flag 1 << i. */
extern const char *const root_flag_names[];

/** What is known beyond its record of root @p index; NULL for dump files. */
static inline const struct graph_root_detail *root_detail(const struct hd_graph *graph,
							  uint32_t index)
{
	return graph->details ? &graph->details[index] : NULL;
}

/** Frame and thread of a root, or NULL. */
const struct graph_frame *root_frame(const struct hd_graph *graph, uint32_t index);
const struct graph_thread *root_thread(const struct hd_graph *graph, uint32_t index);

/** Heading of the roots of one kind, such as "Static variables". */
const char *root_kind_heading(const struct hd_graph *graph, uint8_t kind);

/** 'Thread 4b94 (managed 5) "name"'. */
void thread_label(struct out *out, const struct graph_thread *thread);
/** "Namespace.Type.Method(...)+0x1b". */
void frame_label(struct out *out, const struct graph_frame *frame);
/** "rbp-30: 00007f0fb59fcbc0 (interior)": the slot of a root on a stack. */
void slot_label(struct out *out, const struct hd_graph *graph, uint32_t index);

/** "(pinned handle)", with its address and name, or a static's container, before it. */
void root_label(struct out *out, const struct hd_graph *graph, uint32_t index);

/**
 * The same of all roots that share kind, handle, container and @p name with @p index: without
 * address and thread.
 */
void root_group_label(struct out *out, const struct hd_graph *graph, uint32_t index,
		      const char *name);

/** The members of a root in JSON, up to "weak"; the object stays open for a path. */
void root_json(struct json *json, const struct hd_graph *graph, uint32_t index);

#endif
