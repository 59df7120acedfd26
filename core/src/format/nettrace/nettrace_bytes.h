/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem/memory.h"

/** A cursor over bytes; reading after their end gives 0 and sets is_short, which stays set. */
struct nt_bytes {
	const uint8_t *at, *end;
	bool is_short;
};

static inline struct nt_bytes nt_bytes(const uint8_t *at, size_t size)
{
	return (struct nt_bytes){ .at = at, .end = size ? at + size : at };
}

static inline size_t nt_left(const struct nt_bytes *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

/** The next @p size bytes, or NULL when they are not all there. */
static inline const uint8_t *nt_take(struct nt_bytes *bytes, uint64_t size)
{
	const uint8_t *at = bytes->at;
	if (size > nt_left(bytes)) {
		bytes->at = bytes->end;
		bytes->is_short = true;
		return NULL;
	}
	if (size) /* there may be no bytes, at NULL */
		bytes->at += size;
	return at;
}

static inline uint8_t nt_u8(struct nt_bytes *bytes)
{
	const uint8_t *at = nt_take(bytes, 1);
	return at ? *at : 0;
}

static inline uint16_t nt_u16(struct nt_bytes *bytes)
{
	const uint8_t *at = nt_take(bytes, 2);
	return at ? load_u16(at) : 0;
}

static inline uint32_t nt_u32(struct nt_bytes *bytes)
{
	const uint8_t *at = nt_take(bytes, 4);
	return at ? load_u32(at) : 0;
}

static inline uint64_t nt_u64(struct nt_bytes *bytes)
{
	const uint8_t *at = nt_take(bytes, 8);
	return at ? load_u64(at) : 0;
}

/** A pointer of 4 or 8 bytes. */
static inline uint64_t nt_pointer(struct nt_bytes *bytes, uint32_t pointer_size)
{
	return pointer_size == 4 ? nt_u32(bytes) : nt_u64(bytes);
}

/** Unsigned LEB128 of at most 64 bits. */
static inline uint64_t nt_var(struct nt_bytes *bytes)
{
	uint64_t value = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = nt_u8(bytes);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	bytes->is_short = true;
	bytes->at = bytes->end;
	return 0;
}

/** UTF-16 units, without the zero unit at the end. */
struct nt_utf16 {
	const uint8_t *bytes;
	uint32_t units;
};

static inline uint16_t nt_unit(const struct nt_utf16 *text, uint32_t index)
{
	return load_u16(text->bytes + 2 * (size_t)index);
}

/** Text that ends before a zero unit. */
static inline struct nt_utf16 nt_utf16z(struct nt_bytes *bytes)
{
	struct nt_utf16 text = { .bytes = bytes->at };
	for (;;) {
		const uint8_t *at = nt_take(bytes, 2);
		if (!at)
			return (struct nt_utf16){ .bytes = bytes->end };
		if (!load_u16(at))
			return text;
		text.units++;
	}
}
