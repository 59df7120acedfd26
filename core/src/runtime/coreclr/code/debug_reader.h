/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"
#include "runtime/coreclr/code/code.h"

/* Shared by debug_info.c and variable_homes.c: the blobs of debug info (doc/coreclr.md 12.13). */

#define DEBUG_READER_SIZE 256u

/** Bytes one after the other. */
struct debug_reader {
	struct memory *memory;
	uint64_t at;      /**< address of the next byte */
	uint64_t end;     /**< no byte is read from here on */
	uint64_t *budget; /**< bytes that may still be read */
	uint64_t begin;   /**< address of bytes[0] */
	size_t size;      /**< bytes that are there */
	uint32_t part;    /**< of a byte that was only partly taken: its bits that are left */
	uint8_t part_bits;
	bool failed;
	uint8_t bytes[DEBUG_READER_SIZE];
};

uint8_t debug_byte(struct debug_reader *reader);
/** The next @p count bits (at most 32), the lowest first. */
uint32_t debug_bits(struct debug_reader *reader, unsigned int count);
/** A number of nibbles with three bits each, the most significant ones first. */
uint32_t debug_number(struct debug_reader *reader);
/** The rest of a byte is padding. */
static inline void debug_align(struct debug_reader *reader)
{
	reader->part_bits = 0;
}

/** An unsigned number of the native format: the low bits of the first byte say how many follow. */
uint32_t native_number(struct debug_reader *reader);
/** Find element @p index of the NativeArray at @p reader->at; the reader is then there.  false: there is none. */
bool native_array_find(struct debug_reader *reader, uint32_t index);

/** How the parts of a blob are written. */
enum debug_format {
	DEBUG_LOOSE,  /**< 8 and 9 */
	DEBUG_PACKED, /**< 10: bounds are packed */
	DEBUG_SIZED,  /**< 11: more kinds of parts, and bounds with 3 bits of source */
};

/** The parts of a blob: addresses of their first bytes and after their last. */
struct debug_parts {
	uint64_t bounds, bounds_end, variables, variables_end;
	uint64_t async, async_end; /**< what is saved at each await (11); equal: none */
	enum debug_format format;
};

/**
 * Find the parts of the debug info of @p code.  No byte of them is read yet.
 *
 * @param reader Zero except memory and budget.
 * @param[out] ret Untouched on failure.
 * @return false when there is none, or it is damaged, or the budget is spent
 */
bool debug_parts_find(struct runtime *runtime, const struct code_info *code,
		      struct debug_reader *reader, struct debug_parts *ret);

/** The next byte that is read is that at @p begin, the last the one before @p end. */
void debug_set(struct debug_reader *reader, uint64_t begin, uint64_t end);
