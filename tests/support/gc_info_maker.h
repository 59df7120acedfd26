/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/registers.h"

/* Writes GCInfo bit by bit, as gcinfoencoder.cpp does. */
struct writer {
	uint8_t bytes[512];
	size_t bits;
};

static inline void put(struct writer *writer, unsigned int count, uint64_t value)
{
	for (unsigned int i = 0; i < count; i++, writer->bits++) {
		if (value >> i & 1)
			writer->bytes[writer->bits / 8] |= (uint8_t)(1 << writer->bits % 8);
	}
}

/* Chunks of @p base bits; a bit more tells that another follows. */
static inline void put_unsigned(struct writer *writer, unsigned int base, uint64_t value)
{
	do {
		put(writer, base, value);
		value >>= base;
		put(writer, 1, value != 0);
	} while (value);
}

/* Same; the highest bit is the sign. */
static inline void put_signed(struct writer *writer, unsigned int base, int64_t value)
{
	bool is_last;
	do {
		int64_t signs = value >> (base - 1);
		is_last = signs == 0 || signs == -1;
		put(writer, base, (uint64_t)value);
		put(writer, 1, !is_last);
		value >>= base;
	} while (!is_last);
}

static inline void align(struct writer *writer)
{
	writer->bits = (writer->bits + 7) & ~(size_t)7;
}

/* A slim header: @p version 2 and 3 have the kind of what is returned. */
static inline void put_slim(struct writer *writer, unsigned int version, bool has_frame,
			    uint32_t length, uint32_t safe_points)
{
	put(writer, 1, 0);
	put(writer, 1, has_frame);
	if (version < 4)
		put(writer, 2, 1);
	put_unsigned(writer, 8, length);
	put_unsigned(writer, 2, safe_points);
}

/* A fat one, but for its number of ranges, with @p flags of which only the frame register and "only leaf" have no more bits. */
static inline void put_fat(struct writer *writer, unsigned int version, uint32_t flags,
			   uint32_t length, uint32_t scratch, uint32_t safe_points)
{
	put(writer, 1, 1);
	put(writer, 10, flags);
	if (version < 4)
		put(writer, 4, 1);
	put_unsigned(writer, 8, length);
	if (flags & 0x40)
		put_unsigned(writer, 3, 5 ^ 5);
	put_unsigned(writer, 3, scratch / 8);
	put_unsigned(writer, 2, safe_points);
}

static inline void put_counts(struct writer *writer, uint32_t registers, uint32_t stack,
			      uint32_t untracked)
{
	put(writer, 1, registers != 0);
	if (registers)
		put_unsigned(writer, 2, registers);
	put(writer, 1, stack || untracked);
	if (stack || untracked) {
		put_unsigned(writer, 2, stack);
		put_unsigned(writer, 1, untracked);
	}
}

/* The first stack slot of a group, or one after a slot with flags. */
static inline void put_slot(struct writer *writer, unsigned int base, int64_t offset,
			    unsigned int flags)
{
	put(writer, 2, base);
	put_signed(writer, 6, offset / 8);
	put(writer, 2, flags);
}

static inline void put_register(struct writer *writer, unsigned int number, unsigned int flags)
{
	put_unsigned(writer, 3, number);
	put(writer, 2, flags);
}
