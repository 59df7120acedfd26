/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/types/method_table.h"
#include "runtime/gc_desc.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"

static const struct type *found(struct fake_clr *fake, const struct fake_type *type)
{
	const struct type *ret = type_find(fake_runtime(fake), fake_type(fake, type));
	REQUIRE(ret);
	return ret;
}

TEST(test_series)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	/* An object of 64 bytes (56 from its address on): slots at 8, 16; at 32; at 48. */
	const struct gc_series series[] = {
		{ .size = 16 - 64, .offset = 8 },
		{ .size = 8 - 64, .offset = 32 },
		{ .size = 8 - 64, .offset = 48 },
	};
	const struct type *type = found(
		fake, &(struct fake_type){ .base_size = 64, .series = series, .series_count = 3 });
	CU_ASSERT(type->has_pointers && !type->has_bad_desc);
	ASSERT_UINT_FATAL(type->desc.series_count, 3);
	ASSERT_UINT(type->desc.run_count, 0);
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT(type->desc.series[i].size == series[i].size);
		ASSERT_UINT(type->desc.series[i].offset, series[i].offset);
	}
	fake_clr_destroy(fake);
}

TEST(test_runs)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	const struct gc_run runs[] = { { 1, 8 }, { 2, 16 } };
	const struct type *type = found(fake, &(struct fake_type){ .base_size = 24,
								   .component_size = 48,
								   .flags = 0x000a0000,
								   .runs = runs,
								   .run_count = 2,
								   .runs_offset = 24 });
	CU_ASSERT(type->has_pointers && !type->has_bad_desc);
	ASSERT_UINT_FATAL(type->desc.run_count, 2);
	ASSERT_UINT(type->desc.series_count, 0);
	ASSERT_UINT(type->desc.runs_offset, 24);
	for (size_t i = 0; i < 2; i++) {
		ASSERT_UINT(type->desc.runs[i].pointers, runs[i].pointers);
		ASSERT_UINT(type->desc.runs[i].skip, runs[i].skip);
	}
	fake_clr_destroy(fake);
}

/* Refused whole: a type without references. */
static void assert_refused(const struct type *type)
{
	CU_ASSERT(type->has_pointers && type->has_bad_desc);
	ASSERT_UINT(type->desc.series_count, 0);
	ASSERT_UINT(type->desc.run_count, 0);
	CU_ASSERT(!type->desc.series && !type->desc.runs);
}

TEST(test_bad_series)
{
	static const struct gc_series bad[] = {
		{ .size = 8 - 40, .offset = 0 },  /* the MethodTable itself */
		{ .size = 8 - 40, .offset = 12 }, /* not aligned */
		{ .size = 8 - 40, .offset = 32 }, /* after the object's end */
		{ .size = 32 - 40, .offset = 8 }, /* longer than the object */
		{ .size = 12 - 40, .offset = 8 }, /* half a slot */
		{ .size = 8, .offset = 8 },       /* biased the wrong way */
		{ .size = -48, .offset = 8 },     /* shorter than nothing */
		{ .size = INT64_MIN, .offset = 8 },
		{ .size = INT64_MAX, .offset = 8 },
		{ .size = -40, .offset = UINT64_MAX - 7 },
	};
	struct fake_clr *fake = fake_clr_create(NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct gc_series series[] = { { .size = 8 - 40, .offset = 8 }, bad[i] };
		assert_refused(found(fake, &(struct fake_type){ .base_size = 40,
								.series = series,
								.series_count = 2 }));
	}
	fake_clr_destroy(fake);
}

