/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "graph/id_index.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

/* The rank that bsearch() would find, and also the first one that is not below. */
static uint32_t rank_by_search(const uint64_t *ids, uint32_t count, uint64_t id)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		bool below = ids[middle] < id;
		low = below ? middle + 1 : low;
		high = below ? high : middle;
	}
	return low;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	return (left > right) - (left < right);
}

/* Sort, and drop what is there twice. */
static uint32_t make_ascending(uint64_t *ids, uint32_t count)
{
	qsort(ids, count, sizeof(*ids), compare_ids);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!kept || ids[kept - 1] != ids[i])
			ids[kept++] = ids[i];
	}
	return kept;
}

/* Ids to look for: each id and its neighbours, the ends, and as many at random. */
static size_t make_wanted(const uint64_t *ids, uint32_t count, uint64_t *wanted)
{
	struct random random = { .state = 99 };
	size_t made = 0;
	for (uint32_t i = 0; i < count; i++) {
		wanted[made++] = ids[i];
		wanted[made++] = ids[i] - 1;
		wanted[made++] = ids[i] + 1;
		wanted[made++] = random_next(&random) >> random_below(&random, 64);
		uint64_t next = i + 1 < count ? ids[i + 1] : ids[i];
		wanted[made++] = ids[i] + (next - ids[i]) / 2;
	}
	wanted[made++] = 0;
	wanted[made++] = 1;
	wanted[made++] = UINT64_MAX;
	wanted[made++] = UINT64_MAX - 1;
	wanted[made++] = UINT64_C(1) << 63;
	/* Not in order: find_all() is for random access. */
	for (size_t i = made - 1; i > 0; i--) {
		size_t other = random_below(&random, i + 1);
		uint64_t id = wanted[i];
		wanted[i] = wanted[other];
		wanted[other] = id;
	}
	return made;
}

static void check_index(const struct id_index *index, const uint64_t *ids, uint32_t count)
{
	uint64_t *wanted = malloc((5 * (size_t)count + 5) * sizeof(*wanted));
	uint32_t *found = malloc((5 * (size_t)count + 5) * sizeof(*found));
	REQUIRE(wanted);
	REQUIRE(found);
	size_t size = make_wanted(ids, count, wanted);
	id_index_find_all(index, ids, wanted, found, size);
	uint32_t wrong_rank = 0, wrong_find = 0, wrong_all = 0;
	for (size_t i = 0; i < size; i++) {
		uint32_t rank = rank_by_search(ids, count, wanted[i]);
		uint32_t expected = rank < count && ids[rank] == wanted[i] ? rank : UINT32_MAX;
		wrong_rank += id_index_lower_bound(index, ids, wanted[i]) != rank;
		wrong_find += id_index_find(index, ids, wanted[i]) != expected;
		wrong_all += found[i] != expected;
	}
	ASSERT_UINT(wrong_rank, 0);
	ASSERT_UINT(wrong_find, 0);
	ASSERT_UINT(wrong_all, 0);
	free(wanted);
	free(found);
}

static void check_ids(const uint64_t *ids, uint32_t count)
{
	struct id_index index;
	ASSERT_UINT_FATAL(id_index_init(&index, ids, count, NULL), HD_OK);
	check_index(&index, ids, count);
	id_index_deinit(&index);
	id_index_init_bare(&index, ids, count);
	check_index(&index, ids, count);
	id_index_deinit(&index);
}

/* The widest bucket, which is what a look-up searches; says that ids spread as promised. */
static uint32_t widest_bucket(const uint64_t *ids, uint32_t count)
{
	struct id_index index;
	ASSERT_UINT_FATAL(id_index_init(&index, ids, count, NULL), HD_OK);
	uint32_t widest = 0;
	for (uint32_t i = 0; i < index.bucket_count; i++) {
		uint32_t width = index.buckets[i + 1] - index.buckets[i];
		widest = width > widest ? width : widest;
	}
	/* "About 4 bytes per id", and one bucket for each empty slice. */
	CU_ASSERT(index.bucket_count <= count + ((uint64_t)1 << ID_SLICE_BITS) + 1);
	id_index_deinit(&index);
	return widest;
}

#define MANY 50000u

static uint64_t many[MANY];

TEST(no_ids)
{
	check_ids(many, 0);
	struct id_index index = { 0 };
	ASSERT_UINT(id_index_init(&index, NULL, 0, NULL), HD_OK);
	ASSERT_UINT(id_index_find(&index, NULL, 5), UINT32_MAX);
	id_index_deinit(&index);
	id_index_deinit(&index);
}

TEST(one_id)
{
	static const uint64_t ones[] = { 0, 1, 0x7f0000001000, UINT64_MAX - 1, UINT64_MAX };
	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++)
		check_ids(&ones[i], 1);
}

TEST(few_ids)
{
	static const uint64_t few[] = { 0,
					1,
					2,
					1u << 14,
					1u << 15,
					UINT64_C(1) << 50,
					UINT64_C(1) << 63,
					UINT64_MAX - 1,
					UINT64_MAX };
	const uint32_t count = sizeof(few) / sizeof(few[0]);
	for (uint32_t first = 0; first < count; first++) {
		for (uint32_t size = 0; size <= count - first; size++)
			check_ids(few + first, size);
	}
}

