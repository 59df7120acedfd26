/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/open_core.h"
#include "support/suite.h"
#include "util/guard.h"

/* The whole core of the fuzz target: it must have all that commands are about. */
TEST(every_part_of_the_fake_core_is_found)
{
	static const struct {
		const char *line, *part;
	} rows[] = {
		{ "info", ".NET 10.0.3" },      { "dumpheap -stat", "System.String" },
		{ "clrthreads", "3ea" },        { "gchandles", "Pinned" },
		{ "finalizequeue", "object" },  { "roots", "Ns.Holder.cache" },
		{ "clrstack -all", "7ffe" },    { "verifyheap", "objects verified" },
		{ "strings", "a text of the" }, { "syncblk -all", "Index" },
	};
	struct open_core open = core_open(NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer answer = command_run(open.session, rows[i].line);
		CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(&answer), rows[i].part));
		answer_deinit(&answer);
	}
	CU_ASSERT(open.core.bytes.size < 1 << 20);
	ASSERT_UINT(open.core.count, 115); /* PIECES of make_patches.py */
	core_close(&open);
}

/* As many as a processor with many registers needs. */
TEST(a_table_may_have_40_columns)
{
	struct open_core open = core_open(NULL);
	HD_CLEANUP(text) struct text line = { 0 };
	text_printf(&line, "sql --json 'SELECT 0 AS c0");
	for (int i = 1; i < 40; i++)
		text_printf(&line, ", %d AS c%d", i, i);
	text_printf(&line, "'");
	struct answer answer = command_run(open.session, line.bytes);
	ASSERT_UINT((uint64_t)answer.status, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(&answer), "\"c39\": 39"));
	answer_deinit(&answer);
	core_close(&open);
}

SUITE(.name = "fake_core")
