/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "native/memory_account.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"

#define ADDRESSES 64u

/* Who has each address, the slow way: row + 1, or 0. */
static void paint(const struct memory_claim *claims, size_t count, uint32_t owner[ADDRESSES])
{
	for (uint64_t at = 0; at < ADDRESSES; at++) {
		const struct memory_claim *best = NULL;
		for (size_t i = 0; i < count; i++) {
			const struct memory_claim *claim = &claims[i];
			if (at < claim->start || at >= claim->end)
				continue;
			if (!best || claim->priority < best->priority ||
			    (claim->priority == best->priority && claim->row < best->row))
				best = claim;
		}
		owner[at] = best ? best->row + 1 : 0;
	}
}

static void check(struct memory_claim *claims, size_t count)
{
	uint32_t expected[ADDRESSES], got[ADDRESSES] = { 0 };
	struct memory_stretch *rows = NULL;
	size_t rows_count = 0;
	paint(claims, count, expected);
	ASSERT_UINT(memory_sweep(claims, count, &rows, &rows_count, NULL), HD_OK);
	for (size_t i = 0; i < rows_count; i++) {
		CU_ASSERT_FATAL(rows[i].start < rows[i].end && rows[i].end <= ADDRESSES);
		CU_ASSERT(!i || rows[i].start >= rows[i - 1].end);
		CU_ASSERT(!i || rows[i].start > rows[i - 1].end || rows[i].row != rows[i - 1].row);
		for (uint64_t at = rows[i].start; at < rows[i].end; at++)
			got[at] = rows[i].row + 1;
	}
	CU_ASSERT(memcmp(expected, got, sizeof(got)) == 0);
	mem_free(rows);
}

TEST(nothing_is_claimed)
{
	struct memory_claim none = { 0 };
	check(&none, 0);
	check(&none, 1);
}

TEST(the_smallest_priority_has_the_address)
{
	struct memory_claim claims[] = {
		{ 0, 40, 1000, 0 }, { 10, 20, 5, 1 }, { 15, 30, 7, 2 },
		{ 20, 25, 7, 3 },   { 50, 60, 9, 4 }, { 55, 55, 1, 5 },
	};
	check(claims, sizeof(claims) / sizeof(claims[0]));
}

static uint32_t pick(unsigned int *seed, uint32_t below)
{
	return (uint32_t)rand_r(seed) % below;
}

TEST(random_claims_are_swept_as_they_are_painted)
{
	unsigned int seed = 1;
	for (unsigned int turn = 0; turn < 2000; turn++) {
		struct memory_claim claims[24];
		size_t count = pick(&seed, 24);
		for (size_t i = 0; i < count; i++) {
			uint64_t start = pick(&seed, ADDRESSES);
			uint64_t end = pick(&seed, (ADDRESSES + 1));
			claims[i] =
				(struct memory_claim){ start, end, pick(&seed, 4), pick(&seed, 5) };
		}
		check(claims, count);
	}
}

TEST(the_whole_address_space_may_be_claimed)
{
	struct memory_claim claims[] = { { 0, UINT64_MAX, 2, 0 },
					 { UINT64_MAX - 1, UINT64_MAX, 1, 1 } };
	struct memory_stretch *rows = NULL;
	size_t count = 0;
	ASSERT_UINT(memory_sweep(claims, 2, &rows, &count, NULL), HD_OK);
	ASSERT_UINT(count, 2);
	ASSERT_UINT(rows[0].end, UINT64_MAX - 1);
	mem_free(rows);
}

SUITE(.name = "memory_sweep")
