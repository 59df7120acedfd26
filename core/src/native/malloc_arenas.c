/* SPDX-License-Identifier: MIT */
/*
 * glibc's malloc without symbols (doc/memory.md 5): its records have a shape, and its pieces lie one
 * after the other.
 */
#include "native/malloc_arenas.h"

#include <string.h>

#include "mem/window.h"
#include "util/alloc.h"
#include "util/job.h"

/* struct malloc_state, in bytes. */
#define STATE_SIZE    2200u
#define STATE_FAST    16u
#define FAST_LISTS    10u
#define STATE_BINS    112u
#define BINS          127u
#define STATE_NEXT    2160u
#define STATE_THREADS 2176u
#define STATE_SYSTEM  2184u
#define STATE_MAX     2192u

/* malloc takes whole pages from the system, and they are never smaller. */
#define PAGE 4096u

/* As many bins must be linked both ways; some may be torn if the process ran on. */
#define BINS_ENOUGH 100u

/* heap_info of arenas but the main one: at multiples of this size. */
#define HEAP_SIZE ((uint64_t)64 << 20)

/* A piece: the size of the one before, if that is free; its size, with flags. */
#define PIECE_MIN         32u
#define PIECE_BEFORE_USED 1u
#define PIECE_MAPPED      2u
#define PIECE_FLAGS       ((uint64_t)7)

/* tcache_perthread_struct since 2.30: u16 counts[64], then a list for each; in a piece of its own. */
#define CACHE_PIECE 0x290u
#define CACHE_LISTS 64u
#define CACHE_MOST  127u

/* The end of malloc_par up to 2.41: sbrk_base, tcache_bins, tcache_max_bytes, tcache_count. */
#define PAR_BINS      64u
#define PAR_MAX_BYTES 1032u

static uint64_t align_piece(uint64_t value)
{
	return (value + 15) & ~(uint64_t)15;
}

/* Are the words at @p at those of an arena, as far as they alone tell? */
static bool may_be_arena(const uint8_t *at)
{
	uint64_t system = load_u64(at + STATE_SYSTEM);
	if (!system || system % PAGE || system > load_u64(at + STATE_MAX) ||
	    !load_u64(at + STATE_NEXT))
		return false;
	for (unsigned int i = 0; i < 2 * BINS; i++) {
		if (!load_u64(at + STATE_BINS + 8 * (size_t)i))
			return false;
	}
	return true;
}

/* How many bins of the arena are empty, or are linked with what is in them. */
static unsigned int linked_bins(struct memory *memory, uint64_t arena, const uint8_t *bytes)
{
	unsigned int linked = 0;
	for (unsigned int i = 0; i < BINS; i++) {
		size_t offset = STATE_BINS + 16 * (size_t)i;
		uint64_t bin = arena + offset - 16;
		uint64_t first = load_u64(bytes + offset), last = load_u64(bytes + offset + 8);
		uint64_t back = 0, forth = 0;
		linked += (first == bin && last == bin) ||
			  (memory_u64(memory, first + 24, &back) && back == bin &&
			   memory_u64(memory, last + 16, &forth) && forth == bin);
	}
	return linked;
}

static uint64_t find_sbrk_base(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + 32 <= size; at += 8) {
		if (load_u64(bytes + at + 8) == PAR_BINS &&
		    load_u64(bytes + at + 16) == PAR_MAX_BYTES &&
		    load_u64(bytes + at + 24) <= CACHE_MOST)
			return load_u64(bytes + at);
	}
	return 0;
}

uint64_t malloc_find_main(struct memory *memory, uint64_t start, const uint8_t *bytes, size_t size,
			  uint64_t *ret_base)
{
	uint64_t best = 0;
	unsigned int most = BINS_ENOUGH - 1;
	for (size_t at = 0; at + STATE_SIZE <= size && most < BINS; at += 8) {
		if (!may_be_arena(bytes + at))
			continue;
		unsigned int linked = linked_bins(memory, start + at, bytes + at);
		if (linked > most) {
			most = linked;
			best = start + at;
		}
	}
	*ret_base = find_sbrk_base(bytes, size);
	return best;
}

/* A walk through one heap. */
struct heap_walk {
	struct malloc_walk *walk;
	struct malloc_arena *arena;
	struct window *window;
	/* the stretch that is not told yet */
	enum malloc_part part;
	uint64_t start, end;
};

static enum hd_status tell(struct heap_walk *heap, struct hd_error *err)
{
	if (heap->start >= heap->end)
		return HD_OK;
	return heap->walk->found(heap->walk->arg, heap->part, heap->start, heap->end, err);
}

static enum hd_status add_malloc_part(struct heap_walk *heap, enum malloc_part part, uint64_t start,
				      uint64_t end, struct hd_error *err)
{
	if (start >= end)
		return HD_OK;
	heap->arena->bytes[part] += end - start;
	if (heap->part != part || heap->end != start) {
		TRY(tell(heap, err));
		heap->part = part;
		heap->start = start;
	}
	heap->end = end;
	return HD_OK;
}

