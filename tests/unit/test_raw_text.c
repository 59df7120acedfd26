/* SPDX-License-Identifier: MIT */
#include "command/call.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* Where the text of a command that takes one as it is written begins: after its options. */
TEST(a_text_begins_after_the_options)
{
	static const struct option options[] = {
		{ "limit", VALUE_NUMBER, "N", "", NULL },
		{ "all", VALUE_NONE, NULL, "", NULL },
		{ NULL, VALUE_NONE, NULL, NULL, NULL },
	};
	static const struct command command = { .name = "ask", .options = options, .is_raw = true };
	static const struct {
		const char *rest, *text;
	} lines[] = {
		{ " SELECT 1;", "SELECT 1;" },
		{ "  -limit 5  'a' || b", NULL },
		{ "  -limit 5  a || 'b'", "a || 'b'" },
		{ " -limit=5 a", "a" },
		{ " --LIMIT 5 --json\tx -limit 3", "x -limit 3" },
		{ " -all a", "a" },
		{ " --sysroot 'a b' c", "c" },
		{ " --sysroot a' b", "b" },
		{ " -nosuch a", "a" },
		{ " - a", "- a" },
		{ " --json", NULL },
		{ " -limit 5 ", NULL },
		{ " -limit ", NULL },
		{ "", NULL },
		{ " \"a b\"", NULL },
		{ "\n(a)", "(a)" },
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t begin = 0;
		bool is_raw = command_raw(&command, lines[i].rest, &begin);
		CU_ASSERT_EQUAL(is_raw, lines[i].text != NULL);
		if (is_raw && lines[i].text)
			ASSERT_TEXT(lines[i].rest + begin, lines[i].text);
	}
}

SUITE(.name = "raw_text")
