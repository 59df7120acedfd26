/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/frame_registers.h"
#include "runtime/coreclr/code/debug_info.h"
#include "runtime/coreclr/code/debug_reader.h"
#include "runtime/coreclr/code/saved_variables.h"
#include "runtime/coreclr/code/variable_homes.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"

/* Debug info as the JIT and ReadyToRun images have it (doc/coreclr.md 12.13). */

#define CODE_BASE ((uint64_t)0x7e12 << 32 | 0x340000)
#define START     (CODE_BASE + 0x100)
#define NO_IL     0xffffffffu
#define PROLOG    0xfffffffeu
#define EPILOG    0xfffffffdu
#define FAILS     UINT32_MAX

/* Bytes that a test writes, nibble by nibble or bit by bit. */
struct blob {
	uint8_t bytes[512];
	size_t bits;
	bool is_sized; /* as in 11 */
};

static void put_bits(struct blob *blob, uint64_t value, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++, blob->bits++) {
		if (value >> i & 1)
			blob->bytes[blob->bits / 8] |= (uint8_t)(1u << blob->bits % 8);
	}
}

static void align(struct blob *blob)
{
	blob->bits = (blob->bits + 7) / 8 * 8;
}

/* 3 bits in a nibble, the most significant ones first, 8: more follow. */
static void put_number(struct blob *blob, uint32_t value)
{
	unsigned int groups = 1;
	while (groups < 11 && value >> 3 * groups)
		groups++;
	while (groups-- > 0)
		put_bits(blob, (value >> 3 * groups & 7) | (groups ? 8 : 0), 4);
}

static void put_bytes(struct blob *blob, const void *bytes, size_t size)
{
	memcpy(blob->bytes + blob->bits / 8, bytes, size);
	blob->bits += 8 * size;
}

static void put_blob(struct blob *blob, const struct blob *other)
{
	put_bytes(blob, other->bytes, (other->bits + 7) / 8);
}

struct bound {
	uint32_t native, il;
};

static const struct bound bounds[] = { { 0, PROLOG },   { 5, 0 },        { 0x20, 10 },
				       { 0x30, NO_IL }, { 0x40, 0x155 }, { 0x90, EPILOG } };
#define BOUNDS (sizeof(bounds) / sizeof(bounds[0]))

static struct blob loose_bounds(void)
{
	struct blob blob = { 0 };
	uint32_t native = 0;
	put_number(&blob, BOUNDS);
	for (size_t i = 0; i < BOUNDS; i++) {
		put_number(&blob, bounds[i].native - native);
		put_number(&blob, bounds[i].il + 3);
		put_number(&blob, (uint32_t)(i % 3));
		native = bounds[i].native;
	}
	align(&blob);
	return blob;
}

static struct blob bounds_with(unsigned int source_bits, unsigned int native_bits,
			       unsigned int il_bits)
{
	struct blob blob = { 0 };
	uint32_t native = 0;
	put_number(&blob, BOUNDS);
	put_number(&blob, native_bits - 1);
	put_number(&blob, il_bits - 1);
	align(&blob);
	for (size_t i = 0; i < BOUNDS; i++) {
		put_bits(&blob, source_bits == 3 ? i : i % 3, source_bits);
		put_bits(&blob, bounds[i].native - native, native_bits);
		put_bits(&blob, (uint32_t)(bounds[i].il + 3), il_bits);
		native = bounds[i].native;
	}
	align(&blob);
	return blob;
}

static struct blob packed_bounds(unsigned int native_bits, unsigned int il_bits)
{
	return bounds_with(2, native_bits, il_bits);
}

/* A signed number: the sign is the lowest bit. */
static void put_signed(struct blob *blob, int32_t value)
{
	put_number(blob, value < 0 ? (uint32_t)-value << 1 | 1 : (uint32_t)value << 1);
}

/* A variable from @p begin on, up to its location. */
static void put_variable(struct blob *blob, uint32_t begin, uint32_t size, int32_t number,
			 uint32_t kind)
{
	if (blob->is_sized)
		put_number(blob, (uint32_t)(number + 6));
	put_number(blob, begin);
	put_number(blob, size);
	if (!blob->is_sized)
		put_number(blob, (uint32_t)(number + 4));
	put_number(blob, kind);
}

