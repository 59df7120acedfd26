/* SPDX-License-Identifier: MIT */
#include "mem/cache.h"

#include "util/alloc.h"

/* Memory is missing in whole pages, which are never smaller. */
#define SMALLEST_PAGE ((size_t)4096)
#define CACHE_SLOTS   (CACHE_SIZE / CACHE_CHUNK)

struct cache_slot {
	uint64_t chunk;      /* number: address / CACHE_CHUNK */
	uint32_t begin, end; /* offsets of the available bytes; equal: none */
	uint8_t *bytes;      /* CACHE_CHUNK, or NULL until it is needed */
};

struct cache {
	struct memory memory;
	struct memory *slow;
	struct cache_slot slots[CACHE_SLOTS];
};

/* Read from offset @p from to the end of the chunk; is @p offset among the bytes that were read? */
static bool fill_cache_slot(struct cache *cache, struct cache_slot *slot, uint64_t chunk,
			    size_t from, size_t offset)
{
	slot->begin = slot->end = 0;
	size_t got = memory_prefix(cache->slow, chunk * CACHE_CHUNK + from, slot->bytes + from,
				   CACHE_CHUNK - from);
	slot->chunk = chunk;
	slot->begin = (uint32_t)from;
	slot->end = (uint32_t)(from + got);
	return offset < from + got;
}

/* Make the slot contain the byte at @p offset of @p chunk. */
static bool load_cache_byte(struct cache *cache, struct cache_slot *slot, uint64_t chunk,
			    size_t offset)
{
	bool is_known = slot->chunk == chunk && slot->end > slot->begin;
	if (is_known && offset >= slot->begin && offset < slot->end)
		return true;
	if (!slot->bytes) {
		slot->bytes = mem_alloc(CACHE_CHUNK, 1);
		if (!slot->bytes)
			return false;
	}
	if (!is_known && fill_cache_slot(cache, slot, chunk, 0, offset))
		return true;
	/* There is a hole before it, which ends at the end of a page. */
	size_t from = offset & ~(SMALLEST_PAGE - 1);
	return from && fill_cache_slot(cache, slot, chunk, from, offset);
}

static size_t cache_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	struct cache *cache = (struct cache *)memory;
	size_t done = 0;
	while (done < size) {
		uint64_t at = address + done, chunk = at / CACHE_CHUNK;
		size_t offset = at % CACHE_CHUNK, left = size - done;
		struct cache_slot *slot = &cache->slots[chunk % CACHE_SLOTS];
		if (!load_cache_byte(cache, slot, chunk, offset)) {
			size_t piece = CACHE_CHUNK - offset < left ? CACHE_CHUNK - offset : left;
			size_t got = memory_prefix(cache->slow, at, (uint8_t *)buf + done, piece);
			done += got;
			if (got < piece)
				break;
			continue;
		}
		size_t piece = slot->end - offset < left ? slot->end - offset : left;
		memcpy((uint8_t *)buf + done, slot->bytes + offset, piece);
		done += piece;
	}
	return done;
}

static void cache_destroy(struct memory *memory)
{
	HD_FREE struct cache *cache = (struct cache *)memory;
	for (size_t i = 0; i < CACHE_SLOTS; i++)
		mem_free(cache->slots[i].bytes);
	memory_destroy(cache->slow);
}

static const struct memory_ops cache_ops = { .read = cache_read, .destroy = cache_destroy };

struct memory *memory_cache(struct memory *slow)
{
	struct cache *cache = mem_calloc(1, sizeof(*cache));
	if (!cache) {
		memory_destroy(slow);
		return NULL;
	}
	cache->memory.ops = &cache_ops;
	cache->slow = slow;
	return &cache->memory;
}
