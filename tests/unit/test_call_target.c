/* SPDX-License-Identifier: MIT */
/* Where calls go (arch_ops.call_target), and instructions as text. */
#include "arch/arch.h"
#include "arch/disassembler.h"
#include "support/assert_more.h"
#include "support/made_up_arch.h"
#include "support/suite.h"

#define PLACE UINT64_C(0x7f0000001000)

/* The reference of the last of some instructions, each with its size in front; an address of 1: it has none. */
static struct code_reference last_of(const struct arch *arch, const uint8_t *bytes, size_t size)
{
	struct code_constants constants = { 0 };
	struct code_reference ret = { 1, false };
	uint64_t address = PLACE;
	for (size_t at = 0; at < size; at += 1u + bytes[at]) {
		struct code_reference found = { 1, false };
		bool has_one = arch->ops->call_target(bytes + at + 1, bytes[at], address,
						      &constants, &found);
		ret = has_one ? found : (struct code_reference){ 1, false };
		address += bytes[at];
	}
	return ret;
}

#define CHECK(arch, wanted, in_cell, ...)                                             \
	do {                                                                          \
		static const uint8_t bytes[] = { __VA_ARGS__ };                       \
		struct code_reference found = last_of(&(arch), bytes, sizeof(bytes)); \
		ASSERT_UINT(found.address, (wanted));                                 \
		CU_ASSERT_EQUAL(found.is_cell, (in_cell));                            \
	} while (0)

TEST(direct_and_relative_calls_of_x64)
{
	CHECK(arch_x86_64, PLACE + 5 + 0x10, false, 5, 0xe8, 0x10, 0, 0, 0);
	CHECK(arch_x86_64, PLACE + 5 - 0x10, false, 5, 0xe9, 0xf0, 0xff, 0xff, 0xff);
	CHECK(arch_x86_64, PLACE + 6 + 0x10, true, 6, 0xff, 0x15, 0x10, 0, 0, 0);
	/* A prefix, and the jump of a tail call. */
	CHECK(arch_x86_64, PLACE + 7 + 0x10, true, 7, 0x48, 0xff, 0x25, 0x10, 0, 0, 0);
	/* call [rax + 8], ret, and nothing at all. */
	CHECK(arch_x86_64, 1, false, 3, 0xff, 0x50, 8);
	CHECK(arch_x86_64, 1, false, 1, 0xc3);
	CHECK(arch_x86_64, 1, false, 0);
	CHECK(arch_x86_64, 1, false, 1, 0x48);
}

TEST(calls_of_x64_through_a_register_that_was_just_loaded)
{
	/* mov rax, 0x1122334455; call rax; call [rax]. */
	CHECK(arch_x86_64, 0x1122334455, false, 10, 0x48, 0xb8, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 0,
	      0, 2, 0xff, 0xd0);
	CHECK(arch_x86_64, 0x1122334455, true, 10, 0x48, 0xb8, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 0,
	      0, 2, 0xff, 0x10);
	/* mov r11, ...; call r11, and another register. */
	CHECK(arch_x86_64, 0x55, false, 10, 0x49, 0xbb, 0x55, 0, 0, 0, 0, 0, 0, 0, 3, 0x41, 0xff,
	      0xd3);
	CHECK(arch_x86_64, 1, false, 10, 0x49, 0xbb, 0x55, 0, 0, 0, 0, 0, 0, 0, 2, 0xff, 0xd3);
	/* lea r11, [rip + 0x20]; call [r11]. */
	CHECK(arch_x86_64, PLACE + 7 + 0x20, true, 7, 0x4c, 0x8d, 0x1d, 0x20, 0, 0, 0, 3, 0x41,
	      0xff, 0x13);
	/* An instruction between them may have changed it. */
	CHECK(arch_x86_64, 1, false, 10, 0x48, 0xb8, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, 1, 0x90,
	      2, 0xff, 0xd0);
}

#define WORD(word) 4, (word)&0xff, (word) >> 8 & 0xff, (word) >> 16 & 0xff, (word) >> 24

