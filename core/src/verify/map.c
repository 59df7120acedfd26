/* SPDX-License-Identifier: MIT */
#include "verify/map.h"

enum hd_status address_map_init(struct address_map *map, const struct heap *heap, struct job *job,
				struct hd_error *err)
{
	*map = (struct address_map){ .heap = heap };
	map->first = mem_calloc(heap->segment_count + 1, sizeof(*map->first));
	TRY_MEMORY(map->first, err);
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		map->first[i] = map->bits;
		map->bits += ((segment->end - segment->begin) / 8 / 64 + 1) * 64;
	}
	enum hd_status status = job_check_memory(job, map->bits / 8, err);
	if (status == HD_OK) {
		map->words = bitmap_alloc(map->bits);
		status = map->words ? HD_OK : fail_nomem(err);
	}
	if (status != HD_OK)
		address_map_deinit(map);
	return status;
}

void address_map_deinit(struct address_map *map)
{
	bitmap_free(map->words, map->bits);
	mem_free(map->first);
	*map = (struct address_map){ 0 };
}

void address_map_clear(struct address_map *map)
{
	pages_clear(map->words, bitmap_words(map->bits), sizeof(*map->words));
}

uint64_t address_map_before(const struct address_map *map, const struct segment *segment,
			    uint64_t address)
{
	const uint64_t *words = map->words + map->first[segment - map->heap->segments] / 64;
	uint64_t bit = (address - segment->begin) / 8;
	uint64_t word = words[bit / 64] & (UINT64_MAX >> (63 - bit % 64));
	for (uint64_t i = bit / 64;; word = words[--i]) {
		if (word)
			return segment->begin + (i * 64 + 63 - (uint64_t)__builtin_clzll(word)) * 8;
		if (i == 0)
			return 0;
	}
}

bool address_map_look(const struct address_map *map, struct segment_cache *cache, uint64_t address)
{
	const struct segment *segment =
		address % 8 == 0 ? heap_segment_at(map->heap, address) : NULL;
	if (!segment)
		return false;
	size_t slot = address >> 22 & (SEGMENT_SLOTS - 1);
	cache->slots[slot].begin = segment->begin;
	cache->slots[slot].size = segment->end - segment->begin;
	cache->slots[slot].words = map->words + map->first[segment - map->heap->segments] / 64;
	return bitmap_has(cache->slots[slot].words, (address - segment->begin) / 8);
}
