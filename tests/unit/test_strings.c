/* SPDX-License-Identifier: MIT */
#include "inspect/string_counts.h"
#include "inspect/value.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/text.h"

static struct fake_clr *fake;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x40000);
}

static void tear_down(void)
{
	fake_clr_destroy(fake);
}

static void collect(const struct strings_filter *filter, unsigned int workers, struct strings *ret)
{
	struct job job = { .workers = workers };
	CU_ASSERT_EQUAL_FATAL(strings_collect(fake_heap(fake), filter, &job, ret, NULL), HD_OK);
}

static void check_row(const struct strings *strings, size_t row, const char *expected,
		      uint32_t count, uint64_t size)
{
	struct text text = { 0 };
	CU_ASSERT_FATAL(row < strings->rows_count);
	CU_ASSERT(string_value(fake->heap, strings->rows[row].address, 100, &text, NULL));
	ASSERT_TEXT(text.bytes ? text.bytes : "", expected);
	ASSERT_UINT(strings->rows[row].count, count);
	ASSERT_UINT(string_count_size(strings, &strings->rows[row]), size);
	text_deinit(&text);
}

TEST(equal_values_are_counted_together)
{
	static const char *const values[] = { "b", "twelve chars", "a", "b", "", "b", "a" };
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		(void)fake_string(fake, values[i]);
		(void)fake_object(fake, fake->object_type, 0);
	}
	struct strings strings;
	collect(NULL, 1, &strings);
	ASSERT_UINT(strings.count, 7);
	ASSERT_UINT(strings.size, 6 * 24 + 46);
	strings_sort(&strings, 1);
	ASSERT_UINT(strings.rows_count, 4);
	check_row(&strings, 0, "", 1, 24);
	check_row(&strings, 1, "twelve chars", 1, 46);
	check_row(&strings, 2, "a", 2, 48);
	check_row(&strings, 3, "b", 3, 72);
	strings_sort(&strings, 2);
	ASSERT_UINT(strings.rows_count, 2);
	check_row(&strings, 0, "a", 2, 48);
	strings_deinit(&strings);
}

TEST(a_heap_without_strings_gives_none)
{
	(void)fake_object(fake, fake->object_type, 0);
	struct strings strings;
	collect(NULL, 1, &strings);
	strings_sort(&strings, 1);
	ASSERT_UINT(strings.rows_count, 0);
	ASSERT_UINT(strings.count, 0);
	strings_deinit(&strings);
}

/* Strings v0 .. v499 in several regions, some of them often. */
static void make_many(struct random *random)
{
	for (unsigned int segment = 0; segment < 6; segment++) {
		if (segment)
			(void)fake_segment(fake, 0, GENERATION_2, 0x40000);
		for (unsigned int i = 0; i < 2000; i++) {
			char text[32];
			uint64_t value = random_below(random, 1 + random_below(random, 2000));
			(void)snprintf(text, sizeof(text), "v%u", (unsigned int)value);
			(void)fake_string(fake, text);
		}
	}
}

static void check_same(const struct strings *a, const struct strings *b)
{
	ASSERT_UINT(a->count, b->count);
	ASSERT_UINT(a->size, b->size);
	ASSERT_UINT_FATAL(a->rows_count, b->rows_count);
	for (size_t i = 0; i < a->rows_count; i++) {
		ASSERT_UINT(a->rows[i].address, b->rows[i].address);
		ASSERT_UINT(a->rows[i].count, b->rows[i].count);
	}
}

TEST(workers_find_the_same)
{
	struct random random = { 7 };
	make_many(&random);
	struct strings one, four, copied;
	collect(NULL, 1, &one);
	collect(NULL, 4, &four);
	fake->memory.no_runs = true;
	collect(NULL, 1, &copied);
	ASSERT_UINT(one.count, 12000);
	strings_sort(&one, 1);
	strings_sort(&four, 1);
	strings_sort(&copied, 1);
	check_same(&four, &one);
	check_same(&copied, &one);
	uint64_t sum = 0;
	for (size_t i = 0; i < one.rows_count; i++)
		sum += one.rows[i].count;
	ASSERT_UINT(sum, 12000);
	strings_deinit(&one);
	strings_deinit(&four);
	strings_deinit(&copied);
}

static bool is_long(void *arg, const struct walker *walker)
{
	return walker->object.length >= *(const uint32_t *)arg;
}

