/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/frame_registers.h"
#include "arch/x86_64/unwind_codes.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "unwind/registers.h"

/* https://learn.microsoft.com/cpp/build/exception-handling-x64 */
enum {
	PUSH = 0,
	ALLOC_LARGE = 1,
	ALLOC_SMALL = 2,
	SET_FPREG = 3,
	SAVE = 4,
	SAVE_FAR = 5,
	EPILOG = 6,
	XMM = 8,
	XMM_FAR = 9,
	MACHFRAME = 10,
	SET_FPREG_LARGE = 11, /* of the runtime, on Unix */
};
#define CODE(offset, operation, info) (uint16_t)((offset) | (operation) << 8 | (info) << 12)
#define CHAINED                       4

#define IMAGE      ((uint64_t)0x7e0000000000)
#define FUNCTION   (IMAGE + 0x1000)
#define INFO       (IMAGE + 0x2000)
#define STACK      ((uint64_t)0x7ffff000)
#define STACK_SIZE 0x4000u

struct fixture {
	struct fake_memory memory;
	struct unwind_function function;
	struct registers registers, before;
};

/* Words of the stack hold their own address, so that a value tells where it was read. */
static struct fixture set_up(uint64_t rip_offset)
{
	struct fixture fixture = {
		.function = { .begin = FUNCTION, .unwind_info = INFO, .image_base = IMAGE }
	};
	fake_memory_init(&fixture.memory);
	fake_map(&fixture.memory, IMAGE, 0x4000);
	fake_map(&fixture.memory, STACK, STACK_SIZE);
	for (uint64_t at = STACK; at < STACK + STACK_SIZE; at += 8)
		fake_poke_u64(&fixture.memory, at, at);
	for (unsigned int i = 0; i < REG_ROWS; i++)
		fixture.registers.values[i] = 0x1111u * (uint64_t)(i + 1);
	fixture.registers.values[REG_RSP] = STACK + 0x100;
	fixture.registers.values[REG_RIP] = FUNCTION + rip_offset;
	return fixture;
}

static void tear_down(struct fixture *fixture)
{
	fake_memory_deinit(&fixture->memory);
}

/* UNWIND_INFO: version 1, flags, prologue's size, codes, frame register and offset. */
/* The bytes of an UNWIND_INFO before its codes, but for the number of these. */
struct info_head {
	uint8_t flags, prologue, frame;
};

static void put_info(struct fixture *fixture, uint64_t at, struct info_head head,
		     const uint16_t *codes, uint8_t count)
{
	uint8_t header[4] = { (uint8_t)(1 | head.flags << 3), head.prologue, count, head.frame };
	fake_poke(&fixture->memory, at, header, sizeof(header));
	if (count)
		fake_poke(&fixture->memory, at + 4, codes, 2 * (size_t)count);
}
#define PUT_INFO(fixture, prologue, frame, ...)                                 \
	put_info((fixture), INFO, (struct info_head){ 0, (prologue), (frame) }, \
		 (const uint16_t[]){ __VA_ARGS__ },                             \
		 (uint8_t)(sizeof((const uint16_t[]){ __VA_ARGS__ }) / 2))

static bool step(struct fixture *fixture)
{
	fixture->before = fixture->registers;
	return unwind_codes_step(&fixture->memory.memory, &fixture->function, &fixture->registers);
}

static void check_register(const struct fixture *fixture, unsigned int reg, uint64_t slot)
{
	ASSERT_UINT(fixture->registers.slots[reg], slot);
	ASSERT_UINT(fixture->registers.values[reg], slot);
}

/* The caller's rip was read at @p slot, its rsp is after that. */
static void check_return(const struct fixture *fixture, uint64_t slot)
{
	ASSERT_UINT(fixture->registers.values[REG_RIP], slot);
	ASSERT_UINT(fixture->registers.values[REG_RSP], slot + 8);
}

static void check_fails(struct fixture *fixture)
{
	CU_ASSERT(!step(fixture));
	CU_ASSERT(memcmp(&fixture->registers, &fixture->before, sizeof(fixture->before)) == 0);
}

TEST(test_pushes)
{
	struct fixture fixture = set_up(0x20);
	/* push rbp; push r15; push rbx; sub rsp, 0x28 */
	PUT_INFO(&fixture, 8, 0, CODE(8, ALLOC_SMALL, 4), CODE(4, PUSH, 3), CODE(3, PUSH, 15),
		 CODE(1, PUSH, 5));
	CU_ASSERT(step(&fixture));
	uint64_t at = STACK + 0x100 + 0x28;
	check_register(&fixture, REG_RBX, at);
	check_register(&fixture, REG_R15, at + 8);
	check_register(&fixture, REG_RBP, at + 16);
	check_return(&fixture, at + 24);
	/* all else is as it was */
	ASSERT_UINT(fixture.registers.values[REG_R14], 0x1111u * (uint64_t)(REG_R14 + 1));
	ASSERT_UINT(fixture.registers.slots[REG_R14], 0);
	tear_down(&fixture);
	/* no codes at all */
	fixture = set_up(0);
	put_info(&fixture, INFO, (struct info_head){ 0 }, NULL, 0);
	CU_ASSERT(step(&fixture));
	check_return(&fixture, STACK + 0x100);
	tear_down(&fixture);
}

