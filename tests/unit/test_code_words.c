/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "analysis/names/code_words.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* The first number of a line; zeros: there is none. */
static struct code_word first(const char *line)
{
	struct code_word word = { 0 };
	size_t at = 0;
	(void)code_word_next(line, strlen(line), &at, &word);
	return word;
}

TEST(numbers_are_whole_words)
{
	static const struct {
		const char *line;
		uint64_t value;
	} lines[] = {
		{ "7f0f794a1bb5", 0x7f0f794a1bb5 },
		{ "0x10", 0x10 },
		{ "at 0XFFFFFFFFFFFFFFFF", UINT64_MAX },
		{ "[00007F0F794A1BB5]", 0x7f0f794a1bb5 },
		{ "12345678", 0x12345678 },
		{ "1234567", 0 },
		{ "7f0f794a1bb5x", 0 },
		{ "_7f0f794a1bb5", 0 },
		{ "0x", 0 },
		{ "0x11112222333344445", 0 },
		{ "11112222333344445", 0 },
		{ "deadbeefg cafebabe1", 0xcafebabe1 },
		{ "00007f04`9e0053e8", 0x7f049e0053e8 },
		{ "at 0x7f04`9E0053e8.", 0x7f049e0053e8 },
		{ "7f04`9e0053e", 0 },
		{ "7f04`9e0053e8a", 0x9e0053e8a },
		{ "7f04`9e0053eg", 0 },
		{ "7f04`", 0 },
		{ "00007f04`9e0053e8`", 0x7f049e0053e8 },
		{ "12345678`", 0x12345678 },
		{ "List`12345678", 0x12345678 },
		{ "\033[1;31m7f0f794a1bb5\033[0m", 0x7f0f794a1bb5 },
		{ "\033[1;31K7f0f794a1bb5", 0 },
		{ "\033[12345678", 0x12345678 },
		{ "", 0 },
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ASSERT_UINT(first(lines[i].line).value, lines[i].value);
}

TEST(frames_of_perf_are_known)
{
	struct code_word word = first("\t  7f0f794a1bb5 [unknown] (x)");
	CU_ASSERT(word.is_first);
	ASSERT_UINT(word.begin, 3);
	ASSERT_UINT(word.end, 15);
	ASSERT_UINT(word.unknown_end, 25);
	word = first("leak 7f0f794a1bb5 [unknown");
	CU_ASSERT(!word.is_first);
	ASSERT_UINT(word.unknown_end, 0);
	CU_ASSERT(!first("7f0f794a1bb5").is_first);
}

TEST(frames_of_debuggers_are_known)
{
	static const char *const frames[] = { "#1  0x7f0f794a1bb5 in ?? ()",
					      "    #12 0x7f0f794a1bb5",
					      "  * frame #0: 0x7f0f794a1bb5",
					      "    frame #1: 0x7f0f794a1bb5",
					      "\033[33m 7f0f794a1bb5" };
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		CU_ASSERT(first(frames[i]).is_first);
	CU_ASSERT(!first("1 0x7f0f794a1bb5").is_first);
	CU_ASSERT(!first("#x 0x7f0f794a1bb5").is_first);
}

TEST(a_line_may_have_several)
{
	static const char line[] = "0x1 0x2,0x3";
	struct code_word word;
	size_t at = 0;
	for (uint64_t i = 1; i <= 3; i++) {
		CU_ASSERT(code_word_next(line, strlen(line), &at, &word));
		ASSERT_UINT(word.value, i);
	}
	CU_ASSERT(!code_word_next(line, strlen(line), &at, &word));
	ASSERT_UINT(at, strlen(line));
}

SUITE(.name = "code_words")
