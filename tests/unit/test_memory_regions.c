/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <string.h>

#include "native/memory_regions.h"
#include "support/assert_more.h"
#include "support/suite.h"

enum {
	ROW_GEN0,
	ROW_USED,
	ROW_FREE,
	ROW_TOP,
	ROW_GC_RESERVED,
	ROW_UNKNOWN,
	ROW_RESERVED,
	ROW_FIRST_STACK,
	ROW_OTHER_STACK
};

static struct memory_row rows[] = {
	[ROW_GEN0] = { .kind = MEMORY_GEN0 },
	[ROW_USED] = { .kind = MEMORY_MALLOC_USED },
	[ROW_FREE] = { .kind = MEMORY_MALLOC_FREE },
	[ROW_TOP] = { .kind = MEMORY_MALLOC_TOP },
	[ROW_GC_RESERVED] = { .kind = MEMORY_GC_RESERVED },
	[ROW_UNKNOWN] = { .kind = MEMORY_UNKNOWN },
	[ROW_RESERVED] = { .kind = MEMORY_RESERVED },
	[ROW_FIRST_STACK] = { .kind = MEMORY_STACK_USED, .owner = "thread 1" },
	[ROW_OTHER_STACK] = { .kind = MEMORY_STACK_USED, .owner = "thread 2" },
};

static struct memory_mapping mappings[] = {
	{ .start = 0x1000, .end = 0x5000, .flags = PF_R | PF_W, .path = "" },
	{ .start = 0x5000, .end = 0x6000, .flags = 0, .path = "" },
	{ .start = 0x8000, .end = 0xc000, .flags = PF_R | PF_W, .path = "" },
};

/* The mappings have the parts of the stretches that @p expected lists. */
static void check(const struct memory_stretch *stretches, size_t count,
		  const struct memory_region *expected, size_t expected_count)
{
	struct memory_stretch copy[16];
	struct memory_regions regions;
	CU_ASSERT_FATAL(count <= sizeof(copy) / sizeof(copy[0]));
	memcpy(copy, stretches, count * sizeof(copy[0]));
	const struct memory_account account = {
		.mappings = mappings,
		.mappings_count = sizeof(mappings) / sizeof(mappings[0]),
		.rows = rows,
		.rows_count = sizeof(rows) / sizeof(rows[0]),
		.stretches = copy,
		.stretches_count = count,
	};
	ASSERT_UINT(memory_regions_read(&account, &regions, NULL), HD_OK);
	ASSERT_UINT(regions.rows_count, expected_count);
	for (size_t i = 0; i < regions.rows_count && i < expected_count; i++) {
		const struct memory_region *got = &regions.rows[i];
		ASSERT_UINT(got->start, expected[i].start);
		ASSERT_UINT(got->end, expected[i].end);
		CU_ASSERT_PTR_EQUAL(got->mapping, expected[i].mapping);
		ASSERT_UINT(got->kind, expected[i].kind);
		CU_ASSERT(!got->owner == !expected[i].owner);
		if (got->owner && expected[i].owner)
			CU_ASSERT_STRING_EQUAL(got->owner, expected[i].owner);
		CU_ASSERT(got->is_reserved == expected[i].is_reserved);
	}
	memory_regions_deinit(&regions);
}

#define CHECK(stretches, expected)                                             \
	check(stretches, sizeof(stretches) / sizeof((stretches)[0]), expected, \
	      sizeof(expected) / sizeof((expected)[0]))

TEST(mappings_are_cut_where_the_owner_changes)
{
	/* One stretch lies in two mappings, one in part outside of them. */
	static const struct memory_stretch stretches[] = {
		{ 0x1000, 0x2000, ROW_GEN0 },
		{ 0x2000, 0x6000, ROW_UNKNOWN },
		{ 0x7000, 0x9000, ROW_GC_RESERVED },
		{ 0x9000, 0xc000, ROW_UNKNOWN },
	};
	static const struct memory_region expected[] = {
		{ 0x1000, 0x2000, &mappings[0], MEMORY_GEN0, NULL, false, false },
		{ 0x2000, 0x5000, &mappings[0], MEMORY_UNKNOWN, NULL, false, false },
		{ 0x5000, 0x6000, &mappings[1], MEMORY_UNKNOWN, NULL, true, false },
		{ 0x8000, 0x9000, &mappings[2], MEMORY_GC_RESERVED, NULL, true, false },
		{ 0x9000, 0xc000, &mappings[2], MEMORY_UNKNOWN, NULL, false, false },
	};
	CHECK(stretches, expected);
}

