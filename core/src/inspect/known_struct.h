/* SPDX-License-Identifier: MIT */
#pragma once

#include "inspect/value.h"

/** Like value_read(), but without looking for the meaning of a struct. */
void value_read_plain(struct heap *heap, uint8_t element_type, const struct type *type,
		      uint64_t address, struct value_out *ret);

/**
 * Write the meaning of a struct: DateTime ("O" format), TimeSpan, DateTimeOffset, DateOnly, TimeOnly, Guid, Decimal,
 * Half, Int128, UInt128, Rune, Index and Range, Nullable of these and of primitives, and the elements of an
 * [InlineArray] of primitives and enums; "" for other types, and when bytes are missing.
 */
void known_struct_text(struct heap *heap, const struct type *type, uint64_t address, char *buf,
		       size_t size);
