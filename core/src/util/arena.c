/* SPDX-License-Identifier: MIT */
#include "util/arena.h"

#include "util/alloc.h"
#include "util/fuzzed.h"

#define ARENA_CHUNK_SIZE ((size_t)FUZZED(16384, 512))

struct chunk {
	struct chunk *next;
	size_t used, size;
	char bytes[];
};

struct arena {
	struct chunk *chunks; /* the newest first */
};

struct arena *arena_create(void)
{
	return mem_calloc(1, sizeof(struct arena));
}

void arena_destroy(struct arena *arena)
{
	if (!arena)
		return;
	for (struct chunk *chunk = arena->chunks; chunk;) {
		struct chunk *next = chunk->next;
		mem_free(chunk);
		chunk = next;
	}
	mem_free(arena);
}

char *arena_alloc(struct arena *arena, size_t size)
{
	struct chunk *chunk = arena->chunks;
	if (!chunk || chunk->size - chunk->used < size) {
		size_t bytes = size > ARENA_CHUNK_SIZE ? size : ARENA_CHUNK_SIZE;
		if (bytes + sizeof(*chunk) < bytes)
			return NULL;
		chunk = mem_alloc(1, sizeof(*chunk) + bytes);
		if (!chunk)
			return NULL;
		*chunk = (struct chunk){ .next = arena->chunks, .size = bytes };
		arena->chunks = chunk;
	}
	char *ptr = chunk->bytes + chunk->used;
	chunk->used += size;
	return ptr;
}

void arena_merge(struct arena *to, struct arena *from)
{
	struct chunk **end = &to->chunks;
	while (*end)
		end = &(*end)->next;
	*end = from->chunks;
	from->chunks = NULL;
	arena_destroy(from);
}
