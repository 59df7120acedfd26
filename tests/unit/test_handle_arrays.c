/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/statics/handle_arrays.h"
#include "runtime/runtime.h"
#include "support/assert_more.h"
#include "support/fake_export.h"
#include "support/suite.h"
#include "util/alloc.h"

/* A place of the g_dacTable that is made which means nothing else. */
#define VARIABLE ((enum fake_global)100)
#define OTHER    ((enum fake_global)101)
#define LITERALS 88u /* in GlobalStringLiteralMap of .NET 10 */
#define BUCKET   40u

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	uint64_t arrays[3], buckets[3], map, table;
};

/* PinnedHeapHandleBucket: next, size, used, unused, handle, data. */
static uint64_t bucket(struct fixture *fixture, uint64_t next, uint64_t array, uint32_t length)
{
	struct fake_memory *memory = &fixture->fake->memory;
	uint64_t at = fake_alloc(memory, BUCKET), handle = fake_alloc(memory, 8);
	fake_poke_u64(memory, handle, array);
	fake_poke_u64(memory, at, next);
	fake_poke_u32(memory, at + 8, length);
	fake_poke_u32(memory, at + 12, length - 1);
	fake_poke_u64(memory, at + 24, handle | 1);
	fake_poke_u64(memory, at + 32, array + 16);
	return at;
}

static void begin(struct fixture *fixture)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fake_memory *memory = &fake->memory;
	struct hd_error err = { 0 };
	*fixture = (struct fixture){ .fake = fake };
	fake_segment(fake, 0, GENERATION_POH, 0x1000);
	for (unsigned int i = 0; i < 3; i++)
		fixture->arrays[i] = fake_object(fake, fake->object_array_type, 4 + i);
	fake_export(fake, &(struct fake_export){ 0 });
	for (unsigned int i = 0; i < 3; i++) {
		fixture->buckets[i] = bucket(fixture, i == 1 ? fixture->buckets[0] : 0,
					     fixture->arrays[i], 4 + i);
	}
	fixture->map = fake_alloc(memory, 128);
	fixture->table = fake_alloc(memory, 16);
	fake_poke_u64(memory, fixture->map + LITERALS, fixture->buckets[1]);
	fake_poke_u64(memory, fixture->table, fixture->buckets[2]);
	fake_set_global(fake, VARIABLE, fixture->map);
	fake_set_global(fake, OTHER, fixture->table);
	ASSERT_UINT_FATAL(runtime_open(&fake->target, NULL, &fixture->runtime, &err), HD_OK);
	REQUIRE(fixture->runtime);
}

static void end(struct fixture *fixture)
{
	runtime_destroy(fixture->runtime);
	fake_clr_destroy(fixture->fake);
}

static size_t read(const struct fixture *fixture, struct handle_arrays *ret)
{
	handle_arrays_deinit(ret);
	CU_ASSERT(handle_arrays_read(fixture->runtime, ret));
	return ret->rows_count;
}

TEST(tables_are_told_apart)
{
	struct fixture fixture;
	struct handle_arrays arrays = { 0 };
	begin(&fixture);
	ASSERT_UINT(read(&fixture, &arrays), 3);
	for (unsigned int i = 0; i < 3; i++) {
		const struct handle_array *row = handle_array_at(&arrays, fixture.arrays[i]);
		REQUIRE(row);
		ASSERT_UINT(row->length, 4 + i);
		ASSERT_UINT(row->is_literals, i < 2);
	}
	CU_ASSERT(handle_array_at(&arrays, fixture.arrays[0] + 8) == NULL);
	handle_arrays_deinit(&arrays);
	end(&fixture);
}

/* A ring ends; what contradicts itself is none. */
TEST(others_are_none)
{
	struct fixture fixture;
	struct handle_arrays arrays = { 0 };
	begin(&fixture);
	struct fake_memory *memory = &fixture.fake->memory;
	fake_poke_u64(memory, fixture.buckets[0], fixture.buckets[1]);
	ASSERT_UINT(read(&fixture, &arrays), 3);
	fake_poke_u32(memory, fixture.buckets[0] + 12, 5); /* more used than there are */
	ASSERT_UINT(read(&fixture, &arrays), 2);
	fake_poke_u32(memory, fixture.buckets[2] + 8, 5); /* another length */
	ASSERT_UINT(read(&fixture, &arrays), 1);
	fake_poke_u64(memory, fixture.buckets[1] + 32, fixture.arrays[1]); /* another place */
	ASSERT_UINT(read(&fixture, &arrays), 0);
	handle_arrays_deinit(&arrays);
	end(&fixture);
}

TEST(memory_runs_out)
{
	struct fixture fixture;
	struct handle_arrays arrays = { 0 };
	begin(&fixture);
	alloc_fail_at(1);
	CU_ASSERT(!handle_arrays_read(fixture.runtime, &arrays));
	alloc_fail_at(0);
	ASSERT_UINT(arrays.rows_count, 0);
	end(&fixture);
}

SUITE(.name = "handle_arrays")