/* Bytes in the lists of a thread's cache, if the piece at @p piece is one; else 0. */
static uint64_t cached_bytes(struct memory *memory, uint64_t piece)
{
	uint8_t bytes[CACHE_PIECE - 16];
	uint64_t cached = 0;
	if (!memory_read(memory, piece + 16, bytes, sizeof(bytes)))
		return 0;
	for (unsigned int i = 0; i < CACHE_LISTS; i++) {
		uint16_t count = load_u16(bytes + 2 * (size_t)i);
		uint64_t first = load_u64(bytes + (size_t)2 * CACHE_LISTS + 8 * (size_t)i),
			 size = 0;
		uint64_t expected = PIECE_MIN + 16 * (uint64_t)i;
		if (count > CACHE_MOST || (count != 0) != (first != 0) || first % 16)
			return 0;
		if (!count)
			continue;
		if (!memory_u64(memory, first - 8, &size) || (size & ~PIECE_FLAGS) != expected)
			return 0;
		cached += count * expected;
	}
	return cached;
}

/* Count the arena's fast lists: their pieces count as in use. */
static uint64_t fast_bytes(struct memory *memory, const uint8_t *state, uint64_t pieces)
{
	uint64_t bytes = 0;
	for (unsigned int i = 0; i < FAST_LISTS; i++) {
		uint64_t at = load_u64(state + STATE_FAST + 8 * (size_t)i);
		for (; at && pieces; pieces--) {
			uint64_t words[2]; /* size, next */
			if (at % 16 || !memory_read(memory, at + 8, words, sizeof(words)))
				break;
			bytes += words[0] & ~PIECE_FLAGS;
			/* Since 2.32 a link is mixed with its own address. */
			uint64_t plain = words[1] ^ ((at + 16) >> 12);
			at = words[1] % 16 ? plain : words[1];
		}
	}
	return bytes;
}

/* The rest of a heap after an impossible piece at @p at. */
static enum hd_status give_up(struct heap_walk *heap, uint64_t at, uint64_t end,
			      struct hd_error *err)
{
	if (!heap->arena->damaged_at)
		heap->arena->damaged_at = at;
	return add_malloc_part(heap, MALLOC_DAMAGED, at, end, err);
}

/* The pieces of [at, end), each after the one before. */
static enum hd_status walk_pieces(struct heap_walk *heap, uint64_t at, uint64_t end,
				  struct hd_error *err)
{
	struct malloc_arena *arena = heap->arena;
	while (at < end) {
		const uint8_t *header = window_at(heap->window, at, 16, NULL);
		uint64_t size = header ? load_u64(header + 8) & ~PIECE_FLAGS : 1;
		if (at == arena->top)
			return add_malloc_part(heap, MALLOC_TOP, at, end, err);
		/* The end of a heap whose arena goes on in another one. */
		if (size == 0 || size == 16)
			return add_malloc_part(heap, MALLOC_RECORDS, at, end, err);
		if (size < PIECE_MIN || size % 16 || size > end - at)
			return give_up(heap, at, end, err);
		const uint8_t *next =
			end - at > size ? window_at(heap->window, at + size, 16, NULL) : NULL;
		bool is_used = !next || load_u64(next + 8) & PIECE_BEFORE_USED;
		TRY(add_malloc_part(heap, is_used ? MALLOC_USED : MALLOC_FREE, at, at + size, err));
		malloc_class_add(heap->walk->classes, size, is_used);
		if (is_used && size == CACHE_PIECE)
			arena->cached += cached_bytes(heap->walk->memory, at);
		at += size;
		if (++arena->pieces % JOB_STRIDE == 0 && !job_step(heap->walk->job, 0, 0))
			return fail_cancelled(err);
	}
	return HD_OK;
}

/* One heap of an arena: its records up to @p first, then pieces. */
static enum hd_status walk_malloc_heap(struct heap_walk *heap, uint64_t start, uint64_t first,
				       uint64_t end, struct hd_error *err)
{
	if (first < start || end < first || end - start > heap->walk->budget)
		return HD_OK;
	heap->walk->budget -= end - start;
	heap->start = heap->end = start;
	TRY(add_malloc_part(heap, MALLOC_RECORDS, start, first, err));
	TRY(walk_pieces(heap, first, end, err));
	TRY(tell(heap, err));
	heap->start = heap->end = 0;
	return HD_OK;
}

/* The main arena is one piece of memory, up to the end of its top. */
static enum hd_status walk_main(struct heap_walk *heap, uint64_t base, struct hd_error *err)
{
	uint64_t size, top = heap->arena->top, first = align_piece(base);
	if (!base || top < first || !memory_u64(heap->walk->memory, top + 8, &size) ||
	    (size & ~PIECE_FLAGS) > UINT64_MAX - top)
		return HD_OK;
	return walk_malloc_heap(heap, first, first, top + (size & ~PIECE_FLAGS), err);
}

