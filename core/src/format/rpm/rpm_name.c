/* SPDX-License-Identifier: MIT */
#include "format/rpm/rpm_name.h"

#include <string.h>

#define ESCAPE_SIZE ((size_t)6) /* \u00XX */

/* The character that an escape at @p bytes means, or -1. */
static int escaped(const char *bytes, size_t size)
{
	if (size < ESCAPE_SIZE || memcmp(bytes, "\\u00", 4) != 0)
		return -1;
	int high = hex_value(bytes[4]), low = hex_value(bytes[5]);
	return high < 0 || high > 9 || low < 0 ? -1 : high * 16 + low;
}

/*
 * Length of a control character at @p bytes that a terminal would obey (C0 except the tab, or C1),
 * or 0.
 */
static size_t control(const char *bytes, size_t size)
{
	unsigned char c = (unsigned char)bytes[0];
	if (c == 0xc2 && size > 1 && ((unsigned char)bytes[1] & 0xe0) == 0x80)
		return 2;
	return (c < ' ' && c != '\t') || c == 0x7f;
}

bool rpm_name_copy(struct arena *arena, const char *bytes, size_t size, const char **ret,
		   uint32_t *ret_size)
{
	char *name = arena_alloc(arena, size ? size : 1);
	if (!name)
		return false;
	size_t length = 0;
	for (size_t i = 0; i < size;) {
		int c = bytes[i] == '\\' ? escaped(bytes + i, size - i) : -1;
		if (c < 0) {
			name[length++] = bytes[i++];
			continue;
		}
		if (c >= 0x80) /* UTF-8 */
			name[length++] = (char)0xc2;
		name[length++] = (char)c;
		i += ESCAPE_SIZE;
	}
	*ret = name;
	*ret_size = (uint32_t)length;
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
	for (size_t i = 0; i < size; i++) {
		char c = name[i];
		bool blank = c == ' ' || c == '\t';
		bool at_end = i == 0 || i == size - 1;
		bool is_escape = c == '\\' && escaped(name + i, size - i) >= 0;
		size_t bytes = control(name + i, size - i);
		if (bytes || (blank && at_end) || i == care || is_escape) {
			i += bytes > 1;
			text_printf(text, "\\u%04x", (unsigned int)(unsigned char)name[i]);
		} else {
			text_append(text, &c, 1);
		}
	}
}
