/* SPDX-License-Identifier: MIT */
/*
 * Reads the record that the kernel pushes when it calls a signal handler (arch/arm64/include/uapi/asm/ucontext.h,
 * sigcontext.h).
 */
#include "arch/arm64/ucontext.h"

#include "arch/arm64/register_table.h"
#include "mem/memory.h"

/*
 * Words of struct ucontext: flags, link, three of stack_t, 128 bytes of signal masks, one to align; then struct
 * sigcontext: fault address, registers, pstate, one to align, and records {magic, size} up to a magic of 0.
 */
enum {
	WORD_FLAGS = 0,
	WORD_LINK = 1,
	WORD_FAULT = 22,
	WORD_REGISTERS = 23,
	WORD_RECORDS = 58,
	WORD_COUNT = 59
};

#define RECORDS_SIZE  4096u
#define RECORD_HEADER 8u
#define MAGIC_FPSIMD  0x46508001u
#define MAGIC_ESR     0x45535201u
#define FLAGS_END     ((uint64_t)64)
#define ESR_CLASS     26u /* ESR_EL1.EC: the bits from it on */
#define CLASS_BITS    0x3fu
#define CLASS_CODE    0x20u /* an instruction could not be read, from user space */
#define CLASS_DATA    0x24u /* data could not be read or written, from user space */
#define STACK_ALIGN   16u
#define INSTRUCTION   4u

bool arm64_is_signal_return(struct memory *memory, uint64_t ip)
{
	/* mov x8, #__NR_rt_sigreturn; svc #0 */
	uint64_t code;
	return memory_u64(memory, ip, &code) && code == UINT64_C(0xd4000001d2801168);
}

static bool is_user(uint64_t address)
{
	return address >= arch_arm64.space.page_min && address < arch_arm64.space.user_end;
}

static bool is_ucontext(const uint64_t words[WORD_COUNT], uint64_t address)
{
	const uint64_t *registers = words + WORD_REGISTERS;
	return address % STACK_ALIGN == 0 && words[WORD_FLAGS] < FLAGS_END && !words[WORD_LINK] &&
	       (uint32_t)words[WORD_RECORDS] == MAGIC_FPSIMD && is_user(registers[ARM64_PC]) &&
	       registers[ARM64_PC] % INSTRUCTION == 0 && is_user(registers[ARM64_SP]);
}

static bool read_ucontext(struct memory *memory, uint64_t address, uint64_t words[WORD_COUNT])
{
	return memory_read(memory, address, words, WORD_COUNT * sizeof(words[0])) &&
	       is_ucontext(words, address);
}

bool arm64_signal_context(struct memory *memory, uint64_t address, struct registers *ret)
{
	uint64_t words[WORD_COUNT];
	if (!read_ucontext(memory, address, words))
		return false;
	ret->arch = &arch_arm64;
	for (unsigned int i = 0; i < ARM64_REGISTER_COUNT; i++) {
		ret->values[i] = words[WORD_REGISTERS + i];
		ret->slots[i] = address + 8 * (WORD_REGISTERS + (uint64_t)i);
	}
	return true;
}

/* The kernel adds the record ESR when, and only when, the signal came for a fault of memory or an instruction. */
static bool read_syndrome(struct memory *memory, uint64_t records, uint64_t *ret)
{
	uint32_t at = 0;
	while (at + RECORD_HEADER <= RECORDS_SIZE) {
		uint32_t header[2];
		if (!memory_read(memory, records + at, header, sizeof(header)) || !header[0] ||
		    header[1] < RECORD_HEADER || header[1] > RECORDS_SIZE - at)
			return false;
		if (header[0] == MAGIC_ESR)
			return memory_u64(memory, records + at + RECORD_HEADER, ret);
		at += header[1];
	}
	return false;
}

bool arm64_fault_address(struct memory *memory, uint64_t address, uint64_t *ret)
{
	uint64_t words[WORD_COUNT], syndrome;
	if (!read_ucontext(memory, address, words) ||
	    !read_syndrome(memory, address + 8 * (uint64_t)WORD_RECORDS, &syndrome))
		return false;
	uint64_t class = syndrome >> ESR_CLASS & CLASS_BITS;
	if (class != CLASS_CODE && class != CLASS_DATA)
		return false;
	*ret = words[WORD_FAULT];
	return true;
}
