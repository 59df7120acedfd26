/* SPDX-License-Identifier: MIT */
/* Instructions of arm64 (Arm ARM, C4.1 and C6.2); each has four bytes. */
#include "arch/arm64/opcodes.h"

#include "arch/arm64/register_table.h"
#include "mem/memory.h"

#define INSTRUCTION 4u

/* svc #0 */
#define SYSTEM_CALL 0xd4000001u

static bool is_branch_with_link(uint32_t word)
{
	/* bl */
	if ((word & 0xfc000000u) == 0x94000000u)
		return true;
	/* blr; blraaz, blrabz; blraa, blrab */
	return (word & 0xfffffc1fu) == 0xd63f0000u || (word & 0xfffff81fu) == 0xd63f081fu ||
	       (word & 0xfffff800u) == 0xd73f0800u;
}

bool arm64_follows_call(struct memory *memory, uint64_t address)
{
	uint32_t word;
	if (address % INSTRUCTION != 0)
		return false;
	return !memory_u32(memory, address - INSTRUCTION, &word) || is_branch_with_link(word);
}

/* ldr Xt, literal: the register that it loads, and from where. */
static bool is_literal_load(uint32_t word, uint64_t at, unsigned int *ret_register,
			    uint64_t *ret_address)
{
	if ((word & 0xff000000u) != 0x58000000u)
		return false;
	int64_t words = (int64_t)(word >> 5 & 0x7ffffu);
	if (words & 0x40000)
		words -= 0x80000;
	*ret_register = word & 31u;
	*ret_address = at + (uint64_t)(words * (int64_t)INSTRUCTION);
	return true;
}

/* mov x29, sp */
#define SET_FRAME_POINTER 0x910003fdu
/* Instructions that are looked at for that, and for what follows it. */
#define PROLOGUE_MAX 64u

/* sub sp, sp, #n: how much. */
static bool is_stack_allocation(uint32_t word, uint64_t *ret)
{
	if ((word & 0xff8003ffu) != 0xd10003ffu)
		return false;
	*ret = (uint64_t)(word >> 10 & 0xfffu) << (word >> 22 & 1u ? 12 : 0);
	return true;
}

bool arm64_frame_pointer(struct memory *memory, uint64_t begin, uint64_t ip, uint64_t sp,
			 uint64_t *ret)
{
	bool is_set = false;
	uint64_t size = 0, below = 0;
	for (uint64_t at = begin, i = 0; at < ip && i < PROLOGUE_MAX; at += INSTRUCTION, i++) {
		uint32_t word;
		if (!memory_u32(memory, at, &word))
			return false;
		if (word == SET_FRAME_POINTER) {
			is_set = true;
		} else if (is_set && is_stack_allocation(word, &size)) {
			below += size;
		}
	}
	*ret = sp + below;
	return is_set;
}

/* br Xn, and dmb with any option. */
static bool is_branch(uint32_t word)
{
	return (word & 0xfffffc1fu) == 0xd61f0000u;
}

static bool is_barrier(uint32_t word)
{
	return (word & 0xfffff0ffu) == 0xd50330bfu;
}

/* The register in which a stub hands over the MethodDesc (METHODDESC_REGISTER in asmconstants.h). */
#define METHOD_REGISTER 12u

/* Instructions of a FixupPrecode, the longer of the two. */
#define PRECODE_INSTRUCTIONS 6u

/*
 * A precode (thunktemplates.S): FixupPrecode is ldr x11, target; br x11; dmb; ldr x12, MethodDesc; ldr x11, fixup;
 * br x11, and StubPrecode ldr x10, target; ldr x12, MethodDesc; br x10.
 *
 * @return what is loaded into @p wanted, or, if it is ARCH_NONE, into the register of the first branch
 */
static bool precode_literal(struct memory *memory, uint64_t code, unsigned int wanted,
			    uint64_t *ret)
{
	uint64_t literals[32] = { 0 };
	for (unsigned int i = 0; i < PRECODE_INSTRUCTIONS; i++) {
		uint64_t at = code + (uint64_t)i * INSTRUCTION, address;
		uint32_t word;
		unsigned int number;
		if (!memory_u32(memory, at, &word))
			return false;
		if (is_literal_load(word, at, &number, &address)) {
			if (number == wanted)
				return memory_u64(memory, address, ret);
			literals[number] = address;
		} else if (is_branch(word)) {
			number = word >> 5 & 31u;
			if (wanted == ARCH_NONE) {
				return literals[number] &&
				       memory_u64(memory, literals[number], ret);
			}
			if (!literals[number])
				return false;
		} else if (!is_barrier(word)) {
			return false;
		}
	}
	return false;
}

bool arm64_precode_method(struct memory *memory, uint64_t code, uint64_t *ret)
{
	return precode_literal(memory, code, METHOD_REGISTER, ret);
}

bool arm64_precode_target(struct memory *memory, uint64_t code, uint64_t *ret)
{
	return precode_literal(memory, code, ARCH_NONE, ret);
}

bool arm64_leaf_step(struct memory *memory, struct registers *registers)
{
	(void)memory;
	uint64_t address = registers->values[ARM64_LR] & arch_arm64.space.code_mask;
	if (!address || address == registers->values[ARM64_PC])
		return false;
	registers->values[ARM64_PC] = address;
	registers->slots[ARM64_PC] = registers->slots[ARM64_LR];
	return true;
}

/* futex, its operations, and the flags that they may have (asm-generic/unistd.h, linux/futex.h). */
#define NUMBER_FUTEX      98u
#define FUTEX_WAIT        0u
#define FUTEX_WAIT_BITSET 9u
#define FUTEX_OPERATION   0x7fu

bool arm64_waits_without_end(struct memory *memory, const struct registers *registers)
{
	const uint64_t *values = registers->values;
	uint64_t ip = values[ARM64_PC], operation = values[ARM64_X1] & FUTEX_OPERATION;
	uint32_t before = 0, here = 0;
	/* A thread that the kernel has ended in it is at the instruction itself (do_signal() in signal.c). */
	bool is_call = (memory_u32(memory, ip - INSTRUCTION, &before) && before == SYSTEM_CALL) ||
		       (memory_u32(memory, ip, &here) && here == SYSTEM_CALL);
	return is_call && values[ARM64_X8] == NUMBER_FUTEX &&
	       (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && values[ARM64_X0] &&
	       values[ARM64_X0] % 4 == 0 && !values[ARM64_X3];
}
