/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/fail.h"
#include "util/text.h"

TEST(a_text_grows_as_it_is_appended_to)
{
	struct text text = { 0 };
	for (unsigned int i = 0; i < 10000; i++)
		text_printf(&text, "%u,", i % 10);
	ASSERT_UINT(text.size, 20000);
	ASSERT_UINT(strlen(text.bytes), 20000);
	for (size_t i = 0; i < 10000; i++)
		CU_ASSERT_FATAL(text.bytes[2 * i] == (char)('0' + i % 10));
	text_deinit(&text);
	text_append(&text, "a\0b", 3);
	text_append(&text, "", 0);
	text_puts(&text, "c");
	ASSERT_UINT(text.size, 4);
	CU_ASSERT_EQUAL(memcmp(text.bytes, "a\0bc", 5), 0);
	text_deinit(&text);
}

TEST(printing_has_no_limit)
{
	char word[3000];
	for (size_t size = 250; size < 262; size++) {
		memset(word, 'w', size);
		word[size] = '\0';
		struct text text = { 0 };
		text_printf(&text, "<%s>", word);
		ASSERT_UINT(text.size, size + 2);
		CU_ASSERT(text.bytes[0] == '<' && text.bytes[size + 1] == '>' &&
			  strncmp(text.bytes + 1, word, size) == 0);
		text_deinit(&text);
	}
	memset(word, 'v', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	struct text text = { 0 };
	text_puts(&text, "before ");
	text_printf(&text, "%s%d", word, 7);
	ASSERT_UINT(text.size, 7 + sizeof(word));
	ASSERT_UINT(strlen(text.bytes), text.size);
	text_deinit(&text);
}

TEST(a_failed_text_stays_failed)
{
	struct text text = { 0 };
	text_puts(&text, "one");
	alloc_fail_at(1);
	for (int i = 0; i < 100; i++)
		text_puts(&text, "two");
	alloc_fail_at(0);
	CU_ASSERT(text.failed);
	size_t size = text.size;
	text_puts(&text, "x");
	text_printf(&text, "%300d", 1);
	ASSERT_UINT(text.size, size);
	CU_ASSERT(strncmp(text.bytes, "onetwo", 6) == 0);
	text_deinit(&text);
	CU_ASSERT(!text.failed);
}

static const struct {
	const char *bytes;
	size_t size;
	size_t length;
} characters[] = {
	{ "a", 1, 1 },
	{ "\0", 1, 1 },
	{ "\x7f", 1, 1 },
	{ "\x80", 1, 0 },
	{ "\xbf\xbf", 2, 0 },
	{ "\xc0\x80", 2, 0 }, /* overlong */
	{ "\xc1\xbf", 2, 0 },
	{ "\xc2\x80", 2, 2 },
	{ "\xdf\xbf", 2, 2 },
	{ "\xc2", 1, 0 },
	{ "\xc2"
	  "a",
	  2, 0 },
	{ "\xe0\x9f\xbf", 3, 0 },
	{ "\xe0\xa0\x80", 3, 3 },
	{ "\xe2\x82\xac", 3, 3 },
	{ "\xe2\x82", 2, 0 },
	{ "\xe2\x82"
	  "a",
	  3, 0 },
	{ "\xed\x9f\xbf", 3, 3 },
	{ "\xed\xa0\x80", 3, 0 }, /* a surrogate */
	{ "\xef\xbf\xbf", 3, 3 },
	{ "\xf0\x8f\xbf\xbf", 4, 0 },
	{ "\xf0\x90\x80\x80", 4, 4 },
	{ "\xf4\x8f\xbf\xbf", 4, 4 },
	{ "\xf4\x90\x80\x80", 4, 0 }, /* beyond U+10FFFF */
	{ "\xf5\x80\x80\x80", 4, 0 },
	{ "\xff", 1, 0 },
	{ "\xf0\x9f\x92", 3, 0 },
	{ "ab", 2, 1 },
};

TEST(utf8_is_told_from_other_bytes)
{
	for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
		ASSERT_UINT(utf8_length(characters[i].bytes, characters[i].size),
			    characters[i].length);
	}
}

/* Encode a code point as the standard says. */
static size_t encode(uint32_t point, char *buf)
{
	if (point < 0x80) {
		buf[0] = (char)point;
		return 1;
	}
	size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	for (size_t i = length; i-- > 1; point >>= 6)
		buf[i] = (char)(0x80 | (point & 63));
	buf[0] = (char)(leads[length] | point);
	return length;
}

