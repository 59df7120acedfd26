/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/layouts/transition_frame.h"

#include "arch/x86_64/frame_registers.h"

static const struct transition_registers amd64 = {
	.frame = REG_RBP,
	.of_flag = { REG_RBX, REG_RSI, REG_RDI, ARCH_NONE, REG_R12, REG_R13, REG_R14, REG_R15,
		     REG_RAX, REG_RCX, REG_RDX, REG_R8, REG_R9, REG_R10, REG_R11, REG_RSP },
	.stack_flag = 0x8000,
};

const struct transition_registers *transition_registers(const struct arch *arch)
{
	return arch == &arch_x86_64 ? &amd64 : NULL;
}
