/* SPDX-License-Identifier: MIT */
/* arch/arm64: stubs, calls, signals and unwind data, as they were seen in cores and in images of .NET 10 and 11. */
#include "arch/arm64/opcodes.h"
#include "arch/arm64/register_table.h"
#include "arch/arm64/ucontext.h"
#include "arch/arm64/unwind_codes.h"
#include "arch/arm64/unwind_record.h"
#include "arch/arm64/unwind_rows.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "targets/target.h"
#include "unwind/cfi.h"
#include "util/text.h"

#define FUNCTION   ((uint64_t)0xffff40000000)
#define RECORD     ((uint64_t)0xffff40010000)
#define STACK      ((uint64_t)0xffff50000000)
#define STACK_SIZE 0x4000u
#define SP         (STACK + 0x100)

struct fixture {
	struct fake_memory memory;
	struct unwind_function function;
	struct registers registers, before;
};

/* Words of the stack hold their own address, so that a value tells where it was read. */
static struct fixture set_up(uint64_t offset, bool is_active)
{
	struct fixture fixture = { .function = { .begin = FUNCTION,
						 .unwind_info = RECORD,
						 .image_base = FUNCTION,
						 .is_active = is_active },
				   .registers.arch = &arch_arm64 };
	fake_memory_init(&fixture.memory);
	fake_map(&fixture.memory, FUNCTION, 0x20000);
	fake_map(&fixture.memory, STACK, STACK_SIZE);
	for (uint64_t at = STACK; at < STACK + STACK_SIZE; at += 8)
		fake_poke_u64(&fixture.memory, at, at);
	for (unsigned int i = 0; i < ARM64_REGISTER_COUNT; i++)
		fixture.registers.values[i] = 0x1111u * (uint64_t)(i + 1);
	fixture.registers.values[ARM64_SP] = SP;
	fixture.registers.values[ARM64_FP] = SP;
	fixture.registers.values[ARM64_PC] = FUNCTION + offset;
	fixture.before = fixture.registers;
	return fixture;
}

/* A record of @p length instructions whose codes are the bytes given; scopes are those of its epilogues. */
static void put_record(struct fixture *fixture, uint32_t length, const uint32_t *scopes,
		       size_t scope_count, const uint8_t *codes, size_t count)
{
	uint32_t words = (uint32_t)(count + 3) / 4;
	uint64_t at = RECORD + 4;
	fake_poke_u32(&fixture->memory, RECORD,
		      length | 1u << 20 | (uint32_t)scope_count << 22 | words << 27);
	for (size_t i = 0; i < scope_count; i++, at += 4)
		fake_poke_u32(&fixture->memory, at, scopes[i]);
	fake_poke(&fixture->memory, at, codes, count);
	fake_poke_u32(&fixture->memory, at + 4 * (uint64_t)words, 0x1234);
}
#define PUT(fixture, length, ...)                                                  \
	put_record((fixture), (length), NULL, 0, (const uint8_t[]){ __VA_ARGS__ }, \
		   sizeof((const uint8_t[]){ __VA_ARGS__ }))

static bool step(struct fixture *fixture)
{
	bool done = arm64_managed_step(&fixture->memory.memory, &fixture->function,
				       &fixture->registers);
	if (!done) {
		CU_ASSERT_EQUAL(
			memcmp(&fixture->registers, &fixture->before, sizeof(fixture->before)), 0);
	}
	return done;
}

static uint64_t value(const struct fixture *fixture, unsigned int number)
{
	return fixture->registers.values[number];
}

/* set_fp; save_next x 4; save_regp x19, 128; save_fplr_x 208: every P/Invoke frame. */
TEST(pairs_that_follow_are_found)
{
	struct fixture fixture = set_up(0x40, false);
	PUT(&fixture, 0x100, 0xe1, 0xe6, 0xe6, 0xe6, 0xe6, 0xc8, 16, 0x80 | 25, 0xe4);
	CU_ASSERT_TRUE_FATAL(step(&fixture));
	for (unsigned int i = 0; i < 10; i++) {
		ASSERT_UINT(value(&fixture, ARM64_X19 + i), SP + 128 + 8 * i);
		ASSERT_UINT(fixture.registers.slots[ARM64_X19 + i], SP + 128 + 8 * i);
	}
	ASSERT_UINT(value(&fixture, ARM64_FP), SP);
	ASSERT_UINT(value(&fixture, ARM64_PC), SP + 8);
	ASSERT_UINT(value(&fixture, ARM64_SP), SP + 208);
	fake_memory_deinit(&fixture.memory);
}