/* Each kind of location; numbers of arguments come first. */
#define VARIABLES 10u
static struct blob all_variables(bool is_sized)
{
	struct blob blob = { .is_sized = is_sized };
	put_number(&blob, is_sized ? 15 : 14);
	if (is_sized) {
		put_variable(&blob, 0x10, 0x77, -5, 0); /* what a call returns, and its IL */
		put_number(&blob, 0);
	}
	put_variable(&blob, 0, 0x10, 0, 0); /* this: rdi (7) until 0x10, then on the stack */
	put_number(&blob, 7);
	put_variable(&blob, 0x10, 0x90, 0, 3); /* rbp - 0x18 */
	put_number(&blob, 5);
	put_signed(&blob, -0x18);
	put_variable(&blob, 0, 0xa0, -2, 0); /* the address for the result is not a variable */
	put_number(&blob, 0);
	put_variable(&blob, 0, 0xa0, 1, 1); /* address in r12 */
	put_number(&blob, 12);
	put_variable(&blob, 0, 0xa0, 2, 2); /* xmm3 of 10, which counts them from 32 on */
	put_number(&blob, 35);
	put_variable(&blob, 0, 0xa0, 3, 4); /* address at rsp + 0x108, rsp by its other number */
	put_number(&blob, 16);
	put_signed(&blob, 0x108);
	put_variable(&blob, 0, 0xa0, 4, 5); /* rbx and r15 */
	put_number(&blob, 3);
	put_number(&blob, 15);
	put_variable(&blob, 0, 0xa0, 5, 6); /* rax; rbp - 8 */
	put_number(&blob, 0);
	put_number(&blob, 5);
	put_signed(&blob, -8);
	put_variable(&blob, 0, 0xa0, 6, 7); /* -8, rbp; rax */
	put_signed(&blob, -8);
	put_number(&blob, 5);
	put_number(&blob, 0);
	put_variable(&blob, 0, 0xa0, 7, 8); /* rsp + 8 and the word after it */
	put_number(&blob, 4);
	put_signed(&blob, 8);
	put_variable(&blob, 0, 0xa0, -1, 10); /* of varargs */
	put_number(&blob, 0x30);
	put_variable(&blob, 0x20, 0x20, 8, 0); /* r8 from 0x20 to 0x3f */
	put_number(&blob, 8);
	put_variable(&blob, 0, 0xa0, 9, 0); /* a register that there is not */
	put_number(&blob, 17);
	put_variable(&blob, 0, 0xa0, 5000, 0); /* a variable that the method does not have */
	put_number(&blob, 1);
	align(&blob);
	return blob;
}

/* The sizes, then the bounds and the variables. */
static void put_info(struct blob *blob, const struct blob *of_bounds)
{
	struct blob variables = all_variables(blob->is_sized);
	put_number(blob, (uint32_t)of_bounds->bits / 8);
	put_number(blob, (uint32_t)variables.bits / 8);
	align(blob);
	put_blob(blob, of_bounds);
	put_blob(blob, &variables);
}

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	struct code_info code;
	uint64_t budget;
};

static struct fixture set_up(unsigned int major)
{
	struct fixture fixture = { .fake = fake_clr_create(&(struct fake_options){
					   .release = major >= 11 ? major : 10 }),
				   .budget = 1 << 20 };
	fixture.runtime = fake_runtime(fixture.fake);
	coreclr_of(fixture.runtime)->major = major;
	fixture.code =
		(struct code_info){ .start = START, .function = START, .image_base = CODE_BASE };
	fake_map(&fixture.fake->memory, CODE_BASE, 0x1000);
	return fixture;
}

static void put_jitted(struct fixture *fixture, const struct blob *blob)
{
	struct fake_memory *memory = &fixture->fake->memory;
	uint64_t header = fake_alloc(memory, 64), at = fake_alloc(memory, sizeof(blob->bytes));
	fake_poke(memory, at, blob->bytes, sizeof(blob->bytes));
	fake_poke_u64(memory, header, at);
	fake_poke_u64(memory, START - 8, header);
}

/* IL at @p offset of the code. */
static uint32_t il_at(struct fixture *fixture, uint32_t offset)
{
	uint32_t il = 0x7777;
	bool is_found = runtime_il_at(fixture->runtime, &fixture->code, START + offset,
				      &fixture->budget, &il);
	CU_ASSERT(is_found || il == 0x7777);
	return is_found ? il : FAILS;
}

/* All bounds, one by one: the epilog belongs to the IL before it. */
static void check_list(struct fixture *fixture)
{
	struct code_bounds list = { 0 };
	CU_ASSERT_TRUE_FATAL(
		runtime_bounds_read(fixture->runtime, &fixture->code, &fixture->budget, &list));
	ASSERT_UINT_FATAL(list.rows_count, BOUNDS);
	for (size_t i = 0; i < BOUNDS; i++) {
		uint32_t il = bounds[i].il == PROLOG   ? 0
			      : bounds[i].il == EPILOG ? bounds[i - 1].il
						       : bounds[i].il;
		ASSERT_UINT(list.rows[i].native, bounds[i].native);
		ASSERT_UINT(list.rows[i].il, il == NO_IL ? CODE_BOUND_NOTHING : il);
		ASSERT_UINT(list.rows[i].is_exact, bounds[i].il < EPILOG);
	}
	code_bounds_deinit(&list);
}

