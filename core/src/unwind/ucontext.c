/* SPDX-License-Identifier: MIT */
/*
 * Reads the record that the kernel pushes when it calls a signal handler
 * (arch/x86/include/uapi/asm/ucontext.h).
 */
#include "arch/address_space.h"
#include "unwind/cfi.h"

/* struct ucontext: flags, link, three words of stack_t, then struct sigcontext_64. */
enum {
	WORD_FLAGS = 0,
	WORD_LINK = 1,
	WORD_REGISTERS = 5,
	WORD_RSP = WORD_REGISTERS + 15,
	WORD_RIP = WORD_REGISTERS + 16,
	WORD_SELECTORS = WORD_REGISTERS + 18,
	WORD_FPSTATE = WORD_REGISTERS + 23,
	WORD_COUNT
};

#define FLAGS_END   ((uint64_t)64)
#define USER_CS     0x33u
#define USER_SS     0x2bu
#define FPSTATE_FAR ((uint64_t)4096)

bool ucontext_is_signal_return(struct memory *memory, uint64_t address)
{
	/* mov $__NR_rt_sigreturn, %rax; syscall */
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t bytes[sizeof(code)];
	return memory_read(memory, address, bytes, sizeof(bytes)) &&
	       memcmp(bytes, code, sizeof(code)) == 0;
}

static bool is_user(uint64_t address)
{
	return address >= ARCH_PAGE && address < ARCH_USER_END;
}

static bool is_ucontext(const uint64_t words[WORD_COUNT], uint64_t address)
{
	uint64_t cs = words[WORD_SELECTORS] & 0xffff, ss = words[WORD_SELECTORS] >> 48;
	uint64_t fpstate = words[WORD_FPSTATE];
	return words[WORD_FLAGS] < FLAGS_END && !words[WORD_LINK] && cs == USER_CS &&
	       (ss == USER_SS || !ss) && fpstate % 16 == 0 && fpstate > address &&
	       fpstate - address < FPSTATE_FAR && is_user(words[WORD_RIP]) &&
	       is_user(words[WORD_RSP]);
}

bool ucontext_read(struct memory *memory, uint64_t address, struct registers *ret)
{
	uint64_t words[WORD_COUNT];
	if (!memory_read(memory, address, words, sizeof(words)) || !is_ucontext(words, address))
		return false;
	for (unsigned int i = 0; i < REG_ROWS; i++) {
		unsigned int number = register_of_signal[i];
		ret->values[number] = words[WORD_REGISTERS + i];
		ret->slots[number] = address + 8 * (WORD_REGISTERS + (uint64_t)i);
	}
	return true;
}
