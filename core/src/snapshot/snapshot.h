/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"
#include "roots/root_set.h"

/**
 * Make the graph of a heap: all objects except Free blocks; ids are addresses; types by MethodTable
 * (and those that only have statics), references, LoaderAllocator edges, edges of dependent
 * handles; claimed slots of @p roots (those of statics, which are roots themselves: doc/coreclr.md
 * 10.6) are not edges.  Its roots are @p roots, and every frozen object (HD_ROOT_GC).
 *
 * @param roots Borrowed until the graph is destroyed, as is its heap; NULL: a graph without roots.
 * @param[out] ret To be given to graph_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM also when it would exceed the job's max_mem
 * @retval HD_ERR_UNSUPPORTED over 2^32 - 2 objects
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status snapshot_create(struct heap *heap, const struct root_set *roots,
					    struct job *job, struct hd_graph **ret,
					    struct hd_error *err);

/** The same without references: graph_forward() and graph_reverse() make them later. */
HD_NODISCARD enum hd_status snapshot_create_nodes(struct heap *heap, const struct root_set *roots,
						  struct job *job, struct hd_graph **ret,
						  struct hd_error *err);

/**
 * Replace the roots of a graph of snapshot_create() by other roots of the same heap.  On
 * failure it has none.
 */
HD_NODISCARD enum hd_status snapshot_set_roots(struct hd_graph *graph, const struct root_set *roots,
					       struct job *job, struct hd_error *err);