static void check_all(struct fixture *fixture)
{
	check_list(fixture);
	ASSERT_UINT(il_at(fixture, 0), 0);
	ASSERT_UINT(il_at(fixture, 4), 0);
	ASSERT_UINT(il_at(fixture, 5), 0);
	ASSERT_UINT(il_at(fixture, 0x1f), 0);
	ASSERT_UINT(il_at(fixture, 0x20), 10);
	ASSERT_UINT(il_at(fixture, 0x2f), 10);
	ASSERT_UINT(il_at(fixture, 0x30), FAILS);
	ASSERT_UINT(il_at(fixture, 0x3f), FAILS);
	ASSERT_UINT(il_at(fixture, 0x40), 0x155);
	ASSERT_UINT(il_at(fixture, 0x95), 0x155);
	uint32_t il;
	CU_ASSERT(
		!runtime_il_at(fixture->runtime, &fixture->code, START - 1, &fixture->budget, &il));
}

/* The location of a variable at @p offset of the code. */
static struct variable_home home_at(struct fixture *fixture, uint32_t offset, size_t number)
{
	struct variable_home rows[VARIABLES];
	CU_ASSERT(runtime_variable_homes(fixture->runtime, &fixture->code, START + offset,
					 &fixture->budget, rows, VARIABLES));
	return rows[number];
}

static void check_home(struct fixture *fixture, size_t number, uint8_t kind, uint8_t base,
		       int32_t offset)
{
	struct variable_home home = home_at(fixture, 0x10, number);
	ASSERT_UINT(home.kind, kind);
	ASSERT_UINT(home.number, base);
	CU_ASSERT(home.offset == offset);
}

static void check_variables(struct fixture *fixture)
{
	check_home(fixture, 0, HOME_STACK, REG_RBP, -0x18);
	check_home(fixture, 1, HOME_REGISTER_ADDRESS, REG_R12, 0);
	bool is_late = coreclr_of(fixture->runtime)->major == 10;
	check_home(fixture, 2, HOME_FLOAT_REGISTER, is_late ? 3 : 19, 0);
	check_home(fixture, 3, HOME_STACK_ADDRESS, REG_RSP, 0x108);
	check_home(fixture, 4, HOME_REGISTERS, REG_RBX, 0);
	check_home(fixture, 5, HOME_REGISTER_STACK, REG_RAX, -8);
	check_home(fixture, 6, HOME_STACK_REGISTER, REG_RAX, -8);
	ASSERT_UINT(home_at(fixture, 0x10, 4).second, REG_R15);
	ASSERT_UINT(home_at(fixture, 0x10, 5).second, REG_RBP);
	ASSERT_UINT(home_at(fixture, 0x10, 6).second, REG_RBP);
	check_home(fixture, 7, HOME_STACK_TWICE, REG_RSP, 8);
	check_home(fixture, 8, HOME_NONE, 0, 0);
	check_home(fixture, 9, HOME_OTHER, ARCH_NONE, 0);
	/* Each counts only where it is valid. */
	ASSERT_UINT(home_at(fixture, 0x0f, 0).kind, HOME_REGISTER);
	ASSERT_UINT(home_at(fixture, 0x0f, 0).number, REG_RDI);
	ASSERT_UINT(home_at(fixture, 0x9f, 0).kind, HOME_STACK);
	ASSERT_UINT(home_at(fixture, 0xa0, 0).kind, HOME_NONE);
	ASSERT_UINT(home_at(fixture, 0x1f, 8).kind, HOME_NONE);
	ASSERT_UINT(home_at(fixture, 0x20, 8).number, REG_R8);
	ASSERT_UINT(home_at(fixture, 0x3f, 8).kind, HOME_REGISTER);
	ASSERT_UINT(home_at(fixture, 0x40, 8).kind, HOME_NONE);
	struct variable_home row;
	CU_ASSERT(!runtime_variable_homes(fixture->runtime, &fixture->code, START - 1,
					  &fixture->budget, &row, 1));
	ASSERT_UINT(row.kind, HOME_NONE);
}

/* All ranges, by their variables; those of one stay in their order. */
static void check_ranges(struct fixture *fixture)
{
	HD_CLEANUP(variable_ranges) struct variable_ranges ranges = { 0 };
	CU_ASSERT_TRUE_FATAL(runtime_variable_ranges_read(fixture->runtime, &fixture->code,
							  &fixture->budget, &ranges));
	CU_ASSERT_TRUE_FATAL(ranges.rows_count > VARIABLES);
	for (size_t i = 0; i < ranges.rows_count; i++) {
		const struct variable_range *row = &ranges.rows[i];
		CU_ASSERT(!i || row->number >= ranges.rows[i - 1].number);
		CU_ASSERT(row->begin < row->end);
		if (row->number < VARIABLES && (row->number || row->begin))
			ASSERT_UINT(row->home.kind, home_at(fixture, row->begin, row->number).kind);
	}
	ASSERT_UINT(ranges.rows[0].home.kind, HOME_REGISTER);
	ASSERT_UINT(ranges.rows[0].end, 0x10);
	ASSERT_UINT(ranges.rows[1].home.kind, HOME_STACK);
	ASSERT_UINT(ranges.rows[1].end, 0xa0);
}

