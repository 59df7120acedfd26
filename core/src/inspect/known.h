/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_INSPECT_KNOWN_H
#define HEAPDUMP_SRC_INSPECT_KNOWN_H

#include "inspect/value.h"

/**
 * Write the meaning of a struct of the framework: DateTime ("O" format), TimeSpan, DateTimeOffset,
 * Guid, Decimal, and Nullable of these and of primitives; "" for other types, and when bytes are
 * missing.
 */
void known_text(struct heap *heap, const struct type *type, uint64_t address, char *buf,
		size_t size);

/** Like value_read(), but without looking for the meaning of a struct. */
void value_read_plain(struct heap *heap, uint8_t element_type, const struct type *type,
		      uint64_t address, struct value_out *ret);

#endif
