/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_SNAPSHOT_FILL_H
#define HEAPDUMP_SRC_SNAPSHOT_FILL_H

#include "graph/graph.h"
#include "heap/starts.h"

/** References whose nodes are looked up at once. */
#define SNAPSHOT_BATCH 1024u

/** What one worker found on its way. */
struct snapshot_worker {
	struct snapshot *snapshot;
	struct large_size *large;
	size_t large_count, large_capacity;
	uint64_t total_size;
	uint64_t edges;                       /**< references that are not null */
	uint64_t gaps;                        /**< where the heap could not be walked */
	uint64_t dropped;                     /**< references to what is no object */
	uint64_t dropped_slot, dropped_value; /**< of the one at the lowest slot */
	uint64_t position, end;               /**< in the targets, of the segment's rows */
	size_t count;                         /**< of those that wait: */
	uint64_t values[SNAPSHOT_BATCH], slots[SNAPSHOT_BATCH];
};

/** A heap on its way into a graph. */
struct snapshot {
	struct heap *heap;
	struct job *job;
	struct hd_error *err;
	struct hd_graph *graph;
	struct starts *starts; /**< the graph owns it from the start */
	struct snapshot_worker *workers;
	unsigned int worker_count;
	size_t type_count; /**< of the clr, when the objects were read */
	uint64_t edges, dropped;
};

/**
 * First pass: node_types (indices of the clr's types), sizes, large, degrees as forward.offsets;
 * then offsets and bases.
 */
HD_NODISCARD enum hd_status snapshot_objects(struct snapshot *snapshot);

/** Second pass: forward.targets; without those that lead to no object. */
HD_NODISCARD enum hd_status snapshot_references(struct snapshot *snapshot);

#endif