TEST(test_large)
{
	struct fixture fixture = set_up(0x20);
	/* scaled by 8; or all 32 bits */
	PUT_INFO(&fixture, 16, 0, CODE(16, ALLOC_LARGE, 0), 0x100, CODE(9, ALLOC_LARGE, 1), 0x1008,
		 0);
	CU_ASSERT(step(&fixture));
	check_return(&fixture, STACK + 0x100 + 0x800 + 0x1008);
	tear_down(&fixture);
	fixture = set_up(0x20);
	PUT_INFO(&fixture, 16, 0, CODE(9, ALLOC_LARGE, 1), 0, 1); /* 0x10000: no stack there */
	check_fails(&fixture);
	tear_down(&fixture);
}

TEST(test_prologue)
{
	/* Only what was carried out is undone: codes up to the offset. */
	static const struct {
		uint64_t offset, return_slot;
		bool has_rbp, has_rbx;
	} cases[] = {
		{ 0, 0x100, false, false }, { 1, 0x108, true, false }, { 2, 0x110, true, true },
		{ 5, 0x110, true, true },   { 6, 0x120, true, true },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture = set_up(cases[i].offset);
		PUT_INFO(&fixture, 6, 0, CODE(6, ALLOC_SMALL, 1), CODE(2, PUSH, REG_RBX),
			 CODE(1, PUSH, REG_RBP));
		CU_ASSERT(step(&fixture));
		check_return(&fixture, STACK + cases[i].return_slot);
		ASSERT_UINT(fixture.registers.slots[REG_RBP] != 0, cases[i].has_rbp);
		ASSERT_UINT(fixture.registers.slots[REG_RBX] != 0, cases[i].has_rbx);
		tear_down(&fixture);
	}
}

TEST(test_frame_register)
{
	/* push rbp; sub rsp, 0x50; lea rbp, [rsp+0x20]; then rsp moved (alloca) */
	struct fixture fixture = set_up(0x40);
	PUT_INFO(&fixture, 10, REG_RBP | 2 << 4, CODE(10, SET_FPREG, 0), CODE(5, ALLOC_SMALL, 9),
		 CODE(1, PUSH, REG_RBP));
	fixture.registers.values[REG_RBP] = STACK + 0x320;
	CU_ASSERT(step(&fixture));
	check_register(&fixture, REG_RBP, STACK + 0x300 + 0x50);
	check_return(&fixture, STACK + 0x358);
	tear_down(&fixture);
	/* an offset that is too large for four bits: 0x11 * 16 */
	fixture = set_up(0x40);
	PUT_INFO(&fixture, 10, REG_RBP | 15 << 4, CODE(10, SET_FPREG_LARGE, 0), 0x11, 0,
		 CODE(1, PUSH, REG_RBP));
	fixture.registers.values[REG_RBP] = STACK + 0x310;
	CU_ASSERT(step(&fixture));
	check_register(&fixture, REG_RBP, STACK + 0x200);
	check_return(&fixture, STACK + 0x208);
	tear_down(&fixture);
	/* before it is set, rbp is still the caller's */
	fixture = set_up(5);
	PUT_INFO(&fixture, 10, REG_RBP | 2 << 4, CODE(10, SET_FPREG, 0), CODE(5, ALLOC_SMALL, 9),
		 CODE(1, PUSH, REG_RBP));
	CU_ASSERT(step(&fixture));
	check_return(&fixture, STACK + 0x100 + 0x58);
	tear_down(&fixture);
}

TEST(test_saved_registers)
{
	struct fixture fixture = set_up(0x40);
	/* saves count from the frame's base, whatever was undone before; vectors are not read */
	PUT_INFO(&fixture, 20, 0, CODE(20, SAVE, REG_R12), 3, CODE(16, SAVE_FAR, REG_RBX), 0x40, 0,
		 CODE(12, XMM, 6), 0xffff, CODE(10, XMM_FAR, 7), 0xffff, 0xffff, CODE(9, EPILOG, 0),
		 0, CODE(4, ALLOC_SMALL, 15));
	CU_ASSERT(step(&fixture));
	check_register(&fixture, REG_R12, STACK + 0x118);
	check_register(&fixture, REG_RBX, STACK + 0x140);
	check_return(&fixture, STACK + 0x180);
	tear_down(&fixture);
	fixture = set_up(0x40);
	PUT_INFO(&fixture, 20, REG_RBP | 1 << 4, CODE(20, SAVE, REG_R12), 3, CODE(8, SET_FPREG, 0),
		 CODE(4, ALLOC_SMALL, 15));
	fixture.registers.values[REG_RBP] = STACK + 0x410;
	CU_ASSERT(step(&fixture));
	check_register(&fixture, REG_R12, STACK + 0x418);
	check_return(&fixture, STACK + 0x480);
	tear_down(&fixture);
}