TEST(a_filter_leaves_out)
{
	uint64_t first = fake_string(fake, "a"), second = fake_string(fake, "bb");
	uint64_t third = fake_string(fake, "ccc");
	struct strings strings;
	struct strings_filter range = { .begin = second, .end = third };
	collect(&range, 1, &strings);
	ASSERT_UINT(strings.count, 1);
	ASSERT_UINT(strings.rows[0].address, second);
	strings_deinit(&strings);
	uint32_t least = 2;
	struct strings_filter accept = { .accept = is_long, .arg = &least };
	collect(&accept, 1, &strings);
	ASSERT_UINT(strings.count, 2);
	strings_deinit(&strings);
	(void)fake_segment(fake, 0, GENERATION_2, 0x1000);
	uint64_t fourth = fake_string(fake, "dddd");
	const struct segment *segments[1] = { heap_segment_at(fake_heap(fake), first) };
	struct strings_filter one = { .segments = segments, .segment_count = 1 };
	struct job job = { .workers = 1 };
	CU_ASSERT_EQUAL_FATAL(strings_collect(fake->heap, &one, &job, &strings, NULL), HD_OK);
	ASSERT_UINT(strings.count, 3);
	strings_deinit(&strings);
	CU_ASSERT_PTR_NOT_EQUAL(heap_segment_at(fake->heap, fourth), segments[0]);
}

TEST(long_texts_are_told_apart_at_their_ends)
{
	uint64_t all[3];
	for (unsigned int i = 0; i < 3; i++) {
		all[i] = fake_object(fake, fake->string_type, 20000);
		fake_poke(&fake->memory, all[i] + 12, "x", 1);
	}
	fake_poke(&fake->memory, all[2] + 12 + (uint64_t)2 * 19999, "y", 1);
	struct strings strings;
	for (unsigned int no_runs = 0; no_runs < 2; no_runs++) {
		fake->memory.no_runs = no_runs;
		collect(NULL, 1, &strings);
		strings_sort(&strings, 1);
		ASSERT_UINT(strings.rows_count, 2);
		ASSERT_UINT(strings.rows[1].count, 2);
		ASSERT_UINT(strings.rows[1].address, all[0]);
		strings_deinit(&strings);
	}
}

TEST(gaps_are_remembered)
{
	(void)fake_string(fake, "before");
	uint64_t bad = fake_object(fake, fake->object_type, 0);
	for (unsigned int i = 0; i < 8; i++)
		(void)fake_string(fake, "behind");
	fake_poke_u64(&fake->memory, bad, 0x4242424242424242);
	struct strings strings;
	collect(NULL, 1, &strings);
	ASSERT_UINT(strings.count, 9);
	ASSERT_UINT_FATAL(strings.gaps_count, 1);
	ASSERT_UINT(strings.gaps[0].address, bad);
	strings_deinit(&strings);
}

TEST(the_memory_limit_is_kept)
{
	struct random random = { 7 };
	make_many(&random);
	struct job job = { .workers = 1, .max_mem = 1000 };
	struct strings strings;
	struct hd_error err = { 0 };
	CU_ASSERT_EQUAL(strings_collect(fake_heap(fake), NULL, &job, &strings, &err), HD_ERR_NOMEM);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "max-mem"));
}

TEST(every_allocation_may_fail)
{
	for (unsigned int i = 0; i < 30; i++)
		(void)fake_string(fake, i % 2 ? "odd" : "even");
	struct heap *heap = fake_heap(fake);
	(void)type_find(heap->runtime, fake->string_type);
	struct job job = { .workers = 2 };
	struct strings strings;
	enum hd_status status = HD_ERR_NOMEM;
	uint64_t nth = 0;
	while (status != HD_OK && nth < 100) {
		alloc_fail_at(++nth);
		status = strings_collect(heap, NULL, &job, &strings, NULL);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
	}
	CU_ASSERT_EQUAL_FATAL(status, HD_OK);
	CU_ASSERT(nth > 3);
	ASSERT_UINT(strings.count, 30);
	strings_deinit(&strings);
}

static int cancel(void *arg)
{
	(void)arg;
	return 1;
}

TEST(a_cancelled_job_ends)
{
	struct random random = { 7 };
	make_many(&random);
	struct job job = { .workers = 1, .cancelled = cancel };
	struct strings strings;
	CU_ASSERT_EQUAL(strings_collect(fake_heap(fake), NULL, &job, &strings, NULL),
			HD_ERR_CANCELLED);
}

SUITE(.name = "strings", .set_up = set_up, .tear_down = tear_down)
