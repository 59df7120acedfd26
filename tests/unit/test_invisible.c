/* SPDX-License-Identifier: MIT */
/* All outputs have one list of characters that nobody sees, and write these as escapes. */
#include "format/rpm/rpm_name.h"
#include "format/stream.h"
#include "output/html.h"
#include "output/json.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/invisible.h"

static const uint32_t some[] = {
	0x1b,   0x7f,   0x9b,   0xad,   0x34f,  0x61c,  0x115f, 0x180b,  0x200b,  0x200e,
	0x2028, 0x202e, 0x2060, 0x2066, 0x3164, 0xfe0f, 0xfeff, 0x1d173, 0xe0041, 0xe0100,
};

TEST(the_list_has_what_nobody_sees_and_nothing_else)
{
	static const uint32_t seen[] = { ' ',    'a',    '~',    0xa0,   0xe4,    0x600,   0x20ac,
					 0x2010, 0x3042, 0xe000, 0xfffd, 0x1f40d, 0x10ffff };
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		CU_ASSERT(is_invisible(some[i]));
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		CU_ASSERT(!is_invisible(seen[i]));
}

/* Encode a character as UTF-8; @return its bytes. */
static size_t encode(uint32_t c, char ret[5])
{
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	uint32_t rest = c;
	for (size_t i = length; i-- > 1; rest >>= 6)
		ret[i] = (char)(0x80 | (rest & 63));
	ret[0] = length == 1 ? (char)c : (char)(leads[length] | rest);
	ret[length] = '\0';
	return length;
}

/* The escape that a person reads, in the form of a page or of JSON. */
static void expect(uint32_t c, bool in_json, char ret[16])
{
	if (c < 0x10000) {
		(void)snprintf(ret, 16, "\\u%04x", c);
	} else if (in_json) {
		(void)snprintf(ret, 16, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	} else {
		(void)snprintf(ret, 16, "\\u{%x}", c);
	}
}

static int take(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return 0;
}

static bool take_stream(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

enum writer {
	BY_TEXT,
	BY_MESSAGE,
	BY_OUT,
	BY_HTML,
	BY_LOG,
	BY_JSON,
	BY_STREAM,
	WRITERS
};

static void write_by_out(enum writer writer, const char *bytes, size_t size, struct text *ret)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = ret, .write = take };
	struct out out;
	struct html html;
	out_init(&out, &sink, 0, false);
	html_init(&html, &out);
	struct json json = { .out = &out };
	if (writer == BY_HTML) {
		html_text(&html, bytes, size);
	} else if (writer == BY_JSON) {
		json_text(&json, NULL, bytes, size);
	} else {
		text_append(&out.text, bytes, size);
	}
	out_deinit(&out);
}

static void write_by_stream(const char *bytes, size_t size, struct text *ret)
{
	struct stream stream;
	struct job job = { 0 };
	struct hd_error err;
	ASSERT_UINT(stream_begin(&stream, &job, take_stream, ret, &err), HD_OK);
	stream_json_string(&stream, bytes, size);
	ASSERT_UINT(stream_end(&stream, HD_OK), HD_OK);
}

/* Append what @p writer makes of the bytes. */
static void write_by(enum writer writer, const char *bytes, size_t size, struct text *ret)
{
	char copy[64];
	switch (writer) {
	case BY_TEXT:
		text_escape(ret, bytes, size);
		break;
	case BY_MESSAGE:
		(void)hd_escape(bytes, size, copy, sizeof(copy));
		text_puts(ret, copy);
		break;
	case BY_LOG:
		rpm_name_write(ret, bytes, size, true);
		break;
	case BY_STREAM:
		write_by_stream(bytes, size, ret);
		break;
	default:
		write_by_out(writer, bytes, size, ret);
	}
}

TEST(all_outputs_escape_what_nobody_sees)
{
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		for (unsigned int writer = 0; writer < WRITERS; writer++) {
			bool in_json = writer >= BY_JSON;
			char bytes[5], name[16], escape[16], expected[40];
			struct text got = { 0 };
			(void)encode(some[i], bytes);
			(void)snprintf(name, sizeof(name), "a%sb", bytes);
			expect(some[i], in_json, escape);
			(void)snprintf(expected, sizeof(expected), in_json ? "\"a%sb\"" : "a%sb",
				       escape);
			write_by((enum writer)writer, name, strlen(name), &got);
			ASSERT_TEXT(got.bytes, expected);
			text_deinit(&got);
		}
	}
}

/* Characters that a writer has other reasons to change are no question here. */
static bool is_compared(uint32_t c)
{
	return c >= ' ' && (c >= 0x80 || !strchr("&<>\"'`\\ ", (int)c)) &&
	       !(c >= 0xd800 && c < 0xe000);
}

TEST(all_outputs_escape_the_same_characters)
{
	uint32_t wrong = 0;
	for (uint32_t c = 0; c < 0x110000; c++) {
		char bytes[5];
		size_t length = encode(c, bytes);
		bool is_hidden = is_invisible(c);
		struct text got = { 0 };
		if (!is_compared(c))
			continue;
		for (unsigned int writer = 0; writer < BY_STREAM; writer++) {
			got.size = 0;
			write_by((enum writer)writer, bytes, length, &got);
			wrong += (got.bytes[writer == BY_JSON] == '\\') != is_hidden;
		}
		text_deinit(&got);
	}
	ASSERT_UINT(wrong, 0);
}

TEST(a_name_of_the_text_log_is_read_back)
{
	/* An escape that the writer would not write is text. */
	static const char *const others[] = { "\\u1234",   "\\u{1f40d}", "\\u{202e}",  "\\u{}",
					      "\\u{e0041", "\\u202",     "\\u{ffffff}" };
	struct arena *arena = arena_create();
	REQUIRE(arena);
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]) + 3; i++) {
		static const char *const more[] = { "\\u202e", "\\u{e0041}", "\\\\u200b" };
		size_t count = sizeof(some) / sizeof(some[0]);
		char name[24], bytes[5];
		struct text written = { 0 };
		const char *again;
		uint32_t size;
		if (i < count)
			(void)encode(some[i], bytes);
		(void)snprintf(name, sizeof(name), "a%sb", i < count ? bytes : more[i - count]);
		rpm_name_write(&written, name, strlen(name), true);
		CU_ASSERT(printable_run(written.bytes, written.size) == written.size);
		CU_ASSERT_FATAL(rpm_name_copy(arena, written.bytes, written.size, &again, &size));
		ASSERT_UINT(size, strlen(name));
		CU_ASSERT(size == strlen(name) && memcmp(again, name, size) == 0);
		text_deinit(&written);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const char *again;
		uint32_t size;
		CU_ASSERT_FATAL(rpm_name_copy(arena, others[i], strlen(others[i]), &again, &size));
		ASSERT_UINT(size, strlen(others[i]));
		CU_ASSERT(size == strlen(others[i]) && memcmp(again, others[i], size) == 0);
	}
	arena_destroy(arena);
}

SUITE(.name = "invisible")