/* Each slot again and again: an object of n words could have n * n references. */
TEST(test_repeated_series)
{
	struct gc_series series[20];
	struct fake_clr *fake = fake_clr_create(NULL);
	for (size_t i = 0; i < 20; i++)
		series[i] = (struct gc_series){ .size = 300 / 8 * 8 - 320, .offset = 8 };
	assert_refused(found(
		fake,
		&(struct fake_type){ .base_size = 320, .series = series, .series_count = 20 }));
	for (size_t i = 0; i < 20; i++)
		series[i] = (struct gc_series){ .size = -320, .offset = 16 };
	assert_refused(found(fake, &(struct fake_type){ .base_size = 320,
							.component_size = 8,
							.flags = 0x000a0000,
							.series = series,
							.series_count = 20 }));
	fake_clr_destroy(fake);
}

TEST(test_bad_runs)
{
	static const struct {
		struct gc_run run;
		uint64_t offset;
	} bad[] = {
		{ { 1, 0 }, 16 },          /* covers half of each component */
		{ { 1, 9 }, 16 },          /* and too much */
		{ { 0, 16 }, 16 },         /* no pointers at all */
		{ { UINT32_MAX, 8 }, 16 }, /* wraps */
		{ { 1, 8 }, 0 },           /* the MethodTable itself */
		{ { 1, 8 }, 20 },          { { 1, 8 }, 4096 }, { { 1, 8 }, UINT64_MAX - 7 },
	};
	struct fake_clr *fake = fake_clr_create(NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_refused(found(fake, &(struct fake_type){ .base_size = 24,
								.component_size = 16,
								.runs = &bad[i].run,
								.run_count = 1,
								.runs_offset = bad[i].offset }));
	}
	/* Runs without components. */
	const struct gc_run run = { 1, 8 };
	assert_refused(found(
		fake, &(struct fake_type){
			      .base_size = 24, .runs = &run, .run_count = 1, .runs_offset = 8 }));
	fake_clr_destroy(fake);
}

TEST(test_bad_count)
{
	static const uint64_t bad[] = { 0,
					4,
					1000,
					GC_DESC_SERIES_MAX + 1,
					INT64_MAX,
					(uint64_t)1 << 63,
					UINT64_MAX - 3,
					(uint64_t)0 - 1000 };
	struct fake_clr *fake = fake_clr_create(NULL);
	const struct gc_series series = { .size = 8 - 40, .offset = 8 };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t address = fake_type(fake, &(struct fake_type){ .base_size = 40,
									.component_size = 8,
									.series = &series,
									.series_count = 1 });
		fake_poke_u64(&fake->memory, address - 8, bad[i]);
		const struct type *type = type_find(fake_runtime(fake), address);
		REQUIRE(type);
		assert_refused(type);
	}
	/* Nothing is readable below the MethodTable. */
	uint64_t bare = fake_type(fake, &(struct fake_type){ .base_size = 40 });
	fake_poke_u32(&fake->memory, bare, MT_CONTAINS_GC_POINTERS);
	const struct type *type = type_find(fake_runtime(fake), bare);
	REQUIRE(type);
	assert_refused(type);
	fake_clr_destroy(fake);
}

TEST(test_budget)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	const struct gc_series series = { .size = 8 - 40, .offset = 8 };
	uint64_t address = fake_type(
		fake, &(struct fake_type){ .base_size = 40, .series = &series, .series_count = 1 });
	uint64_t budget = sizeof(series);
	struct type type = { .method_table = address, .base_size = 40, .has_pointers = true };
	ASSERT_UINT(gc_desc_read(&fake->memory.memory, &type, &budget), HD_OK);
	ASSERT_UINT(budget, 0);
	ASSERT_UINT(type.desc.series_count, 1);
	gc_desc_deinit(&type);
	ASSERT_UINT(gc_desc_read(&fake->memory.memory, &type, &budget), HD_OK);
	assert_refused(&type);
	budget = 1000;
	alloc_fail_at(1);
	ASSERT_UINT(gc_desc_read(&fake->memory.memory, &type, &budget), HD_ERR_NOMEM);
	alloc_fail_at(0);
	ASSERT_UINT(budget, 1000);
	fake_clr_destroy(fake);
}

SUITE(.name = "GCDesc")
