/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/*
 * GCFrame, the same in 8, 9 and 10 (doc/coreclr.md 12.8; frames.h): they form a list of their own,
 * innermost first.
 */
#define GC_FRAME_THREAD 8u
#define GC_FRAME_SIZE   32u

/** A GCFrame: references of native code. */
struct gc_frame {
	uint64_t next, thread;
	uint64_t references; /**< address of the first */
	uint32_t count;
	bool is_interior; /**< they may point into the middle of objects (GC_CALL_INTERIOR; before
			   * 10: a BOOL) */
};

static inline struct gc_frame gc_frame_from(const uint8_t bytes[GC_FRAME_SIZE])
{
	return (struct gc_frame){
		.next = load_u64(bytes),
		.thread = load_u64(bytes + GC_FRAME_THREAD),
		.references = load_u64(bytes + 16),
		.count = load_u32(bytes + 24),
		.is_interior = load_u32(bytes + 28) & 1u,
	};
}

/**
 * Does the list of GCFrames end if the next address is @p address: 0, or -1 since 10 (GCFRAME_TOP)?
 */
static inline bool gc_frame_is_end(uint64_t address)
{
	return !address || address == UINT64_MAX;
}
