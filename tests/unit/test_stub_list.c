/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "runtime/coreclr/code/stub_list.h"
#include "runtime/runtime_base.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "targets/target.h"

static char own_memory[] = "/memfd:doublemapper (deleted)", library[] = "/lib/libc.so.6";

/* Two pieces of the runtime's memory around the code of a heap, the second of a block that grows; a library; data. */
static struct target_mapping mappings[] = {
	{ .start = 0x100000, .end = 0x104000, .path = own_memory },
	{ .start = 0x110000, .end = 0x111000, .path = own_memory },
	{ .start = 0x120000, .end = 0x121000, .path = library },
	{ .start = 0x130000, .end = 0x131000, .path = own_memory },
};
static struct target_range ranges[] = {
	{ .start = 0x100000, .end = 0x104000, .flags = PF_R | PF_X },
	{ .start = 0x110000, .end = 0x111000, .flags = PF_R | PF_X },
	{ .start = 0x120000, .end = 0x121000, .flags = PF_R | PF_X },
	{ .start = 0x130000, .end = 0x131000, .flags = PF_R | PF_W },
	{ .start = 0x140000, .end = 0x141000, .flags = PF_R | PF_X },
};

static struct code_functions list(struct code_section *sections, size_t count)
{
	struct target target = { .map = { .mappings = mappings,
					  .mapping_count = sizeof(mappings) / sizeof(mappings[0]),
					  .ranges = ranges,
					  .range_count = sizeof(ranges) / sizeof(ranges[0]) } };
	struct runtime runtime = { .target = &target };
	struct code_functions functions = { 0 };
	CU_ASSERT_FATAL(code_stubs_list(&runtime, sections, count, &functions));
	return functions;
}

TEST(code_of_the_runtime_without_a_heap_is_stubs)
{
	struct code_functions functions = list(NULL, 0);
	ASSERT_UINT_FATAL(functions.rows_count, 2);
	ASSERT_UINT(functions.rows[0].begin, 0x100000);
	ASSERT_UINT(functions.rows[0].end, 0x110000); /* the block ends there */
	ASSERT_UINT(functions.rows[0].part, CODE_STUBS);
	ASSERT_UINT(functions.rows[0].method_desc, 0);
	ASSERT_UINT(functions.rows[1].begin, 0x110000);
	ASSERT_UINT(functions.rows[1].end, 0x120000);
	code_functions_deinit(&functions);
}

TEST(heaps_for_code_are_no_stubs_and_heaps_for_stubs_are)
{
	struct code_section sections[] = {
		{ .begin = 0x118000, .end = 0x120000 },
		{ .begin = 0x102000, .end = 0x103000, .heap = 1 },
		{ .begin = 0x102000, .end = 0x103000, .heap = 1 },
		{ .begin = 0x200000, .end = 0x201000, .module = 1 },
	};
	static const uint64_t expected[][2] = { { 0x100000, 0x102000 },
						{ 0x103000, 0x110000 },
						{ 0x110000, 0x118000 },
						{ 0x118000, 0x120000 } };
	struct code_functions functions = list(sections, sizeof(sections) / sizeof(sections[0]));
	ASSERT_UINT_FATAL(functions.rows_count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < functions.rows_count; i++) {
		ASSERT_UINT(functions.rows[i].begin, expected[i][0]);
		ASSERT_UINT(functions.rows[i].end, expected[i][1]);
	}
	code_functions_deinit(&functions);
}

SUITE(.name = "stub_list")
