/* SPDX-License-Identifier: MIT */
#pragma once

#include "unwind/registers.h"

/** The base of a stack slot's offset (gcinfotypes.h, GcStackSlotBase); or a register. */
enum gc_slot_base {
	GC_SLOT_CALLER_SP,
	GC_SLOT_SP,
	GC_SLOT_FRAME_REGISTER,
	GC_SLOT_REGISTER,
};

/** Flags of a slot (gcinfotypes.h, GcSlotFlags). */
#define GC_SLOT_INTERIOR 1u
#define GC_SLOT_PINNED   2u

/** A live slot. */
struct gc_slot {
	uint8_t base;   /**< enum gc_slot_base */
	uint8_t number; /**< register, for GC_SLOT_REGISTER */
	uint8_t flags;
	bool is_untracked; /**< always holds a reference or null */
	int32_t offset;    /**< bytes, relative to base */
};

/** The question to gc_info_decode(). */
struct gc_info_query {
	const struct arch *arch;
	unsigned int version; /**< version of the GCInfo: 2 (.NET 8), 3 (9), 4 (10), 5 (11) */
	uint32_t offset;      /**< offset of the instruction pointer in the method */
	bool is_active;       /**< the thread was stopped there: it is not a return address */
	bool is_aborted;      /**< an exception came from there: it is not a safe point */
	bool is_dead;         /**< an aborted frame has no live slots outside of ranges (11) */
	bool no_untracked;    /**< leave out untracked slots, for a filter: its parent reports
			       * them */
};

/** Most slots of a GCInfo that are decoded, and most bytes of it that are read. */
#define GC_INFO_SLOTS_MAX 65536u
#define GC_INFO_BYTES_MAX ((size_t)1 << 20)

/** The answer; zeroed before the first use, reused by the next. */
struct gc_info {
	uint32_t code_length;
	uint8_t frame_register; /**< ARCH_NONE: none */
	bool is_interruptible;  /**< offset lies in an interruptible range */
	bool is_unknown;        /**< offset is neither there nor at a safe point: tracked slots may
				 * be live or not */
	bool wants_only_leaf;   /**< WANTS_REPORT_ONLY_LEAF */
	struct gc_slot *slots;  /**< the live slots, in the order of the table */
	size_t slots_count, slots_capacity;
};

enum gc_info_result {
	GC_INFO_OK,
	GC_INFO_BAD, /**< it cannot be read, or contradicts itself */
	GC_INFO_NOMEM,
};

/**
 * Decode the GCInfo at @p address (gcinfodecoder.cpp, gcinfotypes.h).  Scratch
 * registers, and the arguments of the call that is running, are not live unless is_active.
 *
 * @param[in,out] ret To be given to gc_info_deinit().
 */
enum gc_info_result gc_info_decode(struct memory *memory, uint64_t address,
				   const struct gc_info_query *query, struct gc_info *ret);
/** A zeroed struct is allowed. */
void gc_info_deinit(struct gc_info *info);
