/* SPDX-License-Identifier: MIT */
#include "analysis/heap/size_counts.h"
#include "gc/gc_failure.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"

static struct fake_clr *fake;
static uint64_t node, bytes;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	node = fake_type(fake, &(const struct fake_type){ .base_size = 32 });
	bytes = fake_type(fake, &(const struct fake_type){ .base_size = 24, .component_size = 1 });
}

static void tear_down(void)
{
	fake_clr_destroy(fake);
}

static void check_row(const struct objects_of_size *row, uint8_t generation, bool is_free,
		      uint64_t size, uint64_t count)
{
	ASSERT_UINT(row->generation, generation);
	ASSERT_UINT(row->is_free, is_free);
	ASSERT_UINT(row->size, size);
	ASSERT_UINT(row->count, count);
}

TEST(sizes_are_counted_by_generation_and_free_blocks_apart)
{
	struct size_counts counts;
	struct gaps gaps = { 0 };
	struct hd_error err;
	fake_segment(fake, 0, GENERATION_2, 0x10000);
	(void)fake_object(fake, bytes, 9); /* 33 bytes: counted as 40 */
	(void)fake_object(fake, bytes, 16);
	(void)fake_object(fake, node, 0);
	(void)fake_free(fake, 48);
	fake_segment(fake, 0, GENERATION_0, 0x10000);
	(void)fake_object(fake, node, 0);
	fake_segment(fake, 0, GENERATION_LOH, 0x40000);
	(void)fake_object(fake, bytes, 100000);
	struct heap *heap = fake_heap(fake);
	struct job job = { 0 };
	ASSERT_UINT(size_counts_read(&counts, heap, &job, &gaps, &err), HD_OK);
	ASSERT_UINT(counts.rows_count, 5);
	REQUIRE(counts.rows_count == 5 ? counts.rows : NULL);
	check_row(&counts.rows[0], GENERATION_0, false, 32, 1);
	check_row(&counts.rows[1], GENERATION_2, false, 32, 1);
	check_row(&counts.rows[2], GENERATION_2, false, 40, 2);
	check_row(&counts.rows[3], GENERATION_LOH, false, 100024, 1);
	check_row(&counts.rows[4], GENERATION_2, true, 48, 1);
	size_counts_deinit(&counts);
}

TEST(many_different_sizes_are_all_counted)
{
	struct size_counts counts;
	struct gaps gaps = { 0 };
	struct hd_error err;
	uint64_t sum = 0;
	fake_segment(fake, 0, GENERATION_2, (uint64_t)64 << 20);
	for (uint32_t i = 1; i <= 3000; i++)
		(void)fake_object(fake, bytes, 8 * i);
	struct heap *heap = fake_heap(fake);
	struct job job = { 0 };
	ASSERT_UINT(size_counts_read(&counts, heap, &job, &gaps, &err), HD_OK);
	ASSERT_UINT(counts.rows_count, 3000);
	for (size_t i = 0; i < counts.rows_count; i++)
		sum += counts.rows[i].count == 1 && counts.rows[i].size == 24 + 8 * (i + 1);
	ASSERT_UINT(sum, 3000);
	size_counts_deinit(&counts);
}

/* The bytes of an oom_history: a commit of 123 bytes failed in collection 7. */
static void write_failure(uint64_t at)
{
	fake_poke_u32(&fake->memory, at, GC_FAILURE_CANT_COMMIT);
	fake_poke_u64(&fake->memory, at + 8, 4096);
	fake_poke_u64(&fake->memory, at + 32, 7);
	fake_poke_u32(&fake->memory, at + 40, GC_REQUEST_GROW_TABLE);
	fake_poke_u64(&fake->memory, at + 48, 123);
	fake_poke_u64(&fake->memory, at + 56, 55);
	fake_poke_u32(&fake->memory, at + 64, 1);
}

static void check_failure(const struct gc_failure *failure)
{
	ASSERT_UINT(failure->reason, GC_FAILURE_CANT_COMMIT);
	ASSERT_UINT(failure->needed, 4096);
	CU_ASSERT(failure->has_allocation);
	ASSERT_UINT(failure->collection, 7);
	ASSERT_UINT(failure->request, GC_REQUEST_GROW_TABLE);
	ASSERT_UINT(failure->size, 123);
	ASSERT_UINT(failure->available, 55);
	CU_ASSERT(failure->is_large);
}

TEST(the_last_failure_of_a_workstation_gc)
{
	struct gc_failure failure;
	uint64_t at = fake_alloc(&fake->memory, 72), vars = fake_alloc(&fake->memory, 256);
	write_failure(at);
	struct runtime *runtime = fake_runtime(fake);
	runtime->gc.address = vars;
	CU_ASSERT(!gc_failure_read(runtime, 0, &failure));
	fake_poke_u64(&fake->memory, vars + 136, at);
	CU_ASSERT(gc_failure_read(runtime, 0, &failure));
	check_failure(&failure);
}

TEST(the_last_failure_of_a_heap_of_a_server_gc)
{
	struct gc_failure failure;
	uint64_t heap = fake_alloc(&fake->memory, 1024);
	write_failure(heap + 512);
	struct runtime *runtime = fake_runtime(fake);
	runtime->gc.is_server = true;
	runtime->gc.heap_offsets[GC_HEAP_FAILURE] = -1;
	CU_ASSERT(!gc_failure_read(runtime, heap, &failure));
	runtime->gc.heap_offsets[GC_HEAP_FAILURE] = 512;
	CU_ASSERT(!gc_failure_read(runtime, 0, &failure));
	CU_ASSERT(gc_failure_read(runtime, heap, &failure));
	check_failure(&failure);
}

SUITE(.name = "size_counts", .set_up = set_up, .tear_down = tear_down)
