/* SPDX-License-Identifier: MIT */
#pragma once

/* Apart from the table, for <signal.h> has the same names for other numbers. */

#include "arch/x86_64/register_table.h"

/** REG_RAX, ..., REG_RIP: rows of struct registers, by the processor's numbers. */
enum frame_register {
#define X(id, name, dwarf, kernel, signal) REG_##id,
	X86_64_REGISTERS(X)
#undef X
	REG_ROWS
};
