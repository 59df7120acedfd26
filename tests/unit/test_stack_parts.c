/* SPDX-License-Identifier: MIT */
/* The parts of the stack walk: spans, calls, maps of references, names of slots. */
#include "arch/x86_64/frame_registers.h"
#include "arch/x86_64/opcodes.h"
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/stack/ref_map.h"
#include "stack/span.h"
#include "stack/stack.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "unwind/registers.h"
#include "util/text.h"

#define CODE ((uint64_t)0x400000)

TEST(calls_are_told_by_their_bytes)
{
	/* As objdump shows them. */
	static const struct {
		uint8_t bytes[8];
		size_t size;
		bool is_call;
	} rows[] = {
		{ { 0xe8, 0x12, 0x34, 0x56, 0x78 }, 5, true },       /* call rel32 */
		{ { 0x66, 0x48, 0xe8, 1, 2, 3, 4 }, 7, true },       /* with prefixes */
		{ { 0xff, 0xd0 }, 2, true },                         /* call rax */
		{ { 0x41, 0xff, 0xd3 }, 3, true },                   /* call r11 */
		{ { 0xff, 0x10 }, 2, true },                         /* call [rax] */
		{ { 0xff, 0x50, 0x18 }, 3, true },                   /* call [rax+18] */
		{ { 0xff, 0x14, 0x24 }, 3, true },                   /* call [rsp] */
		{ { 0xff, 0x54, 0x24, 0x08 }, 4, true },             /* call [rsp+8] */
		{ { 0xff, 0x15, 1, 2, 3, 4 }, 6, true },             /* call [rip+...] */
		{ { 0xff, 0x90, 1, 2, 3, 4 }, 6, true },             /* call [rax+...] */
		{ { 0xff, 0x94, 0x24, 1, 2, 3, 4 }, 7, true },       /* call [rsp+...] */
		{ { 0xff, 0x14, 0xc5, 1, 2, 3, 4 }, 7, true },       /* call [8*rax+...] */
		{ { 0x41, 0xff, 0x94, 0x24, 1, 2, 3, 4 }, 8, true }, /* call [r12+...] */
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 }, 7, false },
		{ { 0xff, 0xe0 }, 2, false },             /* jmp rax */
		{ { 0xff, 0x30 }, 2, false },             /* push [rax] */
		{ { 0xe9, 1, 2, 3, 4 }, 5, false },       /* jmp rel32 */
		{ { 0xff, 0x50, 0x18, 0x90 }, 4, false }, /* call, nop */
	};
	struct fake_memory memory;
	fake_memory_init(&memory);
	fake_map(&memory, CODE, 0x100);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static const uint8_t zeros[16] = { 0 };
		fake_poke(&memory, CODE + 0x30, zeros, sizeof(zeros));
		fake_poke(&memory, CODE + 0x40 - rows[i].size, rows[i].bytes, rows[i].size);
		if (x86_64_follows_call(&memory.memory, CODE + 0x40) != rows[i].is_call)
			ASSERT_UINT(i, UINT32_MAX);
	}
	/* At the start of what can be read: as far as it goes. */
	fake_poke(&memory, CODE, rows[2].bytes, 2);
	CU_ASSERT(x86_64_follows_call(&memory.memory, CODE + 2));
	CU_ASSERT(!x86_64_follows_call(&memory.memory, CODE + 4));
	/* Code that cannot be read says nothing against it. */
	CU_ASSERT(x86_64_follows_call(&memory.memory, CODE + 1));
	CU_ASSERT(x86_64_follows_call(&memory.memory, 0x9000));
	CU_ASSERT(x86_64_follows_call(&memory.memory, 1));
	fake_memory_deinit(&memory);
}

