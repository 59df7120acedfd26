/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_HEAPSNAPSHOT_IDS_H
#define HEAPDUMP_SRC_FORMAT_HEAPSNAPSHOT_IDS_H

#include "graph/heap_graph.h"

/**
 * Ids of objects in a V8 heap snapshot: odd, as V8's own, and of 32 bits, as DevTools keeps no more
 * of them (HeapSnapshotLoader.ts: all numbers go into a Uint32Array).
 */
struct heapsnapshot_ids {
	const struct hd_graph *graph;
	bool by_address;    /**< same object, same id in all snapshots of a process; else by node */
	unsigned int shift; /**< what all addresses have as low zero bits */
};

/** Find out whether the addresses, shortened to 32 bits, tell all objects apart. */
void heapsnapshot_ids_init(struct heapsnapshot_ids *ids, const struct hd_graph *graph);

/** Id of an object, which is not missing. */
static inline uint32_t heapsnapshot_id(const struct heapsnapshot_ids *ids, uint32_t node)
{
	uint64_t number = ids->by_address ? graph_id(ids->graph, node) >> ids->shift : node;
	return (uint32_t)(number << 1 | 1);
}

#endif