TEST(test_machine_frame)
{
	for (unsigned int has_code = 0; has_code < 2; has_code++) {
		struct fixture fixture = set_up(0x40);
		uint64_t at = STACK + 0x108 + 8 * (uint64_t)has_code;
		PUT_INFO(&fixture, 1, 0, CODE(1, PUSH, REG_RBP), CODE(0, MACHFRAME, has_code));
		CU_ASSERT(step(&fixture));
		ASSERT_UINT(fixture.registers.values[REG_RIP], at);
		ASSERT_UINT(fixture.registers.values[REG_RSP], at + 24);
		tear_down(&fixture);
	}
}

static void put_chain(struct fixture *fixture, uint64_t at, const uint16_t *codes, uint8_t count,
		      uint32_t begin, uint64_t next)
{
	uint32_t function[3] = { begin, begin + 0x100, (uint32_t)(next - IMAGE) };
	put_info(fixture, at, (struct info_head){ CHAINED, 0, 0 }, codes, count);
	fake_poke(&fixture->memory, at + 4 + 2 * (size_t)((count + 1) & ~1), function,
		  sizeof(function));
}

TEST(test_chain)
{
	static const uint16_t first[] = { CODE(0, PUSH, REG_R13) };
	static const uint16_t second[] = { CODE(4, ALLOC_SMALL, 0), CODE(1, PUSH, REG_RBX) };
	struct fixture fixture = set_up(0x40);
	/* the second's prologue is undone as far as rip is past it */
	put_chain(&fixture, INFO, first, 1, 0x1000 + 0x3e, INFO + 0x100);
	put_info(&fixture, INFO + 0x100, (struct info_head){ 0, 4, 0 }, second, 2);
	CU_ASSERT(step(&fixture));
	check_register(&fixture, REG_R13, STACK + 0x100);
	check_register(&fixture, REG_RBX, STACK + 0x108);
	check_return(&fixture, STACK + 0x110);
	tear_down(&fixture);
	/* round and round */
	fixture = set_up(0x40);
	put_chain(&fixture, INFO, NULL, 0, 0x1000, INFO);
	check_fails(&fixture);
	/* to nowhere */
	put_chain(&fixture, INFO, NULL, 0, 0x1000, IMAGE + 0x8000);
	check_fails(&fixture);
	tear_down(&fixture);
}

TEST(test_bad)
{
	struct fixture fixture = set_up(0x40);
	uint8_t version = 0;
	PUT_INFO(&fixture, 4, 0, CODE(1, PUSH, REG_RBP));
	fake_poke(&fixture.memory, INFO, &version, 1);
	check_fails(&fixture);
	version = 3;
	fake_poke(&fixture.memory, INFO, &version, 1);
	check_fails(&fixture);
	PUT_INFO(&fixture, 4, 0, CODE(1, 12, 0)); /* no such operation */
	check_fails(&fixture);
	PUT_INFO(&fixture, 4, 0, CODE(1, 7, 0), 0, 0); /* spare */
	check_fails(&fixture);
	PUT_INFO(&fixture, 4, 0, CODE(1, SAVE_FAR, 3), 0); /* a code that is cut */
	check_fails(&fixture);
	PUT_INFO(&fixture, 4, REG_RBP, CODE(1, PUSH, 3), CODE(1, ALLOC_LARGE, 1), 0);
	check_fails(&fixture);
	PUT_INFO(&fixture, 4, 0, CODE(1, PUSH, REG_RBP));
	fixture.registers.values[REG_RSP] = STACK + STACK_SIZE - 8; /* the return address */
	check_fails(&fixture);
	fixture.registers.values[REG_RSP] = UINT64_MAX - 7;
	check_fails(&fixture);
	fixture.function.unwind_info = IMAGE + 0x3ffe;
	check_fails(&fixture);
	tear_down(&fixture);
}

static bool is_whole(struct fixture *fixture)
{
	return unwind_frame_is_whole(&fixture->memory.memory, &fixture->function,
				     &fixture->registers);
}