/* Small spans around powers of two, where shifts change. */
TEST(spans_around_powers_of_two)
{
	for (uint32_t bits = 1; bits < 64; bits++) {
		uint64_t span = UINT64_C(1) << bits;
		uint64_t ids[] = { 5, 6, 5 + span / 2, 4 + span, 5 + span, 6 + span };
		check_ids(ids, make_ascending(ids, 6));
	}
}

TEST(dense_ids)
{
	static const uint64_t starts[] = { 0, 1, 0x7f0000000000, UINT64_MAX - MANY + 1 };
	for (size_t k = 0; k < sizeof(starts) / sizeof(starts[0]); k++) {
		for (uint32_t i = 0; i < MANY; i++)
			many[i] = starts[k] + i;
		check_ids(many, MANY);
		CU_ASSERT(widest_bucket(many, MANY) <= 4);
	}
}

TEST(ids_of_a_heap)
{
	struct random random = { .state = 3 };
	uint64_t id = 0x7f1234560000;
	for (uint32_t i = 0; i < MANY; i++) {
		many[i] = id;
		id += 24 + 8 * random_below(&random, 12);
	}
	check_ids(many, MANY);
	CU_ASSERT(widest_bucket(many, MANY) <= 16);
}

TEST(sparse_ids)
{
	struct random random = { .state = 5 };
	for (uint32_t i = 0; i < MANY; i++)
		many[i] = random_next(&random);
	uint32_t count = make_ascending(many, MANY);
	check_ids(many, count);
	CU_ASSERT(widest_bucket(many, count) <= 24);
}

TEST(sparse_ids_up_to_the_end)
{
	struct random random = { .state = 5 };
	for (uint32_t i = 0; i < MANY; i++)
		many[i] = 1000 + random_next(&random) / 2 * 2;
	many[0] = UINT64_MAX;
	many[1] = 3;
	uint32_t count = make_ascending(many, MANY);
	check_ids(many, count);
	CU_ASSERT(widest_bucket(many, count) <= 24);
}

/* Only the last slice is crowded, and it ends where 64 bits do. */
TEST(crowded_last_slice)
{
	for (uint32_t i = 0; i < MANY; i++)
		many[i] = UINT64_MAX - ((uint64_t)(MANY - 1 - i) << 30);
	many[0] = 3;
	check_ids(many, MANY);
	CU_ASSERT(widest_bucket(many, MANY) <= 64);
}

TEST(clustered_ids)
{
	struct random random = { .state = 7 };
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t region = (i % 13) * UINT64_C(0x13b13b13b13b13b1);
		many[i] = region + random_below(&random, 1u << 20) * 8;
	}
	many[0] = 0;
	many[1] = UINT64_MAX;
	check_ids(many, make_ascending(many, MANY));
}

/* Buckets cannot separate the near half: the search in them must stay logarithmic, and right. */
TEST(adversarial_ids)
{
	struct random random = { .state = 11 };
	for (uint32_t i = 0; i < MANY; i++)
		many[i] = random_next(&random);
	for (uint32_t i = 0; i < 1024; i++)
		many[i] = UINT64_C(0x8000000000000000) + i;
	check_ids(many, make_ascending(many, 2048));
	for (uint64_t base = 1; base < UINT64_C(1) << 60; base = base * 1000 + 7) {
		for (uint32_t i = 0; i < 2048; i++)
			many[i] = i % 2 ? random_next(&random) : base + i / 2;
		check_ids(many, make_ascending(many, 2048));
	}
}

/* Each id twice as far from the start as the last one, and the same from the end. */
TEST(geometric_ids)
{
	uint32_t count = 0;
	for (uint32_t bits = 0; bits < 64; bits++) {
		many[count++] = UINT64_C(1) << bits;
		many[count++] = UINT64_MAX - (UINT64_C(1) << bits);
		many[count++] = (UINT64_C(1) << bits) + 1;
	}
	check_ids(many, make_ascending(many, count));
}

TEST(batches_of_any_size)
{
	for (uint32_t i = 0; i < 100; i++)
		many[i] = 10 + 3 * (uint64_t)i;
	struct id_index index;
	ASSERT_UINT_FATAL(id_index_init(&index, many, 100, NULL), HD_OK);
	for (size_t size = 0; size <= 100; size++) {
		uint32_t found[101];
		memset(found, 0x55, sizeof(found));
		id_index_find_all(&index, many, many, found, size);
		for (size_t i = 0; i < size; i++)
			ASSERT_UINT(found[i], i);
		ASSERT_UINT(found[size], 0x55555555);
	}
	id_index_deinit(&index);
}

TEST(each_failed_allocation_is_reported)
{
	for (uint32_t i = 0; i < MANY; i++)
		many[i] = 8 * (uint64_t)i;
	for (uint64_t nth = 1; nth < 20; nth++) {
		struct id_index index = { 0 };
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = id_index_init(&index, many, MANY, &err);
		alloc_fail_at(0);
		id_index_deinit(&index);
		if (status == HD_OK) {
			CU_ASSERT(nth > 1);
			return;
		}
		ASSERT_UINT(status, HD_ERR_NOMEM);
		ASSERT_UINT(err.status, HD_ERR_NOMEM);
	}
	CU_FAIL("still out of memory");
}

SUITE(.name = "id_index")