TEST(every_character_is_utf8)
{
	uint32_t wrong = 0;
	for (uint32_t point = 0; point < 0x110000; point++) {
		char buf[4];
		size_t length = encode(point, buf);
		bool surrogate = point >= 0xd800 && point < 0xe000;
		wrong += utf8_length(buf, length) != (surrogate ? 0 : length);
		wrong += length > 1 && utf8_length(buf, length - 1) != 0;
	}
	ASSERT_UINT(wrong, 0);
}

static const struct {
	const char *bytes;
	size_t size;
	const char *shown;
} escapes[] = {
	{ "plain `1[[A, B]]", 16, "plain `1[[A, B]]" },
	{ "", 0, "" },
	{ "a\nb\tc\r", 6, "a\\u000ab\\u0009c\\u000d" },
	{ "\x1b[31m", 5, "\\u001b[31m" },
	{ "\0x", 2, "\\u0000x" },
	{ "\x7f", 1, "\\u007f" },
	{ "\xc2\x80\xc2\x9b\xc2\xa0", 6, "\\u0080\\u009b\xc2\xa0" },
	{ "\xff\xfe", 2, "\\xff\\xfe" },
	{ "\xe2\x82\xac\xe2\x82", 5, "\xe2\x82\xac\\xe2\\x82" },
	{ "\xe2\x82"
	  "a",
	  3, "\\xe2\\x82a" },
	{ "back\\slash", 10, "back\\slash" },
	/* Nobody sees these: zero width, soft hyphen, a mark of order, selectors, a filler, a tag. */
	{ "a\xe2\x80\x8b\xc2\xad\xef\xbb\xbf", 9, "a\\u200b\\u00ad\\ufeff" },
	{ "\xef\xb8\x8f\xe1\xa0\x8b\xe3\x85\xa4", 9, "\\ufe0f\\u180b\\u3164" },
	{ "\xf3\xa0\x81\x81\xf0\x9f\x90\x8d", 8, "\\u{e0041}\xf0\x9f\x90\x8d" },
};

TEST(what_a_terminal_would_act_on_and_what_nobody_sees_is_escaped)
{
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		struct text text = { 0 };
		text_puts(&text, "<");
		text_escape(&text, escapes[i].bytes, escapes[i].size);
		text_puts(&text, ">");
		char expected[100];
		(void)snprintf(expected, sizeof(expected), "<%s>", escapes[i].shown);
		ASSERT_TEXT(text.bytes, expected);
		text_deinit(&text);
	}
}

TEST(a_copy_for_a_person_is_cut_between_characters)
{
	static const char *const cuts[] = { "",  "a", "a",        "a",        "a",
					    "a", "a", "a\\u202e", "a\\u202e", "a\\u202e\xc3\xa4" };
	char buf[32];
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		memset(buf, 'z', sizeof(buf));
		ASSERT_UINT(hd_escape("a\xe2\x80\xae\xc3\xa4", 6, buf, i + 1), strlen(cuts[i]));
		ASSERT_TEXT(buf, cuts[i]);
	}
	ASSERT_UINT(hd_escape("ab\0c", 4, buf, sizeof(buf)), 2);
	ASSERT_UINT(hd_escape("abc", 2, buf, sizeof(buf)), 2);
	ASSERT_TEXT(buf, "ab");
	ASSERT_UINT(hd_escape(NULL, 3, buf, sizeof(buf)), 0);
	ASSERT_TEXT(buf, "");
	ASSERT_UINT(hd_escape("abc", 3, NULL, 10), 0);
	ASSERT_UINT(hd_escape("abc", 3, buf, 0), 0);
}

TEST(a_message_holds_nothing_that_a_terminal_acts_on)
{
	struct hd_error err;
	ASSERT_UINT(fail(&err, HD_ERR_FORMAT, 0, "%s: no file",
			 "a\033[2J\r\n\xc2\x9b\x9b\xe2\x80\xae\xe2\x81\xa6\xff\xc3\xa4"),
		    HD_ERR_FORMAT);
	ASSERT_TEXT(err.message, "a\\u001b[2J\\u000d\\u000a\\u009b\\x9b\\u202e\\u2066\\xff"
				 "\xc3\xa4: no file");
	char path[1000];
	for (size_t i = 0; i + 1 < sizeof(path); i++)
		path[i] = "\xe2\x82\xac"[i % 3];
	path[sizeof(path) - 1] = '\0';
	for (size_t shift = 0; shift < 3; shift++) {
		(void)fail(&err, HD_ERR_FORMAT, 0, "%.*s%s", (int)shift, "ab", path);
		/* It is cut before a character that does not fit whole. */
		CU_ASSERT_PTR_NULL(strchr(err.message, '\\'));
		CU_ASSERT(strlen(err.message) > HD_ERROR_MESSAGE_SIZE - 4);
	}
}