static void check_jitted(unsigned int major, const struct blob *blob)
{
	struct fixture fixture = set_up(major);
	put_jitted(&fixture, blob);
	check_all(&fixture);
	check_variables(&fixture);
	check_ranges(&fixture);
	fake_clr_destroy(fixture.fake);
}

TEST(bounds_of_8_and_9_are_nibbles)
{
	struct blob blob = { .bits = 8 }, of_bounds = loose_bounds();
	put_info(&blob, &of_bounds);
	check_jitted(8, &blob);
	check_jitted(9, &blob);
}

TEST(bounds_of_10_are_packed)
{
	struct blob blob = { .bits = 8 }, of_bounds = packed_bounds(7, 9);
	put_info(&blob, &of_bounds);
	check_jitted(10, &blob);
	struct blob wide = { .bits = 8 };
	of_bounds = packed_bounds(32, 32);
	put_info(&wide, &of_bounds);
	check_jitted(10, &wide);
}

/* The same bytes, written by hand: one bound, offset 2, IL 5, source 1. */
TEST(bytes_written_by_hand_are_read)
{
	/* Flags; sizes 3 and 0; number 1, 2 bits, 4 bits as nibbles 1, 1, 3; 01 10 1000 from below. */
	static const uint8_t packed[] = { 0, 0x03, 0x11, 0x03, 0x01 | 2 << 2 | 8u << 4 };
	/* Flags; sizes 2 and 0; nibbles 1; 2; 8 as 1|8, 0; 1. */
	static const uint8_t loose[] = { 0, 0x03, 0x21, 0x09, 0x01 };
	struct fixture fixture = set_up(10);
	struct blob blob = { 0 };
	put_bytes(&blob, packed, sizeof(packed));
	put_jitted(&fixture, &blob);
	ASSERT_UINT(il_at(&fixture, 1), FAILS);
	ASSERT_UINT(il_at(&fixture, 2), 5);
	coreclr_of(fixture.runtime)->major = 9;
	struct blob older = { 0 };
	put_bytes(&older, loose, sizeof(loose));
	put_jitted(&fixture, &older);
	ASSERT_UINT(il_at(&fixture, 1), FAILS);
	ASSERT_UINT(il_at(&fixture, 2), 5);
	fake_clr_destroy(fixture.fake);
}

/* Tier-0 methods with loops; rich debug info. */
TEST(what_comes_before_the_bounds_is_stepped_over)
{
	for (unsigned int major = 8; major <= 10; major++) {
		struct blob blob = { 0 };
		struct blob of_bounds = major == 10 ? packed_bounds(7, 9) : loose_bounds();
		const uint32_t locals[3] = { 1, 2, 3 };
		put_bits(&blob, 3, 8);
		put_bits(&blob, UINT64_MAX, 64); /* registers */
		if (major == 10)
			put_bits(&blob, START, 64);
		put_bits(&blob, 3, 32);
		put_bits(&blob, 0x40, 32);
		put_bits(&blob, UINT64_MAX, 64);
		put_bits(&blob, UINT64_MAX, 64);
		put_bytes(&blob, locals, sizeof(locals));
		put_bits(&blob, 5, 32);
		put_bytes(&blob, "\xff\xff\xff\xff\xff", 5);
		put_info(&blob, &of_bounds);
		check_jitted(major, &blob);
	}
}

/* Instrumented code of 10: three sizes follow. */
TEST(three_sizes_may_follow)
{
	struct blob blob = { .bits = 8 }, of_bounds = packed_bounds(7, 9);
	put_number(&blob, 0xffffffff);
	put_number(&blob, (uint32_t)of_bounds.bits / 8);
	struct blob variables = all_variables(false);
	put_number(&blob, 4);
	put_number(&blob, (uint32_t)variables.bits / 8);
	align(&blob);
	put_blob(&blob, &of_bounds);
	put_bytes(&blob, "\xff\xff\xff\xff", 4);
	put_blob(&blob, &variables);
	check_jitted(10, &blob);
}

