/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "format/gcdump/gcdump_encode.h"
#include "util/arena.h"
#include "util/text.h"

#define REPLACEMENT 0xfffdu

static uint8_t *put_unit(uint8_t *at, uint32_t unit)
{
	if (unit < 0x80) {
		*at++ = (uint8_t)unit;
	} else if (unit < 0x800) {
		*at++ = (uint8_t)(0xc0 | unit >> 6);
		*at++ = (uint8_t)(0x80 | (unit & 0x3f));
	} else {
		*at++ = (uint8_t)(0xe0 | unit >> 12);
		*at++ = (uint8_t)(0x80 | (unit >> 6 & 0x3f));
		*at++ = (uint8_t)(0x80 | (unit & 0x3f));
	}
	return at;
}

/* The character of @p length bytes, as utf8_length() has checked them. */
static uint32_t decode_utf8(const uint8_t *bytes, size_t length)
{
	if (length == 1)
		return bytes[0];
	uint32_t value = bytes[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++)
		value = value << 6 | (bytes[i] & 0x3f);
	return value;
}

bool gcdump_text_of(struct arena *arena, const char *text, size_t size, struct gcdump_text *ret)
{
	*ret = (struct gcdump_text){ 0 };
	if (!text)
		return true;
	/* The worst case is a byte that is not UTF-8: it becomes three bytes. */
	if (size > INT32_MAX / 3)
		return false;
	size_t most = 1;
	for (size_t i = 0; i < size; i++)
		most += (uint8_t)text[i] < 0x80 ? 1 : 3;
	uint8_t *bytes = (uint8_t *)arena_alloc(arena, most), *at = bytes;
	if (!bytes)
		return false;
	for (size_t i = 0; i < size;) {
		size_t length = utf8_length(text + i, size - i);
		uint32_t value =
			length ? decode_utf8((const uint8_t *)text + i, length) : REPLACEMENT;
		i += length ? length : 1;
		ret->units += value < 0x10000 ? 1 : 2;
		if (value < 0x10000) {
			at = put_unit(at, value);
		} else {
			at = put_unit(at, 0xd800 + ((value - 0x10000) >> 10));
			at = put_unit(at, 0xdc00 + ((value - 0x10000) & 0x3ff));
		}
	}
	ret->bytes = bytes;
	ret->size = (uint32_t)(at - bytes);
	return true;
}
