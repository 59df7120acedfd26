/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UNWIND_REGISTERS_H
#define HEAPDUMP_SRC_UNWIND_REGISTERS_H

#include "targets/target.h"

/** Registers by the numbers that instructions and unwind codes have for them (Intel SDM, 3.1.1.1). */
enum {
	REG_RAX,
	REG_RCX,
	REG_RDX,
	REG_RBX,
	REG_RSP,
	REG_RBP,
	REG_RSI,
	REG_RDI,
	REG_R8,
	REG_R9,
	REG_R10,
	REG_R11,
	REG_R12,
	REG_R13,
	REG_R14,
	REG_R15,
	REG_RIP,
	REG_ROWS
};
#define REG_NONE 0xffu

/** "rax", ..., "rip". */
extern const char *const register_names[REG_ROWS];

/** The registers of one frame, and where those that it saved for its caller lie. */
struct registers {
	uint64_t values[REG_ROWS];
	uint64_t slots[REG_ROWS]; /**< address that a value was loaded from, 0: the thread's own */
};

/** Those of a thread as it stopped. */
void registers_of_thread(const struct target_thread *thread, struct registers *ret);

#endif
