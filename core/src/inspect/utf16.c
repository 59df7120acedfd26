/* SPDX-License-Identifier: MIT */
#include "inspect/utf16.h"

#include <stdbool.h>

static void append_code_point(struct text *text, uint32_t c)
{
	char bytes[4];
	size_t size = 0;
	if (c < 0x80) {
		bytes[size++] = (char)c;
	} else if (c < 0x800) {
		bytes[size++] = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		bytes[size++] = (char)(0xe0 | c >> 12);
		bytes[size++] = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		bytes[size++] = (char)(0xf0 | c >> 18);
		bytes[size++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[size++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	if (c >= 0x80)
		bytes[size++] = (char)(0x80 | (c & 0x3f));
	text_append(text, bytes, size);
}

void utf16_end(struct utf16 *utf16)
{
	if (utf16->high)
		append_code_point(utf16->text, 0xfffd);
	utf16->high = 0;
}

static void append_unit(struct utf16 *utf16, uint32_t unit)
{
	bool is_low = (unit & 0xfc00) == 0xdc00;
	if (is_low && utf16->high) {
		append_code_point(utf16->text,
				  0x10000u + ((utf16->high & 0x3ffu) << 10 | (unit & 0x3ffu)));
		utf16->high = 0;
		return;
	}
	utf16_end(utf16);
	if ((unit & 0xfc00) == 0xd800) {
		utf16->high = (uint16_t)unit;
	} else {
		append_code_point(utf16->text, is_low ? 0xfffd : unit);
	}
}

void utf16_append(struct utf16 *utf16, const uint8_t *units, size_t count)
{
	for (size_t i = 0; i < count; i++)
		append_unit(utf16, units[2 * i] | (uint32_t)units[2 * i + 1] << 8);
}
