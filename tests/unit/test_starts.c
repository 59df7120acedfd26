/* SPDX-License-Identifier: MIT */
#include "gc/starts.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

/* A heap at random and the list of its objects, what everything is compared with. */
struct made {
	struct fake_clr *fake;
	struct heap *heap;
	uint64_t *all, *live; /* without Free blocks */
	size_t all_count, live_count;
};

#define OBJECTS_MAX 40000u

static void add(struct made *made, uint64_t address, bool is_free)
{
	made->all[made->all_count++] = address;
	if (!is_free)
		made->live[made->live_count++] = address;
}

static void make(struct made *made, uint64_t seed)
{
	struct random random = { .state = seed };
	struct fake_clr *fake = fake_clr_create(NULL);
	*made = (struct made){ .fake = fake,
			       .all = calloc(OBJECTS_MAX, sizeof(uint64_t)),
			       .live = calloc(OBJECTS_MAX, sizeof(uint64_t)) };
	REQUIRE(made->all);
	REQUIRE(made->live);
	for (uint64_t segment = 0; segment < 1 + seed % 7; segment++) {
		uint64_t objects = segment % 3 == 2 ? 0 : random_below(&random, 5000);
		(void)fake_segment(fake, 0, segment ? GENERATION_2 : GENERATION_0,
				   24 + objects * 800);
		for (uint64_t i = 0; i < objects; i++) {
			uint64_t what = random_below(&random, 100);
			if (what == 0)
				(void)fake_context(fake, 24 + 8 * random_below(&random, 90));
			else if (what < 20)
				add(made, fake_free(fake, 24 + 8 * random_below(&random, 90)),
				    true);
			else if (what < 40)
				add(made,
				    fake_object(fake, fake->object_array_type,
						(uint32_t)random_below(&random, 90)),
				    false);
			else
				add(made, fake_object(fake, fake->object_type, 0), false);
		}
	}
	made->heap = fake_heap(fake);
}

static void unmake(struct made *made)
{
	fake_clr_destroy(made->fake);
	free(made->all);
	free(made->live);
}

static void check_address(const struct starts *starts, const struct heap *heap,
			  const uint64_t *list, size_t count, uint64_t address)
{
	size_t rank = 0;
	while (rank < count && list[rank] < address)
		rank++;
	bool is_start = rank < count && list[rank] == address;
	const struct segment *segment = heap_segment_at(heap, address);
	uint64_t before = is_start ? address : 0, after = before;
	if (segment && !is_start && rank > 0 && list[rank - 1] >= segment->begin)
		before = list[rank - 1];
	if (segment && !is_start && rank < count && list[rank] < segment->end)
		after = list[rank];
	ASSERT_UINT(starts_has(starts, address), is_start);
	ASSERT_UINT(starts_rank(starts, address), rank);
	ASSERT_UINT(starts_at_or_before(starts, address), before);
	ASSERT_UINT(starts_at_or_after(starts, address), after);
	uint32_t found;
	starts_rank_all(starts, &address, &found, 1);
	ASSERT_UINT(found, is_start ? rank : UINT32_MAX);
}