/* The stack pointer comes from the frame pointer; then a large frame: set_fp; save_fplr 0; alloc_m 640. */
TEST(large_frames)
{
	struct fixture fixture = set_up(0x40, false);
	fixture.registers.values[ARM64_SP] = STACK;
	PUT(&fixture, 0x100, 0xe1, 0x40, 0xc0, 40, 0xe4);
	CU_ASSERT_TRUE_FATAL(step(&fixture));
	ASSERT_UINT(value(&fixture, ARM64_SP), SP + 640);
	ASSERT_UINT(value(&fixture, ARM64_PC), SP + 8);
	fake_memory_deinit(&fixture.memory);
}

/* add_fp 16; save_regp x21, 48; save_r19r20_x 32 behind save_fplr_x 16 and alloc_l: the other codes. */
TEST(other_codes)
{
	struct fixture fixture = set_up(0x40, false);
	fixture.registers.values[ARM64_FP] = SP + 16;
	PUT(&fixture, 0x100, 0xe2, 2, 0xd8, 0x43, 0xc8, 0x86, 0xd1, 0x08, 0x20 | 4, 0x80 | 1, 0xe0,
	    0, 1, 0, 0xe4);
	CU_ASSERT_TRUE_FATAL(step(&fixture));
	/* x21, x22 at 48; d1 08: x23 at 64; x19, x20 at 0, then 32 up; then fp and lr; then 0x100 * 16. */
	ASSERT_UINT(value(&fixture, 21), SP + 48);
	ASSERT_UINT(value(&fixture, 22), SP + 56);
	ASSERT_UINT(value(&fixture, 23), SP + 64);
	ASSERT_UINT(value(&fixture, 19), SP);
	ASSERT_UINT(value(&fixture, 20), SP + 8);
	ASSERT_UINT(value(&fixture, ARM64_FP), SP + 32);
	ASSERT_UINT(value(&fixture, ARM64_PC), SP + 40);
	ASSERT_UINT(value(&fixture, ARM64_SP), SP + 32 + 16 + 4096);
	fake_memory_deinit(&fixture.memory);
}

/* pac_sign_lr: the return address on the stack is signed. */
TEST(signatures_are_taken_off)
{
	struct fixture fixture = set_up(0x40, false);
	PUT(&fixture, 0x100, 0x80 | 1, 0xfc, 0xe4);
	fake_poke_u64(&fixture.memory, SP + 8, UINT64_C(0x0048ffff7b8f4e2c));
	CU_ASSERT_TRUE_FATAL(step(&fixture));
	ASSERT_UINT(value(&fixture, ARM64_PC), UINT64_C(0xffff7b8f4e2c));
	fake_memory_deinit(&fixture.memory);
}

/* Prologue: stp fp, lr, [sp, #-32]!; mov fp, sp; what did not run is not undone. */
TEST(prologues)
{
	for (uint64_t ran = 0; ran <= 2; ran++) {
		struct fixture fixture = set_up(4 * ran, true);
		uint64_t lr = fixture.registers.values[ARM64_LR];
		PUT(&fixture, 0x100, 0xe1, 0x80 | 3, 0xe4);
		CU_ASSERT_EQUAL(arm64_frame_is_whole(&fixture.memory.memory, &fixture.function,
						     &fixture.registers),
				ran == 2);
		CU_ASSERT_TRUE_FATAL(step(&fixture));
		ASSERT_UINT(value(&fixture, ARM64_SP), ran ? SP + 32 : SP);
		ASSERT_UINT(value(&fixture, ARM64_PC), ran ? SP + 8 : lr);
		fake_memory_deinit(&fixture.memory);
	}
}

