/* SPDX-License-Identifier: MIT */
/* Groups of musl's malloc out of made-up bytes (doc/memory.md 5.3), sound and overwritten. */
#include <string.h>

#include "native/musl_malloc.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "util/job.h"

#define DATA    UINT64_C(0x7f0000000000) /* of the C library */
#define CONTEXT (DATA + 0x140)
#define AREA    UINT64_C(0x550000001000)
#define SECOND  UINT64_C(0x550000002000)
#define LARGE   UINT64_C(0x7e0000010000) /* a group of 4 pieces of 1,008 bytes, in a page */
#define INNER   (LARGE + 16 + 1008)      /* one of 31 pieces of 32 bytes, in the second of these */
#define ALONE   UINT64_C(0x7e0000100000) /* a piece that was mapped on its own */
#define SECRET  UINT64_C(0x123456789abcdef1)

struct sums {
	uint64_t bytes[MALLOC_PARTS];
	unsigned int calls;
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
	sums->calls++;
	return HD_OK;
}

static void put_area(uint64_t area, uint64_t next)
{
	fake_map(&fake, area, 0x1000);
	fake_poke_u64(&fake, area, SECRET);
	fake_poke_u64(&fake, area + 8, next);
	fake_poke_u32(&fake, area + 16, 101);
}

static uint64_t meta_of(uint64_t area, unsigned int index)
{
	return area + 24 + 40 * (uint64_t)index;
}

/* The last piece, the size class and the pages of a group. */
#define BITS(last, size_class, pages) \
	((uint64_t)(last) | (uint64_t)(size_class) << 6 | (uint64_t)(pages) << 12)

/* A bit of @p avail or @p freed: the piece is free. */
static void put_group(uint64_t meta, uint64_t mem, uint32_t avail, uint32_t freed, uint64_t bits)
{
	fake_poke_u64(&fake, meta + 16, mem);
	fake_poke_u32(&fake, meta + 24, avail);
	fake_poke_u32(&fake, meta + 28, freed);
	fake_poke_u64(&fake, meta + 32, bits);
	fake_poke_u64(&fake, mem, meta);
}

static void make(void)
{
	fake_memory_init(&fake);
	fake_map(&fake, DATA, 0x1000);
	fake_map(&fake, LARGE, 0x1000);
	fake_map(&fake, ALONE, 0x40000);
	put_area(AREA, SECOND);
	put_area(SECOND, 0);
	fake_poke_u64(&fake, CONTEXT, SECRET);
	fake_poke_u32(&fake, CONTEXT + 8, 1);
	fake_poke_u64(&fake, CONTEXT + 56, AREA);
	fake_poke_u64(&fake, CONTEXT + 64, SECOND);
	/* 1,008 bytes are 63 units: class 19. The last one is free. */
	put_group(meta_of(AREA, 0), LARGE, 0x8, 0, BITS(3, 19, 1));
	/* 32 bytes: class 1. Ten were never used, five were freed. */
	put_group(meta_of(AREA, 7), INNER, 0x7fe00000, 0x1f, BITS(30, 1, 0));
	put_group(meta_of(SECOND, 100), ALONE, 0, 0, BITS(0, 63, 0x40));
}

static uint64_t find(void)
{
	uint8_t bytes[0x1000];
	CU_ASSERT_FATAL(memory_read(&fake.memory, DATA, bytes, sizeof(bytes)));
	return musl_malloc_find(&fake.memory, DATA, bytes, sizeof(bytes));
}

static struct sums walk_groups(struct musl_walk *walk)
{
	struct sums sums = { 0 };
	memset(classes, 0, sizeof(classes));
	*walk = (struct musl_walk){ .memory = &fake.memory,
				    .found = add,
				    .arg = &sums,
				    .budget = 0x10000,
				    .classes = classes };
	ASSERT_UINT(musl_malloc_walk(walk, CONTEXT, NULL), HD_OK);
	return sums;
}

TEST(the_context_is_found_by_its_areas)
{
	make();
	ASSERT_UINT(find(), CONTEXT);
	fake_poke_u64(&fake, SECOND, SECRET + 1);
	ASSERT_UINT(find(), 0);
	fake_poke_u64(&fake, SECOND, SECRET);
	fake_poke_u64(&fake, CONTEXT + 56, AREA + 8);
	ASSERT_UINT(find(), 0);
	/* Before the first piece there is no area. */
	fake_poke_u64(&fake, CONTEXT + 56, 0);
	ASSERT_UINT(find(), 0);
	ASSERT_UINT(musl_malloc_find(&fake.memory, DATA, NULL, 0), 0);
	fake_memory_deinit(&fake);
}

