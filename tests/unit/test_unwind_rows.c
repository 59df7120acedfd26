/* SPDX-License-Identifier: MIT */
/*
 * Unwind codes as call frame instructions: at each instruction, both lead to the same caller.
 */
#include "arch/x86_64/frame_registers.h"
#include "arch/x86_64/unwind_codes.h"
#include "arch/x86_64/unwind_rows.h"
#include "support/assert_more.h"
#include "support/cfi_maker.h"
#include "support/suite.h"
#include "util/text.h"

/* https://learn.microsoft.com/cpp/build/exception-handling-x64 */
enum {
	PUSH = 0,
	ALLOC_LARGE_CODE = 1,
	ALLOC = 2,
	SET_FRAME = 3,
	SAVE = 4,
	MACHFRAME = 10,
};
#define CODE(offset, operation, info) (uint16_t)((offset) | (operation) << 8 | (info) << 12)

/* The codes of functions lie apart from the code. */
#define INFO        (BASE + 0x3800)
#define FUNCTION_AT (BASE + FUNCTION)

/* A function: its code, and its UNWIND_INFO. */
struct sample {
	const char *code;
	uint16_t size;
	uint8_t prologue, frame, chained;
	uint16_t codes[12];
	uint8_t count;
};
#define BYTES(bytes) .code = (bytes), .size = sizeof(bytes) - 1

static void put_info(struct cfi_world *world, const struct sample *sample, uint64_t at)
{
	const uint8_t head[4] = { (uint8_t)(1 | sample->chained << 5), sample->prologue,
				  sample->count, sample->frame };
	fake_poke(&world->fake, at, head, sizeof(head));
	fake_poke(&world->fake, at + 4, sample->codes, sizeof(sample->codes));
}

static const struct unwind_function function = {
	.begin = FUNCTION_AT, .unwind_info = INFO, .image_base = BASE, .is_active = true
};

/* The rows of @p sample; false: it cannot be described. */
static bool describe(const struct sample *sample, struct text *ret)
{
	struct cfi_world world;
	cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE("\0") });
	fake_poke(&world.fake, FUNCTION_AT, sample->code, sample->size);
	put_info(&world, sample, INFO);
	bool done = unwind_rows_write(&world.fake.memory, &function, sample->size, ret);
	cfi_world_deinit(&world);
	return done;
}

/* The state in front of the instruction at @p offset: how far rsp is below the CFA, and whether rbp is set. */
struct moment {
	uint16_t offset;
	uint16_t depth;
	int16_t rbp; /* its distance from the CFA; 0: it is the caller's */
};

static void check_moment(struct cfi_world *world, const struct moment *moment)
{
	struct registers by_rows = cfi_world_registers(FUNCTION_AT + moment->offset);
	by_rows.values[REG_RSP] = SP;
	if (moment->rbp)
		by_rows.values[REG_RBP] = SP + moment->depth - (uint64_t)moment->rbp;
	struct registers by_codes = by_rows;
	ASSERT_UINT(cfi_world_step(world, true, &by_rows), CFI_FRAME);
	CU_ASSERT_TRUE_FATAL(unwind_codes_step(&world->fake.memory, &function, &by_codes));
	for (unsigned int i = 0; i < REG_ROWS; i++) {
		if (by_rows.values[i] != by_codes.values[i])
			printf("register %u at %u\n", i, moment->offset);
		ASSERT_UINT(by_rows.values[i], by_codes.values[i]);
	}
	ASSERT_UINT(by_rows.values[REG_RSP], SP + moment->depth);
}

static void check(const struct sample *sample, const struct moment *moments, size_t count)
{
	HD_CLEANUP(text) struct text rows = { 0 };
	struct cfi_world world;
	CU_ASSERT_TRUE_FATAL(describe(sample, &rows));
	cfi_world_init(&world, &(struct cfi_spec){ .fde = rows.bytes, .fde_size = rows.size });
	fake_poke(&world.fake, FUNCTION_AT, sample->code, sample->size);
	put_info(&world, sample, INFO);
	for (size_t i = 0; i < count; i++)
		check_moment(&world, &moments[i]);
	cfi_world_deinit(&world);
}
#define CHECK(sample, ...)                                      \
	check((sample), (const struct moment[]){ __VA_ARGS__ }, \
	      sizeof((const struct moment[]){ __VA_ARGS__ }) / sizeof(struct moment))