/* Epilogue at instruction 16: ldp x19, x20, [sp, #16]; ldp fp, lr, [sp], #32; ret. */
TEST(epilogues)
{
	static const uint8_t codes[] = { 0xe1, 0xc8, 2, 0x80 | 3, 0xe4, 0xc8, 2, 0x80 | 3, 0xe4 };
	static const uint32_t scopes[] = { 8u | 5u << 22, 16u | 5u << 22 };
	for (uint64_t ran = 0; ran <= 3; ran++) {
		struct fixture fixture = set_up(64 + 4 * ran, true);
		uint64_t lr = fixture.registers.values[ARM64_LR];
		put_record(&fixture, 32, scopes, 2, codes, sizeof(codes));
		bool is_body = arm64_frame_is_whole(&fixture.memory.memory, &fixture.function,
						    &fixture.registers);
		CU_ASSERT_EQUAL(is_body, ran == 3);
		CU_ASSERT_TRUE_FATAL(step(&fixture));
		bool is_gone = ran == 2;
		ASSERT_UINT(value(&fixture, ARM64_SP), is_gone ? SP : SP + 32);
		ASSERT_UINT(value(&fixture, ARM64_PC), is_gone ? lr : SP + 8);
		ASSERT_UINT(value(&fixture, 19), ran == 0 || is_body ? SP + 16 : 0x1111u * 20);
		fake_memory_deinit(&fixture.memory);
	}
}

/* With the bit E, the only epilogue is at the end, and the field says where its codes are. */
TEST(a_single_epilogue)
{
	struct fixture fixture = set_up(4 * 31, true);
	uint64_t lr = fixture.registers.values[ARM64_LR], size, length;
	fake_poke_u32(&fixture.memory, RECORD, 32u | 1u << 20 | 1u << 21 | 1u << 22 | 1u << 27);
	fake_poke(&fixture.memory, RECORD + 4, "\xe1\x83\xe4", 3);
	CU_ASSERT_TRUE_FATAL(arm64_unwind_extent(&fixture.memory.memory, RECORD, &size, &length));
	ASSERT_UINT(size, 12);
	ASSERT_UINT(length, 128);
	CU_ASSERT_TRUE_FATAL(step(&fixture));
	ASSERT_UINT(value(&fixture, ARM64_PC), lr);
	ASSERT_UINT(value(&fixture, ARM64_SP), SP);
	fake_memory_deinit(&fixture.memory);
}

/* A second word has the numbers when they do not fit. */
TEST(long_records)
{
	struct fixture fixture = set_up(0x40, false);
	uint64_t size, length;
	fake_poke_u32(&fixture.memory, RECORD, 0x100u | 1u << 20);
	fake_poke_u32(&fixture.memory, RECORD + 4, 40u | 2u << 16);
	uint64_t codes = RECORD + 8 + (uint64_t)4 * 40;
	fake_poke(&fixture.memory, codes, "\xe1\x83\xe4", 3);
	CU_ASSERT_TRUE_FATAL(arm64_unwind_extent(&fixture.memory.memory, RECORD, &size, &length));
	ASSERT_UINT(size, 8 + 160 + 8 + 4);
	CU_ASSERT_TRUE_FATAL(step(&fixture));
	ASSERT_UINT(value(&fixture, ARM64_SP), SP + 32);
	fake_memory_deinit(&fixture.memory);
}

/* Each of these is refused, and nothing changes. */
TEST(bad_records)
{
	static const struct {
		uint32_t first;
		uint8_t codes[4];
	} rows[] = {
		{ 0x100u | 1u << 27 | 1u << 18, { 0x83, 0xe4 } },  /* version 1 */
		{ 0x100u | 1u << 27, { 0x83, 0xe1, 0xe1, 0xe1 } }, /* no end */
		{ 0x100u | 1u << 27, { 0xe7, 0, 0, 0xe4 } },       /* not known */
		{ 0x100u | 1u << 27, { 0xe6, 0xe1, 0xe4 } },       /* the next pair of none */
		{ 0x100u | 1u << 27, { 0x83, 0xe6, 0xe4 } },
		{ 0x100u | 1u << 27, { 0xe5, 0x83, 0xe4 } },       /* the end of a part */
		{ 0x100u | 1u << 27, { 0xe3, 0xe3, 0xe3, 0xc8 } }, /* half a code */
		{ 0x100u | 1u << 27, { 0xcb, 0xc0, 0xe4 } },       /* a pair after lr */
		{ 0x100u | 1u << 27, { 0x05, 0xe4 } },             /* a caller without its lr */
		{ 0x100u | 1u << 27,
		  { 0xdf, 1, 0x83, 0xe4 } }, /* room for vectors without a size */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture fixture = set_up(0x40, false);
		fake_poke_u32(&fixture.memory, RECORD, rows[i].first);
		fake_poke(&fixture.memory, RECORD + 4, rows[i].codes, sizeof(rows[i].codes));
		CU_ASSERT_FALSE(step(&fixture));
		fake_memory_deinit(&fixture.memory);
	}
	struct fixture fixture = set_up(0x40, true);
	/* There is a second word only if the first says neither how many epilogues nor how many codes there are. */
	fake_poke_u32(&fixture.memory, RECORD, 0x100u | 1u << 22);
	fake_poke_u32(&fixture.memory, RECORD + 4, 1u << 16);
	fake_poke(&fixture.memory, RECORD + 8, "\x83\xe4", 2);
	CU_ASSERT_FALSE(step(&fixture));
	fixture.function.unwind_info = RECORD + 2;
	CU_ASSERT_FALSE(step(&fixture));
	fixture.function.unwind_info = 0x1000;
	CU_ASSERT_FALSE(step(&fixture));
	fake_memory_deinit(&fixture.memory);
}

