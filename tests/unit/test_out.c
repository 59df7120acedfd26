/* SPDX-License-Identifier: MIT */
/* The answer on its way to a sink: whatever a command writes, a terminal acts on nothing of it. */
#include "answer/cell_lines.h"
#include "answer/schema.h"
#include "output/out.h"
#include "support/assert_more.h"
#include "support/suite.h"

static int take(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return 0;
}

static void check_sent(const char *bytes, bool color, uint32_t width, const char *expected)
{
	struct text got = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = &got, .write = take };
	struct out out;
	out_init(&out, &sink, width, color);
	out_puts(&out, bytes);
	out_deinit(&out);
	ASSERT_TEXT(got.bytes, expected);
	text_deinit(&got);
}

TEST(what_was_not_escaped_is_escaped_last)
{
	check_sent("a\x1b[2J\r\t\x07"
		   "b\n",
		   false, 0, "a\\u001b[2J\\u000d\\u0009\\u0007b\n");
	check_sent("\x7f\x9b\xc2\x9b\xff\n", true, 0, "\\u007f\\x9b\\u009b\\xff\n");
	check_sent("\xe2\x80\xae\xe2\x81\xa6\xc3\xa4\xf0\x9f\x90\x8d\xe2\x82", false, 0,
		   "\\u202e\\u2066\xc3\xa4\xf0\x9f\x90\x8d\\xe2\\x82");
	check_sent("nothing of \xe2\x82\xac\nis changed\n", false, 0,
		   "nothing of \xe2\x82\xac\nis changed\n");
	check_sent("a\x1b[2Jbcdefgh\n", false, 9, "a\\u001b[2Jbcdefgh\n");
	/* Marks of names never leave. */
	check_sent("\016Some.Name.Of.A.Type\017 x\n", false, 9, "Type x\n");
	check_sent("\016Name\017\n", false, 0, "\\u000eName\\u000f\n");
}

TEST(colours_are_ours_or_none)
{
	check_sent("\033[33mx\033[0m \033[31my\033[0m\033[", true, 0,
		   "\033[33mx\033[0m \\u001b[31my\033[0m\\u001b[");
	check_sent("\033[33mx\033[0m", false, 0, "\\u001b[33mx\\u001b[0m");
}

/* Check the text of three rows with a column of ten, for @p width. */
static void check_padded(uint32_t width, const char *expected)
{
	struct text got = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = &got, .write = take };
	const struct cell rows[] = { cell_string("w\xc3\xa4"
						 "rmer of the cache"),
				     cell_string("main"), cell_string(NULL) };
	struct out out;
	out_init(&out, &sink, width, false);
	for (size_t i = 0; i < 3; i++) {
		out_padded_text(&out, &rows[i], 10);
		out_puts(&out, "|\n");
	}
	out_deinit(&out);
	ASSERT_TEXT(got.bytes, expected);
	text_deinit(&got);
}

TEST(long_texts_keep_their_column_where_there_is_a_width)
{
	check_padded(80, "w\xc3\xa4"
			 "rmer of\xe2\x80\xa6|\nmain      |\n          |\n");
	check_padded(0, "w\xc3\xa4"
			"rmer of the cache|\nmain      |\n          |\n");
}

/* Ctrl-C comes while the first piece goes to a slow terminal. */
struct slow {
	struct text got;
	size_t pieces;
};

static int take_slowly(void *arg, const char *bytes, size_t size)
{
	struct slow *slow = arg;
	slow->pieces++;
	text_append(&slow->got, bytes, size);
	return 0;
}

static int is_cancelled(void *arg)
{
	const struct slow *slow = arg;
	return slow->pieces != 0;
}

TEST(what_is_cancelled_ends_at_once)
{
	for (unsigned int document = 0; document < 2; document++) {
		struct slow slow = { 0 };
		const struct hd_sink sink = { .struct_size = sizeof(sink),
					      .arg = &slow,
					      .write = take_slowly,
					      .cancelled = is_cancelled };
		struct out out;
		out_init(&out, &sink, 0, false);
		out.is_document = document;
		struct text line = { 0 };
		for (size_t i = 0; i < 1000000; i++)
			text_puts(&line, "x");
		out_puts(&out, line.bytes);
		out_flush(&out);
		ASSERT_UINT(out.stopped, !document);
		ASSERT_UINT(slow.got.size, document ? 1000000 : 65536);
		out_deinit(&out);
		text_deinit(&line);
		text_deinit(&slow.got);
	}
}

TEST(pieces_of_any_size_come_out_the_same)
{
	struct text got = { 0 }, expected = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = &got, .write = take };
	struct out out;
	out_init(&out, &sink, 0, true);
	for (unsigned int i = 0; i < 30000; i++) {
		out_styled(&out, STYLE_TYPE, "%u", i % 10);
		out_printf(&out, "%s", i % 7 ? "\xe2\x82\xac\n" : "\x1b");
		text_printf(&expected, "\033[36m%u\033[0m%s", i % 10,
			    i % 7 ? "\xe2\x82\xac\n" : "\\u001b");
	}
	out_deinit(&out);
	CU_ASSERT(got.size == expected.size && strcmp(got.bytes, expected.bytes) == 0);
	text_deinit(&got);
	text_deinit(&expected);
}

/* Names of types may be long, and the end of a line comes after them. */
TEST(a_long_line_is_written_whole)
{
	struct text name = { 0 }, got = { 0 }, expected = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = &got, .write = take };
	for (size_t size = 505; size < 1200; size += size < 515 ? 1 : 97) {
		struct out out;
		while (name.size < size)
			text_puts(&name, "n");
		got.size = expected.size = 0;
		out_init(&out, &sink, 0, false);
		out_printf(&out, "%u %s\n", 7u, name.bytes);
		out_styled(&out, STYLE_TYPE, "%s\n", name.bytes);
		out_deinit(&out);
		text_printf(&expected, "7 %s\n", name.bytes);
		text_printf(&expected, "%s\n", name.bytes);
		ASSERT_TEXT(got.bytes, expected.bytes);
	}
	text_deinit(&name);
	text_deinit(&got);
	text_deinit(&expected);
}

SUITE(.name = "out")
