/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/bitmap.h"

/* Sizes in bytes around what the implementation treats apart. */
static const size_t sizes[] = {
	0,
	8,
	4096,
	PAGES_MIN - 8,
	PAGES_MIN,
	PAGES_MIN + 8,
	PAGES_MIN + ((size_t)2 << 20) - 8,
	PAGES_MIN + ((size_t)2 << 20),
	PAGES_MIN + ((size_t)2 << 20) + 8,
	(size_t)11 << 20,
};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint64_t pattern(size_t i)
{
	return i * 0x9e3779b97f4a7c15u + 1;
}

static void fill(uint64_t *array, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		array[i] = pattern(i);
}

/* How many elements are not the pattern up to @p filled, and zero after it. */
static size_t wrong_elements(const uint64_t *array, size_t filled, size_t count)
{
	size_t wrong = 0;
	for (size_t i = 0; i < count; i++)
		wrong += array[i] != (i < filled ? pattern(i) : 0);
	return wrong;
}

TEST(fresh_pages_are_zero)
{
	for (size_t i = 0; i < SIZES; i++) {
		size_t count = sizes[i] / 8;
		uint64_t *array = pages_alloc(count, 8);
		REQUIRE(array);
		ASSERT_UINT(wrong_elements(array, 0, count), 0);
		fill(array, 0, count);
		pages_free(array, count, 8);
	}
	pages_free(NULL, 10, 8);
	pages_free(NULL, PAGES_MIN, 8);
}

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

TEST(resizing_keeps_what_fits_and_zeroes_the_rest)
{
	for (size_t a = 0; a < SIZES; a++) {
		for (size_t b = 0; b < SIZES; b++) {
			size_t from = sizes[a] / 8, to = sizes[b] / 8;
			uint64_t *array = pages_alloc(from, 8);
			REQUIRE(array);
			fill(array, 0, from);
			uint64_t *more = pages_resize(array, from, to, 8);
			REQUIRE(more);
			ASSERT_UINT(wrong_elements(more, from, to), 0);
			pages_free(more, to, 8);
		}
	}
}

TEST(what_was_cut_off_is_zero_when_it_comes_back)
{
	for (size_t a = 0; a < SIZES; a++) {
		for (size_t b = 0; b < a; b++) {
			size_t large = sizes[a] / 8, small = sizes[b] / 8;
			uint64_t *array = pages_alloc(large, 8);
			REQUIRE(array);
			fill(array, 0, large);
			array = pages_resize(array, large, small, 8);
			REQUIRE(array);
			array = pages_resize(array, small, large, 8);
			REQUIRE(array);
			ASSERT_UINT(wrong_elements(array, min(small, large), large), 0);
			pages_free(array, large, 8);
		}
	}
}

TEST(a_failed_resize_leaves_the_old_array)
{
	for (size_t a = 0; a < SIZES; a++) {
		for (size_t b = 0; b < SIZES; b++) {
			size_t from = sizes[a] / 8, to = sizes[b] / 8;
			uint64_t *array = pages_alloc(from, 8);
			REQUIRE(array);
			fill(array, 0, from);
			alloc_fail_at(1);
			CU_ASSERT_PTR_NULL(pages_resize(array, from, to, 8));
			alloc_fail_at(0);
			ASSERT_UINT(wrong_elements(array, from, from), 0);
			pages_free(array, from, 8);
		}
	}
}

TEST(sizes_that_overflow_are_refused)
{
	CU_ASSERT_PTR_NULL(pages_alloc(SIZE_MAX, 8));
	CU_ASSERT_PTR_NULL(pages_alloc(SIZE_MAX / 8 + 2, 8));
	CU_ASSERT_PTR_NULL(pages_alloc(SIZE_MAX / 2 + 1, 1));
	CU_ASSERT_PTR_NULL(mem_alloc(SIZE_MAX / 2, 3));
	CU_ASSERT_PTR_NULL(mem_calloc(SIZE_MAX / 2, 3));
	void *old = mem_alloc(1, 8);
	REQUIRE(old);
	CU_ASSERT_PTR_NULL(mem_realloc(old, SIZE_MAX / 2, 3));
	CU_ASSERT_PTR_NULL(pages_resize(NULL, 0, SIZE_MAX / 4, 8));
	mem_free(old);
	ASSERT_UINT(grown_capacity(SIZE_MAX / 8, 8), 0);
}

