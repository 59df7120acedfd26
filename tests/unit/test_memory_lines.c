/* SPDX-License-Identifier: MIT */
/* Rows of one account, and of two next to each other. */
#include "native/memory_lines.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* A process's row with so many bytes in memory. */
#define ROW(of_kind, of_owner, bytes_now)                          \
	{                                                          \
		.kind = (of_kind), .owner = (of_owner), .bytes = { \
			.addresses = 4096,                         \
			.resident = (bytes_now)                    \
		}                                                  \
	}
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ACCOUNT(array)                                                       \
	{                                                                    \
		.is_live = true, .rows = (array), .rows_count = COUNT(array) \
	}

struct wanted_line {
	enum memory_kind kind;
	const char *owner;
	int64_t now, before;
};

static void check_rows(const struct memory_account *now, const struct memory_account *before,
		       bool by_owner, const struct wanted_line *wanted, size_t count)
{
	struct memory_lines lines;
	struct hd_error err;
	CU_ASSERT_FATAL(memory_lines_make(now, before, by_owner, &lines, &err) == HD_OK);
	ASSERT_UINT(lines.count, count);
	for (size_t i = 0; i < count && i < lines.count; i++) {
		const struct memory_line *line = &lines.rows[i];
		ASSERT_UINT(line->kind, wanted[i].kind);
		ASSERT_TEXT(line->owner ? line->owner : "-",
			    wanted[i].owner ? wanted[i].owner : "-");
		CU_ASSERT_EQUAL(line->now, wanted[i].now);
		CU_ASSERT_EQUAL(line->before, wanted[i].before);
	}
	memory_lines_deinit(&lines);
}

static struct memory_row some_rows[] = {
	ROW(MEMORY_FILE, "a", 10),      ROW(MEMORY_GEN0, NULL, 5), ROW(MEMORY_FILE, "b", 30),
	ROW(MEMORY_CHANGED, NULL, -20), ROW(MEMORY_FILE, "a", 20),
};
static const struct memory_account some = ACCOUNT(some_rows);

TEST(each_kind_once)
{
	static const struct wanted_line wanted[] = {
		{ MEMORY_GEN0, NULL, 5, 0 },
		{ MEMORY_FILE, NULL, 60, 0 },
		{ MEMORY_CHANGED, NULL, -20, 0 },
	};
	check_rows(&some, NULL, false, wanted, COUNT(wanted));
}

TEST(each_row_with_the_largest_of_its_kind_first)
{
	static const struct wanted_line wanted[] = {
		{ MEMORY_GEN0, NULL, 5, 0 },      { MEMORY_FILE, "b", 30, 0 },
		{ MEMORY_FILE, "a", 20, 0 },      { MEMORY_FILE, "a", 10, 0 },
		{ MEMORY_CHANGED, NULL, -20, 0 },
	};
	check_rows(&some, NULL, true, wanted, COUNT(wanted));
}

TEST(nothing_has_no_line)
{
	static struct memory_row rows[] = { ROW(MEMORY_GEN0, NULL, 0) };
	struct memory_account empty = ACCOUNT(rows);
	rows[0].bytes.addresses = 0;
	check_rows(&empty, NULL, true, NULL, 0);
	check_rows(&empty, &empty, true, NULL, 0);
	empty.rows_count = 0;
	check_rows(&empty, &empty, false, NULL, 0);
}

TEST(two_accounts_with_the_greatest_difference_first)
{
	static struct memory_row rows[] = {
		ROW(MEMORY_FILE, "b", 31), ROW(MEMORY_FILE, "gone", 100), ROW(MEMORY_GEN1, NULL, 7),
		ROW(MEMORY_FILE, "a", 50), ROW(MEMORY_CHANGED, NULL, 2),
	};
	const struct memory_account earlier = ACCOUNT(rows);
	static const struct wanted_line owners[] = {
		{ MEMORY_GEN0, NULL, 5, 0 },     { MEMORY_GEN1, NULL, 0, 7 },
		{ MEMORY_FILE, "gone", 0, 100 }, { MEMORY_FILE, "a", 30, 50 },
		{ MEMORY_FILE, "b", 30, 31 },    { MEMORY_CHANGED, NULL, -20, 2 },
	};
	static const struct wanted_line kinds[] = {
		{ MEMORY_GEN0, NULL, 5, 0 },
		{ MEMORY_GEN1, NULL, 0, 7 },
		{ MEMORY_FILE, NULL, 60, 181 },
		{ MEMORY_CHANGED, NULL, -20, 2 },
	};
	check_rows(&some, &earlier, true, owners, COUNT(owners));
	check_rows(&some, &earlier, false, kinds, COUNT(kinds));
}

/* A core has bytes in its file; those in pages of zeros were not in memory. */
TEST(a_process_and_a_core)
{
	static struct memory_row rows[] = {
		{ .kind = MEMORY_GEN0,
		  .bytes = { .addresses = 900, .captured = 800, .zeros = 300 } },
	};
	const struct memory_account core = { .rows = rows, .rows_count = 1 };
	static const struct wanted_line wanted[] = {
		{ MEMORY_GEN0, NULL, 5, 500 },
		{ MEMORY_FILE, NULL, 60, 0 },
		{ MEMORY_CHANGED, NULL, -20, 0 },
	};
	check_rows(&some, &core, false, wanted, COUNT(wanted));
}

SUITE(.name = "memory_lines")
