/* SPDX-License-Identifier: MIT */
/* Objects of a part of a heap: one by one, and counted. */
#include "analysis/heap/object_pass.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"

static struct fake_clr *fake;
static const struct life everything;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x400000);
}

static void tear_down(void)
{
	fake_clr_destroy(fake);
}

static struct heap_range range_of(const struct range_choice *choice)
{
	struct heap_range range;
	CU_ASSERT_EQUAL_FATAL(heap_range_init(&range, fake_heap(fake), choice, NULL), HD_OK);
	return range;
}

/* The addresses that a pass hands out; how many there are. */
static size_t addresses(const struct object_filter *filter, uint64_t *ret, size_t size)
{
	struct object_pass pass;
	struct job job = { 0 };
	enum pass_result result = PASS_GAP;
	size_t count = 0;
	CU_ASSERT_EQUAL_FATAL(object_pass_open(&pass, fake->heap, filter, &job, NULL), HD_OK);
	while (result != PASS_END && count < size) {
		CU_ASSERT_EQUAL_FATAL(object_pass_next(&pass, &result, NULL), HD_OK);
		if (result == PASS_OBJECT)
			ret[count++] = pass.walker.object.address;
	}
	object_pass_deinit(&pass);
	return count;
}

TEST(objects_come_in_order)
{
	uint64_t made[6], met[8];
	for (size_t i = 0; i < 3; i++)
		made[i] = fake_string(fake, "text");
	(void)fake_segment(fake, 0, GENERATION_2, 0x1000);
	for (size_t i = 3; i < 6; i++)
		made[i] = fake_object(fake, fake->object_type, 0);
	struct heap_range range = range_of(&(const struct range_choice){ 0 });
	const struct object_filter filter = { .range = &range, .life = &everything };
	ASSERT_UINT(addresses(&filter, met, 8), 6);
	CU_ASSERT_EQUAL(memcmp(made, met, sizeof(made)), 0);
	heap_range_deinit(&range);
}

TEST(an_empty_range_ends_at_once)
{
	uint64_t met[1];
	(void)fake_string(fake, "text");
	const struct range_choice choice = { .has_generation = true, .generation = GENERATION_POH };
	struct heap_range range = range_of(&choice);
	const struct object_filter filter = { .range = &range, .life = &everything };
	ASSERT_UINT(addresses(&filter, met, 1), 0);
	heap_range_deinit(&range);
}

TEST(a_filter_leaves_out)
{
	uint64_t met[8];
	(void)fake_object(fake, fake->object_type, 0);
	uint64_t text = fake_string(fake, "text"), longer = fake_string(fake, "a longer text");
	uint64_t last = fake_object(fake, fake->object_type, 0);
	struct heap_range range = range_of(&(const struct range_choice){ 0 });
	struct object_filter filter = { .range = &range, .life = &everything, .min = 25 };
	ASSERT_UINT(addresses(&filter, met, 8), 2);
	filter.max = 40;
	ASSERT_UINT(addresses(&filter, met, 8), 1);
	CU_ASSERT_EQUAL(met[0], text);
	filter = (struct object_filter){ .range = &range,
					 .life = &everything,
					 .method_table = fake->object_type };
	ASSERT_UINT(addresses(&filter, met, 8), 2);
	CU_ASSERT_EQUAL(met[1], last);
	heap_range_deinit(&range);
	range = range_of(&(const struct range_choice){ .begin = longer, .has_begin = true });
	filter = (struct object_filter){ .range = &range, .life = &everything };
	ASSERT_UINT(addresses(&filter, met, 8), 2);
	CU_ASSERT_EQUAL(met[0], longer);
	heap_range_deinit(&range);
}

