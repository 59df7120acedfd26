/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The GC's handle tables, the same in 8, 9 and 10 except for N, the number of types (doc/coreclr.md
 * 11.1; gc/handletablepriv.h, gc/handletableconstants.h, gc/objecthandle.h).  Offsets are bytes.
 */

#include <stdint.h>

/** Types of handles, by the runtime's numbers (gcinterface.h, HandleType). */
enum handle_type {
	HANDLE_WEAK_SHORT,
	HANDLE_WEAK_LONG,
	HANDLE_STRONG,
	HANDLE_PINNED,
	HANDLE_VARIABLE,
	HANDLE_REF_COUNTED,
	HANDLE_DEPENDENT,
	HANDLE_ASYNC_PINNED,
	HANDLE_SIZED_REF,
	HANDLE_WEAK_NATIVE_COM,
	HANDLE_WEAK_INTERIOR,
	HANDLE_CROSS_REFERENCE,
	HANDLE_TYPES
};

/** Kinds of variable handles that keep their object alive: strong, pinned. */
#define HANDLE_VARIABLE_STRONG 0x400u
#define HANDLE_VARIABLE_PINNED 0x800u

/** HandleTableMap: pBuckets, pNext, dwMaxIndex; buckets of one map (INITIAL_HANDLE_TABLE_ARRAY_SIZE). */
#define HANDLE_MAP_BUCKETS 10u

/** N is at most this: public types and the user data blocks (HANDLE_MAX_INTERNAL_TYPES). */
#define HANDLE_TABLE_TYPES_MAX 13u

/** HandleTable: offset of pSegmentList, after rgTypeFlags[N]. */
static inline uint64_t handle_table_first_segment(unsigned int types)
{
	return (4 * (uint64_t)types + 7) & ~(uint64_t)7;
}

/**
 * TableSegment: its size (its address is a multiple of it), and the number of handles in a block.
 */
#define HANDLE_SEGMENT_SIZE  65536u
#define HANDLE_BLOCKS        120u
#define HANDLE_BLOCK_HANDLES 64u
#define HANDLE_BLOCK_SIZE    ((uint64_t)HANDLE_BLOCK_HANDLES * 8)
/** In place of a type or of a block of user data: there is none. */
#define HANDLE_BLOCK_NONE 0xffu

/**
 * Its header, which is packed; for each block: the next block of its type, free handles, type,
 * block of user data.
 */
#define HANDLE_SEGMENT_RINGS      480u
#define HANDLE_SEGMENT_FREE_MASKS 600u
#define HANDLE_SEGMENT_TYPES      1560u
#define HANDLE_SEGMENT_USER_DATA  1680u
/** For each type, the last block of its ring. */
#define HANDLE_SEGMENT_TAILS 1920u
/** Where the handles begin; and the bytes of the header up to the table's address, for the largest N. */
#define HANDLE_SEGMENT_VALUES 4096u
#define HANDLE_SEGMENT_HEADER 2048u

/** Offset of u32[N], the free handles of each type. */
static inline uint64_t handle_segment_free_counts(unsigned int types)
{
	return HANDLE_SEGMENT_TAILS + 2 * (uint64_t)types;
}

/** Offset of {pNextSegment, pHandleTable}. */
static inline uint64_t handle_segment_links(unsigned int types)
{
	return HANDLE_SEGMENT_TAILS + 6 * (uint64_t)types;
}
