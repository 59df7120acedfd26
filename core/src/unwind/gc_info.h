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
	uint32_t index;    /**< in the table of slots */
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

/** In place of an offset: the frame has no such place. */
#define GC_INFO_NO_PLACE INT32_MIN

/** The places in a frame that a GCInfo tells besides its slots; bytes, relative to the caller's stack pointer. */
struct gc_info_places {
	int32_t cookie;       /**< a number that a buffer overrun destroys */
	int32_t psp_symbol;   /**< for funclets; relative to the stack pointer after the prologue */
	int32_t context;      /**< of generics, */
	uint8_t context_kind; /**< and what it is: enum gc_context_kind */
	uint32_t prologue;    /**< offset in the code from which cookie and context are there; */
	uint32_t epilogue;    /**< bytes at its end where the cookie is not; both 0: not told */
	uint32_t argument_bytes; /**< at the stack pointer, for arguments of calls */
	int32_t native_caller; /**< the record of a call from native code (ReversePInvokeFrame); relative to
				  * the frame register, or to the stack pointer of a frame without one */
};

/** The thing that tells a frame its generic arguments (gcinfotypes.h: GC_INFO_HAS_GENERICS_INST_CONTEXT_MASK). */
enum gc_context_kind {
	GC_CONTEXT_NONE,
	GC_CONTEXT_METHOD_TABLE,
	GC_CONTEXT_METHOD_DESC,
	GC_CONTEXT_THIS,
};

/** The answer; zeroed before the first use, reused by the next. */
struct gc_info {
	uint32_t code_length;
	uint8_t frame_register; /**< ARCH_NONE: none */
	bool is_interruptible;  /**< offset lies in an interruptible range */
	bool is_unknown;        /**< offset is neither there nor at a safe point: tracked slots may
				 * be live or not */
	bool wants_only_leaf;   /**< WANTS_REPORT_ONLY_LEAF */
	struct gc_info_places places;
	struct gc_slot *slots; /**< the live slots, in the order of the table */
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

/** A stretch of code, by offsets in the method. */
struct gc_info_range {
	uint32_t begin, end;
};

/** The offsets at which a garbage collection may find a frame of the method; reused for the next. */
struct gc_info_points {
	uint32_t *safe_points; /**< return addresses of calls, ascending */
	size_t safe_points_count, safe_points_capacity;
	struct gc_info_range *ranges; /**< where each instruction is one, ascending */
	size_t ranges_count, ranges_capacity;
};

/**
 * List them.  Of @p query, only arch and version are looked at.
 *
 * @param[in,out] ret Zeroed before the first use; to be given to gc_info_points_deinit().
 */
enum gc_info_result gc_info_points_read(struct memory *memory, uint64_t address,
					const struct gc_info_query *query,
					struct gc_info_points *ret);
/** A zeroed struct is allowed. */
void gc_info_points_deinit(struct gc_info_points *points);
