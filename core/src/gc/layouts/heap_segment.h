/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/*
 * heap_segment describes a segment or a region; the same in 8, 9 and 10 (doc/coreclr.md 5;
 * gc/gcpriv.h).
 */
#define HEAP_SEGMENT_ALLOCATED 0u
#define HEAP_SEGMENT_MEM       32u
#define HEAP_SEGMENT_NEXT      48u
#define HEAP_SEGMENT_SIZE      64u /* bytes of it that are read */

/** heap_segment.flags: heap_segment_flags_readonly, a frozen segment. */
#define HEAP_SEGMENT_READ_ONLY 1u

/**
 * Before the first object there are the object's header and the header of a region: at most this
 * many bytes.
 */
#define HEAP_SEGMENT_BEFORE_MEM 64u

/**
 * The size of a basic region, 4 MB: all regions begin at multiples of it, and their sizes are
 * multiples of it.
 */
#define HEAP_REGION_SHIFT 22

/** A heap_segment as it is in the target. */
struct heap_segment {
	uint64_t allocated, committed, reserved;
	uint64_t mem; /**< first object */
	uint64_t flags, next, background_allocated;
};

static inline struct heap_segment heap_segment_from(const uint8_t bytes[HEAP_SEGMENT_SIZE])
{
	return (struct heap_segment){
		.allocated = load_u64(bytes + HEAP_SEGMENT_ALLOCATED),
		.committed = load_u64(bytes + 8),
		.reserved = load_u64(bytes + 16),
		.mem = load_u64(bytes + HEAP_SEGMENT_MEM),
		.flags = load_u64(bytes + 40),
		.next = load_u64(bytes + HEAP_SEGMENT_NEXT),
		.background_allocated = load_u64(bytes + 56),
	};
}
