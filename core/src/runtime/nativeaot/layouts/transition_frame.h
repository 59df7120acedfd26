/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PInvokeTransitionFrame: what a thread leaves on its stack when it leaves managed code (doc/nativeaot.md 5.2;
 * src/coreclr/nativeaot/Runtime/inc/rhbinder.h, unix/unixasmmacrosamd64.inc).
 */

#include "arch/arch.h"

#define TRANSITION_IP        0u
#define TRANSITION_FRAME     8u  /**< the frame pointer */
#define TRANSITION_THREAD    16u /**< not set by helpers */
#define TRANSITION_FLAGS     24u /**< u32 */
#define TRANSITION_REGISTERS 32u /**< a word for each flag that is set, ascending */

/** Most registers that a transition frame saves. */
#define TRANSITION_REGISTERS_MAX 16u

/** Which registers the flags of a processor are about. */
struct transition_registers {
	uint8_t frame; /**< the register whose value is at TRANSITION_FRAME */
	uint8_t of_flag
		[TRANSITION_REGISTERS_MAX]; /**< the register of bit 0, 1, ...; ARCH_NONE: none */
	uint32_t stack_flag; /**< the stack pointer is saved; without it, the frame says nothing */
};

/** The table of @p arch; NULL: none is known. */
const struct transition_registers *transition_registers(const struct arch *arch);