TEST(a_futex_without_a_limit_is_told_from_others)
{
	/* rcx, rdi, rsi, r10 of a thread whose rip is behind a system call. */
	static const struct {
		uint64_t after, futex, operation, limit;
		bool is_endless;
	} rows[] = {
		{ CODE + 2, 0x7000, 0x80, 0, true },        /* FUTEX_WAIT | FUTEX_PRIVATE_FLAG */
		{ CODE + 2, 0x7000, 0x189, 0, true },       /* FUTEX_WAIT_BITSET and two flags */
		{ CODE + 2, 0x7000, 0x189, 0x7f00, false }, /* a limit of time */
		{ CODE + 2, 0x7000, 0x81, 0, false },       /* FUTEX_WAKE */
		{ CODE + 2, 0x7002, 0x80, 0, false },       /* no futex */
		{ CODE + 4, 0x7000, 0x80, 0, false },       /* not in a system call */
	};
	static const uint8_t code[] = { 0x0f, 0x05, 0x90 };
	struct fake_memory memory;
	fake_memory_init(&memory);
	fake_map(&memory, CODE, 0x100);
	fake_poke(&memory, CODE, code, sizeof(code));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct registers registers = { .arch = &arch_x86_64 };
		registers.values[REG_RIP] = CODE + 2;
		registers.values[REG_RCX] = rows[i].after;
		registers.values[REG_RDI] = rows[i].futex;
		registers.values[REG_RSI] = rows[i].operation;
		registers.values[REG_R10] = rows[i].limit;
		if (x86_64_waits_without_end(&memory.memory, &registers) != rows[i].is_endless)
			ASSERT_UINT(i, UINT32_MAX);
		registers.values[REG_RIP] = registers.values[REG_RCX] = CODE + 3;
		CU_ASSERT_FALSE(x86_64_waits_without_end(&memory.memory, &registers));
	}
	fake_memory_deinit(&memory);
}

TEST(spans_join_writable_ranges)
{
	struct target_range ranges[] = {
		{ .start = 0x1000, .end = 0x2000, .flags = 5 },
		{ .start = 0x2000, .end = 0x3000, .flags = 6 },
		{ .start = 0x3000, .end = 0x5000, .flags = 6 },
		{ .start = 0x6000, .end = 0x7000, .flags = 6 },
		{ .start = 0x7000, .end = 0x8000, .flags = 4 },
	};
	struct target target = { .arch = &arch_x86_64,
				 .map = { .ranges = ranges, .range_count = 5 } };
	for (uint64_t at = 0x2000; at < 0x5000; at += 0xff8) {
		struct span span = span_at(&target, at);
		ASSERT_UINT(span.start, 0x2000);
		ASSERT_UINT(span.end, 0x5000);
	}
	ASSERT_UINT(span_at(&target, 0x6fff).start, 0x6000);
	ASSERT_UINT(span_at(&target, 0x6fff).end, 0x7000);
	static const uint64_t none[] = { 0, 0x1800, 0x5000, 0x5fff, 0x7000, 0x8000, UINT64_MAX };
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ASSERT_UINT(span_at(&target, none[i]).end, 0);
	CU_ASSERT(span_is_code(&target, 0x1000) && !span_is_code(&target, 0x2000));
	CU_ASSERT(!span_is_code(&target, 0x5800));
	/* Without ranges everything may be a stack, or code. */
	target.map.range_count = 0;
	struct span span = span_at(&target, 0x2000);
	CU_ASSERT(span_has(&span, 0x2000) && span_has(&span, 0x100000));
	span = span_at(&target, UINT64_MAX);
	CU_ASSERT(span.end == UINT64_MAX && span.start < span.end);
	CU_ASSERT(span_is_code(&target, 0x1234));
}

/* The tokens of a map: "position:kind" each. */
static void check_map(const uint8_t *bytes, size_t size, const char *expected)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct runtime *runtime = fake_runtime(fake);
	uint64_t address = fake_alloc(&fake->memory, size);
	fake_poke(&fake->memory, address, bytes, size);
	struct ref_map map;
	struct ref_map_token token;
	struct text text = { 0 };
	const uint64_t words[3] = { 0, 0, address };
	CU_ASSERT(ref_map_open(runtime, words, &map));
	for (unsigned int i = 0; i < 100000 && ref_map_next(&map, &token); i++) {
		if (text.size < 200)
			text_printf(&text, "%u:%u ", token.position, token.kind);
	}
	ASSERT_TEXT(text.bytes ? text.bytes : "", expected);
	text_deinit(&text);
	fake_clr_destroy(fake);
}

