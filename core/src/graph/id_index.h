/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "util/fail.h"

/** A slice of the range of ids; the denser its ids are, the finer its buckets. */
#define ID_SLICE_BITS 14u

struct id_slice {
	uint64_t start; /**< lowest id that belongs to it */
	uint32_t first; /**< position of its first bucket */
	uint32_t shift; /**< bucket = first + ((id - start) >> shift), at most its last one */
};

/**
 * Finds the rank of an id in an ascending array: by slice, then by bucket, then by a binary search
 * in the bucket.  Two cache misses if ids are spread evenly in their slice, else logarithmic.
 * About 4 bytes per id, and 256 KiB.
 */
struct id_index {
	struct id_slice *slices; /**< slice_count + 1; the last one ends the array; NULL: bare */
	uint32_t *buckets; /**< rank of the first id in the bucket; ascending, bucket_count + 1 */
	uint64_t min, max;
	uint32_t slice_shift, slice_count, bucket_count;
	uint32_t count; /**< ids */
};

/**
 * Build it for @p count strictly ascending ids, which the caller keeps and gives to every look-up.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status id_index_init(struct id_index *index, const uint64_t *ids,
					  uint32_t count, struct hd_error *err);

/** Make an index without a table, which costs no time and no memory: look-ups search all ids. */
void id_index_init_bare(struct id_index *index, const uint64_t *ids, uint32_t count);

/** A zeroed index is allowed. */
void id_index_deinit(struct id_index *index);

/** Rank of @p id, or UINT32_MAX. */
uint32_t id_index_find(const struct id_index *index, const uint64_t *ids, uint64_t id);

/** Rank of the first id that is at least @p id; count when there is none. */
uint32_t id_index_lower_bound(const struct id_index *index, const uint64_t *ids, uint64_t id);

/**
 * id_index_find() for @p count ids at once, several times as fast, because cache misses overlap.
 */
void id_index_find_all(const struct id_index *index, const uint64_t *ids, const uint64_t *wanted,
		       uint32_t *ret, size_t count);