static void check(struct made *made, bool with_free, unsigned int workers)
{
	struct job job = { .workers = workers };
	struct starts *starts = NULL;
	const uint64_t *list = with_free ? made->all : made->live;
	size_t count = with_free ? made->all_count : made->live_count;
	ASSERT_UINT_FATAL(starts_create(made->heap, with_free, &job, &starts, NULL), HD_OK);
	ASSERT_UINT(starts_count(starts), count);
	struct random random = { .state = count + 1 };
	for (size_t i = 0; i < count; i++)
		ASSERT_UINT(starts_address(starts, i), list[i]);
	uint32_t *ranks = calloc(count + 1, sizeof(*ranks));
	REQUIRE(ranks);
	starts_rank_all(starts, list, ranks, count);
	for (size_t i = 0; i < count; i++)
		ASSERT_UINT(ranks[i], i);
	free(ranks);
	for (size_t i = 0; i < 300 && made->all_count; i++) {
		uint64_t near = made->all[random_below(&random, made->all_count)];
		check_address(starts, made->heap, list, count, near);
		check_address(starts, made->heap, list, count, near + 8);
		check_address(starts, made->heap, list, count, near + random_below(&random, 900));
		check_address(starts, made->heap, list, count, near - random_below(&random, 900));
	}
	size_t at = 0;
	for (size_t i = 0; i < made->heap->segment_count; i++) {
		const struct segment *segment = &made->heap->segments[i];
		ASSERT_UINT(starts_segment_rank(starts, i), at);
		while (at < count && list[at] < segment->end)
			at++;
		check_address(starts, made->heap, list, count, segment->begin);
		check_address(starts, made->heap, list, count, segment->begin - 1);
		check_address(starts, made->heap, list, count, segment->begin - 8);
		check_address(starts, made->heap, list, count, segment->end);
		check_address(starts, made->heap, list, count, segment->end - 8);
		check_address(starts, made->heap, list, count, segment->end - 1);
	}
	ASSERT_UINT(starts_segment_rank(starts, made->heap->segment_count), count);
	check_address(starts, made->heap, list, count, 0);
	check_address(starts, made->heap, list, count, 1);
	check_address(starts, made->heap, list, count, UINT64_MAX);
	starts_destroy(starts);
}

TEST(test_random)
{
	for (uint64_t seed = 1; seed <= 14; seed++) {
		struct made made;
		make(&made, seed);
		check(&made, true, 1);
		check(&made, false, 3);
		unmake(&made);
	}
}

TEST(test_empty)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct starts *starts = NULL;
	ASSERT_UINT_FATAL(starts_create(fake_heap(fake), true, NULL, &starts, NULL), HD_OK);
	ASSERT_UINT(starts_count(starts), 0);
	CU_ASSERT(!starts_has(starts, 0));
	ASSERT_UINT(starts_rank(starts, 1234), 0);
	ASSERT_UINT(starts_at_or_before(starts, 1234), 0);
	ASSERT_UINT(starts_segment_rank(starts, 0), 0);
	starts_destroy(starts);
	starts_destroy(NULL);
	fake_clr_destroy(fake);
}

/* A part that cannot be walked has no starts; the part after it has. */
TEST(test_damage)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t objects[10];
	for (size_t i = 0; i < 10; i++)
		objects[i] = fake_object(fake, fake->object_type, 0);
	fake_poke_u64(&fake->memory, objects[3], 0x4141414141414141);
	struct starts *starts = NULL;
	ASSERT_UINT_FATAL(starts_create(fake_heap(fake), true, NULL, &starts, NULL), HD_OK);
	ASSERT_UINT(starts_count(starts), 9);
	CU_ASSERT(!starts_has(starts, objects[3]));
	ASSERT_UINT(starts_at_or_before(starts, objects[3]), objects[2]);
	ASSERT_UINT(starts_at_or_after(starts, objects[3]), objects[4]);
	ASSERT_UINT(starts_rank(starts, objects[4]), 3);
	starts_destroy(starts);
	fake_clr_destroy(fake);
}

TEST(test_failures)
{
	struct made made;
	make(&made, 5);
	uint64_t nth = 1;
	for (; nth < 100; nth++) {
		struct starts *starts = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = starts_create(made.heap, true, NULL, &starts, &err);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		ASSERT_UINT(starts != NULL, !failed);
		starts_destroy(starts);
		if (!failed)
			break;
	}
	CU_ASSERT(nth > 3 && nth < 100);
	struct starts *starts = NULL;
	struct job small = { .workers = 1, .max_mem = 1000 };
	ASSERT_UINT(starts_create(made.heap, true, &small, &starts, NULL), HD_ERR_NOMEM);
	struct job stopped = { .workers = 2, .stop = true };
	ASSERT_UINT(starts_create(made.heap, true, &stopped, &starts, NULL), HD_ERR_CANCELLED);
	CU_ASSERT(!starts);
	unmake(&made);
}

SUITE(.name = "starts")
