/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/text.h"

/** Converts UTF-16 to UTF-8, piece by piece; lone surrogates become U+FFFD. */
struct utf16 {
	struct text *text;
	uint16_t high; /**< a high surrogate that waits for its low surrogate, or 0 */
};

/** Append @p count little-endian units. */
void utf16_append(struct utf16 *utf16, const uint8_t *units, size_t count);
/** Append a surrogate that still waits. */
void utf16_end(struct utf16 *utf16);
