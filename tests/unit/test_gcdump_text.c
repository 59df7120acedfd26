/* SPDX-License-Identifier: MIT */
#include "format/gcdump/gcdump_encode.h"
#include "support/assert_more.h"
#include "support/gcdump_bytes.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/arena.h"

static const struct {
	const char *utf8;
	const char *bytes;
	uint32_t units;
} texts[] = {
	{ "", "", 0 },
	{ "abc", "616263", 3 },
	{ "\x7f\xc2\x80\xdf\xbf", "7f c280 dfbf", 3 },
	{ "\xe0\xa0\x80\xef\xbf\xbf", "e0a080 efbfbf", 2 },
	{ "\xe6\x96\x87", "e69687", 1 },
	{ "\xf0\x9f\x98\x80", "eda0bd edb880", 2 }, /* U+1F600: D83D DE00 */
	{ "\xf0\x90\x80\x80", "eda080 edb080", 2 }, /* U+10000 */
	{ "\xf4\x8f\xbf\xbf", "edafbf edbfbf", 2 }, /* U+10FFFF */
	{ "a\xff"
	  "b",
	  "61 efbfbd 62", 3 },
	{ "\xc3", "efbfbd", 1 },
	{ "\xe6\x96", "efbfbd efbfbd", 2 },
	{ "\xed\xa0\x80", "efbfbd efbfbd efbfbd", 3 }, /* a surrogate is not UTF-8 */
	{ "\xc0\x80", "efbfbd efbfbd", 2 },
};

TEST(texts_become_units)
{
	struct arena *arena = arena_create();
	REQUIRE(arena);
	struct gcdump_text text;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct text expected = { 0 };
		put_hex(&expected, texts[i].bytes);
		CU_ASSERT(gcdump_text_of(arena, texts[i].utf8, strlen(texts[i].utf8), &text));
		ASSERT_UINT(text.units, texts[i].units);
		ASSERT_UINT_FATAL(text.size, expected.size);
		CU_ASSERT(!text.size || memcmp(text.bytes, expected.bytes, text.size) == 0);
		CU_ASSERT(text.bytes != NULL);
		text_deinit(&expected);
	}
	CU_ASSERT(gcdump_text_of(arena, NULL, 0, &text));
	CU_ASSERT(text.bytes == NULL);
	/* A NUL is a unit like any other. */
	CU_ASSERT(gcdump_text_of(arena, "\0x", 2, &text));
	ASSERT_UINT(text.size, 2);
	CU_ASSERT(!gcdump_text_of(arena, "", (size_t)INT32_MAX, &text));
	alloc_fail_at(1);
	char *large = calloc(1, 100000);
	REQUIRE(large);
	CU_ASSERT(!gcdump_text_of(arena, large, 100000, &text));
	alloc_fail_at(0);
	free(large);
	arena_destroy(arena);
}

SUITE(.name = "gcdump text")
