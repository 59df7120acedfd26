/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The registers of a frame on arm64, numbered as instructions, GCInfo and unwind codes have them (Arm ARM, C1.2.5),
 * the instruction pointer last.  DWARF has the same numbers (DWARF for the Arm 64-bit Architecture, 4.1), and the
 * kernel the same order (struct user_pt_regs in asm/ptrace.h).
 */
enum arm64_register {
	ARM64_X0,
	ARM64_X1,
	ARM64_X3 = 3,
	ARM64_X8 = 8,
	ARM64_X16 = 16,
	ARM64_X17,
	ARM64_X18,
	ARM64_X19,
	ARM64_X28 = 28,
	ARM64_FP,
	ARM64_LR,
	ARM64_SP,
	ARM64_PC,
	ARM64_REGISTER_COUNT
};

/** Words of struct user_pt_regs: the registers, then pstate. */
#define ARM64_WORD_COUNT 34
