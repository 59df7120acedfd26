/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/**
 * A stream of bits in a target, lowest bit of the lowest byte first (gcinfodecoder.h,
 * BitStreamReader).  After a failed read, all reads give 0.
 */
struct gc_bits {
	struct memory *memory;
	uint64_t address;
	uint64_t position, limit; /**< bits */
	bool failed;
	/* the bytes in memory: [begin, begin + size), which lie at address in the target */
	const uint8_t *bytes;
	uint64_t begin, size;
	uint8_t buffer[512];
};

/** Read at most @p limit bits at @p address; the struct itself must not be moved afterwards. */
void gc_bits_init(struct gc_bits *bits, struct memory *memory, uint64_t address, uint64_t limit);

/**
 * The 64 bits that begin at byte @p byte; missing ones are 0.  This is the slow path of
 * gc_bits_read().
 */
uint64_t gc_bits_word(struct gc_bits *bits, uint64_t byte, unsigned int needed);

/** Read the next @p count bits, at most 32. */
static inline uint32_t gc_bits_read(struct gc_bits *bits, unsigned int count)
{
	uint64_t byte = bits->position / 8, word;
	unsigned int shift = bits->position % 8;
	if (byte >= bits->begin && bits->size >= 8 && byte - bits->begin <= bits->size - 8 &&
	    bits->position + count <= bits->limit) {
		word = load_u64(bits->bytes + (byte - bits->begin));
	} else {
		word = gc_bits_word(bits, byte, shift + count);
	}
	bits->position += count;
	return bits->failed ? 0 : (uint32_t)(word >> shift & (((uint64_t)1 << count) - 1));
}

static inline bool gc_bits_bit(struct gc_bits *bits)
{
	return gc_bits_read(bits, 1);
}

/** Go to @p position, which may be any value. */
static inline void gc_bits_seek(struct gc_bits *bits, uint64_t position)
{
	bits->position = position;
	if (position > bits->limit)
		bits->failed = true;
}

/**
 * A number of any length: chunks of @p base bits, lowest first, each with a bit that says whether
 * another one follows.
 */
uint32_t gc_bits_unsigned(struct gc_bits *bits, unsigned int base);
/** The same; its highest bit is the sign. */
int32_t gc_bits_signed(struct gc_bits *bits, unsigned int base);