TEST(counts_have_singular_and_plural)
{
	char buf[COUNT_SIZE];
	ASSERT_TEXT(format_count(0, "root", buf), "0 roots");
	ASSERT_TEXT(format_count(1, "root", buf), "1 root");
	ASSERT_TEXT(format_count(2, "root", buf), "2 roots");
	ASSERT_TEXT(format_count(UINT64_MAX, "stack root", buf),
		    "18,446,744,073,709,551,615 stack roots");
}

TEST(thousands_are_parted)
{
	static const struct {
		uint64_t value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 12345, "12,345" },
		{ 999999, "999,999" },
		{ 1000000, "1,000,000" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buf[NUMBER_SIZE];
		ASSERT_TEXT(format_thousands(cases[i].value, buf), cases[i].text);
	}
}

TEST(changes)
{
	char buf[NUMBER_SIZE + 1];
	ASSERT_TEXT(format_change(7, 7, buf), "0");
	ASSERT_TEXT(format_change(0, 1234, buf), "+1,234");
	ASSERT_TEXT(format_change(6, 1, buf), "-5");
	ASSERT_TEXT(format_change(UINT64_MAX, 0, buf), "-18,446,744,073,709,551,615");
}

TEST(bytes)
{
	static const struct {
		uint64_t value;
		const char *text;
	} cases[] = {
		{ 0, "0 bytes" },
		{ 1023, "1023 bytes" },
		{ 1024, "1 KB" },
		{ 1536, "1.5 KB" },
		{ 1048575, "1023.9 KB" },
		{ 8 << 20, "8 MB" },
		{ (uint64_t)5 << 29, "2.5 GB" },
		{ UINT64_MAX, "15.9 EB" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buf[32];
		ASSERT_TEXT(format_bytes(cases[i].value, buf), cases[i].text);
	}
}

TEST(a_share_has_one_digit_and_is_rounded)
{
	char buf[32];
	ASSERT_TEXT(format_share(0.44879321889630813, buf), "44.9 %");
	ASSERT_TEXT(format_share(0.0004, buf), "0.0 %");
	ASSERT_TEXT(format_share(1, buf), "100.0 %");
	ASSERT_TEXT(format_share(1e20, buf), "10000000000000000000000.0 %");
}

/* UNPARSED: not a number. */
#define UNPARSED 0xbadc0de

static const struct {
	const char *text;
	uint64_t value;
} numbers[] = {
	{ "0", 0 },
	{ "7", 7 },
	{ "0123", 123 },
	{ "18446744073709551615", UINT64_MAX },
	{ "18446744073709551616", UNPARSED },
	{ "0xffffffffffffffff", UINT64_MAX },
	{ "0x10000000000000000", UNPARSED },
	{ "0x1F", 31 },
	{ "0X1f", 31 },
	{ "1k", 1024 },
	{ "1K", 1024 },
	{ "512M", 512u << 20 },
	{ "2g", UINT64_C(2) << 30 },
	{ "0x10k", 16384 },
	{ "17179869183G", UINT64_C(17179869183) << 30 },
	{ "17179869184G", UNPARSED },
	{ "", UNPARSED },
	{ "k", UNPARSED },
	{ "0x", UNPARSED },
	{ "0xk", UNPARSED },
	{ "1kk", UNPARSED },
	{ "1kB", 1024 },
	{ "1KiB", 1024 },
	{ "200MB", 200u << 20 },
	{ "1T", UINT64_C(1) << 40 },
	{ "1.5M", 3u << 19 },
	{ "0.25G", 1u << 28 },
	{ "1.000001k", 1024 },
	{ "16777215.999999T", UINT64_MAX - 1099511 },
	{ "1kib", 1024 },
	{ "1kibb", UNPARSED },
	{ "1ki", UNPARSED },
	{ "1B", UNPARSED },
	{ "1.M", UNPARSED },
	{ ".5M", UNPARSED },
	{ "1.0000001M", UNPARSED },
	{ "0x1.8M", UNPARSED },
	{ "16777216.5T", UNPARSED },
	{ "-1", UNPARSED },
	{ "+1", UNPARSED },
	{ " 1", UNPARSED },
	{ "1 ", UNPARSED },
	{ "1f", UNPARSED },
	{ "1,000", UNPARSED },
	{ "1.5", UNPARSED },
};

TEST(numbers_are_decimal_or_hexadecimal_with_a_suffix)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t value = UNPARSED;
		bool parsed = parse_number(numbers[i].text, &value);
		ASSERT_UINT(parsed, numbers[i].value != UNPARSED);
		ASSERT_UINT(value, numbers[i].value);
	}
}