/* The rows of a function of @p length instructions with the record that is there. */
static bool rows_of(struct fixture *fixture, uint32_t length, struct text *ret)
{
	return arm64_managed_rows(&fixture->memory.memory, &fixture->function, 4 * (uint64_t)length,
				  ret);
}
#define ASSERT_ROWS(text, ...)                                                    \
	do {                                                                      \
		static const uint8_t wanted[] = { __VA_ARGS__ };                  \
		ASSERT_UINT((text).size, sizeof(wanted));                         \
		CU_ASSERT_EQUAL(memcmp((text).bytes, wanted, sizeof(wanted)), 0); \
	} while (0)

/* stp fp, lr, [sp, #-96]!; stp x19, x20, [sp, #40]; stp x21, x22 behind; mov fp, sp; and back. */
TEST(rows_of_a_frame)
{
	static const uint8_t codes[] = { 0xe1, 0xe6, 0xc8, 5,         0x80 | 11, 0xe4,
					 0xe6, 0xc8, 5,    0x80 | 11, 0xe4 };
	static const uint32_t scopes[] = { 20u | 6u << 22 };
	HD_CLEANUP(text) struct text text = { 0 };
	struct fixture fixture = set_up(0, true);
	put_record(&fixture, 32, scopes, 1, codes, sizeof(codes));
	CU_ASSERT_TRUE_FATAL(rows_of(&fixture, 32, &text));
	ASSERT_ROWS(text, 0x44, 0x0c, 31, 96, 0x80 | 29, 12, 0x80 | 30, 11, 0x44, 0x80 | 19, 7,
		    0x80 | 20, 6, 0x44, 0x80 | 21, 5, 0x80 | 22, 4, 0x44, 0x0c, 29, 96,
		    /* the epilogue at 80: x21, x22; x19, x20; fp, lr and the stack pointer; ret */
		    0x04, 64, 0, 0, 0, 0x0a, 0x0c, 31, 96, 0x44, 0x08, 21, 0x08, 22, 0x44, 0x08, 19,
		    0x08, 20, 0x44, 0x0c, 31, 0, 0x08, 29, 0x08, 30, 0x44, 0x0b);
	fake_memory_deinit(&fixture.memory);
}

/* A function that signs its return address, with a part of the frame that fp does not have: alloc after mov fp, sp. */
TEST(rows_of_a_signed_frame)
{
	static const uint8_t codes[] = { 0x02, 0xe1, 0x80 | 3, 0xfc, 0xe4 };
	HD_CLEANUP(text) struct text text = { 0 };
	struct fixture fixture = set_up(0, true);
	put_record(&fixture, 32, NULL, 0, codes, sizeof(codes));
	CU_ASSERT_TRUE_FATAL(rows_of(&fixture, 32, &text));
	ASSERT_ROWS(text, 0x44, 0x2d, 0x44, 0x0c, 31, 32, 0x80 | 29, 4, 0x80 | 30, 3, 0x44, 0x0c,
		    29, 32, 0x44);
	fake_memory_deinit(&fixture.memory);
}

/*
 * Nothing is left of rows that cannot be written: fp is restored while the CFA depends on it; a save outside of the frame; more pairs
 * than there are registers.
 */