TEST(pushes_and_an_allocation_are_undone_at_each_instruction)
{
	/* push r14; push rbx; sub rsp, 28; nop; add rsp, 28; pop rbx; pop r14; ret; nop */
	const struct sample sample = {
		BYTES("\x41\x56\x53\x48\x83\xec\x28\x90\x48\x83\xc4\x28\x5b\x41\x5e\xc3\x90"),
		.prologue = 7,
		.codes = { CODE(7, ALLOC, 4), CODE(3, PUSH, REG_RBX), CODE(2, PUSH, REG_R14) },
		.count = 3,
	};
	CHECK(&sample, { 0, 8, 0 }, { 2, 16, 0 }, { 3, 24, 0 }, { 7, 64, 0 }, { 8, 64, 0 },
	      { 12, 24, 0 }, { 13, 16, 0 }, { 15, 8, 0 }, { 16, 64, 0 });
}

TEST(a_frame_pointer_that_the_codes_do_not_tell_is_found)
{
	/* push rbp; push rbx; sub rsp, 18; lea rbp, [rsp+20]; nop; lea rsp, [rbp-8]; pop rbx; pop rbp; ret; nop */
	const struct sample sample = {
		BYTES("\x55\x53\x48\x83\xec\x18\x48\x8d\x6c\x24\x20\x90\x48\x8d\x65\xf8\x5b\x5d"
		      "\xc3\x90"),
		.prologue = 6,
		.codes = { CODE(6, ALLOC, 2), CODE(2, PUSH, REG_RBX), CODE(1, PUSH, REG_RBP) },
		.count = 3,
	};
	CHECK(&sample, { 0, 8, 0 }, { 1, 16, 0 }, { 2, 24, 0 }, { 6, 48, 0 }, { 11, 48, 16 },
	      { 12, 48, 16 }, { 16, 24, 16 }, { 17, 16, 16 }, { 18, 8, 0 }, { 19, 48, 16 });
	/* rsp is of no importance then: a signal handler may have another stack. */
	HD_CLEANUP(text) struct text rows = { 0 };
	CU_ASSERT_TRUE_FATAL(describe(&sample, &rows));
	struct cfi_world world;
	cfi_world_init(&world, &(struct cfi_spec){ .fde = rows.bytes, .fde_size = rows.size });
	struct registers registers = cfi_world_registers(FUNCTION_AT + 11);
	registers.values[REG_RSP] = SP - 0x80;
	registers.values[REG_RBP] = SP + 0x20;
	ASSERT_UINT(cfi_world_step(&world, true, &registers), CFI_FRAME);
	ASSERT_UINT(registers.values[REG_RSP], SP + 0x30);
	ASSERT_UINT(registers.values[REG_RIP], cfi_world_word(SP + 0x28));
	cfi_world_deinit(&world);
}

TEST(a_frame_register_is_the_base_of_what_is_saved)
{
	/* push rbp; sub rsp, 40; lea rbp, [rsp+20]; mov [rsp+8], rbx; nop */
	const struct sample sample = {
		BYTES("\x55\x48\x83\xec\x40\x48\x8d\x6c\x24\x20\x48\x89\x5c\x24\x08\x90\x90"),
		.prologue = 15,
		.frame = REG_RBP | 2 << 4,
		.codes = { CODE(15, SAVE, REG_RBX), 1, CODE(10, SET_FRAME, 0), CODE(5, ALLOC, 7),
			   CODE(1, PUSH, REG_RBP) },
		.count = 5,
	};
	CHECK(&sample, { 0, 8, 0 }, { 1, 16, 0 }, { 5, 80, 0 }, { 10, 80, 48 }, { 15, 80, 48 });
}

