/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/frame_registers.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "unwind/dwarf_expr.h"

/* A frame: each register has a value of its own, and at SP is a word. */
#define IP   UINT64_C(0x7f1200003000)
#define SP   UINT64_C(0x7ffe00000100)
#define WORD UINT64_C(0x0123456789abcdef)

#define RULES(bytes) (bytes), sizeof(bytes) - 1

static void make_frame(struct fake_memory *fake, struct registers *registers)
{
	fake_memory_init(fake);
	fake_map(fake, SP, 16);
	fake_poke_u64(fake, SP, WORD);
	registers->arch = &arch_x86_64;
	for (unsigned int i = 0; i < REG_ROWS; i++) {
		registers->values[i] = 0xa0 + i;
		registers->slots[i] = 0;
	}
	registers->values[REG_RIP] = IP;
	registers->values[REG_RSP] = SP;
}

struct expression_case {
	const char *code;
	size_t size;
	uint64_t expected;
};

static const struct expression_case expression_cases[] = {
	{ RULES("\x03\1\2\3\4\5\6\7\x08"), UINT64_C(0x0807060504030201) },
	{ RULES("\x08\xff"), 255 },
	{ RULES("\x09\xff"), UINT64_MAX },
	{ RULES("\x0a\xfe\xff"), 0xfffe },
	{ RULES("\x0b\xfe\xff"), (uint64_t)-2 },
	{ RULES("\x0c\xfe\xff\xff\xff"), 0xfffffffe },
	{ RULES("\x0d\xfe\xff\xff\xff"), (uint64_t)-2 },
	{ RULES("\x0e\xfe\xff\xff\xff\xff\xff\xff\xff"), (uint64_t)-2 },
	{ RULES("\x0f\xfe\xff\xff\xff\xff\xff\xff\xff"), (uint64_t)-2 },
	{ RULES("\x10\xe5\x8e\x26"), 624485 },
	{ RULES("\x11\xc0\xbb\x78"), (uint64_t)-123456 },
	{ RULES("\x31\x12\x22"), 2 },
	{ RULES("\x31\x32\x13"), 1 },
	{ RULES("\x31\x32\x14"), 1 },
	{ RULES("\x31\x32\x33\x15\x02"), 1 },
	{ RULES("\x31\x35\x16\x1c"), 4 },
	{ RULES("\x31\x32\x33\x17"), 2 },         /* 1 2 3: 3 1 2 */
	{ RULES("\x31\x32\x33\x17\x13"), 1 },     /* then 1 */
	{ RULES("\x31\x32\x33\x17\x13\x13"), 3 }, /* then 3 */
	{ RULES("\x09\xfb\x19"), 5 },
	{ RULES("\x3c\x3a\x1a"), 8 },
	{ RULES("\x09\xf9\x32\x1b"), (uint64_t)-3 },
	{ RULES("\x0f\0\0\0\0\0\0\0\x80\x09\xff\x1b"), UINT64_C(1) << 63 },
	{ RULES("\x32\x35\x1c"), (uint64_t)-3 },
	{ RULES("\x37\x35\x1d"), 2 },
	{ RULES("\x37\x35\x1e"), 35 },
	{ RULES("\x35\x1f"), (uint64_t)-5 },
	{ RULES("\x35\x20"), ~UINT64_C(5) },
	{ RULES("\x3c\x33\x21"), 15 },
	{ RULES("\x35\x23\x80\x02"), 261 },
	{ RULES("\x35\x34\x24"), 80 },
	{ RULES("\x35\x08\x40\x24"), 0 },
	{ RULES("\x09\x80\x3c\x25"), UINT64_C(0xfffffffffffff) >> 0 },
	{ RULES("\x09\x80\x33\x26"), (uint64_t)-16 },
	{ RULES("\x09\x80\x08\xff\x26"), UINT64_MAX },
	{ RULES("\x35\x33\x27"), 6 },
	{ RULES("\x09\xff\x31\x2a"), 0 }, /* -1 >= 1 */
	{ RULES("\x31\x31\x29\x31\x32\x2b\x31\x31\x2c\x31\x32\x2d\x31\x32\x2e\x22\x22\x22"
		"\x22"),
	  4 },
	{ RULES("\x31\x28\x01\x00\x96\x35"), 5 },
	{ RULES("\x32\x30\x28\x01\x00\x35"), 5 },
	{ RULES("\x32\x2f\x01\x00\x35"), 2 },
	{ RULES("\x35\x31\x1c\x12\x28\xfa\xff"), 0 }, /* counts down */
	{ RULES("\x57"), SP },
	{ RULES("\x90\x07"), SP },
	{ RULES("\x76\x7f"), 0xa0 + REG_RBP - 1 },
	{ RULES("\x92\x10\x01"), IP + 1 },
	{ RULES("\x77\x00\x06"), WORD },
	{ RULES("\x77\x01\x94\x02"), WORD >> 8 & 0xffff },
	{ RULES("\x4f"), 31 },
};

