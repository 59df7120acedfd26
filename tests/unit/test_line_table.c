/* SPDX-License-Identifier: MIT */
#include "managed_elf/line_table.h"
#include "support/assert_more.h"
#include "support/suite.h"

static const char first[] = "/src/a.cs", second[] = "/src/b\n.cs";

/* One row: where its address is, and its place. */
struct row {
	uint64_t address;
	struct line_place place;
};

/* A table of one function; numbers of files are those of line_table_file(). */
static void make(struct line_table *table, const struct row *rows, size_t count, uint64_t end)
{
	ASSERT_UINT(line_table_file(table, first), 1);
	ASSERT_UINT(line_table_file(table, second), 2);
	ASSERT_UINT(line_table_file(table, first), 1);
	line_table_begin(table, rows[0].address);
	for (size_t i = 0; i < count; i++)
		line_table_row(table, rows[i].address, &rows[i].place);
	line_table_end(table, end);
	CU_ASSERT_FALSE(line_table_failed(table));
}

TEST(rows_become_a_program)
{
	HD_CLEANUP(line_table) struct line_table table = { 0 };
	const struct row rows[] = { { 0x1000, { 1, 10, true } },
				    { 0x1004, { 2, 9, true } },
				    { 0x1008, { 0, 77, false } } };
	make(&table, rows, 3, 0x1200);
	static const uint8_t expected[] = {
		0, 9,    2, 0,    0x10, 0,    0, 0, 0, 0, 0, /* address 0x1000 */
		4, 1,    3, 9,    10,   1,       /* file 1, line 1 + 9, end of prologue, a row */
		2, 4,    4, 2,    3,    0x7f, 1, /* + 4, file 2, line - 1, a row */
		2, 4,    3, 0x77, 6,    1,       /* + 4, line 0, no statement, a row */
		2, 0xf8, 3, 0,    1,    1,       /* + 0x1f8, the end */
	};
	ASSERT_UINT_FATAL(table.program.size, sizeof(expected));
	CU_ASSERT(memcmp(table.program.bytes, expected, sizeof(expected)) == 0);
	ASSERT_UINT(table.rows, 3);
}

TEST(rows_that_change_nothing_are_left_out)
{
	HD_CLEANUP(line_table) struct line_table table = { 0 };
	const struct row rows[] = { { 0x1000, { 1, 10, true } },
				    { 0x1004, { 1, 10, false } },
				    { 0x1008, { 1, 10, true } } };
	make(&table, rows, 3, 0x1010);
	ASSERT_UINT(table.rows, 2);
}

TEST(the_section_has_its_size_and_the_files)
{
	HD_CLEANUP(line_table) struct line_table table = { 0 };
	HD_CLEANUP(text) struct text section = { 0 };
	const struct row rows[] = { { 0x1000, { 1, 10, true } } };
	make(&table, rows, 1, 0x1010);
	line_table_write(&table, &section);
	uint32_t size = 0, head = 0;
	memcpy(&size, section.bytes, sizeof(size));
	memcpy(&head, section.bytes + 6, sizeof(head));
	ASSERT_UINT(size, section.size - 4);
	ASSERT_UINT(head, section.size - 10 - table.program.size);
	/* A character that nobody sees is an escape. */
	static const char files[] = "/src/a.cs\0\0\0\0/src/b\\u000a.cs\0\0\0\0";
	CU_ASSERT(memcmp(section.bytes + 10 + 19, files, sizeof(files)) == 0);
}

SUITE(.name = "line_table")