TEST(capacities_grow_by_half)
{
	ASSERT_UINT(grown_capacity(0, 4), 8);
	ASSERT_UINT(grown_capacity(7, 4), 8);
	ASSERT_UINT(grown_capacity(8, 4), 12);
	ASSERT_UINT(grown_capacity(1000, 4), 1500);
	struct {
		uint64_t *items;
		size_t items_count, items_capacity;
	} list = { 0 };
	for (size_t i = 0; i < 1000000; i++) {
		CU_ASSERT_FATAL(PAGES_RESERVE(&list, items));
		list.items[list.items_count++] = pattern(i);
	}
	ASSERT_UINT(wrong_elements(list.items, 1000000, 1000000), 0);
	pages_free(list.items, list.items_capacity, sizeof(*list.items));
}

TEST(allocations_fail_when_they_are_told_to)
{
	alloc_fail_at(3);
	void *first = mem_alloc(1, 1), *second = pages_alloc(1, 1);
	CU_ASSERT(first && second);
	CU_ASSERT_PTR_NULL(mem_calloc(1, 1));
	CU_ASSERT_PTR_NULL(pages_alloc(PAGES_MIN, 1));
	CU_ASSERT_PTR_NULL(mem_strndup("a", 1));
	ASSERT_UINT(alloc_calls(), 5);
	alloc_fail_at(0);
	ASSERT_UINT(alloc_calls(), 0);
	mem_free(first);
	pages_free(second, 1, 1);
	char *copy = mem_strndup("abc", 2);
	REQUIRE(copy);
	ASSERT_TEXT(copy, "ab");
	mem_free(copy);
}

TEST(arrays_are_cleared_where_they_are)
{
	static const size_t lengths[] = { 100, PAGES_MIN - 1, PAGES_MIN, PAGES_MIN + 12345 };
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint8_t *bytes = pages_alloc(lengths[i], 1);
		REQUIRE(bytes);
		memset(bytes, 0xff, lengths[i]);
		pages_clear(bytes, lengths[i], 1);
		CU_ASSERT(!bytes[0] && !memcmp(bytes, bytes + 1, lengths[i] - 1));
		pages_free(bytes, lengths[i], 1);
	}
}

/* The fuzz targets measure this. */
TEST(bytes_that_are_allocated_are_counted)
{
	uint64_t before = alloc_live();
	alloc_peak_reset();
	ASSERT_UINT(alloc_peak(), before);
	char *small = mem_calloc(1000, 1);
	char *large = pages_alloc(PAGES_MIN, 2);
	REQUIRE(small);
	REQUIRE(large);
	uint64_t both = alloc_live();
	CU_ASSERT(both >= before + 1000 + 2 * PAGES_MIN);
	char *more = mem_realloc(small, 100000, 1);
	REQUIRE(more);
	CU_ASSERT(alloc_live() >= both + 99000 && alloc_peak() >= alloc_live());
	pages_free(large, PAGES_MIN, 2);
	mem_free(more);
	ASSERT_UINT(alloc_live(), before);
	CU_ASSERT(alloc_peak() >= both);
	alloc_peak_reset();
	ASSERT_UINT(alloc_peak(), before);
}