TEST(expressions)
{
	struct fake_memory fake;
	struct registers registers;
	make_frame(&fake, &registers);
	for (size_t i = 0; i < sizeof(expression_cases) / sizeof(expression_cases[0]); i++) {
		const struct expression_case *row = &expression_cases[i];
		uint64_t value = 0x5a5a;
		CU_ASSERT(dwarf_expr_run(&fake.memory, &registers, (const uint8_t *)row->code,
					 row->size, NULL, &value));
		if (value != row->expected)
			(void)fprintf(stderr, "case %zu\n", i);
		ASSERT_UINT(value, row->expected);
	}
	fake_memory_deinit(&fake);
}

TEST(expressions_that_cannot_be_run)
{
	static const struct expression_case cases[] = {
		{ RULES(""), 0 },
		{ RULES("\x96"), 0 },
		{ RULES("\x06"), 0 },
		{ RULES("\x30\x06"), 0 },
		{ RULES("\x22"), 0 },
		{ RULES("\x31\x22"), 0 },
		{ RULES("\x12"), 0 },
		{ RULES("\x31\x14"), 0 },
		{ RULES("\x31\x15\x01"), 0 },
		{ RULES("\x31\x30\x1b"), 0 },
		{ RULES("\x31\x30\x1d"), 0 },
		{ RULES("\x08"), 0 },
		{ RULES("\x10\x80"), 0 },
		{ RULES("\x81\x00"), 0 },
		{ RULES("\x61"), 0 },
		{ RULES("\x92\x11\x00"), 0 },
		{ RULES("\x77\x00\x94\x09"), 0 },
		{ RULES("\x77\x00\x94\x00"), 0 },
		{ RULES("\x01"), 0 },
		{ RULES("\x9c"), 0 },
		{ RULES("\xff"), 0 },
		{ RULES("\x2f\xfd\xff"), 0 },     /* forever */
		{ RULES("\x31\x2f\xfc\xff"), 0 }, /* the stack overflows */
		{ RULES("\x31\x2f\xfb\xff"), 0 }, /* before the beginning */
		{ RULES("\x31\x2f\x01\x00"), 0 }, /* after the end */
		{ RULES("\x31\x2f\x00\x80"), 0 },
	};
	struct fake_memory fake;
	struct registers registers;
	make_frame(&fake, &registers);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 0x5a5a;
		if (dwarf_expr_run(&fake.memory, &registers, (const uint8_t *)cases[i].code,
				   cases[i].size, NULL, &value)) {
			(void)fprintf(stderr, "case %zu\n", i);
			CU_FAIL("it was run");
		}
		ASSERT_UINT(value, 0x5a5a);
	}
	fake_memory_deinit(&fake);
}

TEST(registers_of_dwarf)
{
	/* psABI, figure 3.36. */
	static const uint8_t expected[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					    REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					    REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	for (unsigned int i = 0; i < sizeof(expected); i++)
		ASSERT_UINT(arch_of_dwarf(&arch_x86_64, i), expected[i]);
	ASSERT_UINT(arch_of_dwarf(&arch_x86_64, 17), ARCH_NONE);
	ASSERT_UINT(arch_of_dwarf(&arch_x86_64, UINT64_MAX), ARCH_NONE);
}

SUITE(.name = "dwarf_expr")