TEST(a_gap_is_told_and_counted)
{
	(void)fake_object(fake, fake->object_type, 0);
	uint64_t bad = fake_object(fake, fake->object_type, 0);
	for (size_t i = 0; i < 8; i++)
		(void)fake_object(fake, fake->object_type, 0);
	fake_poke_u64(&fake->memory, bad, 0x1234);
	struct heap_range range = range_of(&(const struct range_choice){ 0 });
	const struct object_filter filter = { .range = &range, .life = &everything };
	struct object_pass pass;
	struct job job = { 0 };
	enum pass_result result;
	CU_ASSERT_EQUAL_FATAL(object_pass_open(&pass, fake->heap, &filter, &job, NULL), HD_OK);
	CU_ASSERT_EQUAL_FATAL(object_pass_next(&pass, &result, NULL), HD_OK);
	CU_ASSERT_EQUAL(result, PASS_OBJECT);
	CU_ASSERT_EQUAL_FATAL(object_pass_next(&pass, &result, NULL), HD_OK);
	CU_ASSERT_EQUAL_FATAL(result, PASS_GAP);
	CU_ASSERT_EQUAL(pass.walker.damage.address, bad);
	ASSERT_UINT(pass.tally.gaps.damaged + pass.tally.gaps.untyped, 1);
	object_pass_deinit(&pass); /* before its end */
	heap_range_deinit(&range);
}

/* Large Free blocks, each with an object after it. */
static void make_fragments(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		(void)fake_free(fake, FRAGMENT_MIN);
		(void)fake_object(fake, fake->object_type, 0);
	}
	(void)fake_free(fake, FRAGMENT_MIN - 8);
	(void)fake_object(fake, fake->object_type, 0);
}

TEST(large_free_blocks_are_kept)
{
	make_fragments(3);
	struct heap_range range = range_of(&(const struct range_choice){ 0 });
	const struct object_filter filter = { .range = &range, .life = &everything };
	struct object_tally tally;
	struct job job = { .workers = 2 };
	CU_ASSERT_EQUAL_FATAL(object_tally_count(&tally, fake->heap, &filter, &job, NULL), HD_OK);
	ASSERT_UINT_FATAL(tally.fragments_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct fragment *fragment = &tally.fragments[i];
		ASSERT_UINT(fragment->size, FRAGMENT_MIN);
		ASSERT_UINT(fragment->next, fragment->address + FRAGMENT_MIN);
		CU_ASSERT_EQUAL(fragment->next_type->method_table, fake->object_type);
	}
	const struct type *type = type_find(fake->heap->runtime, fake->object_type);
	ASSERT_UINT(tally.counts.rows[type->index].count, 4);
	object_tally_deinit(&tally);
	heap_range_deinit(&range);
}

TEST(every_allocation_may_fail)
{
	make_fragments(2);
	struct heap_range range = range_of(&(const struct range_choice){ 0 });
	const struct object_filter filter = { .range = &range, .life = &everything };
	struct object_tally tally;
	struct job job = { 0 };
	enum hd_status status = HD_ERR_NOMEM;
	uint64_t nth = 0;
	while (status != HD_OK && nth < 100) {
		alloc_fail_at(++nth);
		status = object_tally_count(&tally, fake->heap, &filter, &job, NULL);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
	}
	CU_ASSERT_EQUAL_FATAL(status, HD_OK);
	ASSERT_UINT(tally.fragments_count, 2);
	object_tally_deinit(&tally);
	heap_range_deinit(&range);
}

static int cancel(void *arg)
{
	(void)arg;
	return 1;
}

TEST(a_cancelled_job_ends)
{
	/* A walk looks up every 4 MiB. */
	(void)fake_segment(fake, 0, GENERATION_2, 0x1000000);
	make_fragments(12);
	struct heap_range range = range_of(&(const struct range_choice){ 0 });
	const struct object_filter filter = { .range = &range, .life = &everything };
	struct object_pass pass;
	struct job job = { .cancelled = cancel };
	enum pass_result result = PASS_OBJECT;
	enum hd_status status = HD_OK;
	CU_ASSERT_EQUAL_FATAL(object_pass_open(&pass, fake->heap, &filter, &job, NULL), HD_OK);
	while (status == HD_OK && result != PASS_END)
		status = object_pass_next(&pass, &result, NULL);
	CU_ASSERT_EQUAL(status, HD_ERR_CANCELLED);
	object_pass_deinit(&pass);
	heap_range_deinit(&range);
}

TEST(a_heap_that_is_not_there_is_named)
{
	struct heap_range range;
	struct hd_error err;
	const struct range_choice choice = { .has_heap = true, .heap = 7 };
	CU_ASSERT_EQUAL(heap_range_init(&range, fake_heap(fake), &choice, &err), HD_ERR_ARGUMENT);
	ASSERT_TEXT(err.message, "there is no heap 7: this process has 1, counted from 0");
}

SUITE(.name = "object_pass", .set_up = set_up, .tear_down = tear_down)
