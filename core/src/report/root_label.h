/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_REPORT_ROOT_LABEL_H
#define HEAPDUMP_SRC_REPORT_ROOT_LABEL_H

#include "graph/graph.h"
#include "report/json.h"

/** Name of a root kind as JSON and -kind have it: "stack", "handle", ... */
const char *root_kind_name(uint8_t kind);
/** All of them, NULL ends. */
extern const char *const root_kind_names[];
/** Names of the flags: "pinned", "weak", "interior"; NULL ends; bit i is flag 1 << i. */
extern const char *const root_flag_names[];

/** Heading of the roots of one kind, such as "Static variables". */
const char *root_kind_heading(uint8_t kind);

/** "(pinned handle)", with the container before it for a static. */
void root_label(struct out *out, const struct hd_graph *graph, const struct graph_root *root);

/** The members of a root in JSON, up to "weak"; the object stays open for a path. */
void root_json(struct json *json, const struct hd_graph *graph, const struct graph_root *root);

#endif
