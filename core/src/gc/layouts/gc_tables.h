/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/*
 * card_table_info, the header of the one block that holds the GC's tables; the same in 8, 9 and 10
 * (doc/memory.md 2.1; gc/gcpriv.h).
 */
#define GC_TABLES_HEADER 64u

/** Bytes of heap for a byte of each table. */
#define GC_BYTES_PER_CARD   2048u
#define GC_BYTES_PER_BRICK  2048u
#define GC_BYTES_PER_BUNDLE ((uint64_t)2 << 20)
#define GC_BYTES_PER_MARK   128u
#define GC_BYTES_PER_WATCH  4096u

/** A record of a region is larger than what is read of it: 168 to 184 bytes. */
#define GC_REGION_RECORD_MAX 1024u

struct gc_tables {
	uint64_t size;                   /**< of the block */
	uint64_t next;                   /**< an older header, or 0 */
	uint64_t lowest, highest;        /**< the addresses that the tables are about */
	uint64_t bricks, bundles, marks; /**< addresses of tables */
};

static inline struct gc_tables gc_tables_from(const uint8_t bytes[GC_TABLES_HEADER])
{
	return (struct gc_tables){
		.size = load_u64(bytes + 8),
		.next = load_u64(bytes + 16),
		.lowest = load_u64(bytes + 24),
		.highest = load_u64(bytes + 32),
		.bricks = load_u64(bytes + 40),
		.bundles = load_u64(bytes + 48),
		.marks = load_u64(bytes + 56),
	};
}