TEST(pieces_of_malloc_are_one_region_and_owners_are_not)
{
	static const struct memory_stretch stretches[] = {
		{ 0x1000, 0x1400, ROW_USED },        { 0x1400, 0x1800, ROW_FREE },
		{ 0x1800, 0x2000, ROW_USED },        { 0x2000, 0x3000, ROW_TOP },
		{ 0x3000, 0x4000, ROW_FIRST_STACK }, { 0x4000, 0x5000, ROW_OTHER_STACK },
		{ 0x5000, 0x6000, ROW_RESERVED },
	};
	static const struct memory_region expected[] = {
		{ 0x1000, 0x3000, &mappings[0], MEMORY_MALLOC_USED, NULL, false, false },
		{ 0x3000, 0x4000, &mappings[0], MEMORY_STACK_USED, "thread 1", false, false },
		{ 0x4000, 0x5000, &mappings[0], MEMORY_STACK_USED, "thread 2", false, false },
		{ 0x5000, 0x6000, &mappings[1], MEMORY_RESERVED, NULL, true, false },
	};
	CHECK(stretches, expected);
}

/* A chain of what is only reserved, one with a gap in front of it, one at the begin. */
TEST(what_is_only_reserved_is_blamed_on_what_is_in_front)
{
	struct memory_region list[] = {
		{ 0x1000, 0x2000, &mappings[0], MEMORY_RESERVED, NULL, true, false },
		{ 0x2000, 0x3000, &mappings[0], MEMORY_MALLOC_USED, NULL, false, false },
		{ 0x3000, 0x4000, &mappings[0], MEMORY_RESERVED, NULL, true, false },
		{ 0x4000, 0x5000, &mappings[0], MEMORY_RESERVED, NULL, true, false },
		{ 0x8000, 0x9000, &mappings[2], MEMORY_RESERVED, NULL, true, false },
	};
	struct memory_regions regions = { list, 5, 5 };
	memory_regions_blame(&regions);
	ASSERT_UINT(list[0].kind, MEMORY_RESERVED);
	CU_ASSERT(list[2].kind == MEMORY_MALLOC_USED && list[2].is_blamed);
	CU_ASSERT(list[3].kind == MEMORY_MALLOC_USED && list[3].is_blamed);
	CU_ASSERT(list[4].kind == MEMORY_RESERVED && !list[4].is_blamed);
	CU_ASSERT(!list[1].is_blamed);
}

static void check_sos(enum memory_kind kind, const char *name)
{
	const struct memory_region region = { .kind = kind, .mapping = &mappings[0] };
	const char *got = memory_region_sos_name(&region);
	CU_ASSERT(!got == !name);
	if (got && name)
		CU_ASSERT_STRING_EQUAL(got, name);
}

/* DescribedRegion.Name and MemoryRegionProtection of dotnet/diagnostics. */
TEST(a_region_has_the_name_of_sos)
{
	check_sos(MEMORY_GEN0, "GCHeap");
	check_sos(MEMORY_GC_UNUSED, "GCHeap");
	check_sos(MEMORY_GC_RESERVED, "GCHeapReserve");
	check_sos(MEMORY_HANDLES, "HandleTable");
	check_sos(MEMORY_GC_TABLE, NULL);
	check_sos(MEMORY_STACK_BELOW, "Stack");
	check_sos(MEMORY_IMAGE_NATIVE, "Image");
	check_sos(MEMORY_LINKER, NULL);
	check_sos(MEMORY_RESERVED, "RESERVED");
	check_sos(MEMORY_UNKNOWN, NULL);
	CU_ASSERT_STRING_EQUAL(memory_protection_name(0), "PAGE_NOACCESS");
	CU_ASSERT_STRING_EQUAL(memory_protection_name(PF_R), "PAGE_READONLY");
	CU_ASSERT_STRING_EQUAL(memory_protection_name(PF_R | PF_W), "PAGE_READWRITE");
	CU_ASSERT_STRING_EQUAL(memory_protection_name(PF_R | PF_X), "PAGE_EXECUTE_READ");
	CU_ASSERT_STRING_EQUAL(memory_protection_name(PF_R | PF_W | PF_X),
			       "PAGE_EXECUTE_READWRITE");
	CU_ASSERT_STRING_EQUAL(memory_protection_name(PF_X), "PAGE_EXECUTE");
}

TEST(a_region_has_a_text)
{
	char text[MEMORY_REGION_TEXT];
	CU_ASSERT_STRING_EQUAL(memory_region_text(MEMORY_MALLOC_USED, false, text),
			       "native heap: malloc");
	CU_ASSERT_STRING_EQUAL(memory_region_text(MEMORY_GEN0, false, text),
			       "GC heap: generation 0");
	CU_ASSERT_STRING_EQUAL(memory_region_text(MEMORY_MALLOC_USED, true, text),
			       "[native heap: malloc, reserve]");
	CU_ASSERT_STRING_EQUAL(memory_region_word(MEMORY_GEN0, false, text), "gen0");
	CU_ASSERT_STRING_EQUAL(memory_region_word(MEMORY_MALLOC_USED, true, text),
			       "malloc-used-reserve");
}

SUITE(.name = "memory_regions")