TEST(rows_that_cannot_be_written)
{
	static const uint8_t lost[] = { 0xe1, 0x80 | 3, 0xe4, 0xe6, 0xe4 };
	static const uint8_t outside[] = { 0xc8, 5, 0xe4 };
	static const uint8_t many[] = { 0xe6, 0xe6, 0xe6, 0xe6, 0xe6, 0xd8, 0, 0x80 | 11, 0xe4 };
	static const uint32_t scopes[] = { 20u | 3u << 22 };
	HD_CLEANUP(text) struct text text = { 0 };
	struct fixture fixture = set_up(0, true);
	text_puts(&text, "kept");
	put_record(&fixture, 32, scopes, 1, lost, sizeof(lost));
	CU_ASSERT_FALSE(rows_of(&fixture, 32, &text));
	put_record(&fixture, 32, NULL, 0, outside, sizeof(outside));
	CU_ASSERT_FALSE(rows_of(&fixture, 32, &text));
	put_record(&fixture, 32, NULL, 0, many, sizeof(many));
	CU_ASSERT_FALSE(rows_of(&fixture, 32, &text));
	ASSERT_UINT(text.size, 4);
	fake_memory_deinit(&fixture.memory);
}

TEST(calls)
{
	static const struct {
		uint32_t word;
		bool is_call;
	} rows[] = {
		{ 0x94000000, true },  /* bl */
		{ 0x97ffffff, true },  /* bl back */
		{ 0xd63f0100, true },  /* blr x8 */
		{ 0xd63f091f, true },  /* blraaz x8 */
		{ 0xd73f0909, true },  /* blraa x8, x9 */
		{ 0x14000000, false }, /* b */
		{ 0xd61f0100, false }, /* br x8 */
		{ 0xd65f03c0, false }, /* ret */
		{ 0xaa0003e0, false }, /* mov */
	};
	struct fixture fixture = set_up(0, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_poke_u32(&fixture.memory, FUNCTION, rows[i].word);
		CU_ASSERT_EQUAL(arm64_follows_call(&fixture.memory.memory, FUNCTION + 4),
				rows[i].is_call);
	}
	CU_ASSERT_TRUE(arm64_follows_call(&fixture.memory.memory, 0x1004));
	CU_ASSERT_FALSE(arm64_follows_call(&fixture.memory.memory, FUNCTION + 6));
	fake_memory_deinit(&fixture.memory);
}

/* Precodes of 10 and 11: code in one page of 16 KB, data in the next. */
TEST(precodes)
{
	static const uint8_t fixup[] = { 0x0b, 0x00, 0x02, 0x58, 0x60, 0x01, 0x1f, 0xd6,
					 0xbf, 0x39, 0x03, 0xd5, 0xec, 0xff, 0x01, 0x58,
					 0x0b, 0x00, 0x02, 0x58, 0x60, 0x01, 0x1f, 0xd6 };
	static const uint8_t stub[] = { 0x4a, 0x00, 0x02, 0x58, 0xec, 0xff,
					0x01, 0x58, 0x40, 0x01, 0x1f, 0xd6 };
	struct fixture fixture = set_up(0, true);
	struct memory *memory = &fixture.memory.memory;
	uint64_t data = FUNCTION + 16384, got = 0;
	fake_poke(&fixture.memory, FUNCTION, fixup, sizeof(fixup));
	fake_poke_u64(&fixture.memory, data, 0x1000);
	fake_poke_u64(&fixture.memory, data + 8, 0x2000);
	fake_poke_u64(&fixture.memory, data + 16, 0x3000);
	CU_ASSERT_TRUE_FATAL(arm64_precode_method(memory, FUNCTION, &got));
	ASSERT_UINT(got, 0x2000);
	CU_ASSERT_TRUE_FATAL(arm64_precode_target(memory, FUNCTION, &got));
	ASSERT_UINT(got, 0x1000);
	/* Its other entry, by which the runtime makes it ready. */
	CU_ASSERT_TRUE_FATAL(arm64_precode_method(memory, FUNCTION + 8, &got));
	ASSERT_UINT(got, 0x2000);
	fake_poke(&fixture.memory, FUNCTION, stub, sizeof(stub));
	CU_ASSERT_TRUE_FATAL(arm64_precode_method(memory, FUNCTION, &got));
	ASSERT_UINT(got, 0x1000);
	CU_ASSERT_TRUE_FATAL(arm64_precode_target(memory, FUNCTION, &got));
	ASSERT_UINT(got, 0x2000);
	fake_poke_u32(&fixture.memory, FUNCTION, 0xaa0003e0);
	CU_ASSERT_FALSE(arm64_precode_method(memory, FUNCTION, &got));
	CU_ASSERT_FALSE(arm64_precode_target(memory, FUNCTION, &got));
	CU_ASSERT_FALSE(arm64_precode_target(memory, 0x1000, &got));
	fake_memory_deinit(&fixture.memory);
}

