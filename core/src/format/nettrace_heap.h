/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_NETTRACE_HEAP_H
#define HEAPDUMP_SRC_FORMAT_NETTRACE_HEAP_H

#include "format/format.h"
#include "format/nettrace_snapshot.h"
#include "format/nettrace_types.h"
#include "format/raw_graph.h"

/** 64-bit keys in ascending order, looked up near where the last was found. */
struct nt_cursor {
	const uint64_t *keys;
	size_t count, at;
};

/** Position of the first key that is not below @p key. */
static inline size_t nt_cursor_seek(struct nt_cursor *cursor, uint64_t key)
{
	size_t at = cursor->at;
	if ((!at || cursor->keys[at - 1] < key) && (at == cursor->count || cursor->keys[at] >= key))
		return at;
	size_t low = 0, high = cursor->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (cursor->keys[middle] < key) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	cursor->at = low;
	return low;
}

/** A snapshot on its way into a graph. */
/** Objects, or references, as they came: the blocks up to the first that is missing. */
struct nt_blocks {
	struct nt_rows *rows; /**< pages */
	size_t rows_count, rows_capacity;
	uint64_t total; /**< of their rows */
	uint64_t left;  /**< rows that came and cannot be used */
	bool has_end;   /**< what comes from now on cannot */
};

struct nt_heap {
	const struct nt_trace *trace;
	const struct nt_snapshot *snapshot;
	struct hd_graph *graph;
	const struct format_options *options; /**< may be NULL */
	struct job *job;
	struct hd_error *err;
	uint32_t pointer_size;
	struct nt_blocks nodes, edges;
	uint32_t object_count; /**< of nodes: those that have all their references */
	uint64_t edge_count;   /**< of them, with those of weak tables */
	/* keys of weak tables and dependent handles, ascending, and where each stood in values: */
	uint64_t *keys, *values; /**< pages, pairs_capacity; order: pair_count */
	uint32_t *order;
	size_t pair_count, pairs_capacity;
	struct raw_root *roots; /**< pages */
	size_t roots_count, roots_capacity;
	uint64_t *interior;      /**< pages: addresses of interior roots, ascending */
	uint32_t *interior_root; /**< pages: their index in roots */
	size_t interior_count;
	struct nt_types types;
	struct raw_graph raw;
};

/** Find the node and edge blocks that can be used. */
HD_NODISCARD enum hd_status nt_heap_blocks(struct nt_heap *heap);
/** Count the objects and references; make interior roots those of their objects. */
HD_NODISCARD enum hd_status nt_heap_count(struct nt_heap *heap);
/** Fill heap->raw, with types->rows as types. */
HD_NODISCARD enum hd_status nt_heap_fill(struct nt_heap *heap);
/** Collect the roots, and the pairs of weak tables. */
HD_NODISCARD enum hd_status nt_heap_roots(struct nt_heap *heap);
/** Add the static variables to the roots: types must have their names. */
HD_NODISCARD enum hd_status nt_heap_statics(struct nt_heap *heap);

/** graph->info, and findings about the trace and the snapshot. */
HD_NODISCARD enum hd_status nt_heap_info(struct nt_heap *heap);
HD_NODISCARD enum hd_status nt_heap_findings(struct nt_heap *heap);
/** graph->info of what nt_exact_write() has written: the trace tells more than a .gcdump can. */
HD_NODISCARD enum hd_status nt_exact_info(const struct nt_trace *trace,
					  const struct nt_snapshot *snapshot,
					  struct hd_graph *graph, struct hd_error *err);
/** Findings about the trace alone. */
HD_NODISCARD enum hd_status nt_trace_findings(const struct nt_trace *trace,
					      const struct nt_snapshot *snapshot,
					      struct hd_graph *graph, struct hd_error *err);

/**
 * Make the graph of a snapshot.
 *
 * @retval HD_OK
 * @retval HD_ERR_FORMAT nothing of it can be used
 * @retval HD_ERR_UNSUPPORTED over 4 billion objects
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status nt_heap_graph(const struct nt_trace *trace,
					  const struct nt_snapshot *snapshot,
					  const struct format_options *options, struct job *job,
					  struct hd_graph **ret, struct hd_error *err);

/** See nettrace_to_gcdump(). */
HD_NODISCARD enum hd_status nt_exact_write(const struct nt_trace *trace,
					   const struct nt_snapshot *snapshot, struct job *job,
					   format_write_fn write, void *arg, struct hd_error *err);

#endif
