/* SPDX-License-Identifier: MIT */
#include "format/rpm/rpm_name.h"

#include <string.h>

#include "util/invisible.h"

/* Bytes of the shortest escape. */
#define ESCAPE_MIN ((size_t)6)

/* Is a character written as an escape wherever it is: on the list of what nobody sees, but not the tab? */
static bool is_escaped(uint32_t c)
{
	return is_invisible(c) && c != '\t';
}

/*
 * The character that an escape at @p bytes means, and its size in bytes; or -1.  Only what rpm_name_write()
 * writes is one: a name of another writer may hold any other backslash.
 */
static int64_t escaped(const char *bytes, size_t size, size_t *ret_size)
{
	if (size < ESCAPE_MIN || memcmp(bytes, "\\u", 2) != 0)
		return -1;
	bool is_long = bytes[2] == '{';
	size_t at = is_long ? 3 : 2, digits = 0;
	uint32_t c = 0;
	for (; at < size && digits < (is_long ? 6 : 4) && hex_value(bytes[at]) >= 0; digits++)
		c = c << 4 | (uint32_t)hex_value(bytes[at++]);
	if (is_long ? at == size || bytes[at] != '}' || c < 0x10000 : digits != 4)
		return -1;
	*ret_size = at + is_long;
	return c < 0xa0 || is_escaped(c) ? (int64_t)c : -1;
}

/* Write a character as UTF-8; @return where it ends. */
static char *put_character(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = length; i-- > 1; c >>= 6)
		to[i] = (char)(0x80 | (c & 63));
	*to = (char)(leads[length] | c);
	return to + length;
}

bool rpm_name_copy(struct arena *arena, const char *bytes, size_t size, const char **ret,
		   uint32_t *ret_size)
{
	char *name = arena_alloc(arena, size ? size : 1);
	if (!name)
		return false;
	char *to = name;
	for (size_t i = 0; i < size;) {
		size_t length = 0;
		int64_t c = bytes[i] == '\\' ? escaped(bytes + i, size - i, &length) : -1;
		if (c < 0) {
			*to++ = bytes[i++];
			continue;
		}
		to = put_character(to, (uint32_t)c);
		i += length;
	}
	*ret = name;
	*ret_size = (uint32_t)(to - name);
	return true;
}

/*
 * Where the last of two or more words begins, if a reader would take it for a timestamp; else size.
 */
static size_t time_like_word(const char *name, size_t size)
{
	size_t start = size;
	while (start > 0 && hex_value(name[start - 1]) >= 0)
		start--;
	bool is_word =
		start > 0 && start < size && (name[start - 1] == ' ' || name[start - 1] == '\t');
	return is_word ? start : size;
}

void rpm_name_write(struct text *text, const char *name, size_t size, bool time_follows)
{
	size_t care = time_follows ? size : time_like_word(name, size);
	for (size_t i = 0; i < size;) {
		char c = name[i], escape[ESCAPED_SIZE];
		bool blank = c == ' ' || c == '\t';
		bool at_end = i == 0 || i == size - 1;
		size_t length = utf8_length(name + i, size - i), unused;
		bool is_escape = c == '\\' && escaped(name + i, size - i, &unused) >= 0;
		bool is_hidden = length && is_escaped(utf8_character(name + i, length));
		if (is_hidden || (blank && at_end) || i == care || is_escape) {
			i += escape_write(name + i, size - i, escape);
			text_puts(text, escape);
		} else {
			length = length ? length : 1;
			text_append(text, name + i, length);
			i += length;
		}
	}
}
