/* SPDX-License-Identifier: MIT */
/*
 * Reads the record that the kernel pushes when it calls a signal handler
 * (arch/x86/include/uapi/asm/ucontext.h).
 */
#include "arch/x86_64/ucontext.h"

#include "arch/x86_64/frame_registers.h"
#include "mem/memory.h"

/* struct ucontext: flags, link, three words of stack_t, then struct sigcontext_64. */
enum {
	WORD_FLAGS = 0,
	WORD_LINK = 1,
	WORD_REGISTERS = 5,
	WORD_RSP = WORD_REGISTERS + 15,
	WORD_RIP = WORD_REGISTERS + 16,
	WORD_SELECTORS = WORD_REGISTERS + 18,
	WORD_TRAP = WORD_REGISTERS + 20,
	WORD_CR2 = WORD_REGISTERS + 22,
	WORD_FPSTATE = WORD_REGISTERS + 23,
	WORD_COUNT
};

/* X86_TRAP_PF (asm/trapnr.h): only then cr2 is the address. */
#define PAGE_FAULT  ((uint64_t)14)
#define FLAGS_END   ((uint64_t)64)
#define USER_CS     0x33u
#define USER_SS     0x2bu
#define FPSTATE_FAR ((uint64_t)4096)

bool x86_64_is_signal_return(struct memory *memory, uint64_t ip)
{
	/* mov $__NR_rt_sigreturn, %rax; syscall */
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t bytes[sizeof(code)];
	return memory_read(memory, ip, bytes, sizeof(bytes)) &&
	       memcmp(bytes, code, sizeof(code)) == 0;
}

/* The number of the register in each of the first words of struct sigcontext_64. */
static const uint8_t of_signal[X86_64_REGISTER_COUNT] = {
#define X(id, name, dwarf, kernel, signal) [(signal)] = REG_##id,
	X86_64_REGISTERS(X)
#undef X
};

static bool is_user(uint64_t address)
{
	return address >= arch_x86_64.space.page_min && address < arch_x86_64.space.user_end;
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

bool x86_64_signal_context(struct memory *memory, uint64_t address, struct registers *ret)
{
	uint64_t words[WORD_COUNT];
	if (!memory_read(memory, address, words, sizeof(words)) || !is_ucontext(words, address))
		return false;
	ret->arch = &arch_x86_64;
	for (unsigned int i = 0; i < X86_64_REGISTER_COUNT; i++) {
		unsigned int number = of_signal[i];
		ret->values[number] = words[WORD_REGISTERS + i];
		ret->slots[number] = address + 8 * (WORD_REGISTERS + (uint64_t)i);
	}
	return true;
}

bool x86_64_fault_address(struct memory *memory, uint64_t address, uint64_t *ret)
{
	uint64_t words[WORD_COUNT];
	if (!memory_read(memory, address, words, sizeof(words)) || words[WORD_TRAP] != PAGE_FAULT)
		return false;
	*ret = words[WORD_CR2];
	return true;
}