/* Another one has heaps, of which each knows the one before. */
static enum hd_status walk_other(struct heap_walk *heap, struct hd_error *err)
{
	uint64_t arena = heap->arena->address, own = arena & ~(HEAP_SIZE - 1);
	uint64_t at = heap->arena->top & ~(HEAP_SIZE - 1), header = align_piece(arena - own);
	for (unsigned int i = 0; at && i < MALLOC_HEAPS_MAX; i++) {
		uint64_t words[3]; /* arena, heap before, size */
		if (!memory_read(heap->walk->memory, at, words, sizeof(words)) ||
		    words[0] != arena || words[2] > HEAP_SIZE || at % HEAP_SIZE)
			return HD_OK;
		uint64_t first = at == own ? align_piece(arena + STATE_SIZE) : at + header;
		TRY(walk_malloc_heap(heap, at, first, at + words[2], err));
		at = words[1];
	}
	return HD_OK;
}

static enum hd_status walk_arena(struct malloc_walk *walk, struct malloc_arena *arena,
				 struct window *window, struct hd_error *err)
{
	uint8_t bytes[STATE_SIZE];
	struct heap_walk heap = { .walk = walk, .arena = arena, .window = window };
	if (!memory_read(walk->memory, arena->address, bytes, sizeof(bytes)))
		return HD_OK;
	arena->top = load_u64(bytes + MALLOC_TOP_OFFSET);
	arena->threads = load_u64(bytes + STATE_THREADS);
	arena->system = load_u64(bytes + STATE_SYSTEM);
	if (arena == walk->arenas) {
		TRY(walk_main(&heap, walk->main_start, err));
	} else {
		TRY(walk_other(&heap, err));
	}
	arena->fast = fast_bytes(walk->memory, bytes, arena->pieces);
	return HD_OK;
}

/* The arenas form a ring, from the main one back to it. */
static enum hd_status find_arenas(struct malloc_walk *walk, uint64_t main_arena,
				  struct hd_error *err)
{
	uint64_t at = main_arena;
	while (at && walk->arenas_count < MALLOC_ARENAS_MAX) {
		for (size_t i = 0; i < walk->arenas_count; i++) {
			if (walk->arenas[i].address == at)
				return HD_OK;
		}
		TRY_MEMORY(PAGES_RESERVE(walk, arenas), err);
		walk->arenas[walk->arenas_count++] = (struct malloc_arena){ .address = at };
		if (!memory_u64(walk->memory, at + STATE_NEXT, &at))
			return HD_OK;
	}
	return HD_OK;
}

enum hd_status malloc_walk_arenas(struct malloc_walk *walk, uint64_t main_arena,
				  struct hd_error *err)
{
	HD_CLEANUP(window) struct window window = { .memory = walk->memory };
	TRY(find_arenas(walk, main_arena, err));
	for (size_t i = 0; i < walk->arenas_count; i++)
		TRY(walk_arena(walk, &walk->arenas[i], &window, err));
	return HD_OK;
}

uint64_t malloc_mapped_size(struct memory *memory, uint64_t address, uint64_t end)
{
	uint64_t words[2]; /* the size of the piece before, which there is none of; the size */
	if (!memory_read(memory, address, words, sizeof(words)) || words[0] ||
	    (words[1] & PIECE_FLAGS) != PIECE_MAPPED)
		return 0;
	uint64_t size = words[1] & ~PIECE_FLAGS;
	return size >= PAGE && size % PAGE == 0 && size <= end - address ? size : 0;
}

/* Classes from @p first on have ranges of 2^shift bytes; class i begins at (i - origin) << shift. */
static const struct class_range {
	uint64_t begin; /* where the first one begins: the ones before end there */
	unsigned int first, origin, shift;
} ranges[] = {
	{ 0, 0, 0, 4 },
	{ 1024, 64, 48, 6 },
	{ 3136, 97, 91, 9 },
	{ 10752, 112, 110, 12 },
	/* The range that begins here has the number of the one before it, too. */
	{ 65536, 121, 119, 15 },
	{ 163840, 124, 124, 18 },
};

#define RANGES (sizeof(ranges) / sizeof(ranges[0]))

unsigned int malloc_class_of(uint64_t size)
{
	size_t i = RANGES - 1;
	while (ranges[i].begin > size)
		i--;
	uint64_t most = i + 1 < RANGES ? ranges[i + 1].first - 1 : MALLOC_CLASSES - 1;
	uint64_t index = (size >> ranges[i].shift) + ranges[i].origin;
	return (unsigned int)(index < most ? index : most);
}

uint64_t malloc_class_start(unsigned int index)
{
	size_t i = RANGES - 1;
	if (index >= MALLOC_CLASSES)
		return UINT64_MAX;
	while (ranges[i].first > index)
		i--;
	uint64_t start = (uint64_t)(index - ranges[i].origin) << ranges[i].shift;
	return start > ranges[i].begin ? start : ranges[i].begin;
}

void malloc_class_add(struct malloc_class *classes, uint64_t size, bool is_used)
{
	struct malloc_class *found = &classes[malloc_class_of(size)];
	*(is_used ? &found->used_pieces : &found->free_pieces) += 1;
	*(is_used ? &found->used_bytes : &found->free_bytes) += size;
}
