/* SPDX-License-Identifier: MIT */
/* Arenas of glibc's malloc out of made-up bytes (doc/memory.md 5), sound and overwritten. */
#include <stdlib.h>
#include <string.h>

#include "native/malloc_arenas.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "util/alloc.h"

#define DATA      UINT64_C(0x7f0000000000) /* of the C library */
#define DATA_SIZE UINT64_C(0x3000)
#define MAIN      (DATA + 0x100)
#define HEAP      UINT64_C(0x550000000000)
#define HEAP_SIZE UINT64_C(0x21000)
#define OTHER     UINT64_C(0x7e0004000000) /* a multiple of 64 MB */
#define ARENA     (OTHER + 0x30)

struct sums {
	uint64_t bytes[MALLOC_PARTS], end;
};

static struct fake_memory fake;
static struct malloc_class classes[MALLOC_CLASSES];

static enum hd_status add(void *arg, enum malloc_part part, uint64_t start, uint64_t end,
			  struct hd_error *err)
{
	struct sums *sums = arg;
	(void)err;
	CU_ASSERT_FATAL(start < end);
	sums->bytes[part] += end - start;
	sums->end = end;
	return HD_OK;
}

static void put_arena(uint64_t at, uint64_t top, uint64_t next, uint64_t system)
{
	fake_poke_u64(&fake, at + MALLOC_TOP_OFFSET, top);
	for (uint64_t i = 0; i < 127; i++) {
		uint64_t bin = at + 96 + 16 * i;
		fake_poke_u64(&fake, bin + 16, bin);
		fake_poke_u64(&fake, bin + 24, bin);
	}
	fake_poke_u64(&fake, at + 2160, next);
	fake_poke_u64(&fake, at + 2184, system);
	fake_poke_u64(&fake, at + 2192, system);
}

/* In the main heap: 0x100 in use, 0x200 free, 0x100 in use, the rest is top. */
static void make(void)
{
	fake_memory_init(&fake);
	fake_map(&fake, DATA, DATA_SIZE);
	fake_map(&fake, HEAP, HEAP_SIZE);
	put_arena(MAIN, HEAP + 0x400, MAIN, HEAP_SIZE);
	const uint64_t par[] = { HEAP, 64, 1032, 7 };
	fake_poke(&fake, DATA + 0x2000, par, sizeof(par));
	fake_poke_u64(&fake, HEAP + 8, 0x101);
	fake_poke_u64(&fake, HEAP + 0x108, 0x201);
	fake_poke_u64(&fake, HEAP + 0x300, 0x200);
	fake_poke_u64(&fake, HEAP + 0x308, 0x100);
	fake_poke_u64(&fake, HEAP + 0x408, (HEAP_SIZE - 0x400) | 1);
}

static void add_other(uint64_t before, uint64_t size)
{
	fake_map(&fake, OTHER, 0x3000);
	put_arena(ARENA, OTHER + 0x1000, MAIN, 0x3000);
	fake_poke_u64(&fake, MAIN + 2160, ARENA);
	const uint64_t header[] = { ARENA, before, size };
	fake_poke(&fake, OTHER, header, sizeof(header));
	/* From the end of the arena's record up to its top one piece in use. */
	uint64_t first = (ARENA + 2200 + 15) & ~UINT64_C(15);
	fake_poke_u64(&fake, first + 8, (OTHER + 0x1000 - first) | 5);
	fake_poke_u64(&fake, OTHER + 0x1008, 0x2001);
}

static uint64_t find(uint64_t *base)
{
	static uint8_t bytes[DATA_SIZE];
	CU_ASSERT_FATAL(memory_read(&fake.memory, DATA, bytes, sizeof(bytes)));
	return malloc_find_main(&fake.memory, DATA, bytes, sizeof(bytes), base);
}

static struct sums walk(struct malloc_walk *walk)
{
	struct sums sums = { 0 };
	memset(classes, 0, sizeof(classes));
	*walk = (struct malloc_walk){ .memory = &fake.memory,
				      .found = add,
				      .arg = &sums,
				      .budget = 1 << 20,
				      .main_start = HEAP,
				      .classes = classes };
	ASSERT_UINT(malloc_walk_arenas(walk, MAIN, NULL), HD_OK);
	return sums;
}

static void end(struct malloc_walk *walk)
{
	pages_free(walk->arenas, walk->arenas_capacity, sizeof(*walk->arenas));
	fake_memory_deinit(&fake);
}

TEST(the_main_arena_is_found_by_its_bins)
{
	uint64_t base = 0;
	make();
	ASSERT_UINT(find(&base), MAIN);
	ASSERT_UINT(base, HEAP);
	/* A bin that leads to a piece, which leads back. */
	fake_poke_u64(&fake, MAIN + 112, HEAP + 0x100);
	fake_poke_u64(&fake, MAIN + 120, HEAP + 0x100);
	fake_poke_u64(&fake, HEAP + 0x110, MAIN + 96);
	fake_poke_u64(&fake, HEAP + 0x118, MAIN + 96);
	ASSERT_UINT(find(&base), MAIN);
	/* Where the records are overwritten, there is none. */
	fake_poke_u64(&fake, MAIN + 2184, 0x1001);
	ASSERT_UINT(find(&base), 0);
	fake_memory_deinit(&fake);
}

