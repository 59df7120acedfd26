/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <stdio.h>

/* A name gets this many bytes once names have taken their room. */
#define NAME_SHORT_SIZE 24u

void html_printf(struct html *html, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	out_vprintf(html->out, format, args);
	va_end(args);
}

/* The entity of a character that means something in markup, or NULL. */
static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case '`':
		return "&#96;";
	default:
		return NULL;
	}
}

/* Is there nothing to see of a character of up to 3 bytes: joiners, marks of direction, fillers? */
static bool is_invisible(unsigned int c)
{
	return c == 0xad || c == 0x34f || c == 0x61c || c == 0x115f || c == 0x1160 || c == 0x17b4 ||
	       c == 0x17b5 || (c >= 0x180b && c <= 0x180f) || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0x3164 || (c >= 0xfe00 && c <= 0xfe0f) ||
	       c == 0xfeff || c == 0xffa0 || (c >= 0xfff0 && c <= 0xfffb);
}

static unsigned int character_at(const char *bytes, size_t length)
{
	static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	unsigned int c = (unsigned char)bytes[0] & masks[length];
	for (size_t i = 1; i < length; i++)
		c = c << 6 | ((unsigned char)bytes[i] & 0x3fu);
	return c;
}

/*
 * How a character that is not ASCII is shown: the escape, or "" if it is shown as it is; @return its
 * bytes.
 */
static size_t escape_wide(const char *bytes, size_t size, char ret[16])
{
	size_t length = utf8_length(bytes, size);
	unsigned int c = length ? character_at(bytes, length) : 0;
	*ret = '\0';
	if (length == 4) {
		/* Tags and further selectors are characters that nobody sees. */
		if (c >= 0xe0000 && c <= 0xe0fff)
			(void)snprintf(ret, 16, "\\u{%x}", c);
		return length;
	}
	if (length && is_invisible(c))
		return escape_write(bytes, size, ret);
	return escape_of(bytes, size, ret);
}

/* Write one character that does not stand for itself, or does and is not ASCII; @return its bytes. */
static size_t put_character(struct html *html, const char *bytes, size_t size)
{
	struct text *text = &html->out->text;
	const char *entity = entity_of(*bytes);
	if (entity) {
		text_puts(text, entity);
		return 1;
	}
	char escape[16];
	size_t length = escape_wide(bytes, size, escape);
	if (*escape) {
		text_puts(text, escape);
	} else {
		text_append(text, bytes, length);
	}
	return length;
}

void html_text(struct html *html, const char *bytes, size_t size)
{
	struct text *text = &html->out->text;
	for (size_t i = 0; i < size;) {
		size_t run = 0, before = text->size;
		while (i + run < size && bytes[i + run] >= 0x20 && bytes[i + run] < 0x7f &&
		       !entity_of(bytes[i + run])) {
			run++;
		}
		text_append(text, bytes + i, run);
		i += run;
		if (i < size)
			i += put_character(html, bytes + i, size - i);
		size_t written = text->size - before;
		html->names_left -= written < html->names_left ? written : html->names_left;
		out_flush_if_full(html->out);
	}
}

void html_string(struct html *html, const char *string)
{
	if (string)
		html_text(html, string, strlen(string));
}

void html_name(struct html *html, const char *bytes, size_t size, size_t most)
{
	if (html->names_left < most)
		most = NAME_SHORT_SIZE;
	if (size <= most) {
		html_text(html, bytes, size);
		return;
	}
	size_t head = most / 2, tail = size - most / 2;
	for (size_t i = 0; i < 3 && head && utf8_continues(bytes[head]); i++)
		head--;
	for (size_t i = 0; i < 3 && tail < size && utf8_continues(bytes[tail]); i++)
		tail++;
	html_text(html, bytes, head);
	html_puts(html, "\u2026");
	html_text(html, bytes + tail, size - tail);
}

void html_beginning(struct html *html, const char *bytes, size_t size, size_t most)
{
	if (html->names_left < most)
		most = NAME_SHORT_SIZE;
	size_t head = size < most ? size : most;
	for (size_t i = 0; i < 3 && head < size && head && utf8_continues(bytes[head]); i++)
		head--;
	html_text(html, bytes, head);
}
