/* SPDX-License-Identifier: MIT */
#include "util/invisible.h"

#include <stddef.h>

/*
 * Unicode's categories Cc, Cf, Zl and Zp, and its property Default_Ignorable_Code_Point.  Marks that
 * are of category Cf but are drawn, as U+0600, are not here.  python/heapdump/text.py has the
 * same list; tests/cli/test_invisible.py compares both with each other and with Unicode.
 */
static const struct {
	uint32_t first, last;
} ranges[] = {
	{ 0x0000, 0x001f }, /* control characters, C0 */
	{ 0x007f, 0x009f }, /* DEL and C1 */
	{ 0x00ad, 0x00ad }, /* soft hyphen */
	{ 0x034f, 0x034f }, /* combining grapheme joiner */
	{ 0x061c, 0x061c }, /* Arabic letter mark, which changes the direction */
	{ 0x115f, 0x1160 }, /* Hangul fillers */
	{ 0x17b4, 0x17b5 }, /* Khmer vowels that are not drawn */
	{ 0x180b, 0x180f }, /* Mongolian selectors */
	{ 0x200b, 0x200f }, /* zero width, marks of direction */
	{ 0x2028,
	  0x202e }, /* line and paragraph separators, embeddings and overrides of direction */
	{ 0x2060, 0x206f },   /* word joiner, invisible operators, isolates of direction */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* Hangul filler, half width */
	{ 0xfff0, 0xfffb },   /* interlinear annotation */
	{ 0x13430, 0x1343f }, /* format controls of hieroglyphs */
	{ 0x1bca0, 0x1bca3 }, /* of shorthand */
	{ 0x1d173, 0x1d17a }, /* of musical notes */
	{ 0xe0000, 0xe0fff }, /* tags, variation selectors */
};

bool is_invisible(uint32_t c)
{
	size_t low = 0, high = sizeof(ranges) / sizeof(ranges[0]);
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (c > ranges[middle].last) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < sizeof(ranges) / sizeof(ranges[0]) && c >= ranges[low].first;
}
