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

static void keys_are_sorted_stably_with_their_places(void)
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

static void a_failed_sort_changes_nothing(void)
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

int main(void)
{
	CU_TestInfo tests[] = {
		{ "keys_are_sorted_stably_with_their_places",
		  keys_are_sorted_stably_with_their_places },
		{ "a_failed_sort_changes_nothing", a_failed_sort_changes_nothing },
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{ "sort", NULL, NULL, NULL, NULL, tests },
		CU_SUITE_INFO_NULL,
	};
	return suite_main(suites);
}
