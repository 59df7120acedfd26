/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/layouts/transition_frame.h"

#include "arch/arm64/opcodes.h"
#include "arch/arm64/register_table.h"
#include "arch/x86_64/frame_registers.h"

#define NONE ARCH_NONE

static const struct transition_layout amd64 = {
	.ip = 0,
	.frame = 8,
	.of_flag = { REG_RBX, REG_RSI, REG_RDI, NONE,   REG_R12, REG_R13, REG_R14, REG_R15,
		     REG_RAX, REG_RCX, REG_RDX, REG_R8, REG_R9,  REG_R10, REG_R11, REG_RSP,
		     NONE,    NONE,    NONE,    NONE,   NONE,    NONE,    NONE,    NONE,
		     NONE,    NONE,    NONE,    NONE,   NONE,    NONE,    NONE,    NONE },
	.stack_flag = 0x8000,
	.calls_push = true,
};

/* x19 to x28, sp, x0 to x18, and the two that have places of their own. */
static const struct transition_layout arm64 = {
	.ip = 8,
	.frame = 0,
	.of_flag = { 19, 20, 21, 22, 23, 24, 25, 26, 27,       28,      ARM64_SP,
		     0,  1,  2,  3,  4,  5,  6,  7,  8,        9,       10,
		     11, 12, 13, 14, 15, 16, 17, 18, ARM64_FP, ARM64_LR },
	.stack_flag = 0x400,
	.frame_pointer = arm64_frame_pointer,
};

const struct transition_layout *transition_layout(const struct arch *arch)
{
	if (arch == &arch_arm64)
		return &arm64;
	return arch == &arch_x86_64 ? &amd64 : NULL;
}
