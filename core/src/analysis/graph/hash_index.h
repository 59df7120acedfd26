/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t hash;
	uint32_t index; /**< the index + 1; 0: free */
};

/**
 * Finds the indices of elements in the caller's array by their content.  Empty when
 * zero-initialised.
 */
struct hash_index {
	struct hash_slot *slots;
	size_t capacity; /**< 0 or a power of two */
	size_t count;
};

/** Mix @p value into @p hash, which begins as 0. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	uint64_t x = (hash ^ value) + 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/**
 * The index with @p hash for which equal(arg, index) is true; or else @p fresh, which is put in.
 *
 * @return UINT32_MAX: memory is exhausted
 */
uint32_t hash_index_add(struct hash_index *table, uint64_t hash, uint32_t fresh,
			bool (*equal)(const void *arg, uint32_t index), const void *arg);
void hash_index_deinit(struct hash_index *table);