/* Since 11 there are no flags; the sizes of all parts may come first, after a 0. */
TEST(info_of_11_is_slim_or_fat)
{
	struct blob slim = { .is_sized = true }, of_bounds = bounds_with(3, 7, 9);
	put_info(&slim, &of_bounds);
	check_jitted(11, &slim);
	struct blob fat = { .is_sized = true }, variables = all_variables(true);
	const uint32_t sizes[] = {
		0, (uint32_t)of_bounds.bits / 8, (uint32_t)variables.bits / 8, 2, 1, 3, 2
	};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		put_number(&fat, sizes[i]);
	align(&fat);
	put_blob(&fat, &of_bounds);
	put_blob(&fat, &variables);
	put_bytes(&fat, "\xff\xff\xff\xff\xff\xff\x12\x34", 8);
	check_jitted(11, &fat);
	/* Where the part about awaits is. */
	struct fixture fixture = set_up(11);
	struct debug_reader reader = { .memory = fixture.runtime->memory,
				       .budget = &fixture.budget };
	struct debug_parts parts;
	uint8_t async[2];
	put_jitted(&fixture, &fat);
	CU_ASSERT_TRUE_FATAL(debug_parts_find(fixture.runtime, &fixture.code, &reader, &parts));
	ASSERT_UINT(parts.async_end - parts.async, 2);
	CU_ASSERT_TRUE(memory_read(fixture.runtime->memory, parts.async, async, 2));
	ASSERT_UINT(async[0], 0x12);
	put_jitted(&fixture, &slim);
	CU_ASSERT_TRUE_FATAL(debug_parts_find(fixture.runtime, &fixture.code, &reader, &parts));
	ASSERT_UINT(parts.async_end - parts.async, 0);
	fake_clr_destroy(fixture.fake);
}

/* A blob whose only part is what is saved at each await. */
static struct blob saved_only(const struct blob *saved)
{
	struct blob blob = { .is_sized = true };
	const uint32_t sizes[] = { 0, 0, 0, 0, 0, 0, (uint32_t)(saved->bits + 7) / 8 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		put_number(&blob, sizes[i]);
	align(&blob);
	put_blob(&blob, saved);
	return blob;
}

struct saved_await {
	int32_t step; /* from the offset of the one before */
	uint32_t count;
};

/* Two awaits in the order of their numbers: the first one at 0x60 with three variables, the other at 0x20. */
static struct blob saved_variables(uint32_t awaits, uint32_t total, uint32_t count)
{
	const struct saved_await rows[] = { { 0x60, count }, { -0x40, 1 } };
	/* Numbers, of which -3 is the generic context, and offsets in the object. */
	const uint32_t variables[][2] = { { 0, 0x30 }, { 2, 0x38 }, { -3u, 0x40 }, { 1, 0x48 } };
	struct blob blob = { 0 };
	put_number(&blob, awaits);
	put_number(&blob, total);
	for (size_t i = 0; i < 2; i++) {
		put_signed(&blob, rows[i].step);
		put_number(&blob, rows[i].count);
	}
	for (size_t i = 0; i < 4; i++) {
		put_number(&blob, variables[i][0] + 6);
		put_number(&blob, variables[i][1]);
	}
	align(&blob);
	return saved_only(&blob);
}

static bool saved_at(struct fixture *fixture, uint64_t offset, uint32_t rows[3])
{
	return runtime_saved_variables(fixture->runtime, &fixture->code, START + offset,
				       &fixture->budget, rows, 3);
}

TEST(an_await_has_the_variables_that_are_saved_there)
{
	struct fixture fixture = set_up(11);
	struct blob blob = saved_variables(2, 4, 3);
	uint32_t rows[3];
	put_jitted(&fixture, &blob);
	CU_ASSERT_TRUE(saved_at(&fixture, 0x60, rows));
	ASSERT_UINT(rows[0], 0x30);
	ASSERT_UINT(rows[1], SAVED_NOWHERE);
	ASSERT_UINT(rows[2], 0x38);
	CU_ASSERT_TRUE(saved_at(&fixture, 0x20, rows));
	ASSERT_UINT(rows[0], SAVED_NOWHERE);
	ASSERT_UINT(rows[1], 0x48);
	CU_ASSERT_FALSE(saved_at(&fixture, 0x61, rows));
	fake_clr_destroy(fixture.fake);
}

static uint32_t context_at(struct fixture *fixture, uint64_t offset)
{
	return runtime_saved_generic_context(fixture->runtime, &fixture->code, START + offset,
					     &fixture->budget);
}

TEST(an_await_has_the_generic_context_if_that_is_saved_there)
{
	struct fixture fixture = set_up(11);
	struct blob blob = saved_variables(2, 4, 3);
	put_jitted(&fixture, &blob);
	ASSERT_UINT(context_at(&fixture, 0x60), 0x40);
	ASSERT_UINT(context_at(&fixture, 0x20), SAVED_NOWHERE);
	ASSERT_UINT(context_at(&fixture, 0x61), SAVED_NOWHERE);
	fake_clr_destroy(fixture.fake);
}

TEST(awaits_with_more_than_there_is_save_nothing)
{
	/* More awaits or variables than bytes; more of one await than of all. */
	const uint32_t counts[][3] = { { 0xffffffff, 4, 3 }, { 2, 0xffffffff, 0xfffffff0 },
				       { 2, 4, 5 },          { 2, 2, 3 },
				       { 200, 4, 3 },        { 2, 4, 4 } };
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct fixture fixture = set_up(11);
		struct blob blob = saved_variables(counts[i][0], counts[i][1], counts[i][2]);
		uint32_t rows[3];
		put_jitted(&fixture, &blob);
		CU_ASSERT_FALSE(saved_at(&fixture, 0x20, rows));
		for (size_t k = 0; k < 3; k++)
			ASSERT_UINT(rows[k], SAVED_NOWHERE);
		fake_clr_destroy(fixture.fake);
	}
	/* Code that is not of an async method. */
	struct fixture fixture = set_up(11);
	struct blob none = { 0 }, blob = saved_only(&none);
	uint32_t rows[3];
	put_jitted(&fixture, &blob);
	CU_ASSERT_FALSE(saved_at(&fixture, 0x20, rows));
	fake_clr_destroy(fixture.fake);
}

