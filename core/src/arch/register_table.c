/* SPDX-License-Identifier: MIT */
#include "arch/frame_registers.h"

_Static_assert(REG_ROWS == ARCH_REGISTER_COUNT, "each register of the table");

const char *const register_names[ARCH_REGISTER_COUNT] = {
#define X(id, name, dwarf, kernel, signal) [REG_##id] = #name,
	ARCH_REGISTERS(X)
#undef X
};

const uint8_t register_kernel_words[ARCH_REGISTER_COUNT] = {
#define X(id, name, dwarf, kernel, signal) [REG_##id] = (kernel),
	ARCH_REGISTERS(X)
#undef X
};

const uint8_t register_of_dwarf[ARCH_REGISTER_COUNT] = {
#define X(id, name, dwarf, kernel, signal) [(dwarf)] = REG_##id,
	ARCH_REGISTERS(X)
#undef X
};

const uint8_t register_of_signal[ARCH_REGISTER_COUNT] = {
#define X(id, name, dwarf, kernel, signal) [(signal)] = REG_##id,
	ARCH_REGISTERS(X)
#undef X
};