TEST(test_prologue_ends)
{
	static const struct {
		uint64_t offset;
		bool is_whole;
	} cases[] = { { 0, false }, { 1, false }, { 7, false }, { 8, true }, { 0x40, true } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture = set_up(cases[i].offset);
		PUT_INFO(&fixture, 8, 0, CODE(8, ALLOC_SMALL, 5), CODE(1, PUSH, REG_RBP));
		CU_ASSERT(is_whole(&fixture) == cases[i].is_whole);
		fixture.function.unwind_info = 0;
		CU_ASSERT(!is_whole(&fixture));
		tear_down(&fixture);
	}
}

/* Instructions at rip; what is left of an epilogue is carried out. */
TEST(test_epilogue)
{
	static const struct {
		const char *bytes;
		uint8_t size, pops;
		bool is_epilogue;
	} cases[] = {
		{ "\x5b\x41\x5f\x5d\xc3", 5, 3, true }, /* pop rbx; pop r15; pop rbp; ret */
		{ "\x41\x5f\x5d\xc3", 4, 2, true },
		{ "\x5d\xc3", 2, 1, true },
		{ "\xc3", 1, 0, true },
		{ "\xc2\x08\x00", 3, 0, true },                 /* ret 8 */
		{ "\xf3\xc3", 2, 0, true },                     /* rep ret */
		{ "\xf2\xc3", 2, 0, true },                     /* bnd ret */
		{ "\x5d\xff\x25\x00\x00\x00\x00", 7, 1, true }, /* jmp [rip] */
		{ "\x5d\x48\xff\xe0", 4, 1, true },             /* rex.W jmp rax: a tail call */
		{ "\x5d\xe9\x00\x00\x00\x00", 6, 1, true },     /* jmp */
		{ "\xff\xe0\x90\x90", 4, 0, false },            /* jmp rax: a switch */
		{ "\xe9\x00\x00\x00\x00", 5, 0, false },        /* jmp: a branch, most likely */
		{ "\x5d\x90\xc3\x90", 4, 0, false },
		{ "\x90\x90\x90\x90", 4, 0, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned int is_active = 0; is_active < 2; is_active++) {
			struct fixture fixture = set_up(0x40);
			bool is_epilogue = is_active && cases[i].is_epilogue;
			PUT_INFO(&fixture, 8, 0, CODE(8, ALLOC_SMALL, 5), CODE(1, PUSH, REG_RBP));
			fake_poke(&fixture.memory, FUNCTION + 0x40, cases[i].bytes, cases[i].size);
			CU_ASSERT(is_whole(&fixture) == !cases[i].is_epilogue);
			fixture.function.is_active = is_active;
			CU_ASSERT(step(&fixture));
			check_return(&fixture, is_epilogue
						       ? STACK + 0x100 + 8 * (uint64_t)cases[i].pops
						       : STACK + 0x138);
			if (is_epilogue && cases[i].pops) {
				check_register(&fixture, REG_RBP,
					       STACK + 0xf8 + 8 * (uint64_t)cases[i].pops);
			}
			tear_down(&fixture);
		}
	}
	struct fixture fixture = set_up(0x40);
	fixture.function.is_active = true;
	PUT_INFO(&fixture, 8, 0, CODE(1, PUSH, REG_RBP));
	fake_poke(&fixture.memory, FUNCTION + 0x40, "\x5d\xc3", 2);
	fixture.registers.values[REG_RSP] = STACK + STACK_SIZE - 8;
	check_fails(&fixture);
	/* the code is not in the target */
	fixture.registers.values[REG_RSP] = STACK + 0x100;
	fixture.registers.values[REG_RIP] = FUNCTION + 0x10000;
	CU_ASSERT(step(&fixture));
	check_return(&fixture, STACK + 0x108);
	tear_down(&fixture);
}

TEST(test_registers)
{
	struct target_thread thread = { .tid = 1 };
	struct registers registers;
	for (unsigned int i = 0; i < REGISTER_COUNT; i++)
		thread.registers[i] = 100 + i;
	registers_of_thread(&arch_x86_64, &thread, &registers);
	ASSERT_UINT(registers.values[REG_RAX], 100 + REGISTER_RAX);
	ASSERT_UINT(registers.values[REG_RBX], 100 + REGISTER_RBX);
	ASSERT_UINT(registers.values[REG_RSP], 100 + REGISTER_RSP);
	ASSERT_UINT(registers.values[REG_RSI], 100 + REGISTER_RSI);
	ASSERT_UINT(registers.values[REG_R15], 100 + REGISTER_R15);
	ASSERT_UINT(registers.values[REG_RIP], 100 + REGISTER_RIP);
	ASSERT_UINT(registers.slots[REG_RBX], 0);
	ASSERT_TEXT(arch_x86_64.register_names[REG_RAX], "rax");
	ASSERT_TEXT(arch_x86_64.register_names[7], "rdi");
	ASSERT_TEXT(arch_x86_64.register_names[12], "r12");
	ASSERT_TEXT(arch_x86_64.register_names[REG_RIP], "rip");
}

SUITE(.name = "unwind_codes")
