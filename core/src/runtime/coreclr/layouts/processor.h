/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Structures of the runtime that depend on the processor's registers, one table for each: vm/amd64/cgencpu.h
 * (UNIX_AMD64), vm/arm64/cgencpu.h and pal/inc/pal.h of 8.0 to 11.0 (doc/coreclr.md 12.6).  Offsets and sizes are
 * bytes; registers have the numbers of struct arch.
 */

#include "runtime/coreclr/layout.h"
#include "runtime/runtime.h"

/** Most registers that a function preserves, and in which it returns its results. */
#define SAVED_REGISTERS_MAX  12u
#define RESULT_REGISTERS_MAX 3u

/** HijackArgs: what a function has returned in registers, and what it preserves. */
struct hijack_layout {
	uint8_t result_count;
	uint8_t results
		[RESULT_REGISTERS_MAX]; /**< the registers in the first words of the results */
	uint8_t first_result;           /**< offset of these */
	uint8_t saved;                  /**< offset of the CalleeSavedRegisters */
	uint8_t size; /**< up to the stack pointer of the function that was left */
};

/** TransitionBlock; after it come the arguments on the stack. */
struct transition_layout {
	uint8_t saved, return_address, size;
	uint8_t words, word_count; /**< of all that may be arguments in registers */
	uint8_t arguments;         /**< the first argument's register */
};

/**
 * LazyMachState (8, 9): what HelperMethodFrames have of the function that made them.  At first it is only
 * captured there; when a GC or an exception has needed it, also unwound to its managed caller.
 */
struct machine_state_layout {
	uint8_t ip, sp;                   /**< of the caller */
	uint8_t captured;                 /**< CalleeSavedRegisters; 0: none of this is known */
	uint8_t pointers;                 /**< of the caller: where its CalleeSavedRegisters lie */
	uint8_t returns;                  /**< 0: it is not unwound */
	uint8_t unwound;                  /**< CalleeSavedRegisters of the caller */
	uint8_t captured_ip, captured_sp; /**< of the function */
};

/** CONTEXT. */
struct context_layout {
	uint32_t flag;      /**< the bit that its processor has in its flags */
	uint16_t flags;     /**< offset of these */
	uint16_t registers; /**< offset of the first register; then come all by number */
	/** Has the CONTEXT at @p address a segment or address of code that a thread in user space has? */
	bool (*is_of_user)(const struct runtime *runtime, uint64_t address);
};

struct processor_layout {
	uint16_t machine; /**< e_machine: of which processor */
	/**
	 * Which offsets differ from those of LAYOUT_FIELDS, which are of x86-64 (NULL: none do).  There, a runtime is read
	 * only with its contract descriptor, and from release @p first_release on.
	 */
	const struct layout_difference *differences;
	size_t difference_count;
	unsigned int first_release;
	/** Has RUNTIME_FUNCTION {u32 begin, u32 end, u32 unwind data} the second one? */
	bool has_function_ends;
	/** How far before a return address the call is, for the runtime (STACKWALK_CONTROLPC_ADJUST_OFFSET). */
	uint8_t before_return;
	/** CalleeSavedRegisters: what a function preserves, in the order in which the runtime's stubs push it. */
	uint8_t saved_count;
	uint8_t saved[SAVED_REGISTERS_MAX];
	struct transition_layout transition;
	struct hijack_layout hijack_8, hijack_10, hijack_11;
	struct machine_state_layout machine_state;
	struct context_layout context;
	/** KNONVOLATILE_CONTEXT_POINTERS: the register whose address comes first, and the offset of that. */
	uint8_t first_pointer;
	uint8_t pointers;
	/** ICorDebugInfo::RegNum: REGNUM_AMBIENT_SP, one more name for the stack pointer; below it are the registers. */
	uint8_t ambient_sp;
	/** The same for registers of numbers with a fraction: the first, as a rule and with CORECLR_LATE_FLOATS, and how many (0: not known). */
	uint8_t first_float, first_float_late, float_count;
};

extern const struct processor_layout amd64_layout, arm64_layout;

/** The table for the processor of the target. */
const struct processor_layout *processor_layout(const struct runtime *runtime);

/** The HijackArgs of the target's release. */
const struct hijack_layout *hijack_layout(const struct runtime *runtime);

/** The register that the JIT's debug information calls @p number (cordebuginfo.h), or ARCH_NONE. */
uint8_t debug_register(const struct runtime *runtime, uint32_t number);

/** The same for registers of numbers with a fraction: xmm0 is 0. */
uint8_t debug_float_register(const struct runtime *runtime, uint32_t number);

/** Offset of the register @p number in a CONTEXT. */
uint64_t context_register(const struct runtime *runtime, unsigned int number);

/** Is there a CONTEXT of a thread in user space at @p address, judging by its own flags? */
bool context_is_there(const struct runtime *runtime, uint64_t address);

/** KNONVOLATILE_CONTEXT_POINTERS: the offset of the address where the saved register @p number lies. */
uint64_t context_pointer(const struct runtime *runtime, unsigned int number);
