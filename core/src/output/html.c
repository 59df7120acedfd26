/* SPDX-License-Identifier: MIT */
#include "output/html.h"

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

/* Write one character that does not stand for itself, or does and is not ASCII; @return its bytes. */
static size_t put_character(struct html *html, const char *bytes, size_t size)
{
	struct text *text = &html->out->text;
	const char *entity = entity_of(*bytes);
	if (entity) {
		text_puts(text, entity);
		return 1;
	}
	char escape[ESCAPED_SIZE];
	size_t length = escape_of(bytes, size, escape);
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
