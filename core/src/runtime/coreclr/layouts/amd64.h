/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Structures of the runtime that depend on the processor's registers: vm/amd64/cgencpu.h
 * (UNIX_AMD64) and pal/inc/pal.h of 8.0, 9.0 and 10.0 (doc/coreclr.md 12.6).  Offsets
 * and sizes are bytes.
 */

#include "runtime/runtime.h"

/** CalleeSavedRegisters: what a function preserves, in the order in which the runtime's stubs push it. */
#define SAVED_REGISTER_COUNT 6u
extern const uint8_t saved_registers[SAVED_REGISTER_COUNT];

/** TransitionBlock: argument registers, CalleeSavedRegisters, the return address; then the stack's arguments. */
#define TRANSITION_ARGUMENTS 6u /* registers */
#define TRANSITION_SAVED     48u
#define TRANSITION_RETURN    96u
#define TRANSITION_SIZE      104u

/**
 * HijackArgs: the registers in which a function returns its results, CalleeSavedRegisters, the
 * return address.
 */
struct hijack_layout {
	uint8_t result_count;
	uint8_t results[3]; /**< the registers (REG_) in the first words */
	uint8_t saved;      /**< offset of the CalleeSavedRegisters */
	uint8_t size;
};

const struct hijack_layout *hijack_layout(const struct runtime *runtime);

/**
 * LazyMachState (8, 9): what HelperMethodFrames have of the function that made them.  At first it is only
 * captured there; when a GC or an exception has needed it, also unwound to its managed caller.
 */
#define MACHINE_IP          0u /* of the caller, as the next one */
#define MACHINE_SP          8u
#define MACHINE_CAPTURED    16u  /* CalleeSavedRegisters */
#define MACHINE_POINTERS    64u  /* of the caller: where its CalleeSavedRegisters lie */
#define MACHINE_RETURN      112u /* 0: it is not unwound */
#define MACHINE_UNWOUND     120u /* CalleeSavedRegisters of the caller */
#define MACHINE_CAPTURED_IP 168u
#define MACHINE_CAPTURED_SP 176u

/**
 * The register that the JIT's debug information calls @p number (cordebuginfo.h), or ARCH_NONE: the
 * processor's numbers, then one more name for the stack pointer, after the prolog.
 */
uint8_t debug_register(uint32_t number);
/** The same for registers of numbers with a fraction: xmm0 is 0. */
uint8_t debug_float_register(const struct runtime *runtime, uint32_t number);

/** CONTEXT: what it holds, and its registers by the processor's numbers from rax on. */
#define CONTEXT_FLAGS     0x30u
#define CONTEXT_CS        0x38u
#define CONTEXT_REGISTERS 0x78u

/** Offset of the register @p number (REG_) in a CONTEXT. */
static inline uint64_t context_register(unsigned int number)
{
	return CONTEXT_REGISTERS + 8 * (uint64_t)number;
}

/**
 * Is there a CONTEXT of a thread in user space at @p address, judging by its own flags and
 * segments?
 */
bool context_is_there(const struct runtime *runtime, uint64_t address);

/**
 * KNONVOLATILE_CONTEXT_POINTERS: the addresses where the registers lie, by REG_, after those of the
 * 16 xmm registers.
 */
static inline uint64_t context_pointer(unsigned int number)
{
	return 8 * (16 + (uint64_t)number);
}