TEST(pieces_are_in_use_or_free_and_counted_once)
{
	struct musl_walk walk;
	make();
	struct sums sums = walk_groups(&walk);
	CU_ASSERT(!walk.is_damaged);
	/* Two pieces of the large group and 16 of the one in its second piece. */
	ASSERT_UINT(sums.bytes[MALLOC_USED], 2 * 1008 + 16 * 32);
	ASSERT_UINT(sums.bytes[MALLOC_FREE], 1008 + 15 * 32);
	ASSERT_UINT(sums.bytes[MALLOC_MAPPED], 0x40000);
	/* Two areas, two heads, and the end of the page. */
	ASSERT_UINT(sums.bytes[MALLOC_RECORDS], 0x2000 + 2 * 16 + 0x1000 - 16 - 4 * 1008);
	ASSERT_UINT(walk.mapped_count, 1);
	ASSERT_UINT(walk.mapped_bytes, 0x40000);
	ASSERT_UINT(classes[malloc_class_of(32)].used_pieces, 16);
	ASSERT_UINT(classes[malloc_class_of(32)].free_pieces, 15);
	ASSERT_UINT(classes[malloc_class_of(1008)].used_pieces, 2);
	ASSERT_UINT(classes[malloc_class_of(1008)].free_pieces, 1);
	ASSERT_UINT(classes[malloc_class_of(0x40000)].used_pieces, 1);
	/* Neighbours in one state are one stretch. */
	CU_ASSERT(sums.calls < 14);
	fake_memory_deinit(&fake);
}

TEST(a_group_of_one_piece_has_all_of_its_pages)
{
	struct musl_walk walk;
	make();
	put_group(meta_of(AREA, 0), LARGE, 0, 0, BITS(0, 31, 1));
	struct sums sums = walk_groups(&walk);
	ASSERT_UINT(sums.bytes[MALLOC_USED], 4096 - 16 + 16 * 32);
	fake_memory_deinit(&fake);
}

TEST(records_that_cannot_be_are_left_out)
{
	static const struct {
		uint64_t offset, value; /* of the first record */
	} rows[] = {
		{ 16, LARGE + 8 },          /* not where a group can be */
		{ 16, ALONE + 0x20 },       /* does not lead back */
		{ 16, UINT64_C(0x123450) }, /* nothing is there */
		{ 32, BITS(3, 48, 0) },     /* no class */
		{ 32, BITS(30, 19, 1) },    /* larger than its page */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct musl_walk walk;
		make();
		fake_poke_u64(&fake, meta_of(AREA, 0) + rows[i].offset, rows[i].value);
		struct sums sums = walk_groups(&walk);
		ASSERT_UINT(sums.bytes[MALLOC_USED], 16 * 32);
		ASSERT_UINT(walk.mapped_count, 1);
		fake_memory_deinit(&fake);
	}
}

TEST(a_list_of_areas_that_is_overwritten_ends)
{
	static const struct {
		uint64_t address, value;
		bool has_first;
	} rows[] = {
		{ AREA + 8, AREA, true },        /* a ring */
		{ AREA + 8, DATA, true },        /* no area */
		{ AREA + 8, AREA + 0x10, true }, /* no page */
		{ SECOND, SECRET + 1, true },
		{ AREA + 16, 102, false }, /* more records than fit */
		{ AREA, 0, false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct musl_walk walk;
		make();
		fake_poke_u64(&fake, rows[i].address, rows[i].value);
		struct sums sums = walk_groups(&walk);
		CU_ASSERT(walk.is_damaged);
		ASSERT_UINT(walk.mapped_count, 0);
		CU_ASSERT_EQUAL(sums.bytes[MALLOC_USED] != 0, rows[i].has_first);
		fake_memory_deinit(&fake);
	}
}

TEST(a_long_walk_can_be_cancelled_and_is_limited)
{
	struct sums sums = { 0 };
	struct job job = { .max_mem = 1 };
	make();
	struct musl_walk walk = { .memory = &fake.memory,
				  .job = &job,
				  .found = add,
				  .arg = &sums,
				  .budget = 0x10000,
				  .classes = classes };
	ASSERT_UINT(musl_malloc_walk(&walk, CONTEXT, NULL), HD_ERR_NOMEM);
	fake_memory_deinit(&fake);
}

SUITE(.name = "musl malloc")
