/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_STACK_EXPLICIT_FRAME_H
#define HEAPDUMP_SRC_STACK_EXPLICIT_FRAME_H

#include "clr/code/code.h"
#include "clr/layouts/frames.h"
#include "unwind/registers.h"

/** Most Frames of one thread that are read. */
#define EXPLICIT_FRAMES_MAX ((size_t)1 << 17)

/** A Frame of the runtime's chain (doc/coreclr.md 12.6; frames.h). */
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
	uint8_t kind; /**< enum frame_kind; FRAME_UNKNOWN also if it cannot be told in 8 and 9 */
};

/** The chain, innermost first. */
struct frame_chain {
	struct explicit_frame *rows;
	size_t rows_count, rows_capacity;
	bool is_broken; /**< it cannot be read further, or it has a cycle */
};

/**
 * Read the chain of the thread at @p thread.
 *
 * @param[out] ret To be given to frame_chain_deinit(), also on failure.
 * @return false when memory is exhausted
 */
bool frame_chain_read(struct clr *clr, uint64_t thread, struct frame_chain *ret);
void frame_chain_deinit(struct frame_chain *chain);

/**
 * MethodDesc of the method that @p frame represents, which managed code has called there: a
 * P/Invoke, a method that is about to be compiled, or one that is a function of the runtime; 0: it
 * has none.
 */
uint64_t explicit_frame_method(struct clr *clr, const struct explicit_frame *frame);

/** The state of the code that a Frame leads to. */
struct frame_context {
	struct registers registers;
	bool is_active;  /**< it was interrupted there: ip is not a return address */
	bool is_aborted; /**< an exception came from there */
	uint64_t known;  /**< a bit for each register whose value is that of the frame */
};

/**
 * The registers that @p frame (with an ip) gives.
 *
 * @param[in,out] ret Registers that the Frame does not have stay unchanged.
 * @return false when they cannot be read
 */
bool frame_context_read(const struct clr *clr, const struct explicit_frame *frame,
			struct frame_context *ret);

#endif
