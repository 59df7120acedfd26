/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/layouts/amd64.h"

#include "arch/arch.h"
#include "arch/x86_64/frame_registers.h"
#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"

/* CONTEXT.ContextFlags: CONTEXT_AMD64, and bits that no CONTEXT has; CONTEXT.SegCs of user space. */
#define FLAGS_AMD64  0x00100000u
#define FLAGS_NONE   0x07efff80u
#define CODE_SEGMENT 0x33u

const uint8_t saved_registers[SAVED_REGISTER_COUNT] = { REG_R12, REG_R13, REG_R14,
							REG_R15, REG_RBX, REG_RBP };

/* ICorDebugInfo::RegNum: REGNUM_AMBIENT_SP follows the last register. */
#define DEBUG_AMBIENT_SP 16u

/* xmm0 to xmm31. */
#define FLOAT_REGISTERS 32u

uint8_t debug_register(uint32_t number)
{
	if (number == DEBUG_AMBIENT_SP)
		return REG_RSP;
	return number < DEBUG_AMBIENT_SP ? (uint8_t)number : (uint8_t)ARCH_NONE;
}

uint8_t debug_float_register(const struct runtime *runtime, uint32_t number)
{
	uint32_t first = coreclr_has(runtime, CORECLR_LATE_FLOATS) ? 32 : 16;
	return number >= first && number - first < FLOAT_REGISTERS ? (uint8_t)(number - first)
								   : (uint8_t)ARCH_NONE;
}

const struct hijack_layout *hijack_layout(const struct runtime *runtime)
{
	static const struct hijack_layout of_8 = { 2, { REG_RAX, REG_RDX }, 16, 72 };
	static const struct hijack_layout of_10 = { 3, { REG_RAX, REG_RDX, REG_RCX }, 24, 80 };
	return coreclr_has(runtime, CORECLR_HIJACK_RCX) ? &of_10 : &of_8;
}

/* CONTEXTs are 16-aligned. */
bool context_is_there(const struct runtime *runtime, uint64_t address)
{
	uint32_t flags = 0;
	uint16_t segment = 0;
	return address % 16 == 0 && memory_u32(runtime->memory, address + CONTEXT_FLAGS, &flags) &&
	       memory_u16(runtime->memory, address + CONTEXT_CS, &segment) &&
	       (flags & FLAGS_AMD64) && !(flags & FLAGS_NONE) &&
	       (segment == CODE_SEGMENT || segment == 0);
}
