/* SPDX-License-Identifier: MIT */
/* Text of a target in a page: never markup, and nothing that cannot be seen. */
#include "output/html.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"

static int take_html(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return 0;
}

struct html_writer {
	struct hd_sink sink;
	struct out out;
	struct html html;
};

/* @p got has what was written after out_deinit(). */
static void begin_html(struct html_writer *writer, struct text *got)
{
	writer->sink = (struct hd_sink){ .struct_size = sizeof(writer->sink),
					 .arg = got,
					 .write = take_html };
	out_init(&writer->out, &writer->sink, 0, false);
	html_init(&writer->html, &writer->out);
}

/* @p most 0: as text, else as a name. */
static void write_piece(const char *bytes, size_t size, size_t most, struct text *ret)
{
	struct html_writer writer;
	begin_html(&writer, ret);
	if (most) {
		html_name(&writer.html, bytes, size, most);
	} else {
		html_text(&writer.html, bytes, size);
	}
	out_deinit(&writer.out);
}

static void check_html(const char *bytes, const char *expected)
{
	struct text got = { 0 };
	write_piece(bytes, strlen(bytes), 0, &got);
	ASSERT_TEXT(got.bytes, expected);
	text_deinit(&got);
}

TEST(nothing_of_a_target_is_markup)
{
	check_html("</script><script>alert(1)</script>",
		   "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
	check_html("\"onload='x' `y` &amp; a<b>",
		   "&quot;onload=&#39;x&#39; &#96;y&#96; &amp;amp; a&lt;b&gt;");
	check_html("Dictionary<System.String, \xc3\x84pfel\xf0\x9f\x8d\x8f>",
		   "Dictionary&lt;System.String, \xc3\x84pfel\xf0\x9f\x8d\x8f&gt;");
}

TEST(what_cannot_be_seen_is_shown)
{
	/* Control characters, direction, zero width, a tag, and what is not UTF-8: also a surrogate. */
	check_html("a\x1b[31m\n\t\x7f", "a\\u001b[31m\\u000a\\u0009\\u007f");
	check_html("\xe2\x80\xaegpj\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c",
		   "\\u202egpj\\u2066\\u200f\\u061c");
	check_html("a\xe2\x80\x8b"
		   "b\xef\xbb\xbf\xc2\xad",
		   "a\\u200bb\\ufeff\\u00ad");
	check_html("x\xf3\xa0\x81\x81", "x\\u{e0041}");
	check_html("\xff\xed\xa0\x80", "\\xff\\xed\\xa0\\x80");
}

TEST(a_long_name_is_cut_in_its_middle)
{
	struct text got = { 0 };
	write_piece("abcdefghij", 10, 10, &got);
	ASSERT_TEXT(got.bytes, "abcdefghij");
	got.size = 0;
	write_piece("abcdefghijk", 11, 10, &got);
	ASSERT_TEXT(got.bytes, "abcde\xe2\x80\xa6ghijk");
	got.size = 0;
	/* Not in the middle of a character. */
	write_piece("abcd\xe2\x82\xac\xe2\x82\xac\xe2\x82\xacghij", 17, 10, &got);
	ASSERT_TEXT(got.bytes, "abcd\xe2\x80\xa6ghij");
	text_deinit(&got);
}

TEST(a_beginning_ends_with_a_whole_character)
{
	static const struct {
		size_t most;
		const char *expected;
	} cases[] = { { 3, "abc" },
		      { 4, "abc" },
		      { 5, "abc" },
		      { 6, "abc\xe2\x82\xac" },
		      { 9, "abc\xe2\x82\xac&lt;" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct text got = { 0 };
		struct html_writer writer;
		begin_html(&writer, &got);
		html_beginning(&writer.html, "abc\xe2\x82\xac<", 7, cases[i].most);
		out_deinit(&writer.out);
		ASSERT_TEXT(got.bytes, cases[i].expected);
		text_deinit(&got);
	}
}

TEST(names_of_a_page_have_room_together)
{
	static char name[1000];
	struct text got = { 0 };
	struct html_writer writer;
	memset(name, '"', sizeof(name));
	begin_html(&writer, &got);
	for (size_t i = 0; i < 10 * HTML_NAMES_SIZE / sizeof(name); i++)
		html_name(&writer.html, name, sizeof(name), sizeof(name));
	out_deinit(&writer.out);
	ASSERT_UINT(writer.html.names_left, 0);
	/* Later names have 24 characters each, of 6 bytes, and the sign that they were cut. */
	CU_ASSERT(got.size > HTML_NAMES_SIZE);
	CU_ASSERT(got.size < HTML_NAMES_SIZE + 6 * sizeof(name) +
				     10 * HTML_NAMES_SIZE / sizeof(name) * (6 * 24 + 3));
	text_deinit(&got);
}

TEST(no_bytes_become_markup)
{
	struct random random = { .state = 1 };
	for (unsigned int i = 0; i < 2000; i++) {
		static const char likely[] = "<>&\"'`\\\xe2\x80\xae\xf0\x9f-!/";
		char bytes[64];
		struct text got = { 0 };
		size_t size = 1 + (size_t)random_below(&random, sizeof(bytes));
		for (size_t at = 0; at < size; at++) {
			bytes[at] = random_below(&random, 2)
					    ? likely[random_below(&random, sizeof(likely) - 1)]
					    : (char)random_below(&random, 256);
		}
		write_piece(bytes, size, random_below(&random, 2) ? 20 : 0, &got);
		CU_ASSERT_FATAL(got.size > 0);
		CU_ASSERT(!strpbrk(got.bytes, "<>\"'`"));
		for (size_t at = 0; at < got.size;) {
			size_t length = utf8_length(got.bytes + at, got.size - at);
			CU_ASSERT_FATAL(length > 0);
			CU_ASSERT(!utf8_is_invisible(got.bytes + at, length));
			at += length;
		}
		text_deinit(&got);
	}
}

SUITE(.name = "html")
