/* SPDX-License-Identifier: MIT */
/* The GC's tables and free regions, out of a made-up header (doc/memory.md 2.1, 2.2). */
#include <string.h>

#include "gc/gc_areas.h"
#include "gc/layouts/gc_tables.h"
#include "gc/layouts/gc_vars.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"

#define LOWEST  (UINT64_C(0x7f00) << 32)
#define REGION  (UINT64_C(4) << 20)
#define REGIONS UINT64_C(64)
#define RANGE   (REGIONS * REGION)
#define TABLES  (UINT64_C(0x7e00) << 32)
#define STRIDE  UINT64_C(168)
#define FREE    (LOWEST + 5 * REGION) /* a region that no generation has */

/* Where each table begins, by its size for RANGE bytes of heap (doc/memory.md 2.1). */
#define BRICKS  (TABLES + 64 + RANGE / 2048)
#define BUNDLES (BRICKS + RANGE / 2048)
#define RECORDS (BUNDLES + RANGE / (2 << 20) + RANGE / 4096 + REGIONS)
#define MARKS   (TABLES + (UINT64_C(1) << 20))
#define SIZE    (MARKS - TABLES + RANGE / 128)

static struct fake_clr *fake;

/* Two regions whose records lie in one array, 3 apart, and a header that fits. */
static void make(void)
{
	fake = fake_clr_create(NULL);
	uint64_t records = fake->memory.next + 256;
	for (uint64_t i = 0; i < 2; i++) {
		fake->next_segment = LOWEST + 3 * i * REGION;
		fake->memory.next = records + 3 * i * STRIDE;
		(void)fake_segment(fake, 0, i ? GENERATION_0 : GENERATION_2, 0x1000 - 0x28);
	}
	const uint64_t record[] = {
		FREE + 0x28, FREE + 0x3000, FREE + REGION, 0, FREE + 0x28, 0, 0, 0, 0
	};
	fake_map(&fake->memory, records + 5 * STRIDE, sizeof(record));
	fake_poke(&fake->memory, records + 5 * STRIDE, record, sizeof(record));
	fake->memory.next = records + REGIONS * STRIDE + 4096;
	const uint64_t header[] = { 1, SIZE, 0, LOWEST, LOWEST + RANGE, BRICKS, BUNDLES, MARKS };
	fake_map(&fake->memory, TABLES, sizeof(header));
	fake_poke(&fake->memory, TABLES, header, sizeof(header));
	fake->gc.address = fake_alloc(&fake->memory, 512);
	uint64_t variable = fake_alloc(&fake->memory, 8);
	fake_poke_u64(&fake->memory, fake->gc.address + GC_VARS_TABLES, variable);
	fake_poke_u64(&fake->memory, variable, TABLES);
}

static struct gc_areas read_areas(void)
{
	struct gc_areas areas = { 0 };
	struct hd_error err = { 0 };
	struct heap *heap = fake_heap(fake);
	REQUIRE(heap);
	ASSERT_UINT(gc_areas_read(heap, true, NULL, &areas, &err), HD_OK);
	return areas;
}

static const struct gc_area *find(const struct gc_areas *areas, enum gc_area_kind kind,
				  const char *name)
{
	for (size_t i = 0; i < areas->rows_count; i++) {
		const struct gc_area *area = &areas->rows[i];
		if (area->kind == kind && (!name || strcmp(area->name, name) == 0))
			return area;
	}
	return NULL;
}

static void check(const struct gc_area *area, uint64_t start, uint64_t end)
{
	CU_ASSERT_FATAL(area != NULL);
	ASSERT_UINT(area->start, start);
	ASSERT_UINT(area->end, end);
}

TEST(tables_lie_one_after_the_other)
{
	make();
	struct gc_areas areas = read_areas();
	check(find(&areas, GC_AREA_RANGE, NULL), LOWEST, LOWEST + RANGE);
	check(find(&areas, GC_AREA_TABLE, "card table"), TABLES, BRICKS);
	check(find(&areas, GC_AREA_TABLE, "brick table"), BRICKS, BUNDLES);
	check(find(&areas, GC_AREA_TABLE, "records of regions"), RECORDS, MARKS);
	check(find(&areas, GC_AREA_TABLE, "mark array"), MARKS, MARKS + RANGE / 128);
	gc_areas_deinit(&areas);
	fake_clr_destroy(fake);
}

/* A process without concurrent collections (doc/memory.md 2.1). */
TEST(without_a_mark_array_the_records_end_with_the_block)
{
	make();
	uint64_t end = RECORDS - RANGE / 4096 + REGIONS * STRIDE;
	fake_poke_u64(&fake->memory, TABLES + 8, end - TABLES);
	fake_poke_u64(&fake->memory, TABLES + 56, 0);
	struct gc_areas areas = read_areas();
	CU_ASSERT(!areas.is_partial);
	check(find(&areas, GC_AREA_RANGE, NULL), LOWEST, LOWEST + RANGE);
	check(find(&areas, GC_AREA_TABLE, "records of regions"), RECORDS - RANGE / 4096, end);
	CU_ASSERT(!find(&areas, GC_AREA_TABLE, "write watch table"));
	CU_ASSERT(!find(&areas, GC_AREA_TABLE, "mark array"));
	CU_ASSERT(find(&areas, GC_AREA_FREE_REGION, NULL) != NULL);
	gc_areas_deinit(&areas);
	fake_clr_destroy(fake);
}

TEST(a_region_that_no_generation_has_is_free)
{
	make();
	struct gc_areas areas = read_areas();
	size_t count = 0;
	for (size_t i = 0; i < areas.rows_count; i++)
		count += areas.rows[i].kind == GC_AREA_FREE_REGION;
	ASSERT_UINT(count, 1);
	check(find(&areas, GC_AREA_FREE_REGION, NULL), FREE, FREE + 0x3000);
	gc_areas_deinit(&areas);
	fake_clr_destroy(fake);
}

TEST(free_regions_are_left_out_if_nobody_asks)
{
	make();
	struct gc_areas areas = { 0 };
	ASSERT_UINT(gc_areas_read(fake_heap(fake), false, NULL, &areas, NULL), HD_OK);
	CU_ASSERT(areas.rows_count > 0);
	CU_ASSERT_PTR_NULL(find(&areas, GC_AREA_FREE_REGION, NULL));
	gc_areas_deinit(&areas);
	fake_clr_destroy(fake);
}

TEST(a_header_with_a_wrong_word_is_left_out)
{
	for (uint64_t word = 1; word < 8; word++) {
		make();
		uint64_t at = TABLES + 8 * word;
		uint64_t old = fake_peek_u64(&fake->memory, at);
		/* A next header that cannot be read ends the list after the first. */
		fake_poke_u64(&fake->memory, at, ~old);
		struct gc_areas areas = read_areas();
		ASSERT_UINT(areas.rows_count > 0, word == 2);
		CU_ASSERT(areas.is_partial);
		gc_areas_deinit(&areas);
		fake_clr_destroy(fake);
	}
}

TEST(headers_that_lead_in_a_circle_end)
{
	make();
	fake_poke_u64(&fake->memory, TABLES + 16, TABLES);
	struct gc_areas areas = read_areas();
	CU_ASSERT(areas.rows_count > 0 && areas.rows_count < 1000);
	gc_areas_deinit(&areas);
	fake_clr_destroy(fake);
}

SUITE(.name = "gc_areas")
