/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ARCH_FRAME_REGISTERS_H
#define HEAPDUMP_SRC_ARCH_FRAME_REGISTERS_H

/* Apart from the table, for <signal.h> has the same names for other numbers. */

#include <stdbool.h>

#include "arch/register_table.h"

/** REG_RAX, ..., REG_RIP: rows of struct registers, by the processor's numbers. */
enum frame_register {
#define X(id, name, dwarf, kernel, signal) REG_##id,
	ARCH_REGISTERS(X)
#undef X
	REG_ROWS
};

/** In a place for a REG_: none. */
#define REG_NONE 0xffu

/** Is it a register that a call does not preserve (System V ABI for AMD64, 3.2.1)? */
static inline bool register_is_scratch(unsigned int number)
{
	return number != REG_RBX && number != REG_RBP && number < REG_R12;
}

#endif