TEST(calls_of_arm64)
{
	/* bl +0x10; b -4. */
	CHECK(arch_arm64, PLACE + 0x10, false, WORD(0x94000004u));
	CHECK(arch_arm64, PLACE - 4, false, WORD(0x17ffffffu));
	/* movz x1, #0xed00; movk x1, #0x66de, lsl 16; ldr x1, [x1]; blr x1. */
	CHECK(arch_arm64, 0x66deed00, true, WORD(0xd29da001u), WORD(0xf2acdbc1u), WORD(0xf9400021u),
	      WORD(0xd63f0020u));
	/* The same with mov x0, x19 between, and with mov x1, x19, which changes it. */
	CHECK(arch_arm64, 0xed00, true, WORD(0xd29da001u), WORD(0xaa1303e0u), WORD(0xf9400021u),
	      WORD(0xd63f0020u));
	CHECK(arch_arm64, 1, false, WORD(0xd29da001u), WORD(0xaa1303e1u), WORD(0xf9400021u),
	      WORD(0xd63f0020u));
	/* adrp x11, +1 page; add x11, x11, #0x28; ldr x12, [x11, #8]; br x12. */
	CHECK(arch_arm64, PLACE + 0x1030, true, WORD(0xb000000bu), WORD(0x9100a16bu),
	      WORD(0xf940056cu), WORD(0xd61f0180u));
	/* ldr x9, +8; blr x9, after a call nothing is known, and what was loaded is not an address. */
	CHECK(arch_arm64, PLACE + 8, true, WORD(0x58000049u), WORD(0xd63f0120u));
	CHECK(arch_arm64, 1, false, WORD(0x58000049u), WORD(0x94000004u), WORD(0xd63f0120u));
	CHECK(arch_arm64, 1, false, WORD(0x58000049u), WORD(0xf9400129u), WORD(0xd63f0120u));
	CHECK(arch_arm64, 1, false, 2, 0, 0x94);
}

static void check_text(const struct arch *arch, const char *wanted, const uint8_t *bytes,
		       size_t size, uint32_t used)
{
	struct instruction instruction;
	struct disassembler *disassembler = disassembler_create(arch);
	CU_ASSERT_PTR_NOT_NULL_FATAL(disassembler);
	CU_ASSERT_TRUE_FATAL(disassembler_read(disassembler, bytes, size, PLACE, &instruction));
	ASSERT_TEXT(instruction.text, wanted);
	ASSERT_UINT(instruction.size, used);
	disassembler_destroy(disassembler);
}

TEST(instructions_as_text)
{
	static const uint8_t x64[] = { 0x48, 0x89, 0xe5, 0xc3 },
			     arm64[] = { 0xc0, 0x03, 0x5f, 0xd6 };
	check_text(&arch_x86_64, "mov rbp, rsp", x64, sizeof(x64), 3);
	check_text(&arch_x86_64, "ret", x64 + 3, 1, 1);
	check_text(&arch_arm64, "ret", arm64, sizeof(arm64), 4);
}

TEST(bytes_that_are_no_instruction)
{
	static const uint8_t bad[] = { 0x06, 0x06 }, cut[] = { 0x48, 0xb8, 1, 2 };
	struct instruction instruction = { .size = 7 };
	struct disassembler *disassembler = disassembler_create(&arch_x86_64);
	CU_ASSERT_PTR_NOT_NULL_FATAL(disassembler);
	CU_ASSERT_FALSE(disassembler_read(disassembler, bad, sizeof(bad), PLACE, &instruction));
	CU_ASSERT_FALSE(disassembler_read(disassembler, cut, sizeof(cut), PLACE, &instruction));
	CU_ASSERT_FALSE(disassembler_read(disassembler, bad, 0, PLACE, &instruction));
	ASSERT_UINT(instruction.size, 7);
	disassembler_destroy(disassembler);
	disassembler_destroy(NULL);
}

TEST(a_processor_that_nobody_knows_has_no_disassembler)
{
	CU_ASSERT_PTR_NULL(disassembler_create(&made_up_arch));
}

SUITE(.name = "call_target")