static void check_damaged(unsigned int major, const struct blob *blob)
{
	struct fixture fixture = set_up(major);
	put_jitted(&fixture, blob);
	ASSERT_UINT(il_at(&fixture, 0x95), FAILS);
	fake_clr_destroy(fixture.fake);
}

TEST(damaged_info_has_no_il)
{
	struct blob flags = { .bits = 8 }, of_bounds = packed_bounds(7, 9);
	put_info(&flags, &of_bounds);
	flags.bytes[0] = 4;
	check_damaged(10, &flags);
	/* As many locals as there is no room for. */
	struct blob many = { 0 };
	put_bits(&many, 1, 8);
	put_bits(&many, UINT64_MAX, 64);
	put_bits(&many, 0, 64);
	put_bits(&many, 0x7fffffff, 32);
	check_damaged(10, &many);
	/* More bounds than bytes. */
	struct blob more = { .bits = 8 }, too_many = { 0 };
	put_number(&too_many, 0x10000000);
	put_number(&too_many, 0);
	put_number(&too_many, 0);
	align(&too_many);
	put_info(&more, &too_many);
	check_damaged(10, &more);
	/* Columns of 33 bits. */
	struct blob wide = { .bits = 8 }, columns = { 0 };
	put_number(&columns, 1);
	put_number(&columns, 32);
	put_number(&columns, 1);
	align(&columns);
	put_bits(&columns, 0, 64);
	put_info(&wide, &columns);
	check_damaged(10, &wide);
	/* A number that does not end. */
	struct blob endless = { .bits = 8 };
	memset(endless.bytes + 1, 0xff, sizeof(endless.bytes) - 1);
	check_damaged(9, &endless);
	/* Offsets that go around. */
	struct blob around = { .bits = 8 }, wraps = { 0 };
	put_number(&wraps, 2);
	put_number(&wraps, 1);
	put_number(&wraps, 3);
	put_number(&wraps, 0);
	put_number(&wraps, 0xffffffff);
	put_number(&wraps, 9);
	put_number(&wraps, 0);
	align(&wraps);
	put_info(&around, &wraps);
	check_damaged(9, &around);
	/* No bounds at all. */
	struct blob none = { .bits = 8 };
	put_number(&none, 0);
	check_damaged(10, &none);
}

TEST(a_method_without_info_and_a_spent_budget_have_no_il)
{
	struct fixture fixture = set_up(10);
	struct blob blob = { .bits = 8 }, of_bounds = packed_bounds(7, 9);
	put_info(&blob, &of_bounds);
	put_jitted(&fixture, &blob);
	fixture.budget = 8;
	ASSERT_UINT(il_at(&fixture, 0x20), FAILS);
	ASSERT_UINT(fixture.budget, 0);
	fixture.budget = 1000;
	ASSERT_UINT(il_at(&fixture, 0x20), 10);
	CU_ASSERT(fixture.budget < 1000 && fixture.budget > 900);
	uint64_t header;
	CU_ASSERT(memory_u64(&fixture.fake->memory.memory, START - 8, &header));
	fake_poke_u64(&fixture.fake->memory, header, 0);
	ASSERT_UINT(il_at(&fixture, 0x20), FAILS);
	/* A release whose info is not known. */
	put_jitted(&fixture, &blob);
	coreclr_of(fixture.runtime)->major = 7;
	ASSERT_UINT(il_at(&fixture, 0x20), FAILS);
	fake_clr_destroy(fixture.fake);
}