TEST(a_large_allocation_and_a_tail_call_are_described)
{
	/* push rbx; sub rsp, 1000; nop; add rsp, 1000; pop rbx; rex.jmp rax; nop */
	const struct sample sample = {
		BYTES("\x53\x48\x81\xec\x00\x10\x00\x00\x90\x48\x81\xc4\x00\x10\x00\x00\x5b\x48"
		      "\xff\xe0\x90"),
		.prologue = 8,
		.codes = { CODE(8, ALLOC_LARGE_CODE, 0), 0x200, CODE(1, PUSH, REG_RBX) },
		.count = 3,
	};
	CHECK(&sample, { 0, 8, 0 }, { 1, 16, 0 }, { 8, 0x1010, 0 }, { 9, 0x1010, 0 }, { 16, 16, 0 },
	      { 17, 8, 0 }, { 20, 0x1010, 0 });
}

TEST(bytes_that_only_look_like_an_epilogue_are_none)
{
	/* push rbx; sub rsp, 20; mov eax, 90c35b90; nop: "pop rbx; ret" in a number. */
	const struct sample sample = {
		BYTES("\x53\x48\x83\xec\x20\xb8\x90\x5b\xc3\x90\x90"),
		.prologue = 5,
		.codes = { CODE(5, ALLOC, 3), CODE(1, PUSH, REG_RBX) },
		.count = 2,
	};
	CHECK(&sample, { 5, 48, 0 }, { 10, 48, 0 });
	/* push rbx; pop rbx; jmp to the begin of the function: a loop, and no tail call */
	const struct sample loop = {
		BYTES("\x53\x5b\xe9\xf9\xff\xff\xff\x90"),
		.prologue = 1,
		.codes = { CODE(1, PUSH, REG_RBX) },
		.count = 1,
	};
	HD_CLEANUP(text) struct text rows = { 0 };
	CU_ASSERT_TRUE(describe(&loop, &rows));
	ASSERT_UINT(rows.size, 5);
}

TEST(codes_that_contradict_themselves_are_left_out)
{
	static const struct sample bad[] = {
		{ BYTES("\x90\x90\x90"), .codes = { CODE(1, MACHFRAME, 0) }, .count = 1 },
		{ BYTES("\x90\x90\x90"), .codes = { CODE(1, 15, 0) }, .count = 1 },
		{ BYTES("\x90\x90\x90"), .codes = { CODE(1, ALLOC_LARGE_CODE, 0) }, .count = 1 },
		/* Not in the order of their offsets. */
		{ BYTES("\x90\x90\x90"), .codes = { CODE(1, ALLOC, 0), CODE(2, PUSH, 3) },
		  .count = 2 },
		/* Saved outside of the frame. */
		{ BYTES("\x90\x90\x90"), .codes = { CODE(1, SAVE, 3), 100 }, .count = 2 },
		/* A frame register above the frame. */
		{ BYTES("\x90\x90\x90"), .frame = REG_RBP | 15 << 4,
		  .codes = { CODE(1, SET_FRAME, 0) }, .count = 1 },
		/* Chained to itself: the RVA after the codes is that of the info. */
		{ BYTES("\x90\x90\x90"), .chained = 1,
		  .codes = { CODE(1, PUSH, 3), 0, 0, 0, 0, 0, 0x3800, 0 }, .count = 2 },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		HD_CLEANUP(text) struct text rows = { 0 };
		text_puts(&rows, "kept");
		bool done = describe(&bad[i], &rows);
		if (done)
			printf("sample %zu\n", i);
		CU_ASSERT_FALSE(done);
		ASSERT_UINT(rows.size, 4);
	}
}

TEST(code_that_is_missing_leaves_the_prologue)
{
	struct cfi_world world;
	const struct sample sample = { .codes = { CODE(1, PUSH, REG_RBX) }, .count = 1 };
	HD_CLEANUP(text) struct text rows = { 0 };
	cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE("\0") });
	put_info(&world, &sample, INFO);
	struct unwind_function elsewhere = function;
	elsewhere.begin = UINT64_C(0x1000);
	CU_ASSERT_TRUE(unwind_rows_write(&world.fake.memory, &elsewhere, 64, &rows));
	ASSERT_UINT(rows.size, 5);
	cfi_world_deinit(&world);
}

SUITE(.name = "unwind_rows")
