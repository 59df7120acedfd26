/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PInvokeTransitionFrame: what a thread leaves on its stack when it leaves managed code (doc/nativeaot.md 5.2;
 * src/coreclr/nativeaot/Runtime/inc/rhbinder.h, unix/unixasmmacrosamd64.inc, arm64/AsmMacros.h).
 */

#include "arch/arch.h"

#define TRANSITION_THREAD    16u /**< not set by helpers */
#define TRANSITION_FLAGS     24u /**< u32, and what is returned above them on arm64 */
#define TRANSITION_REGISTERS 32u /**< a word for each flag that is set, ascending */

/** Most registers that a transition frame saves. */
#define TRANSITION_REGISTERS_MAX 32u

/** How a processor's transition frames are laid out. */
struct transition_layout {
	uint8_t ip, frame; /**< offsets of the instruction pointer and the frame pointer */
	uint8_t of_flag
		[TRANSITION_REGISTERS_MAX]; /**< the register of bit 0, 1, ...; ARCH_NONE: none */
	uint32_t stack_flag; /**< the stack pointer is saved; without it, the frame says nothing */
	bool calls_push;     /**< the return address is the word below that stack pointer */
	/**
	 * The function that begins at @p begin, and goes on at @p ip with @p sp, has called a handler of exceptions with
	 * the frame pointer of that handler's method: its own one.  NULL: its unwind data does not need it.
	 */
	bool (*frame_pointer)(struct memory *memory, uint64_t begin, uint64_t ip, uint64_t sp,
			      uint64_t *ret);
};

/** The layout of @p arch; NULL: none is known. */
const struct transition_layout *transition_layout(const struct arch *arch);
