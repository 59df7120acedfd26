/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "util/bitmap.h"
#include "util/job.h"

/** One bit per 8 bytes of every segment, in an array of words per segment. */
struct address_map {
	const struct heap *heap;
	uint64_t *words;
	uint64_t bits;   /**< number of bits of all segments */
	uint64_t *first; /**< for each segment its first bit, a multiple of 64 */
};

/** Fails with HD_ERR_NOMEM, also when it would take more than the job's limit. */
HD_NODISCARD enum hd_status address_map_init(struct address_map *map, const struct heap *heap,
					     struct job *job, struct hd_error *err);
/** A zeroed map is allowed. */
void address_map_deinit(struct address_map *map);
void address_map_clear(struct address_map *map);

/** Set the bit of @p address, which is 8-aligned and in @p segment. */
static inline void address_map_add(struct address_map *map, const struct segment *segment,
				   uint64_t address)
{
	uint64_t bit = map->first[segment - map->heap->segments] + (address - segment->begin) / 8;
	(void)bitmap_add(map->words, bit);
}

/** Last address at or before @p address in @p segment whose bit is set, or 0. */
uint64_t address_map_before(const struct address_map *map, const struct segment *segment,
			    uint64_t address);

/** Segments that a reader used last, by address: most references go to few segments. */
#define SEGMENT_SLOTS 256u
struct segment_cache {
	struct {
		uint64_t begin, size;
		const uint64_t *words;
	} slots[SEGMENT_SLOTS];
};

/** Slow path of address_map_has(). */
bool address_map_look(const struct address_map *map, struct segment_cache *cache, uint64_t address);

/** Is the bit of @p address set?  False outside of all segments, and when it is unaligned. */
static inline bool address_map_has(const struct address_map *map, struct segment_cache *cache,
				   uint64_t address)
{
	size_t slot = address >> 22 & (SEGMENT_SLOTS - 1);
	uint64_t offset = address - cache->slots[slot].begin;
	if (offset < cache->slots[slot].size && address % 8 == 0)
		return bitmap_has(cache->slots[slot].words, offset / 8);
	return address_map_look(map, cache, address);
}
