/* SPDX-License-Identifier: MIT */
/* Where calls and jumps go (Intel SDM, volume 2: CALL, JMP, MOV, LEA; prefixes: 2.1.1). */
#include "arch/x86_64/opcodes.h"
#include "mem/memory.h"

#define REX   0x40u
#define REX_W 8u
#define REX_B 1u

/* ModRM of an address relative to the next instruction: mod 0, rm 5. */
static bool is_relative(uint8_t modrm)
{
	return (modrm & 0xc7) == 5;
}

static uint64_t relative(const uint8_t *displacement, uint64_t next)
{
	return next + (uint64_t)(int64_t)(int32_t)load_u32(displacement);
}

/* The instruction without its prefixes; REX comes last. */
static size_t prefixes_size(const uint8_t *bytes, size_t size, uint8_t *ret_rex)
{
	size_t at = 0;
	while (at < size && (bytes[at] == 0x66 || bytes[at] == 0x3e || bytes[at] == 0xf2 ||
			     bytes[at] == 0xf3 || bytes[at] == 0x2e))
		at++;
	*ret_rex = 0;
	if (at < size && (bytes[at] & 0xf0) == REX)
		*ret_rex = bytes[at++];
	return at;
}

/* A constant that is loaded into a register: mov of 64 bits, or lea of a relative address. */
static void load_constant(const uint8_t *at, size_t size, uint8_t rex, uint64_t next,
			  struct code_constants *constants)
{
	unsigned int high = rex & REX_B ? 8 : 0;
	if (!(rex & REX_W))
		return;
	if (size == 9 && (at[0] & 0xf8) == 0xb8)
		code_constant_set(constants, (at[0] & 7u) + high, load_u64(at + 1), false);
	if (size == 6 && at[0] == 0x8d && is_relative(at[1])) {
		code_constant_set(constants, (at[1] >> 3 & 7u) + (rex & 4u ? 8 : 0),
				  relative(at + 2, next), false);
	}
}

bool x86_64_call_target(const uint8_t *bytes, size_t size, uint64_t address,
			struct code_constants *constants, struct code_reference *ret)
{
	/* A constant is good for the next instruction: nothing else is known to have left it alone. */
	const struct code_constants before = *constants;
	uint64_t next = address + size;
	uint8_t rex;
	size_t begin = prefixes_size(bytes, size, &rex);
	const uint8_t *at = bytes + begin;
	size -= begin;
	constants->known = 0;
	load_constant(at, size, rex, next, constants);
	if (size == 5 && (at[0] == 0xe8 || at[0] == 0xe9)) {
		*ret = (struct code_reference){ relative(at + 1, next), false };
		return true;
	}
	unsigned int what = size >= 2 && at[0] == 0xff ? at[1] >> 3 & 7u : 0;
	if (what != 2 && what != 4)
		return false;
	if (size == 6 && is_relative(at[1])) {
		*ret = (struct code_reference){ relative(at + 2, next), true };
		return true;
	}
	unsigned int mode = at[1] >> 6, number = (at[1] & 7u) + (rex & REX_B ? 8 : 0);
	if (size != 2 || (mode != 3 && mode != 0) || !(before.known >> number & 1))
		return false;
	*ret = (struct code_reference){ before.values[number], mode == 0 };
	return true;
}