/* Where put_precompiled() puts the sizes, if they follow the array. */
#define FAKE_BLOB (CODE_BASE + 0x400 + 17)

/* An unsigned number of the native format with one, two or five bytes. */
static void put_native(struct blob *blob, uint32_t value, unsigned int size)
{
	if (size == 5) {
		put_bits(blob, 15, 8);
		put_bits(blob, value, 32);
	} else {
		put_bits(blob, (1u << (size - 1)) - 1, size);
		put_bits(blob, value, 8 * size - size);
	}
}

/*
 * A ReadyToRun image with debug info at 0x400: the NativeArray of 20 elements, of which there is
 * number 0x12 = 16 + 2, in the second tree: bit 8 is 0, bit 4 is 0, bit 2 is 1, bit 1 is 0.
 */
static void put_precompiled(struct fixture *fixture, uint16_t major, bool is_back)
{
	struct fake_memory *memory = &fixture->fake->memory;
	uint64_t module = fake_module(fixture->fake), info = fake_alloc(memory, 512),
		 header = fake_alloc(memory, 64);
	bool is_sized = coreclr_of(fixture->runtime)->major >= 11;
	struct blob blob = { .is_sized = is_sized };
	struct blob of_bounds = major >= 16 ? bounds_with(is_sized ? 3 : 2, 7, 9) : loose_bounds();
	fixture->code.is_precompiled = true;
	fixture->code.module = module;
	fixture->code.function_index = 0x12;
	fake_poke_u64(memory, fake_at(fixture->fake, module, L_MODULE_R2R), info);
	fake_poke_u64(memory, info + 16, header);
	fake_poke_u32(memory, header, 0x00525452);
	fake_poke(memory, header + 4, &major, 2);
	fake_poke_u32(memory, header + 12, 2);
	fake_poke_u32(memory, header + 16, 101);
	fake_poke_u32(memory, header + 28, 105);
	if (is_back) {
		put_info(&blob, &of_bounds);
		align(&blob);
	}
	size_t behind = blob.bits / 8;
	put_native(&blob, 20 << 2 | 1, 2); /* 20 elements, offsets of two bytes */
	put_bits(&blob, 0xffff, 16);       /* the first tree is not asked for */
	put_bits(&blob, 4, 16);
	put_native(&blob, 1, 1);          /* 8: 0 follows */
	put_native(&blob, 1, 1);          /* 4: 0 follows */
	put_native(&blob, 2 | 3 << 2, 1); /* 2: 1 is three bytes after this */
	put_bits(&blob, 0xeeee, 16);
	put_native(&blob, 1 | 9 << 2, 5); /* 1: 0 follows */
	if (is_back) {
		put_native(&blob, (uint32_t)(blob.bits / 8), 2);
	} else {
		put_native(&blob, 0, 1);
		put_info(&blob, &of_bounds);
	}
	fake_poke(memory, CODE_BASE + 0x400 - behind, blob.bytes, sizeof(blob.bytes));
	fake_poke_u32(memory, header + 32, (uint32_t)0x400);
	fake_poke_u32(memory, header + 36, (uint32_t)(blob.bits / 8 - behind));
}

TEST(ready_to_run_images_have_an_array)
{
	static const uint16_t majors[] = { 9, 15, 16, 18, 26 };
	for (size_t i = 0; i < sizeof(majors) / sizeof(majors[0]); i++) {
		struct fixture fixture = set_up(majors[i] == 26 ? 11 : 10);
		put_precompiled(&fixture, majors[i], false);
		check_all(&fixture);
		check_variables(&fixture);
		/* Neither a method with no element, nor one beyond the last. */
		static const uint32_t none[] = { 0x10, 0x13, 0x1a, 0x16, 20, 0xffffffff };
		for (size_t k = 0; k < sizeof(none) / sizeof(none[0]); k++) {
			fixture.code.function_index = none[k];
			ASSERT_UINT(il_at(&fixture, 0x20), FAILS);
		}
		fake_clr_destroy(fixture.fake);
	}
}

TEST(an_element_before_its_section_is_refused)
{
	struct fixture fixture = set_up(10);
	put_precompiled(&fixture, 16, true);
	ASSERT_UINT(il_at(&fixture, 0x20), FAILS);
	fake_clr_destroy(fixture.fake);
}

