/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_NETTRACE_HEAP_H
#define HEAPDUMP_SRC_FORMAT_NETTRACE_HEAP_H

#include "format/format.h"
#include "format/nettrace/nettrace_snapshot.h"
#include "format/nettrace/nettrace_types.h"
#include "format/raw/raw_graph.h"
#include "util/sort.h"

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
	return cursor->at = lower_bound_u64(cursor->keys, cursor->count, key);
}

/** Number of the keys that are @p key, of which *@p ret is the first; not in steps, as they may be many. */
static inline size_t nt_cursor_equal(struct nt_cursor *cursor, uint64_t key, size_t *ret)
{
	*ret = nt_cursor_seek(cursor, key);
	if (*ret == cursor->count || cursor->keys[*ret] != key)
		return 0;
	const uint64_t *keys = cursor->keys + *ret;
	size_t left = cursor->count - *ret;
	return key < UINT64_MAX ? lower_bound_u64(keys, left, key + 1) : left;
}

/** Objects, or references, as they came: the blocks up to the first that is missing. */
struct nt_blocks {
	struct nt_rows *rows; /**< pages */
	size_t rows_count, rows_capacity;
	uint64_t total; /**< of their rows */
	uint64_t left;  /**< rows that came and cannot be used */
	bool has_end;   /**< what comes from now on cannot */
};

/** An object that is a key of weak tables: its values are references behind its own. */
struct nt_paired {
	uint32_t object;  /**< its number as they came */
	uint32_t count;   /**< of its values */
	size_t first;     /**< of them: index in nt_pairs.order */
	uint64_t own_end; /**< references, without values, of it and the objects before it */
};

/** The entries of weak tables and dependent handles: a value is alive while its key is. */
struct nt_pairs {
	uint64_t *keys;   /**< pages, capacity; ascending, once all are there */
	uint64_t *values; /**< pages, capacity; in the order of the trace */
	uint32_t *order;  /**< pages, capacity: where the value of each key is in values */
	size_t count, capacity;
	struct nt_paired *paired; /**< pages; the objects that are keys, ascending */
	size_t paired_count, paired_capacity;
};
void nt_pairs_deinit(struct nt_pairs *pairs);

/** The roots of a snapshot, and those of them that point into an object, by address. */
struct nt_roots {
	struct raw_root *rows; /**< pages */
	size_t rows_count, rows_capacity;
	uint64_t *interior;      /**< pages: addresses of interior roots, ascending */
	uint32_t *interior_root; /**< pages: their index in rows */
	size_t interior_count;
	size_t adopted_count; /**< interior roots whose object was found */
};
void nt_roots_deinit(struct nt_roots *roots);

/** References of the graph that lie side by side in the trace, or are values of weak tables. */
struct nt_run {
	uint64_t to;    /**< number of the first among those of the graph */
	uint64_t from;  /**< its number among the rows of edges, or in nt_pairs.order */
	uint64_t count; /**< at least 1 */
	bool is_values;
};

/** A snapshot on its way into a graph. */
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
	struct nt_pairs pairs;
	struct nt_run
		*runs; /**< pages; ascending by to, no gaps; what heap->raw reads references by */
	size_t runs_count, runs_capacity;
	struct nt_roots roots;
	struct nt_types types;
	struct raw_graph raw;
};

/** Find the node and edge blocks that can be used. */
HD_NODISCARD enum hd_status nt_heap_blocks(struct nt_heap *heap);
/** Count the objects and references; make interior roots those of their objects. */
HD_NODISCARD enum hd_status nt_heap_count(struct nt_heap *heap);
/** Where the objects go: pieces of them that ascend, and the first reference of each. */
struct nt_places {
	struct sort_piece pieces[SORT_PIECES_MAX]; /**< ascending by from, which are as they came */
	uint64_t edges[SORT_PIECES_MAX];
	uint64_t edge_counts[SORT_PIECES_MAX];
	uint32_t count;
};

/** Find out where the references lie, for nt_heap_references(). */
HD_NODISCARD enum hd_status nt_heap_runs(struct nt_heap *heap, const struct nt_places *places);
/** The ids that references of heap->raw are to: raw_graph's read_ids. */
void nt_heap_references(const void *arg, uint64_t begin, size_t count, uint64_t *ret);
/** Fail as the bytes of the trace are not what they were. */
HD_NODISCARD enum hd_status nt_heap_changed(const struct nt_heap *heap);
/** Block that holds row @p row of all. */
size_t nt_block_of(const struct nt_blocks *blocks, uint64_t row);

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
