/* SPDX-License-Identifier: MIT */
/* Where calls and jumps go (Arm ARM, C4.1 and C6.2). */
#include "arch/arm64/opcodes.h"
#include "mem/memory.h"

#define INSTRUCTION 4u
#define NO_REGISTER 31u

/* The field of @p bits bits from @p from on, with its sign. */
static int64_t signed_field(uint32_t word, unsigned int from, unsigned int bits)
{
	uint64_t value = word >> from & ((UINT64_C(1) << bits) - 1);
	uint64_t sign = UINT64_C(1) << (bits - 1);
	return (int64_t)(value ^ sign) - (int64_t)sign;
}

static bool is_value(const struct code_constants *constants, unsigned int number)
{
	return constants->known >> number & 1 && !(constants->loaded >> number & 1);
}

/* An instruction that makes a constant out of constants; false: it does not. */
static bool make_constant(uint32_t word, uint64_t address, struct code_constants *constants)
{
	unsigned int to = word & 31u, from = word >> 5 & 31u, shift = (word >> 21 & 3u) * 16;
	uint64_t part = (uint64_t)(word >> 5 & 0xffffu) << shift;
	const uint64_t *values = constants->values;
	if (to == NO_REGISTER)
		return false;
	if ((word & 0x9f000000u) == 0x90000000u) { /* adrp */
		uint64_t pages = (uint64_t)signed_field(word, 5, 19) << 2 | (word >> 29 & 3u);
		code_constant_set(constants, to, (address & ~UINT64_C(0xfff)) + (pages << 12),
				  false);
	} else if ((word & 0xff800000u) == 0xd2800000u) { /* movz */
		code_constant_set(constants, to, part, false);
	} else if ((word & 0xff800000u) == 0xf2800000u && is_value(constants, to)) { /* movk */
		code_constant_set(constants, to, (values[to] & ~(UINT64_C(0xffff) << shift)) | part,
				  false);
	} else if ((word & 0xffc00000u) == 0x91000000u && is_value(constants, from)) { /* add */
		code_constant_set(constants, to, values[from] + (word >> 10 & 0xfffu), false);
	} else if ((word & 0xffc00000u) == 0xf9400000u && is_value(constants, from)) { /* ldr */
		code_constant_set(constants, to, values[from] + (uint64_t)(word >> 10 & 0xfffu) * 8,
				  true);
	} else if ((word & 0xff000000u) == 0x58000000u) { /* ldr of a literal */
		code_constant_set(constants, to,
				  address + (uint64_t)signed_field(word, 5, 19) * INSTRUCTION,
				  true);
	} else {
		return false;
	}
	return true;
}

bool arm64_call_target(const uint8_t *bytes, size_t size, uint64_t address,
		       struct code_constants *constants, struct code_reference *ret)
{
	if (size != INSTRUCTION)
		return false;
	uint32_t word = load_u32(bytes);
	unsigned int number = word >> 5 & 31u;
	if ((word & 0x7c000000u) == 0x14000000u) { /* b, bl */
		constants->known = 0;
		*ret = (struct code_reference){
			address + (uint64_t)signed_field(word, 0, 26) * INSTRUCTION, false
		};
		return true;
	}
	if ((word & 0xffdffc1fu) == 0xd61f0000u) { /* br, blr */
		bool is_known = constants->known >> number & 1;
		if (is_known) {
			*ret = (struct code_reference){ constants->values[number],
							constants->loaded >> number & 1 };
		}
		constants->known = 0;
		return is_known;
	}
	if ((word & 0x1c000000u) == 0x14000000u) /* another branch, or a system instruction */
		constants->known = 0;
	/* Whatever it is, it writes to no other registers than these. */
	if (!make_constant(word, address, constants))
		constants->known &= ~(1u << (word & 31u) | 1u << number | 1u << (word >> 10 & 31u));
	return false;
}
