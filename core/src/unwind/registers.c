/* SPDX-License-Identifier: MIT */
#include "unwind/registers.h"

const char *const register_names[REG_ROWS] = {
	[REG_RAX] = "rax", [REG_RCX] = "rcx", [REG_RDX] = "rdx", [REG_RBX] = "rbx",
	[REG_RSP] = "rsp", [REG_RBP] = "rbp", [REG_RSI] = "rsi", [REG_RDI] = "rdi",
	[REG_R8] = "r8",   [REG_R9] = "r9",   [REG_R10] = "r10", [REG_R11] = "r11",
	[REG_R12] = "r12", [REG_R13] = "r13", [REG_R14] = "r14", [REG_R15] = "r15",
	[REG_RIP] = "rip",
};

void registers_of_thread(const struct target_thread *thread, struct registers *ret)
{
	/* The kernel's order (user_regs_struct) to the processor's. */
	static const uint8_t rows[REG_ROWS] = {
		[REG_RAX] = REGISTER_RAX, [REG_RCX] = REGISTER_RCX, [REG_RDX] = REGISTER_RDX,
		[REG_RBX] = REGISTER_RBX, [REG_RSP] = REGISTER_RSP, [REG_RBP] = REGISTER_RBP,
		[REG_RSI] = REGISTER_RSI, [REG_RDI] = REGISTER_RDI, [REG_R8] = REGISTER_R8,
		[REG_R9] = REGISTER_R9,   [REG_R10] = REGISTER_R10, [REG_R11] = REGISTER_R11,
		[REG_R12] = REGISTER_R12, [REG_R13] = REGISTER_R13, [REG_R14] = REGISTER_R14,
		[REG_R15] = REGISTER_R15, [REG_RIP] = REGISTER_RIP,
	};
	*ret = (struct registers){ 0 };
	for (unsigned int i = 0; i < REG_ROWS; i++)
		ret->values[i] = thread->registers[rows[i]];
}
