/* SPDX-License-Identifier: MIT */
/* Numbers as DWARF has them, appended to a text. */
#pragma once

#include "util/text.h"

/** The lowest @p size bytes of @p value (1 to 8), the lowest first. */
void text_fixed(struct text *text, uint64_t value, size_t size);
/** LEB128 without a sign (DWARF 5, 7.6). */
void text_uleb(struct text *text, uint64_t value);
/** LEB128 with a sign. */
void text_sleb(struct text *text, int64_t value);
