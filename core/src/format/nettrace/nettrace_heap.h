/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"
#include "format/nettrace/nettrace_snapshot.h"
#include "format/nettrace/nettrace_types.h"
#include "format/raw/raw_graph.h"
#include "util/sort.h"

/** 64-bit keys in ascending order; a search begins where the last one ended. */
struct nt_cursor {
	const uint64_t *keys;
	size_t count, at;
};

/** Position of the first key that is not smaller than @p key. */
static inline size_t nt_cursor_seek(struct nt_cursor *cursor, uint64_t key)
{
	size_t at = cursor->at;
	if ((!at || cursor->keys[at - 1] < key) && (at == cursor->count || cursor->keys[at] >= key))
		return at;
	return cursor->at = lower_bound_u64(cursor->keys, cursor->count, key);
}

/**
 * How many keys are equal to @p key; *@p ret is the first.  They are not counted one by one, as
 * there may be many.
 */
static inline size_t nt_cursor_equal(struct nt_cursor *cursor, uint64_t key, size_t *ret)
{
	*ret = nt_cursor_seek(cursor, key);
	if (*ret == cursor->count || cursor->keys[*ret] != key)
		return 0;
	const uint64_t *keys = cursor->keys + *ret;
	size_t left = cursor->count - *ret;
	return key < UINT64_MAX ? lower_bound_u64(keys, left, key + 1) : left;
}

/** Objects, or references, in the order of the trace: the blocks up to the first missing one. */
struct nt_blocks {
	struct nt_rows *rows; /**< pages */
	size_t rows_count, rows_capacity;
	uint64_t total; /**< number of their rows */
	uint64_t left;  /**< rows that cannot be used */
	bool has_end;   /**< rows that come from now on cannot be used */
};

/** An object that is a key of weak tables: its values are references after its own. */
struct nt_paired {
	uint32_t object;  /**< its number in the order of the trace */
	uint32_t count;   /**< number of its values */
	size_t first;     /**< its first value: index in nt_pairs.order */
	uint64_t own_end; /**< references of it and of the objects before it, without values */
};

/** The entries of weak tables and dependent handles: a value is alive while its key is. */
struct nt_pairs {
	uint64_t *keys;   /**< pages, capacity; ascending when all were added */
	uint64_t *values; /**< pages, capacity; in the order of the trace */
	uint32_t *order;  /**< pages, capacity: where the value of each key is in values */
	size_t count, capacity;
	struct nt_paired *paired; /**< pages; the objects that are keys, ascending */
	size_t paired_count, paired_capacity;
};
void nt_pairs_deinit(struct nt_pairs *pairs);

/** The roots of a snapshot; those that point into the middle of an object also by address. */
struct nt_roots {
	struct raw_root *rows; /**< pages */
	size_t rows_count, rows_capacity;
	uint64_t *interior;      /**< pages: addresses of interior roots, ascending */
	uint32_t *interior_root; /**< pages: their index in rows */
	size_t interior_count;
	size_t adopted_count; /**< interior roots whose object was found */
};
void nt_roots_deinit(struct nt_roots *roots);

/**
 * References of the graph that are next to each other in the trace, or are values of weak tables.
 */
struct nt_run {
	uint64_t to;    /**< number of the first among those of the graph */
	uint64_t from;  /**< its number among the rows of edges, or in nt_pairs.order */
	uint64_t count; /**< at least 1 */
	bool is_values;
};

/** A snapshot that is being made into a graph. */
struct nt_heap {
	const struct nt_trace *trace;
	const struct nt_snapshot *snapshot;
	struct hd_graph *graph;
	const struct format_options *options; /**< may be NULL */
	struct job *job;
	struct hd_error *err;
	uint32_t pointer_size;
	struct nt_blocks nodes, edges;
	uint32_t object_count; /**< number of the nodes that have all their references */
	uint64_t edge_count;   /**< number of their references, with those of weak tables */
	struct nt_pairs pairs;
	struct nt_run
		*runs; /**< pages; ascending by to, without gaps; heap->raw reads references through
		        * them */
	size_t runs_count, runs_capacity;
	struct nt_roots roots;
	struct nt_types types;
	struct raw_graph raw;
};

/** Find the blocks of nodes and edges that can be used. */
HD_NODISCARD enum hd_status nt_heap_blocks(struct nt_heap *heap);
/** Count the objects and references; give interior roots to their objects. */
HD_NODISCARD enum hd_status nt_heap_count(struct nt_heap *heap);
/** Where the objects go: pieces that ascend, and the first reference of each object. */
struct nt_places {
	struct sort_piece pieces[SORT_PIECES_MAX]; /**< ascending by from, the numbers in the order
						    * of the trace */
	uint64_t edges[SORT_PIECES_MAX];
	uint64_t edge_counts[SORT_PIECES_MAX];
	uint32_t count;
};

/** Fill heap->raw; its types are indices in types->rows. */
HD_NODISCARD enum hd_status nt_heap_fill(struct nt_heap *heap);
/** Collect the pairs of weak tables; nt_heap_roots() does, too. */
HD_NODISCARD enum hd_status nt_heap_pairs(struct nt_heap *heap);
/** Collect the roots, and the pairs of weak tables. */
HD_NODISCARD enum hd_status nt_heap_roots(struct nt_heap *heap);
/** Add the static variables to the roots: types must have their names. */
HD_NODISCARD enum hd_status nt_heap_statics(struct nt_heap *heap);

/** Fill graph->info, and add findings about the trace and the snapshot. */
HD_NODISCARD enum hd_status nt_heap_info(struct nt_heap *heap);
HD_NODISCARD enum hd_status nt_heap_findings(struct nt_heap *heap);
/**
 * Fill graph->info for what nt_exact_write() has written: the trace tells more than a .gcdump can.
 */
HD_NODISCARD enum hd_status nt_exact_info(const struct nt_trace *trace,
					  const struct nt_snapshot *snapshot,
					  struct hd_graph *graph, struct hd_error *err);
/** Add findings about the trace itself. */
HD_NODISCARD enum hd_status nt_trace_findings(const struct nt_trace *trace,
					      const struct nt_snapshot *snapshot,
					      struct hd_graph *graph, struct hd_error *err);

/**
 * Make the graph of a snapshot.
 *
 * @retval HD_OK
 * @retval HD_ERR_FORMAT no part of it can be used
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