/* No part of 11 may be longer than what is left of its section. */
TEST(sizes_of_11_are_checked)
{
	static const uint32_t sizes[][7] = {
		{ 0x1000, 0, 0, 0, 0, 0, 0 },     { 1, 0x1000, 0, 0, 0, 0, 0 },
		{ 0, 1, 1, 0x1000, 0, 0, 0 },     { 0, 1, 1, 0, 0, 0, 0x1000 },
		{ 0, 1, 1, 0, 0xffffffff, 0, 0 }, { 0, 1, 1, 0, 0, 0xffffffff, 0xffffffff },
		{ 0, 0xffffffff, 0, 0, 0, 0, 0 },
	};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct fixture fixture = set_up(11);
		struct blob blob = { .is_sized = true };
		put_precompiled(&fixture, 26, false);
		ASSERT_UINT(il_at(&fixture, 0x20), 10);
		for (size_t k = 0; k < (sizes[i][0] ? 2 : 7); k++)
			put_number(&blob, sizes[i][k]);
		align(&blob);
		/* The element is one byte, and its sizes follow. */
		fake_poke(&fixture.fake->memory, FAKE_BLOB, blob.bytes, blob.bits / 8);
		ASSERT_UINT(il_at(&fixture, 0x20), FAILS);
		fake_clr_destroy(fixture.fake);
	}
}

/* A blob whose variables are @p variables; they are not read, and none of them is said. */
static void check_bad_variables(const struct blob *variables, size_t size)
{
	struct fixture fixture = set_up(10);
	struct blob blob = { .bits = 8 }, of_bounds = packed_bounds(7, 9);
	put_number(&blob, (uint32_t)of_bounds.bits / 8);
	put_number(&blob, (uint32_t)size);
	align(&blob);
	put_blob(&blob, &of_bounds);
	put_blob(&blob, variables);
	put_jitted(&fixture, &blob);
	struct variable_home rows[VARIABLES];
	CU_ASSERT(!runtime_variable_homes(fixture.runtime, &fixture.code, START + 0x10,
					  &fixture.budget, rows, VARIABLES));
	for (size_t i = 0; i < VARIABLES; i++)
		ASSERT_UINT(rows[i].kind, HOME_NONE);
	HD_CLEANUP(variable_ranges) struct variable_ranges ranges = { 0 };
	CU_ASSERT(!runtime_variable_ranges_read(fixture.runtime, &fixture.code, &fixture.budget,
						&ranges));
	ASSERT_UINT(il_at(&fixture, 0x20), 10);
	fake_clr_destroy(fixture.fake);
}

/* The same bytes, written by hand: variable 1 from 2 to 17, at rbp - 8. */
TEST(variables_written_by_hand_are_read)
{
	/*
	 * Flags; sizes 0 and 5; nibbles 1; 2; 16 as 2|8, 0; 1 + 4; 3; 5; -8 as 17: 2|8, 1.
	 */
	static const uint8_t bytes[] = { 0, 0x50, 0x21, 0x0a, 0x35, 0xa5, 0x01 };
	struct fixture fixture = set_up(10);
	struct blob blob = { 0 };
	struct variable_home rows[2];
	put_bytes(&blob, bytes, sizeof(bytes));
	put_jitted(&fixture, &blob);
	CU_ASSERT(runtime_variable_homes(fixture.runtime, &fixture.code, START + 2, &fixture.budget,
					 rows, 2));
	ASSERT_UINT(rows[0].kind, HOME_NONE);
	ASSERT_UINT(rows[1].kind, HOME_STACK);
	ASSERT_UINT(rows[1].number, REG_RBP);
	CU_ASSERT(rows[1].offset == -8);
	CU_ASSERT(runtime_variable_homes(fixture.runtime, &fixture.code, START + 17,
					 &fixture.budget, rows, 2));
	ASSERT_UINT(rows[1].kind, HOME_STACK);
	CU_ASSERT(runtime_variable_homes(fixture.runtime, &fixture.code, START + 18,
					 &fixture.budget, rows, 2));
	ASSERT_UINT(rows[1].kind, HOME_NONE);
	fake_clr_destroy(fixture.fake);
}

TEST(variables_that_are_cut_or_too_many_are_not_said)
{
	struct blob all = all_variables(false);
	check_bad_variables(&all, 0);
	check_bad_variables(&all, all.bits / 8 - 2);
	struct blob many = { 0 };
	put_number(&many, 0xffffffff);
	put_variable(&many, 0, 0xa0, 0, 0);
	put_number(&many, 3);
	align(&many);
	check_bad_variables(&many, many.bits / 8);
}

TEST(a_spent_budget_ends_the_reading_of_variables)
{
	struct fixture fixture = set_up(10);
	struct blob blob = { .bits = 8 }, of_bounds = packed_bounds(7, 9);
	struct variable_home row;
	put_info(&blob, &of_bounds);
	put_jitted(&fixture, &blob);
	fixture.budget = 12;
	CU_ASSERT(!runtime_variable_homes(fixture.runtime, &fixture.code, START + 0x10,
					  &fixture.budget, &row, 1));
	ASSERT_UINT(fixture.budget, 0);
	ASSERT_UINT(row.kind, HOME_NONE);
	fake_clr_destroy(fixture.fake);
}

SUITE(.name = "debug_info")
