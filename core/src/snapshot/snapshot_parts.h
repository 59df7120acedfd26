/* SPDX-License-Identifier: MIT */
#pragma once

#include "snapshot/edge_walk.h"
#include "snapshot/places.h"

/** Objects of one type of the runtime. */
struct type_total {
	uint64_t count, size;
};

/** One worker's part of the snapshot. */
struct snapshot_worker {
	struct snapshot *snapshot;
	struct type_total *totals; /**< by index of the runtime's type */
	size_t totals_capacity;
	uint64_t extra;                  /**< number of edges of dependent handles */
	uint64_t gaps;                   /**< number of places where the heap could not be walked */
	uint64_t missing, missing_bytes; /**< gaps whose bytes are not in the target */
	struct extra_edges extra_edges;
};

/** A heap that is being made into a graph. */
struct snapshot {
	struct heap *heap;
	const struct root_set *roots; /**< may be NULL */
	struct job *job;
	struct hd_error *err;
	struct hd_graph *graph;
	struct places *places; /**< the graph owns it from the start */
	struct snapshot_worker *workers;
	unsigned int worker_count;
	uint64_t extra, gaps, missing, missing_bytes;
};

/** Walk the heap: find where objects start, and count objects, types and edges. */
HD_NODISCARD enum hd_status snapshot_count(struct snapshot *snapshot);

/**
 * Make the graph's types, and the map to them: the types of objects, and those with statics among
 * the roots.
 */
HD_NODISCARD enum hd_status snapshot_types(struct snapshot *snapshot);

/**
 * Fill the graph's info: what the target tells about the process, and the ranges of generations.
 */
HD_NODISCARD enum hd_status snapshot_info(struct snapshot *snapshot);

/**
 * Give the graph the roots of its places, and its frozen objects; it has none yet.  On failure it
 * still has none.
 */
HD_NODISCARD enum hd_status snapshot_roots(struct hd_graph *graph, struct job *job,
					   struct hd_error *err);
