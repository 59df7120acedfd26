/* SPDX-License-Identifier: MIT */
#include "plain_mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem/memory.h"

#define CHUNK_SHIFT 20u
#define CHUNK_BYTES ((uint64_t)1 << CHUNK_SHIFT)

/* A piece of the address space: where its bytes are mapped, and where its bits are. */
struct chunk {
	const uint8_t *bytes; /* NULL: no heap there */
	uint64_t begin, end;
	uint64_t *bits;
};

struct mark {
	const struct heap *heap;
	struct chunk *chunks;
	uint64_t base, count;
	uint64_t *stack;
	size_t depth, capacity;
	uint64_t marked;
	struct type_cache cache;
};

static void *must(void *ptr)
{
	if (ptr)
		return ptr;
	(void)fprintf(stderr, "bench: out of memory\n");
	exit(1);
}

static void map_segment(struct mark *mark, const struct segment *segment)
{
	for (uint64_t at = segment->begin; at < segment->end;) {
		uint64_t next = (at & ~(CHUNK_BYTES - 1)) + CHUNK_BYTES, size = 0;
		uint64_t end = next < segment->end ? next : segment->end;
		struct chunk *chunk = &mark->chunks[(at - mark->base) >> CHUNK_SHIFT];
		const uint8_t *run = memory_run(mark->heap->memory, at, &size);
		if (!run || size < end - at || chunk->bytes) {
			(void)fprintf(stderr, "bench: the heap is not mapped in pieces of 1 MiB\n");
			exit(3);
		}
		*chunk = (struct chunk){ .bytes = run,
					 .begin = at,
					 .end = end,
					 .bits = must(calloc(CHUNK_BYTES / 512, 8)) };
		at = next;
	}
}

static void map_heap(struct mark *mark)
{
	const struct heap *heap = mark->heap;
	if (!heap->segment_count)
		exit(3);
	mark->base = heap->segments[0].begin & ~(CHUNK_BYTES - 1);
	mark->count =
		((heap->segments[heap->segment_count - 1].end - mark->base) >> CHUNK_SHIFT) + 1;
	mark->chunks = must(calloc(mark->count, sizeof(*mark->chunks)));
	for (size_t i = 0; i < heap->segment_count; i++)
		map_segment(mark, &heap->segments[i]);
}

static const struct chunk *chunk_at(const struct mark *mark, uint64_t address)
{
	uint64_t index = (address - mark->base) >> CHUNK_SHIFT;
	if (index >= mark->count)
		return NULL;
	const struct chunk *chunk = &mark->chunks[index];
	return chunk->bytes && address >= chunk->begin && address < chunk->end ? chunk : NULL;
}

static void push(struct mark *mark, uint64_t address)
{
	const struct chunk *chunk = chunk_at(mark, address);
	if (!chunk || address % 8)
		return;
	uint64_t bit = address % CHUNK_BYTES / 8;
	if (chunk->bits[bit / 64] >> bit % 64 & 1)
		return;
	chunk->bits[bit / 64] |= (uint64_t)1 << bit % 64;
	mark->marked++;
	if (mark->depth == mark->capacity) {
		mark->capacity = mark->capacity ? 2 * mark->capacity : 1024;
		mark->stack = must(realloc(mark->stack, 8 * mark->capacity));
	}
	mark->stack[mark->depth++] = address;
}

static bool is_marked(const struct mark *mark, uint64_t address)
{
	const struct chunk *chunk = chunk_at(mark, address);
	uint64_t bit = address % CHUNK_BYTES / 8;
	return chunk && (chunk->bits[bit / 64] >> bit % 64 & 1);
}

/* Slots may lie in several chunks. */
static void push_slots(struct mark *mark, uint64_t slot, uint64_t end)
{
	while (slot < end) {
		const struct chunk *chunk = chunk_at(mark, slot);
		if (!chunk)
			return;
		uint64_t stop = end < chunk->end ? end : chunk->end;
		const uint8_t *bytes = chunk->bytes + (slot - chunk->begin);
		for (; slot < stop; slot += 8, bytes += 8) {
			uint64_t value = load_u64(bytes);
			if (value)
				push(mark, value);
		}
	}
}

static void push_references(struct mark *mark, uint64_t address)
{
	const struct chunk *chunk = chunk_at(mark, address);
	if (!chunk)
		return;
	const uint8_t *bytes = chunk->bytes + (address - chunk->begin);
	const struct type *type =
		type_cached(&mark->cache, mark->heap->runtime, load_u64(bytes) & ~(uint64_t)7);
	if (!type)
		return;
	if (type->loader_allocator)
		push(mark, type->loader_allocator);
	if (!type->has_pointers)
		return;
	uint64_t size = type_object_size(type, type->component_size ? load_u32(bytes + 8) : 0);
	for (uint32_t i = 0; i < type->desc.series_count; i++) {
		uint64_t slot = address + type->desc.series[i].offset;
		push_slots(mark, slot, slot + (uint64_t)type->desc.series[i].size + size);
	}
	if (!type->desc.run_count)
		return;
	for (uint64_t at = address + type->desc.runs_offset; at < address + size - 8;) {
		for (uint32_t i = 0; i < type->desc.run_count; i++) {
			uint64_t end = at + 8 * (uint64_t)type->desc.runs[i].pointers;
			push_slots(mark, at, end);
			at = end + type->desc.runs[i].skip;
		}
	}
}

static void drain(struct mark *mark)
{
	while (mark->depth)
		push_references(mark, mark->stack[--mark->depth]);
}

uint64_t plain_mark(const struct heap *heap, const struct root_set *roots)
{
	struct mark *mark = must(calloc(1, sizeof(*mark)));
	mark->heap = heap;
	map_heap(mark);
	for (size_t i = 0; i < roots->rows_count; i++) {
		const struct root *root = &roots->rows[i];
		if (!root->is_weak && !root->is_interior && !root->is_conservative)
			push(mark, root->value);
	}
	drain(mark);
	for (uint64_t before = 0; before != mark->marked;) {
		before = mark->marked;
		for (size_t i = 0; i < roots->edges_count; i++) {
			if (is_marked(mark, roots->edges[i].from))
				push(mark, roots->edges[i].to);
		}
		drain(mark);
	}
	uint64_t marked = mark->marked;
	for (uint64_t i = 0; i < mark->count; i++)
		free(mark->chunks[i].bits);
	free(mark->chunks);
	free(mark->stack);
	free(mark);
	return marked;
}
