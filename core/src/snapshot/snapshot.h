/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_SNAPSHOT_SNAPSHOT_H
#define HEAPDUMP_SRC_SNAPSHOT_SNAPSHOT_H

#include "graph/graph.h"
#include "heap/heap.h"

/**
 * Make the graph of a heap: all objects but Free blocks, ids are addresses, types by MethodTable,
 * references and LoaderAllocator edges.  No roots yet.
 *
 * @param[out] ret To be given to graph_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM also when it would pass the job's max_mem
 * @retval HD_ERR_UNSUPPORTED over 2^32 - 2 objects
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status snapshot_create(struct heap *heap, struct job *job,
					    struct hd_graph **ret, struct hd_error *err);

#endif
