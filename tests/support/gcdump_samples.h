/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"
#include "support/gcdump_maker.h"

#define PLAIN_NODES ((uint32_t)7)

/** Objects of all kinds of sizes and names; node 3 is the one below the root. */
extern const struct made_gcdump_node plain_nodes[PLAIN_NODES];

/** A file of them. */
struct made_gcdump plain_spec(void);

/** Read a made file, called x.gcdump. */
enum hd_status read_made(const struct made_gcdump *spec, bool lenient, unsigned int workers,
			 struct hd_graph **ret, struct hd_error *err);

/** Reading a file like @p spec, with all that may stand beside a graph, when memory runs out. */
void check_failed_allocations_of(struct made_gcdump spec);