#define UCONTEXT (STACK + 0x1000)

/* struct ucontext: fault address at 176, registers, then records, the first of the vector registers. */
static void put_ucontext(struct fixture *fixture)
{
	fake_poke_u64(&fixture->memory, UCONTEXT, 0);
	fake_poke_u64(&fixture->memory, UCONTEXT + 8, 0);
	fake_poke_u64(&fixture->memory, UCONTEXT + 176, 0x10);
	for (uint64_t i = 0; i < 31; i++)
		fake_poke_u64(&fixture->memory, UCONTEXT + 184 + 8 * i, 100 + i);
	fake_poke_u64(&fixture->memory, UCONTEXT + 176 + 256, SP);
	fake_poke_u64(&fixture->memory, UCONTEXT + 176 + 264, FUNCTION);
	fake_poke_u64(&fixture->memory, UCONTEXT + 464, UINT64_C(0x21046508001));
	fake_poke_u64(&fixture->memory, UCONTEXT + 464 + 0x210, UINT64_C(0x1045535201));
	fake_poke_u64(&fixture->memory, UCONTEXT + 464 + 0x218, UINT64_C(0x92000046));
	fake_poke_u64(&fixture->memory, UCONTEXT + 464 + 0x220, 0);
}

TEST(signal_frames)
{
	struct fixture fixture = set_up(0, true);
	struct memory *memory = &fixture.memory.memory;
	uint64_t address = 0;
	fake_poke_u64(&fixture.memory, FUNCTION, UINT64_C(0xd4000001d2801168));
	CU_ASSERT_TRUE(arm64_is_signal_return(memory, FUNCTION));
	CU_ASSERT_FALSE(arm64_is_signal_return(memory, FUNCTION + 4));
	put_ucontext(&fixture);
	CU_ASSERT_TRUE_FATAL(arm64_signal_context(memory, UCONTEXT, &fixture.registers));
	ASSERT_UINT(value(&fixture, 0), 100);
	ASSERT_UINT(value(&fixture, ARM64_LR), 130);
	ASSERT_UINT(value(&fixture, ARM64_SP), SP);
	ASSERT_UINT(value(&fixture, ARM64_PC), FUNCTION);
	ASSERT_UINT(fixture.registers.slots[1], UCONTEXT + 192);
	CU_ASSERT_TRUE_FATAL(arm64_fault_address(memory, UCONTEXT, &address));
	ASSERT_UINT(address, 0x10);
	/* Without the record of a fault, or with one of another kind, the address is old. */
	fake_poke_u64(&fixture.memory, UCONTEXT + 464 + 0x218, UINT64_C(0xf2000001));
	CU_ASSERT_FALSE(arm64_fault_address(memory, UCONTEXT, &address));
	fake_poke_u64(&fixture.memory, UCONTEXT + 464 + 0x210, 0);
	CU_ASSERT_FALSE(arm64_fault_address(memory, UCONTEXT, &address));
	fake_poke_u64(&fixture.memory, UCONTEXT + 464 + 0x210, UINT64_C(0x1));
	CU_ASSERT_FALSE(arm64_fault_address(memory, UCONTEXT, &address));
	CU_ASSERT_FALSE(arm64_signal_context(memory, UCONTEXT + 8, &fixture.registers));
	fake_poke_u64(&fixture.memory, UCONTEXT + 464, 0);
	CU_ASSERT_FALSE(arm64_signal_context(memory, UCONTEXT, &fixture.registers));
	CU_ASSERT_FALSE(arm64_signal_context(memory, 0x1000, &fixture.registers));
	fake_memory_deinit(&fixture.memory);
}

