/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code.h"
#include "unwind/registers.h"

/** Most Frames of one thread that are read. */
#define EXPLICIT_FRAMES_MAX ((size_t)1 << 17)

/**
 * A Frame of the runtime's chain: what a thread leaves on its stack where it leaves managed code
 * (doc/coreclr.md 12.6).
 */
struct explicit_frame {
	uint64_t address;
	uint64_t ip;             /**< address in the managed code that it leads to; 0: it gives no
				  * registers */
	uint64_t sp;             /**< stack pointer of that code */
	uint64_t block;          /**< address of its TransitionBlock, 0: none */
	uint32_t leads;          /**< index of the first Frame with an ip, beginning with this one;
				  * or count */
	uint16_t context_offset; /**< offset of the CONTEXT, if it was found by its shape */
	bool is_typed;           /**< a helper whose vtable says what it protects */
	bool is_throwing;        /**< a helper that throws: its caller does not continue */
	bool is_lost;            /**< it must lead to managed code, but that code is not recognised
				  * as managed */
	bool is_helper;   /**< of a function of the runtime that acts like a managed method */
	bool is_aside;    /**< it only protects or marks something, and leads nowhere */
	bool is_call;     /**< of a call that was compiled inline, with its own return address */
	bool is_fault;    /**< of an exception: the runtime has faked a call there */
	uint8_t kind;     /**< the runtime's number of its kind */
	const char *name; /**< of its class, static */
};

/** The chain, innermost first. */
struct frame_chain {
	struct explicit_frame *rows;
	size_t rows_count, rows_capacity;
	bool is_broken; /**< it cannot be read further, or it has a cycle */
	bool is_vague;  /**< not all of them tell what they are, and where they lead */
};

void frame_chain_deinit(struct frame_chain *chain);

/** The state of the code that a Frame leads to. */
struct frame_context {
	struct registers registers;
	bool is_active;  /**< it was interrupted there: ip is not a return address */
	bool is_aborted; /**< an exception came from there */
	uint64_t known;  /**< a bit for each register whose value is that of the frame */
};