static const struct {
	const char *text;
	uint64_t value;
} addresses[] = {
	{ "0", 0 },
	{ "1ce056", 0x1ce056 },
	{ "0x1CE056", 0x1ce056 },
	{ "0X10", 16 },
	{ "1e5", 0x1e5 },
	{ "deadbeef", 0xdeadbeef },
	{ "ffffffffffffffff", UINT64_MAX },
	{ "10000000000000000", UNPARSED },
	{ "1ce000+56", 0x1ce056 },
	{ "0x1ce000+0x56", 0x1ce056 },
	{ "a51000+c+44", 0xa51050 },
	{ "10-8", 8 },
	{ "10-8+1-0x2", 7 },
	{ "0-1", UINT64_MAX },
	{ "ffffffffffffffff+1", 0 },
	{ "", UNPARSED },
	{ "0x", UNPARSED },
	{ "+1", UNPARSED },
	{ "-1", UNPARSED },
	{ "1+", UNPARSED },
	{ "1++1", UNPARSED },
	{ "1 +1", UNPARSED },
	{ "1*2", UNPARSED },
	{ "$rdi", UNPARSED },
	{ "obj", UNPARSED },
	{ "(abc)", UNPARSED },
	{ "1k", UNPARSED },
	{ "1ce056 ", UNPARSED },
};

TEST(addresses_are_hexadecimal_sums)
{
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		uint64_t value = UNPARSED;
		bool parsed = parse_address(addresses[i].text, &value);
		ASSERT_UINT(parsed, addresses[i].value != UNPARSED);
		ASSERT_UINT(value, addresses[i].value);
	}
}

TEST(hexadecimal_digits_have_values)
{
	for (int c = -128; c < 128; c++) {
		const char *digits = "0123456789abcdef", *capitals = "0123456789ABCDEF";
		const char *found = c > 0 ? strchr(digits, c) : NULL;
		int expected = found ? (int)(found - digits) : -1;
		if (expected < 0 && c > 0 && strchr(capitals, c))
			expected = (int)(strchr(capitals, c) - capitals);
		CU_ASSERT_EQUAL(hex_value((char)c), expected);
	}
}

/* Each character that ends a run, at each place of texts of each length. */
TEST(runs_end_before_what_is_not_plain)
{
	static const char ends[] = { '"', '\\', '\x7f', '\x1f', '\0', '\n', '\x80', '\xff' };
	char bytes[40];
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		memset(bytes, '~', sizeof(bytes));
		ASSERT_UINT(printable_run(bytes, size), size);
		ASSERT_UINT(quotable_run(bytes, size), size);
		for (size_t at = 0; at < size; at++) {
			for (size_t i = 0; i < sizeof(ends); i++) {
				memset(bytes, i % 2 ? ' ' : '~', sizeof(bytes));
				bytes[at] = ends[i];
				ASSERT_UINT(quotable_run(bytes, size), at);
				ASSERT_UINT(printable_run(bytes, size), i < 2 ? size : at);
			}
		}
	}
}

TEST(colours_of_terminals_are_known)
{
	static const struct {
		const char *text;
		size_t size;
	} rows[] = { { "\033[m", 3 },  { "\033[0mx", 4 },   { "\033[38;5;1m", 9 },
		     { "\033[2J", 0 }, { "\033]0;x\a", 0 }, { "\033[", 0 },
		     { "\033[1", 0 },  { "[1m", 0 } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ASSERT_UINT(colour_size(rows[i].text, strlen(rows[i].text)), rows[i].size);
}

SUITE(.name = "text")
