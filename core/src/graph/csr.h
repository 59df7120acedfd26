/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct job;

/** In each block of this many nodes, the 32-bit edge offsets are relative to one 64-bit base. */
#define CSR_BLOCK_SHIFT 12u

/**
 * Edges of every node, compressed sparse rows: edges of node n are targets[begin(n) .. begin(n+1)).
 * 4 bytes per node and 4 per edge.
 */
struct csr {
	uint32_t *offsets; /**< node_count + 1, relative to the base of the node's block */
	uint64_t *bases;   /**< csr_block_count() */
	uint32_t *targets; /**< edge_count nodes */
	uint64_t edge_count;
	uint32_t node_count;
};

/** Index in targets of the first edge of @p node, which may be node_count. */
static inline uint64_t csr_begin(const struct csr *csr, uint32_t node)
{
	return csr->bases[node >> CSR_BLOCK_SHIFT] + csr->offsets[node];
}

static inline uint64_t csr_degree(const struct csr *csr, uint32_t node)
{
	return csr_begin(csr, node + 1) - csr_begin(csr, node);
}

/** How far ahead in a queue of nodes csr_prefetch() prefetches offsets, and then rows. */
#define CSR_AHEAD_OFFSETS 32u
#define CSR_AHEAD_ROWS    16u

/**
 * Prefetch the memory that a pass over queue[head .. tail) will need soon.  The rows of the next
 * CSR_AHEAD_ROWS / 2 nodes have arrived, so a pass can prefetch what they point to.
 */
static inline void csr_prefetch(const struct csr *csr, const uint32_t *queue, uint64_t head,
				uint64_t tail)
{
	if (head + CSR_AHEAD_OFFSETS < tail)
		__builtin_prefetch(&csr->offsets[queue[head + CSR_AHEAD_OFFSETS]]);
	if (head + CSR_AHEAD_ROWS < tail)
		__builtin_prefetch(&csr->targets[csr_begin(csr, queue[head + CSR_AHEAD_ROWS])]);
}

/** Elements of csr.bases: the blocks that offsets[0 .. node_count] lie in. */
static inline size_t csr_block_count(uint32_t node_count)
{
	return ((size_t)node_count >> CSR_BLOCK_SHIFT) + 1;
}

/**
 * Allocate the arrays, zeroed; @p edge_count may be 0.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status csr_init(struct csr *csr, uint32_t node_count, uint64_t edge_count,
				     struct hd_error *err);

/** A zeroed struct is allowed. */
void csr_deinit(struct csr *csr);

/**
 * Turn offsets that hold the degree of each node (the last one is 0) into offsets and bases.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED a block of nodes has 2^32 edges or more
 */
HD_NODISCARD enum hd_status csr_offsets_from_degrees(struct csr *csr, struct hd_error *err);

/** The same, but each offset is where its row ends; the last one is that of the last row. */
HD_NODISCARD enum hd_status csr_ends_from_degrees(struct csr *csr, struct hd_error *err);

/** Are all rows inside targets, one after the other? */
bool csr_is_sound(const struct csr *csr);

/**
 * Make the reverse of @p csr: rows hold the sources in ascending order, one per edge.
 *
 * @param[out] ret To be given to csr_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_UNSUPPORTED as csr_offsets_from_degrees()
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status csr_reverse(const struct csr *csr, struct job *job, struct csr *ret,
					struct hd_error *err);

/**
 * Edges in the order of their sources, for csr_reverse_rows(): targets as in a csr, but instead of
 * offsets one bit per node, after its edges. 4 bytes per edge, and a bit for each node and edge.
 */
struct csr_rows {
	uint64_t *ends;    /**< bitmap: bit n + k is set, where node n and those before it have k
			 * edges */
	uint32_t *targets; /**< edge_count nodes; UINT32_MAX: no edge */
	uint64_t edge_count;
	uint32_t node_count;
};

/**
 * Allocate the arrays, zeroed.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status csr_rows_init(struct csr_rows *rows, uint32_t node_count,
					  uint64_t edge_count, struct hd_error *err);

/** A zeroed struct is allowed. */
void csr_rows_deinit(struct csr_rows *rows);

/**
 * As csr_reverse(), for @p rows in which every node has its end.  Frees the memory of the targets
 * on the way: afterwards @p rows can only be given to csr_rows_deinit().
 */
HD_NODISCARD enum hd_status csr_reverse_rows(struct csr_rows *rows, struct job *job,
					     struct csr *ret, struct hd_error *err);
