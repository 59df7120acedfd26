/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/opcodes.h"

#include "arch/x86_64/frame_registers.h"
#include "mem/memory.h"

/*
 * Bytes of the call through a register or memory that begins at @p bytes (FF /2: Intel SDM, CALL;
 * ModRM and SIB, 2.1.5), or 0 when it is not one.
 */
static size_t indirect_call_size(const uint8_t *bytes, size_t count)
{
	if (count < 2 || bytes[0] != 0xff || ((bytes[1] >> 3) & 7) != 2)
		return 0;
	unsigned int mode = bytes[1] >> 6, base = bytes[1] & 7;
	size_t size = 2;
	if (mode != 3 && base == 4) {
		if (count < 3)
			return 0;
		size++;
		if (mode == 0 && (bytes[2] & 7) == 5)
			return size + 4;
	}
	if (mode == 1)
		return size + 1;
	return mode == 2 || (mode == 0 && base == 5) ? size + 4 : size;
}

bool x86_64_follows_call(struct memory *memory, uint64_t address)
{
	uint8_t bytes[7]; /* prefixes before the call do not matter */
	size_t count = sizeof(bytes);
	while (count >= 2 && !memory_read(memory, address - count, bytes, count))
		count--;
	if (count < 2)
		return true;
	if (count >= 5 && bytes[count - 5] == 0xe8)
		return true;
	for (size_t size = 2; size <= count; size++) {
		if (indirect_call_size(bytes + count - size, size) == size)
			return true;
	}
	return false;
}

/*
 * A precode (thunktemplates.S): FixupPrecode is jmp [rip+a]; mov r10, [rip+b]; ..., StubPrecode
 * mov r10, [rip+b]; jmp [rip+c].  What is loaded into r10 is the MethodDesc.
 */
bool x86_64_precode_method(struct memory *memory, uint64_t code, uint64_t *ret)
{
	uint8_t bytes[13];
	size_t at = 0, size = memory_prefix(memory, code, bytes, sizeof(bytes));
	if (size == sizeof(bytes) && bytes[0] == 0xff && bytes[1] == 0x25)
		at = 6;
	if (size < at + 7 || bytes[at] != 0x4c || bytes[at + 1] != 0x8b || bytes[at + 2] != 0x15)
		return false;
	int64_t displacement = (int32_t)load_u32(bytes + at + 3);
	return memory_u64(memory, code + at + 7 + (uint64_t)displacement, ret);
}

/* The same stubs' jumps: FixupPrecode begins with its one, that of StubPrecode is after the mov. */
bool x86_64_precode_target(struct memory *memory, uint64_t code, uint64_t *ret)
{
	uint8_t bytes[13];
	size_t at = 0, size = memory_prefix(memory, code, bytes, sizeof(bytes));
	if (size == sizeof(bytes) && bytes[0] == 0x4c && bytes[1] == 0x8b && bytes[2] == 0x15)
		at = 7;
	if (size < at + 6 || bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return false;
	int64_t displacement = (int32_t)load_u32(bytes + at + 2);
	return memory_u64(memory, code + at + 6 + (uint64_t)displacement, ret);
}

bool x86_64_leaf_step(struct memory *memory, struct registers *registers)
{
	uint64_t sp = registers->values[REG_RSP], ip;
	if (!memory_u64(memory, sp, &ip))
		return false;
	registers->values[REG_RIP] = ip;
	registers->values[REG_RSP] = sp + 8;
	return true;
}

bool x86_64_is_leaving(const uint8_t *at, size_t size, bool has_popped)
{
	if (size && at[0] == 0xf2) { /* bnd, repne */
		at++;
		size--;
	}
	if (size < 3)
		return size && (at[0] == 0xc3 || (size == 2 && at[0] == 0xf3 && at[1] == 0xc3));
	if (at[0] == 0xc3 || at[0] == 0xc2 || (at[0] == 0xf3 && at[1] == 0xc3))
		return true;
	/* jmp [rip + x]; and REX.W before an indirect jump, which marks a tail call. */
	if ((at[0] == 0xff && at[1] == 0x25) ||
	    ((at[0] & 0xf8) == 0x48 && at[1] == 0xff && (at[2] & 0x38) == 0x20))
		return true;
	return has_popped && (at[0] == 0xe9 || at[0] == 0xeb);
}

/* Operations of futex(2), and the flags that they may have (linux/futex.h). */
#define FUTEX_WAIT        0u
#define FUTEX_WAIT_BITSET 9u
#define FUTEX_OPERATION   0x7fu

bool x86_64_waits_without_end(struct memory *memory, const struct registers *registers)
{
	const uint64_t *values = registers->values;
	uint64_t ip = values[REG_RIP], operation = values[REG_RSI] & FUTEX_OPERATION;
	uint8_t code[2];
	/* A system call leaves the address after it in rcx: it is in it, or has just left it. */
	if (values[REG_RCX] != ip || !memory_read(memory, ip - sizeof(code), code, sizeof(code)) ||
	    code[0] != 0x0f || code[1] != 0x05)
		return false;
	return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && values[REG_RDI] &&
	       values[REG_RDI] % 4 == 0 && !values[REG_R10];
}
