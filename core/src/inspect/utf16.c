/* SPDX-License-Identifier: MIT */
#include "inspect/utf16.h"

#include <stdbool.h>
#include <string.h>

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

/* How many units at the beginning are ASCII: most texts are. */
static size_t ascii_run(const uint8_t *units, size_t count)
{
	size_t i = 0;
	for (uint64_t four; i + 4 <= count; i += 4) {
		memcpy(&four, units + 2 * i, sizeof(four));
		if (four & 0xff80ff80ff80ff80)
			break;
	}
	while (i < count && units[2 * i] < 0x80 && !units[2 * i + 1])
		i++;
	return i;
}

void utf16_append(struct utf16 *utf16, const uint8_t *units, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t run = utf16->high ? 0 : ascii_run(units + 2 * i, count - i);
		char *room = run ? text_extend(utf16->text, run) : NULL;
		for (size_t k = 0; room && k < run; k++)
			room[k] = (char)units[2 * (i + k)];
		i += run;
		if (i < count)
			append_unit(utf16, units[2 * i] | (uint32_t)units[2 * i + 1] << 8);
	}
}