TEST(maps_of_references_are_read_by_bits)
{
	/* gcrefmap.h: two bits a word, seven bits a byte. */
	check_map((const uint8_t[]){ 0x00 }, 1, "0:0 ");
	check_map((const uint8_t[]){ 0x01 }, 1, "0:1 ");
	check_map((const uint8_t[]){ 0x24 }, 1, "0:0 1:1 2:2 ");
	/* Over the edge of a byte: 1 1 1 and the low bit of 2. */
	check_map((const uint8_t[]){ 0x80 | 0x15, 0x01 }, 2, "0:1 1:1 2:1 3:2 ");
	/* 3 and 0100: 2, that is 1 + 4 words that are nothing; then 1. */
	check_map((const uint8_t[]){ 0x80 | 0x0b, 0x00 }, 2, "0:0 5:0 ");
	/* 3 and 1000: 1, that is a generic method's parameter. */
	check_map((const uint8_t[]){ 0x07 }, 1, "0:3 ");
	/* Cut, and without end. */
	check_map((const uint8_t[]){ 0x81 }, 1, "0:1 1:0 2:0 ");
	uint8_t endless[8192];
	memset(endless, 0x80, sizeof(endless));
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t address = fake_alloc(&fake->memory, sizeof(endless));
	fake_poke(&fake->memory, address, endless, sizeof(endless));
	struct ref_map map;
	struct ref_map_token token;
	const uint64_t words[3] = { 0, 0, address };
	unsigned int count = 0;
	CU_ASSERT(ref_map_open(fake_runtime(fake), words, &map));
	while (ref_map_next(&map, &token))
		count++;
	CU_ASSERT(count < 10000);
	fake_clr_destroy(fake);
}

TEST(maps_are_found_by_their_cell)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct runtime *runtime = fake_runtime(fake);
	struct fake_memory *memory = &fake->memory;
	uint64_t image = fake_alloc(memory, 0x1000), module = fake_alloc(memory, 1024);
	uint64_t info = fake_alloc(memory, 512);
	/* ReadyToRun header at +0x100, import sections at +0x200, cells at +0x400, maps at +0x600. */
	fake_poke_u64(memory, module + coreclr_offset(runtime, L_MODULE_R2R), info);
	fake_poke_u64(memory, module + coreclr_offset(runtime, L_MODULE_BASE), image);
	fake_poke_u64(memory, info + coreclr_offset(runtime, L_R2R_HEADER), image + 0x100);
	fake_poke_u32(memory, image + 0x100, 0x00525452);
	fake_poke_u32(memory, image + 0x10c, 1);
	fake_poke_u32(memory, image + 0x110, 101);
	fake_poke_u32(memory, image + 0x114, 0x200);
	fake_poke_u32(memory, image + 0x118, 40);
	fake_poke_u32(memory, image + 0x214, 0x400);
	fake_poke_u32(memory, image + 0x218, 0x100);
	fake_poke_u32(memory, image + 0x21c, 8 << 24);
	fake_poke_u32(memory, image + 0x224, 0x600);
	fake_poke_u32(memory, image + 0x600, 8);
	static const uint8_t maps[] = { 0x81, 0x02, 0x00, 0x24 };
	fake_poke(memory, image + 0x608, maps, sizeof(maps));
	const struct {
		uint64_t words[3];
		uint64_t found; /* 0: none */
	} rows[] = {
		{ { module, image + 0x400, 0 }, image + 0x608 },
		{ { module, image + 0x408, 0 }, image + 0x60a },
		{ { module, image + 0x410, 0 }, image + 0x60b },
		{ { module, image + 0x500, 0 }, 0 }, /* after the cells */
		{ { module, image + 0x3f8, 0 }, 0 },
		{ { module, image - 8, 0 }, 0 },
		{ { 0, image + 0x400, 0 }, 0 },
		{ { 0x10, image + 0x400, 0 }, 0 },
		{ { 0, 0, image + 0x20 }, image + 0x20 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ref_map map = { .next = 0 };
		ASSERT_UINT(ref_map_open(runtime, rows[i].words, &map), rows[i].found != 0);
		ASSERT_UINT(map.next, rows[i].found);
	}
	fake_poke_u32(memory, image + 0x10c, UINT32_MAX);
	struct ref_map map;
	CU_ASSERT(!ref_map_open(runtime, rows[0].words, &map));
	fake_clr_destroy(fake);
}

TEST(slots_have_names)
{
	static const struct {
		struct stack_root root;
		const char *name;
	} rows[] = {
		{ { .base = REG_RBP, .offset = -0x20 }, "rbp-20" },
		{ { .base = REG_RSP, .offset = 0x18 }, "rsp+18" },
		{ { .base = REG_RSP, .offset = INT32_MIN }, "rsp-80000000" },
		{ { .base = REG_R12, .is_register = true }, "r12" },
		{ { .base = ARCH_NONE }, "" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char slot[STACK_SLOT_SIZE];
		stack_root_slot(&arch_x86_64, &rows[i].root, slot);
		ASSERT_TEXT(slot, rows[i].name);
	}
}

SUITE(.name = "stack_parts")
