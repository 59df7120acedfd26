/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Keys of different spreads: narrow, wide, only high bits, all equal, two values. */
static uint64_t random_key(struct random *random, uint64_t spread)
{
	switch (spread % 6) {
	case 0:
		return random_below(random, 10);
	case 1:
		return random_next(random);
	case 2:
		return random_next(random) << 55;
	case 3:
		return 0xabcdef;
	case 4:
		return random_below(random, 2) ? UINT64_MAX : 0;
	default:
		return (UINT64_C(1) << 40) + random_below(random, 5000) * 16;
	}
}

static void check_order(const uint64_t *before, const uint64_t *keys, const uint32_t *order,
			uint32_t count)
{
	uint32_t wrong = 0;
	bool *seen = calloc((size_t)count + 1, sizeof(*seen));
	REQUIRE(seen);
	for (uint32_t i = 0; i < count; i++) {
		wrong += order[i] >= count || seen[order[i]] || before[order[i]] != keys[i];
		seen[order[i] < count ? order[i] : 0] = true;
		wrong += i && keys[i - 1] > keys[i];
		wrong += i && keys[i - 1] == keys[i] && order[i - 1] > order[i]; /* stable */
	}
	ASSERT_UINT(wrong, 0);
	free(seen);
}

static void check_sort(struct random *random, uint64_t spread, uint32_t count)
{
	uint64_t *before = calloc((size_t)count + 1, sizeof(*before));
	uint64_t *keys = calloc((size_t)count + 1, sizeof(*keys));
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
	REQUIRE(before);
	REQUIRE(keys);
	REQUIRE(order);
	for (uint32_t i = 0; i < count; i++)
		keys[i] = before[i] = random_key(random, spread);
	CU_ASSERT(sort_keys(keys, order, count));
	check_order(before, keys, order, count);
	sort_u64(before, count);
	CU_ASSERT_EQUAL(memcmp(before, keys, count * sizeof(*keys)), 0);
	free(before);
	free(keys);
	free(order);
}

TEST(keys_are_sorted_stably_with_their_places)
{
	for (uint64_t seed = 1; seed <= 600; seed++) {
		struct random random = { .state = seed };
		check_sort(&random, seed, (uint32_t)random_below(&random, seed % 10 ? 300 : 20000));
	}
	struct random random = { .state = 1 };
	check_sort(&random, 1, 0);
	check_sort(&random, 1, 1);
	check_sort(&random, 1, 1000000); /* scratch arrays of pages */
}

/* The ids of some regions of a heap, which may overlap, in any order. */
static uint32_t make_regions(struct random *random, uint32_t regions, uint64_t *keys)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < regions; i++) {
		uint64_t key = random_below(random, 64) * 100;
		for (uint64_t left = random_below(random, 60); left > 0; left--) {
			keys[count++] = key;
			key += random_below(random, 4);
		}
	}
	return count;
}

static void check_pieces(struct random *random, uint32_t regions)
{
	static uint64_t keys[64 * 60], before[64 * 60];
	static uint32_t order[64 * 60];
	static struct sort_piece pieces[SORT_PIECES_MAX];
	uint32_t count = make_regions(random, regions, keys), next = 0, wrong = 0;
	memcpy(before, keys, count * sizeof(*keys));
	CU_ASSERT(sort_keys(keys, order, count));
	check_order(before, keys, order, count);
	uint32_t piece_count = sort_pieces(before, count, pieces);
	CU_ASSERT(piece_count || !count);
	for (uint32_t i = 0; i < piece_count; i++) {
		wrong += pieces[i].from != next;
		next += pieces[i].count;
		for (uint32_t k = 0; k < pieces[i].count; k++)
			wrong += order[pieces[i].to + k] != pieces[i].from + k;
	}
	ASSERT_UINT(wrong, 0);
	ASSERT_UINT(next, count);
}

TEST(a_few_runs_are_sorted_by_pieces)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct random random = { .state = seed };
		check_pieces(&random, (uint32_t)random_below(&random, 12));
	}
}

TEST(many_runs_have_no_pieces)
{
	static uint64_t keys[10000];
	static struct sort_piece pieces[SORT_PIECES_MAX];
	for (uint32_t i = 0; i < 10000; i++)
		keys[i] = 10000 - i;
	ASSERT_UINT(sort_pieces(keys, 10000, pieces), 0);
	/* Two runs, but teeth of a zip. */
	for (uint32_t i = 0; i < 10000; i++)
		keys[i] = i < 5000 ? 2 * i : 2 * (i - 5000) + 1;
	ASSERT_UINT(sort_pieces(keys, 10000, pieces), 0);
	keys[0] = 7;
	ASSERT_UINT(sort_pieces(keys, 1, pieces), 1);
	ASSERT_UINT(sort_pieces(keys, 0, pieces), 0);
}

TEST(values_go_where_their_keys_go)
{
	uint64_t keys[] = { 3, 1, 2, 1 };
	uint32_t values[] = { 30, 10, 20, 11 };
	CU_ASSERT(sort_pairs(keys, values, 4));
	ASSERT_UINT(values[0], 10);
	ASSERT_UINT(values[1], 11);
	ASSERT_UINT(values[2], 20);
	ASSERT_UINT(values[3], 30);
}

TEST(a_failed_sort_changes_nothing)
{
	for (uint64_t nth = 1; nth <= 2; nth++) {
		uint64_t keys[] = { 3, 1, 2 };
		uint32_t order[3];
		alloc_fail_at(nth);
		CU_ASSERT(!sort_keys(keys, order, 3));
		alloc_fail_at(0);
		CU_ASSERT(keys[0] == 3 && keys[1] == 1 && keys[2] == 2);
	}
}

struct row {
	uint32_t small;
	uint64_t large;
};

/* Index of the first row whose numbers are not below @p key, or above it. */
static size_t expected_place(const struct row *rows, size_t count, uint64_t key, bool is_above)
{
	size_t place = 0;
	while (place < count && (rows[place].large < key || (is_above && rows[place].large == key)))
		place++;
	return place;
}

TEST(rows_are_found_by_their_numbers)
{
	struct random random = { 7 };
	struct row rows[40];
	uint64_t numbers[40], key = 0;
	for (size_t count = 0; count <= 40; count++) {
		uint64_t number = 1;
		for (size_t i = 0; i < count; i++) {
			number += random_below(&random, 3);
			rows[i] = (struct row){ .small = (uint32_t)number, .large = number };
			numbers[i] = number;
		}
		for (key = 0; key < number + 2; key++) {
			size_t from = expected_place(rows, count, key, false);
			size_t above = expected_place(rows, count, key, true);
			ASSERT_UINT(ROWS_FROM(rows, count, large, key), from);
			ASSERT_UINT(ROWS_FROM(rows, count, small, key), from);
			ASSERT_UINT(ROWS_ABOVE(rows, count, large, key), above);
			ASSERT_UINT(ROWS_ABOVE(rows, count, small, key), above);
			ASSERT_UINT(ROW_OF(rows, count, large, key), above ? above - 1 : 0);
			ASSERT_UINT(lower_bound_u64(numbers, count, key), from);
			ASSERT_UINT(NUMBERS_ABOVE(numbers, count, key), above);
		}
	}
	ASSERT_UINT(ROWS_FROM((const struct row *)NULL, 0, large, key), 0);
}

SUITE(.name = "sort")
