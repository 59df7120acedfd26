/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "arch/arch.h"

#define OWN_FRAMES_MAX 64u

/** The stack of the calling thread, as libgcc unwinds it. */
struct own_stack {
	uint64_t registers[ARCH_REGISTERS_MAX]; /**< by the numbers of this machine's processor */
	uint64_t ips[OWN_FRAMES_MAX]; /**< of the frame that has the registers, and its callers */
	unsigned int count;
};

/** Call @p look while the stack is as it says. */
void own_stack_look(void (*look)(const struct own_stack *stack));
/** The same in a function that libc calls, and in a signal handler that it is in. */
void own_stack_look_deeper(void (*look)(const struct own_stack *stack));
void own_stack_look_in_signal(void (*look)(const struct own_stack *stack));
