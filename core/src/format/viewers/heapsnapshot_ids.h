/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

/**
 * Ids of objects in a V8 heap snapshot: odd, like V8's own, and with 32 bits, because DevTools does
 * not keep more (HeapSnapshotLoader.ts: all numbers go into a Uint32Array).
 */
struct heapsnapshot_ids {
	const struct hd_graph *graph;
	bool by_address;    /**< the same object has the same id in all snapshots of a process; else
			     * ids come from nodes */
	unsigned int shift; /**< the number of low bits that are zero in all addresses */
};

/** Find out whether the addresses, shortened to 32 bits, are different for all objects. */
void heapsnapshot_ids_init(struct heapsnapshot_ids *ids, const struct hd_graph *graph);

/** Id of an object, which must not be a missing node. */
static inline uint32_t heapsnapshot_id(const struct heapsnapshot_ids *ids, uint32_t node)
{
	uint64_t number = ids->by_address ? graph_id(ids->graph, node) >> ids->shift : node;
	return (uint32_t)(number << 1 | 1);
}
