/* SPDX-License-Identifier: MIT */
#include "util/leb.h"

void text_fixed(struct text *text, uint64_t value, size_t size)
{
	char *room = text_extend(text, size);
	for (size_t i = 0; room && i < size; i++)
		room[i] = (char)(value >> (8 * i));
}

void text_uleb(struct text *text, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		text_fixed(text, (value & 0x7f) | 0x80, 1);
	text_fixed(text, value, 1);
}

void text_sleb(struct text *text, int64_t value)
{
	/* Done when the rest is the sign, which bit 6 of the last byte has. */
	for (;;) {
		uint64_t part = (uint64_t)value & 0x7f;
		int64_t rest = value >= 0 ? value >> 7 : ~(~value >> 7);
		if (rest == (part & 0x40 ? -1 : 0)) {
			text_fixed(text, part, 1);
			return;
		}
		text_fixed(text, part | 0x80, 1);
		value = rest;
	}
}