TEST(handlers_of_signals_return_to_what_they_interrupted)
{
	struct fixture fixture = set_up(0, true);
	fake_poke_u64(&fixture.memory, FUNCTION, UINT64_C(0xd4000001d2801168));
	put_ucontext(&fixture);
	struct target *target = target_create(TARGET_CORE, NULL);
	REQUIRE(target);
	target->memory = &fixture.memory.memory;
	struct cfi *cfi = cfi_create(target);
	REQUIRE(cfi);
	/* The kernel's record begins with a siginfo_t. */
	fixture.registers.values[ARM64_PC] = FUNCTION;
	fixture.registers.values[ARM64_SP] = UCONTEXT - 128;
	ASSERT_UINT(cfi_step(cfi, false, &fixture.registers), CFI_SIGNAL);
	ASSERT_UINT(value(&fixture, 0), 100);
	ASSERT_UINT(value(&fixture, ARM64_SP), SP);
	cfi_destroy(cfi);
	target->memory = NULL;
	target_destroy(target);
	fake_memory_deinit(&fixture.memory);
}

/* RhpCallFilterFunclet of NativeAOT: it gives the handler the x29 of the handler's method. */
TEST(frame_pointers_of_functions_that_have_given_them_away)
{
	static const uint32_t code[] = {
		0xa9ba7bfd, /* stp x29, x30, [sp, #-96]! */
		0xa90153f3, /* stp x19, x20, [sp, #16] */
		0x910003fd, /* mov x29, sp */
		0xd10103ff, /* sub sp, sp, #0x40 */
		0xf940019d, /* ldr x29, [x12] */
		0xd63f0020, /* blr x1 */
		0xd10103ff,
	};
	struct fixture fixture = set_up(0, true);
	struct memory *memory = &fixture.memory.memory;
	uint64_t fp = 0;
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		fake_poke_u32(&fixture.memory, FUNCTION + 4 * i, code[i]);
	CU_ASSERT_TRUE(arm64_frame_pointer(memory, FUNCTION, FUNCTION + 24, SP, &fp));
	ASSERT_UINT(fp, SP + 0x40);
	/* 4,096 bytes and more have a shift. */
	fake_poke_u32(&fixture.memory, FUNCTION + 12, 0xd14007ff);
	CU_ASSERT_TRUE(arm64_frame_pointer(memory, FUNCTION, FUNCTION + 24, SP, &fp));
	ASSERT_UINT(fp, SP + 0x1000);
	/* Nothing sets it, or the code cannot be read. */
	CU_ASSERT_FALSE(arm64_frame_pointer(memory, FUNCTION + 12, FUNCTION + 24, SP, &fp));
	CU_ASSERT_FALSE(arm64_frame_pointer(memory, 0x1000, 0x1010, SP, &fp));
	fake_memory_deinit(&fixture.memory);
}

TEST(functions_without_a_frame)
{
	struct fixture fixture = set_up(0, true);
	fixture.registers.values[ARM64_LR] = UINT64_C(0x0048ffff40000100);
	CU_ASSERT_TRUE_FATAL(arm64_leaf_step(&fixture.memory.memory, &fixture.registers));
	ASSERT_UINT(value(&fixture, ARM64_PC), UINT64_C(0xffff40000100));
	ASSERT_UINT(value(&fixture, ARM64_SP), SP);
	/* A second such step would lead to the same place. */
	CU_ASSERT_FALSE(arm64_leaf_step(&fixture.memory.memory, &fixture.registers));
	fake_memory_deinit(&fixture.memory);
}

TEST(waits_without_end)
{
	struct fixture fixture = set_up(4, true);
	struct memory *memory = &fixture.memory.memory;
	uint64_t *values = fixture.registers.values;
	fake_poke_u32(&fixture.memory, FUNCTION, 0xd4000001);
	values[0] = STACK;
	values[1] = 0x80 | 9; /* FUTEX_PRIVATE_FLAG, FUTEX_WAIT_BITSET */
	values[3] = 0;
	values[8] = 98;
	CU_ASSERT_TRUE(arm64_waits_without_end(memory, &fixture.registers));
	values[ARM64_PC] = FUNCTION;
	CU_ASSERT_TRUE(arm64_waits_without_end(memory, &fixture.registers));
	values[3] = STACK;
	CU_ASSERT_FALSE(arm64_waits_without_end(memory, &fixture.registers));
	values[3] = 0;
	values[8] = 99;
	CU_ASSERT_FALSE(arm64_waits_without_end(memory, &fixture.registers));
	values[8] = 98;
	values[ARM64_PC] = FUNCTION + 12;
	CU_ASSERT_FALSE(arm64_waits_without_end(memory, &fixture.registers));
	fake_memory_deinit(&fixture.memory);
}

SUITE(.name = "arm64")