TEST(pieces_add_up_to_the_heap)
{
	struct malloc_walk all;
	make();
	struct sums sums = walk(&all);
	ASSERT_UINT(sums.bytes[MALLOC_USED], 0x200);
	ASSERT_UINT(sums.bytes[MALLOC_FREE], 0x200);
	ASSERT_UINT(sums.bytes[MALLOC_TOP], HEAP_SIZE - 0x400);
	ASSERT_UINT(sums.end, HEAP + HEAP_SIZE);
	ASSERT_UINT(all.arenas_count, 1);
	ASSERT_UINT(all.arenas[0].pieces, 3);
	ASSERT_UINT(all.arenas[0].damaged_at, 0);
	ASSERT_UINT(classes[0x10].used_pieces, 2);
	ASSERT_UINT(classes[0x10].used_bytes, 0x200);
	ASSERT_UINT(classes[0x20].free_pieces, 1);
	ASSERT_UINT(classes[0x20].free_bytes, 0x200);
	end(&all);
}

TEST(arenas_of_threads_have_heaps)
{
	struct malloc_walk all;
	make();
	add_other(0, 0x3000);
	struct sums sums = walk(&all);
	uint64_t first = (ARENA + 2200 + 15) & ~UINT64_C(15);
	ASSERT_UINT(all.arenas_count, 2);
	ASSERT_UINT(sums.bytes[MALLOC_RECORDS], first - OTHER);
	ASSERT_UINT(all.arenas[1].bytes[MALLOC_USED], OTHER + 0x1000 - first);
	ASSERT_UINT(all.arenas[1].bytes[MALLOC_TOP], 0x2000);
	end(&all);
}

TEST(an_impossible_size_ends_a_heap)
{
	static const uint64_t sizes[] = { 0x11 + 8, 0x2f, UINT64_MAX, UINT64_C(1) << 40, 0x109 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct malloc_walk all;
		make();
		fake_poke_u64(&fake, HEAP + 0x108, sizes[i]);
		struct sums sums = walk(&all);
		CU_ASSERT(all.arenas[0].damaged_at >= HEAP + 0x100);
		uint64_t sum = 0;
		for (size_t j = 0; j < MALLOC_PARTS; j++)
			sum += sums.bytes[j];
		ASSERT_UINT(sum, HEAP_SIZE);
		end(&all);
	}
}

TEST(cycles_and_huge_counts_end)
{
	struct malloc_walk all;
	make();
	/* The heap before is the heap itself; and it says that it is larger than any. */
	add_other(OTHER, 0x3000);
	struct sums sums = walk(&all);
	CU_ASSERT(sums.bytes[MALLOC_TOP] <= 1 << 20);
	end(&all);
	make();
	add_other(0, UINT64_MAX);
	(void)walk(&all);
	ASSERT_UINT(all.arenas[1].bytes[MALLOC_USED], 0);
	end(&all);
	/* A ring that does not come back to the main arena. */
	make();
	add_other(0, 0x3000);
	fake_poke_u64(&fake, ARENA + 2160, ARENA);
	(void)walk(&all);
	ASSERT_UINT(all.arenas_count, 2);
	/* A fast list that leads to itself. */
	fake_poke_u64(&fake, MAIN + 16, HEAP);
	fake_poke_u64(&fake, HEAP + 16, HEAP ^ ((HEAP + 16) >> 12));
	pages_free(all.arenas, all.arenas_capacity, sizeof(*all.arenas));
	(void)walk(&all);
	CU_ASSERT(all.arenas[0].fast <= 3 * 0x100);
	end(&all);
}

TEST(large_pieces_are_mapped_on_their_own)
{
	fake_memory_init(&fake);
	fake_map(&fake, HEAP, HEAP_SIZE);
	fake_poke_u64(&fake, HEAP + 8, 0x2002);
	ASSERT_UINT(malloc_mapped_size(&fake.memory, HEAP, HEAP + HEAP_SIZE), 0x2000);
	ASSERT_UINT(malloc_mapped_size(&fake.memory, HEAP, HEAP + 0x1000), 0);
	fake_poke_u64(&fake, HEAP + 8, 0x2012);
	ASSERT_UINT(malloc_mapped_size(&fake.memory, HEAP, HEAP + HEAP_SIZE), 0);
	fake_poke_u64(&fake, HEAP + 8, UINT64_MAX - 5);
	ASSERT_UINT(malloc_mapped_size(&fake.memory, HEAP, HEAP + HEAP_SIZE), 0);
	fake_memory_deinit(&fake);
}

SUITE(.name = "malloc_arenas")
