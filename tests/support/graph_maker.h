/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "graph/heap_graph.h"

struct made_edge {
	uint32_t from, to; /**< nodes */
};

/**
 * A graph in plain arrays, all borrowed.  What is NULL gets a default: ids 0x1000, 0x1010, ...;
 * sizes 24 + 8 * (node % 5); type 0.
 */
struct graph_spec {
	uint32_t object_count;
	uint32_t missing_count; /**< nodes after the objects; no edge leaves them */
	uint32_t type_count;    /**< 0 counts as 1; type n is called "TypeN" and has id 0x10 + n */
	const uint64_t *ids;    /**< objects + missing; ascending in either part */
	const uint64_t *sizes;
	const uint32_t *types;
	const struct made_edge *edges; /**< in any order, which rows keep */
	uint64_t edge_count;
	const struct graph_root *roots;
	uint32_t root_count;
};

/** Make a graph for graph_destroy(); NULL when memory is exhausted. */
struct hd_graph *graph_make(const struct graph_spec *spec);

/** Its seed is its state, not 0. */
struct random {
	uint64_t state;
};

uint64_t random_next(struct random *random);
/** Below @p limit, which is not 0. */
uint64_t random_below(struct random *random, uint64_t limit);

/** The size and shape of graph_make_random()'s graph; the same for the same values. */
struct random_spec {
	uint64_t seed;
	uint32_t object_count;
	uint32_t missing_count;
	uint32_t degree_percent; /**< average references per object times 100 */
	uint32_t root_count;     /**< at random nodes, also several at one */
	uint32_t weak_percent;   /**< of the roots */
	uint32_t near; /**< most targets are at most so far from their source; 0: anywhere */
};

/** Sources and targets at random, so there are self loops and multiple edges as well. */
struct hd_graph *graph_make_random(const struct random_spec *spec);

/** Mark each root that says what an earlier one says, as readers do. */
void graph_mark_repeated(struct hd_graph *graph);

/** A list of @p count objects of 24 bytes: root -> 0 -> 1 -> ... */
struct hd_graph *graph_make_list(uint32_t count);
