/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_SORT_H
#define HEAPDUMP_SRC_UTIL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Sort ascending. */
void sort_u64(uint64_t *values, size_t count);

/** Position of the first of @p values, which ascend, that is not below @p value; @p count: none. */
static inline size_t lower_bound_u64(const uint64_t *values, size_t count, uint64_t value)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (values[middle] < value) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/**
 * Sort @p keys ascending, stably, and give in @p order where each stood (radix sort: linear).
 *
 * Takes 12 bytes more per key while it runs.
 * @return false when memory is exhausted; keys are then as before.
 */
bool sort_keys(uint64_t *keys, uint32_t *order, uint32_t count);

/** Keys that ascend: @p count of them at @p from, which are to come to @p to. */
struct sort_piece {
	uint32_t from, to, count;
};

#define SORT_PIECES_MAX 1024u

/**
 * Find pieces that are sorted once each is moved, keys that are the same in the order in which they
 * stand.  Objects that come as a heap was walked, region by region, are a few.
 *
 * @param[out] ret SORT_PIECES_MAX, ascending by from
 * @return how many; 0: more than that, or no keys
 */
uint32_t sort_pieces(const uint64_t *keys, uint32_t count, struct sort_piece *ret);

/** The same as sort_keys(), but @p values go where their keys go. */
bool sort_pairs(uint64_t *keys, uint32_t *values, uint32_t count);

#endif
