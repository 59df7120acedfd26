/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The registers of a frame on x86-64, listed once: X(id, name, dwarf, kernel, signal), in the order of the
 * numbers that instructions and unwind codes have for them (Intel SDM, 3.1.1.1), which is the order of
 * struct arch, too.
 *
 * - dwarf: number in DWARF (System V ABI for AMD64, figure 3.36)
 * - kernel: index in struct user_regs_struct (sys/user.h), whose member has that name
 * - signal: index in struct sigcontext_64 (Linux, arch/x86/include/uapi/asm/sigcontext.h)
 */
#define X86_64_REGISTERS(X)    \
	X(RAX, rax, 0, 10, 13) \
	X(RCX, rcx, 2, 11, 14) \
	X(RDX, rdx, 1, 12, 12) \
	X(RBX, rbx, 3, 5, 11)  \
	X(RSP, rsp, 7, 19, 15) \
	X(RBP, rbp, 6, 4, 10)  \
	X(RSI, rsi, 4, 13, 9)  \
	X(RDI, rdi, 5, 14, 8)  \
	X(R8, r8, 8, 9, 0)     \
	X(R9, r9, 9, 8, 1)     \
	X(R10, r10, 10, 7, 2)  \
	X(R11, r11, 11, 6, 3)  \
	X(R12, r12, 12, 3, 4)  \
	X(R13, r13, 13, 2, 5)  \
	X(R14, r14, 14, 1, 6)  \
	X(R15, r15, 15, 0, 7)  \
	X(RIP, rip, 16, 16, 16)

/** How many they are. */
#define X86_64_REGISTER_COUNT 17

/** REGISTER_RAX, ...: words of struct user_regs_struct, as the kernel hands out a thread's registers. */
enum kernel_register {
#define X(id, name, dwarf, kernel, signal) REGISTER_##id = (kernel),
	X86_64_REGISTERS(X)
#undef X
	REGISTER_FS_BASE = 21, /**< where a thread's control block lies */
	REGISTER_COUNT = 27
};