TEST(an_arena_keeps_everything_until_its_end)
{
	static const size_t pieces[] = { 1, 0, 7, 100, 5000, 16384, 16385, 100000 };
	struct arena *arena = arena_create(), *from = arena_create();
	REQUIRE(arena);
	REQUIRE(from);
	char *texts[800];
	for (size_t i = 0; i < 800; i++) {
		size_t size = pieces[i % 8];
		texts[i] = arena_alloc(i % 3 ? arena : from, size);
		REQUIRE(texts[i]);
		memset(texts[i], (int)(i % 251), size);
	}
	arena_merge(arena, from);
	char *after = arena_alloc(arena, 10);
	REQUIRE(after);
	memset(after, 'x', 10);
	size_t wrong = 0;
	for (size_t i = 0; i < 800; i++) {
		for (size_t k = 0; k < pieces[i % 8]; k++)
			wrong += (unsigned char)texts[i][k] != i % 251;
	}
	ASSERT_UINT(wrong, 0);
	alloc_fail_at(1);
	CU_ASSERT_PTR_NULL(arena_alloc(arena, 1 << 20));
	CU_ASSERT_PTR_NULL(arena_create());
	alloc_fail_at(0);
	CU_ASSERT_PTR_NULL(arena_alloc(arena, SIZE_MAX - 5));
	arena_destroy(arena);
	arena_destroy(NULL);
}

TEST(empty_arenas_merge)
{
	struct arena *to = arena_create(), *from = arena_create();
	REQUIRE(to);
	REQUIRE(from);
	arena_merge(to, from);
	from = arena_create();
	REQUIRE(from);
	char *text = arena_alloc(from, 3);
	REQUIRE(text);
	arena_merge(to, from);
	memset(text, 'x', 3);
	arena_destroy(to);
}

TEST(a_bitmap_has_what_was_added)
{
	for (uint64_t bits = 0; bits < 200; bits += 7) {
		uint64_t *bitmap = bitmap_alloc(bits);
		REQUIRE(bitmap);
		for (uint64_t bit = 0; bit <= bits; bit += 3) {
			CU_ASSERT(bitmap_add(bitmap, bit));
			CU_ASSERT(!bitmap_add(bitmap, bit));
		}
		for (uint64_t bit = 0; bit <= bits; bit++)
			ASSERT_UINT(bitmap_has(bitmap, bit), bit % 3 == 0);
		for (uint64_t bit = 0; bit <= bits; bit++) {
			uint64_t next = (bit + 2) / 3 * 3;
			ASSERT_UINT(bitmap_next(bitmap, bit, bits), next < bits ? next : bits);
			ASSERT_UINT(bitmap_count(bitmap, bit), (bit + 2) / 3);
		}
		uint32_t *ranks = bitmap_ranks(bitmap, (uint32_t)bits);
		REQUIRE(ranks);
		for (uint64_t bit = 0; bit <= bits; bit++) {
			ASSERT_UINT(bitmap_rank(bitmap, ranks, (uint32_t)bit),
				    bitmap_count(bitmap, bit));
		}
		bitmap_ranks_free(ranks, (uint32_t)bits);
		/* The next is far away. */
		memset(bitmap, 0, bitmap_words(bits) * sizeof(*bitmap));
		(void)bitmap_add(bitmap, bits);
		ASSERT_UINT(bitmap_next(bitmap, 0, bits + 1), bits);
		ASSERT_UINT(bitmap_next(bitmap, 0, bits), bits);
		bitmap_free(bitmap, bits);
	}
}

/* Memory that is given back reads as zero or as before, and the memory around it stays. */
TEST(discarding_gives_back_what_lies_inside)
{
	const size_t mib = (size_t)1 << 20;
	uint8_t *bytes = pages_alloc(8 * mib, 1);
	REQUIRE(bytes);
	memset(bytes, 7, 8 * mib);
	pages_discard(bytes, 8 * mib, mib, 6 * mib, 1);
	size_t wrong = 0;
	for (size_t i = 0; i < 8 * mib; i++)
		wrong += bytes[i] != 7 && (bytes[i] || i < mib || i >= 7 * mib);
	ASSERT_UINT(wrong, 0);
	pages_free(bytes, 8 * mib, 1);
	uint8_t small[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	pages_discard(small, sizeof(small), 0, sizeof(small), 1);
	ASSERT_UINT(small[3], 4);
}

SUITE(.name = "alloc")
