/* SPDX-License-Identifier: MIT */
#include "analysis/threads/equal_methods.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/function_list.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/code/r2r_methods.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/made_up_arch.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/text.h"

enum {
	DEF_MODULE = 1,
	DEF_OBJECT,
	DEF_STRING,
	DEF_WORKER,
	DEF_INNER
};
enum {
	METHOD_OBJECT = 1,
	METHOD_RUN,
	METHOD_WALK,
	METHOD_SIGNED /* the first of those with a signature */
};

/* Methods of Ns.Worker: their signatures (II.23.2.1), and how they are shown. */
static const struct {
	const char *name, *signature;
	uint8_t size;
	const char *expected;
} signed_methods[] = {
	{ "None", "\0\0\1", 3, "Ns.Worker.None()" },
	{ "Plain", "\x20\2\1\x08\x0e", 5, "Ns.Worker.Plain(Int32, System.String)" },
	{ "All", "\0\x06\1\x02\x03\x0d\x18\x19\x1c", 9,
	  "Ns.Worker.All(Boolean, Char, Double, IntPtr, UIntPtr, System.Object)" },
	{ "Ref", "\0\1\1\x10\x08", 5, "Ns.Worker.Ref(Int32 ByRef)" },
	{ "Arrays", "\0\2\x0e\x1d\x1d\x0e\x14\x08\2\0\0", 11,
	  "Ns.Worker.Arrays(System.String[][], Int32[,])" },
	/* lower bounds and sizes, then what follows the array */
	{ "Bounds", "\0\2\1\x14\x08\2\1\5\2\0\2\x0f\x05", 13, "Ns.Worker.Bounds(Int32[,], Byte*)" },
	{ "Nested", "\0\2\1\x12\x14\x10\x11\x14", 8, "Ns.Worker.Nested(Inner, Inner ByRef)" },
	{ "Own", "\0\1\1\x12\x10", 5, "Ns.Worker.Own(Ns.Worker)" },
	{ "Generic", "\x10\1\2\1\x1e\0\x1d\x1e\0", 9, "Ns.Worker.Generic<T>(T, T[])" },
	{ "Pointer", "\0\2\1\x1b\0\2\1\x08\x0e\x08", 10, "Ns.Worker.Pointer(fnptr, Int32)" },
	{ "Modified", "\0\1\1\x1f\x10\x20\x10\x45\x08", 9, "Ns.Worker.Modified(Int32)" },
	{ "Cut", "\0\2\1\x08", 4, "Ns.Worker.Cut(Int32, ?)" },
	{ "Short", "\0", 1, "Ns.Worker.Short(?)" },
	{ "Deep", "\0\1\1\x15\x12", 5, "Ns.Worker.Deep(?)" },
};
#define SIGNED_COUNT   (sizeof(signed_methods) / sizeof(signed_methods[0]))
#define METHOD_GENERIC (METHOD_SIGNED + 8) /* by its place there */

#define CODE_BASE ((uint64_t)0x7e12 << 32 | 0x340000)
#define CODE_SIZE 0x10000u

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	struct fake_memory *memory;
	uint64_t type, run, walk;
	uint64_t section; /* RangeSection of the code */
};

/* RangeSectionMap: five levels of 256 pointers by the bits of an address, then fragments. */
static void map_section(struct fixture *fixture)
{
	struct fake_memory *memory = fixture->memory;
	uint64_t top = fake_alloc(memory, (uint64_t)8 * 256), dac_table = fake_alloc(memory, 8),
		 table = top;
	static const unsigned int shifts[] = { 49, 41, 33, 25 };
	fixture->section = fake_alloc(memory, 64);
	for (size_t i = 0; i < 4; i++) {
		uint64_t next = fake_alloc(memory, (uint64_t)8 * 256);
		/* the low bit of every pointer is a flag */
		fake_poke_u64(memory, table + 8 * (CODE_BASE >> shifts[i] & 255), next | (i == 2));
		table = next;
	}
	uint64_t other = fake_alloc(memory, 32), fragment = fake_alloc(memory, 32);
	fake_poke_u64(memory, table + 8 * (CODE_BASE >> 17 & 255), other | 1);
	fake_poke_u64(memory, other, fragment | 1);
	fake_poke_u64(memory, fragment + 8, CODE_BASE);
	fake_poke_u64(memory, fragment + 16, CODE_BASE + CODE_SIZE);
	fake_poke_u64(memory, fragment + 24, fixture->section);
	fake_poke_u64(memory, fixture->section, CODE_BASE);
	fake_poke_u64(memory, fixture->section + 8, CODE_BASE + CODE_SIZE);
	fake_poke_u64(memory, dac_table, top);
	coreclr_of(fixture->runtime)->globals.dac_table = dac_table;
	coreclr_of(fixture->runtime)->globals.dac_count = 1;
	fake_map(memory, CODE_BASE, CODE_SIZE);
}

static struct fixture set_up(void)
{
	struct fixture fixture = { .fake = fake_clr_create(NULL) };
	struct fake_clr *fake = fixture.fake;
	struct metadata_maker maker;
	maker_init(&maker);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "System", "Object");
	maker_method(&maker, "ToString");
	maker_type(&maker, "System", "String");
	maker_type(&maker, "Ns", "Worker");
	maker_method(&maker, "Run");
	maker_method(&maker, "Walk");
	for (size_t i = 0; i < SIGNED_COUNT; i++) {
		MAKER_ROW(&maker, MD_METHOD, 0, 0, 0, maker_string(&maker, signed_methods[i].name),
			  maker_blob(&maker, signed_methods[i].signature, signed_methods[i].size),
			  1);
	}
	maker_type(&maker, "", "Inner");
	maker_nest(&maker, DEF_INNER, DEF_WORKER);
	MAKER_ROW(&maker, MD_GENERIC_PARAM, 0, 0, METHOD_GENERIC << 1 | 1,
		  maker_string(&maker, "T"));
	fake_metadata(fake, fake->module, &maker);
	maker_deinit(&maker);
	fixture.memory = &fake->memory;
	fixture.type = fake_type(fake, &(struct fake_type){ .base_size = 24, .token = DEF_WORKER });
	fixture.run = fake_method_desc(fake, fixture.type, METHOD_RUN);
	fixture.walk = fake_method_desc(fake, fixture.type, METHOD_WALK);
	fixture.runtime = fake_runtime(fake);
	map_section(&fixture);
	return fixture;
}

static void tear_down(struct fixture *fixture)
{
	fake_clr_destroy(fixture->fake);
}

/* @p expected NULL: it is not a method. */
static void check_name(struct fixture *fixture, uint64_t desc, const char *expected, uint32_t token)
{
	char buf[64] = "";
	uint32_t got = 0;
	ASSERT_UINT(runtime_method_name(fixture->runtime, desc, buf, sizeof(buf), &got),
		    expected != NULL);
	ASSERT_TEXT(buf, expected ? expected : "");
	ASSERT_UINT(got, token);
}

TEST(test_names)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = fixture.memory;
	check_name(&fixture, fixture.run, "Ns.Worker.Run", 0x06000002);
	check_name(&fixture, fixture.walk, "Ns.Worker.Walk", 0x06000003);
	char short_buf[8];
	CU_ASSERT(runtime_method_name(fixture.runtime, fixture.run, short_buf, sizeof(short_buf),
				      NULL));
	ASSERT_TEXT(short_buf, "Ns.Work");
	CU_ASSERT(!runtime_method_name(fixture.runtime, fixture.run, short_buf, 0, NULL));
	/* a token that another type owns: no MethodDesc */
	check_name(&fixture, fake_method_desc(fixture.fake, fixture.type, METHOD_OBJECT), NULL, 0);
	check_name(&fixture, fake_method_desc(fixture.fake, fixture.type, 0), NULL, 0);
	check_name(&fixture, fake_method_desc(fixture.fake, 0x1238, METHOD_RUN), NULL, 0);
	check_name(&fixture, fixture.run + 4, NULL, 0);
	check_name(&fixture, 0, NULL, 0);
	/* a dynamic method, and a stub of the runtime */
	static const char *const names[][2] = { { "Dynamic", "DynamicClass.Dynamic" },
						{ "IL_STUB_PInvoke",
						  "ILStubClass.IL_STUB_PInvoke" } };
	for (size_t i = 0; i < 2; i++) {
		uint64_t desc = fake_method_desc(fixture.fake, 0, 0);
		uint16_t flags = 0x20af;
		fake_poke(memory, desc + 6, &flags, 2);
		fake_poke_u64(memory, desc + 32, fake_text(memory, names[i][0]));
		check_name(&fixture, desc, names[i][1], 0x06000000);
	}
	uint64_t desc = fake_method_desc(fixture.fake, 0, 0);
	uint16_t flags = 7;
	fake_poke(memory, desc + 6, &flags, 2);
	fake_poke_u64(memory, desc + 32, fake_text(memory, "\x01not a name"));
	check_name(&fixture, desc, NULL, 0);
	fake_clr_destroy(fixture.fake);
}

static void check_signature(struct fixture *fixture, uint64_t desc, const char *expected)
{
	struct text text = { 0 };
	runtime_method_signature(fixture->runtime, desc, &text);
	ASSERT_TEXT(text.bytes, expected);
	text_deinit(&text);
}

static void put_u16(struct fixture *fixture, uint64_t at, uint16_t value)
{
	fake_poke(fixture->memory, at, &value, 2);
}

TEST(test_signatures)
{
	struct fixture fixture = set_up();
	for (size_t i = 0; i < SIGNED_COUNT; i++) {
		check_signature(
			&fixture,
			fake_method_desc(fixture.fake, fixture.type, (uint32_t)(METHOD_SIGNED + i)),
			signed_methods[i].expected);
	}
	check_signature(&fixture, fixture.run, "Ns.Worker.Run(?)");
	check_signature(&fixture, 0x1238, "<unknown method 1238>");
	check_signature(&fixture, 0, "<unknown method 0>");
	/* InstantiatedMethodDesc: arguments at 24, their number at 34; 8 less in .NET 8 */
	uint64_t desc = fake_method_desc(fixture.fake, fixture.type, METHOD_GENERIC),
		 arguments = fake_alloc(fixture.memory, 8);
	put_u16(&fixture, desc + 6, 5);
	fake_poke_u64(fixture.memory, arguments, fixture.fake->object_array_type);
	fake_poke_u64(fixture.memory, desc + 24, arguments);
	put_u16(&fixture, desc + 34, 1);
	check_signature(&fixture, desc,
			"Ns.Worker.Generic<System.Object[]>(System.Object[], System.Object[][])");
	coreclr_of(fixture.runtime)->major = 8;
	fake_poke_u64(fixture.memory, desc + 16, arguments);
	fake_poke_u64(fixture.memory, desc + 24, 0x10000);
	put_u16(&fixture, desc + 26, 1);
	check_signature(&fixture, desc,
			"Ns.Worker.Generic<System.Object[]>(System.Object[], System.Object[][])");
	coreclr_of(fixture.runtime)->major = 10;
	put_u16(&fixture, desc + 34, UINT16_MAX);
	check_signature(&fixture, desc, "Ns.Worker.Generic<T>(T, T[])");
	tear_down(&fixture);
}

/* A dynamic method: its signature at 16, the size of that at 24, its name at 32. */
TEST(test_dynamic_signatures)
{
	struct fixture fixture = set_up();
	uint64_t desc = fake_method_desc(fixture.fake, 0, 0),
		 signature = fake_alloc(fixture.memory, 32);
	static const uint8_t head[] = { 0, 3, 1, 0x08, 0x21 };
	put_u16(&fixture, desc + 6, 7);
	fake_poke_u64(fixture.memory, desc + 32, fake_text(fixture.memory, "Made"));
	check_signature(&fixture, desc, "DynamicClass.Made");
	/* ELEMENT_INTERNAL and a TypeHandle; then a token, which is of no known module */
	fake_poke(fixture.memory, signature, head, sizeof(head));
	fake_poke_u64(fixture.memory, signature + 5, fixture.type);
	fake_poke(fixture.memory, signature + 13, "\x12\x10", 2);
	fake_poke_u64(fixture.memory, desc + 16, signature);
	fake_poke_u32(fixture.memory, desc + 24, 15);
	check_signature(&fixture, desc, "DynamicClass.Made(Int32, Ns.Worker, ?)");
	fake_poke_u32(fixture.memory, desc + 24, UINT32_MAX);
	check_signature(&fixture, desc, "DynamicClass.Made");
	tear_down(&fixture);
}

TEST(dynamic_methods_that_are_called_the_same_are_equal)
{
	struct fixture fixture = set_up();
	struct equal_methods methods = { 0 };
	uint64_t descs[4];
	for (size_t i = 0; i < 4; i++) {
		descs[i] = fake_method_desc(fixture.fake, 0, 0);
		put_u16(&fixture, descs[i] + 6, 7);
		fake_poke_u64(fixture.memory, descs[i] + 32,
			      fake_text(fixture.memory, i % 2 ? "Odd" : "Even"));
	}
	for (unsigned int i = 0; i < 8; i++) {
		uint64_t found = descs[i % 4];
		CU_ASSERT_EQUAL(equal_method_find(&methods, fixture.runtime, &found, NULL), HD_OK);
		ASSERT_UINT(found, descs[i % 2]);
	}
	ASSERT_UINT(methods.rows_count, 2);
	const uint64_t others[] = { fixture.run, fixture.walk, fixture.run + 4, 0 };
	for (size_t i = 0; i < 4; i++) {
		uint64_t found = others[i];
		CU_ASSERT_EQUAL(equal_method_find(&methods, fixture.runtime, &found, NULL), HD_OK);
		ASSERT_UINT(found, others[i]);
	}
	equal_methods_deinit(&methods);
	tear_down(&fixture);
}

/* The MethodTable of stubs is of no type: an EEClass, and the module that their tokens are of. */
TEST(test_stub_signatures)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = fixture.memory;
	uint64_t table = fake_alloc(memory, 64), ee_class = fake_alloc(memory, 64),
		 desc = fake_method_desc(fixture.fake, table, 0), signature = fake_alloc(memory, 8);
	fake_poke_u64(memory, table, 0x10ull << 32);
	fake_poke_u64(memory, table + 24, fixture.fake->module);
	fake_poke_u64(memory, table + 40, ee_class);
	put_u16(&fixture, desc + 6, 7);
	fake_poke(memory, signature, "\0\2\1\x18\x12\x10", 6);
	fake_poke_u64(memory, desc + 16, signature);
	fake_poke_u32(memory, desc + 24, 6);
	fake_poke_u64(memory, desc + 32, fake_text(memory, "IL_STUB_PInvoke"));
	check_signature(&fixture, desc, "ILStubClass.IL_STUB_PInvoke(IntPtr, ?)");
	fake_poke_u64(memory, ee_class + 16, table);
	check_signature(&fixture, desc, "ILStubClass.IL_STUB_PInvoke(IntPtr, Ns.Worker)");
	tear_down(&fixture);
}

static void check_code(struct fixture *fixture, uint64_t code, uint64_t expected)
{
	uint64_t desc = 0;
	/* The tests change what was read before. */
	fake_forget_code(fixture->fake);
	ASSERT_UINT(runtime_method_at(fixture->runtime, code, &desc), expected != 0);
	ASSERT_UINT(desc, expected);
}

/* gFCallMethods: 127 lists of {next, code, MethodDesc}, by the rest of the code's address. */
TEST(test_fcalls)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = fixture.memory;
	const uint64_t code = (uint64_t)127 << 40;
	uint64_t globals = fake_alloc(memory, 24), lists = fake_alloc(memory, 127 * 8), desc = 1;
	uint64_t entries[4];
	for (unsigned int i = 0; i < 4; i++) {
		entries[i] = fake_alloc(memory, 24);
		fake_poke_u64(memory, entries[i] + 8, code + i % 3);
		fake_poke_u64(memory, entries[i] + 16, i ? fixture.run : fixture.walk);
		if (i < 3)
			fake_poke_u64(memory, lists + 8 * (uint64_t)i, entries[i]);
	}
	fake_poke_u64(memory, entries[3] + 8, code + 127);
	fake_poke_u64(memory, entries[0], entries[3]);
	fake_poke_u64(memory, globals,
		      fake_peek_u64(memory, coreclr_of(fixture.runtime)->globals.dac_table));
	fake_poke_u64(memory, globals + 8, fixture.run); /* something else */
	fake_poke_u64(memory, globals + 16, lists);
	coreclr_of(fixture.runtime)->globals.dac_table = globals;
	coreclr_of(fixture.runtime)->globals.dac_count = 3;
	ASSERT_UINT(fcall_table_find(fixture.runtime), lists);
	check_code(&fixture, code, 0);
	coreclr_of(fixture.runtime)->globals.fcall_table = lists;
	check_code(&fixture, code, fixture.walk);
	check_code(&fixture, code + 2, fixture.run);
	check_code(&fixture, code + 127, fixture.run); /* the second of its list */
	check_code(&fixture, code + 3, 0);
	CU_ASSERT(!coreclr_fcall_method(fixture.runtime, 0, &desc));
	/* A list that goes round ends; code in another's list makes it no such table. */
	fake_poke_u64(memory, entries[3], entries[0]);
	check_code(&fixture, code + 254, 0);
	fake_poke_u64(memory, entries[1] + 8, code + 2);
	ASSERT_UINT(fcall_table_find(fixture.runtime), 0);
	tear_down(&fixture);
}

TEST(test_no_memory)
{
	bool failed = true;
	for (uint64_t nth = 1; failed; nth++) {
		struct fixture fixture = set_up();
		struct text text = { 0 };
		uint64_t desc = fake_method_desc(fixture.fake, fixture.type, METHOD_GENERIC);
		alloc_fail_at(nth);
		runtime_method_signature(fixture.runtime, desc, &text);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		if (!failed)
			ASSERT_TEXT(text.bytes, "Ns.Worker.Generic<T>(T, T[])");
		text_deinit(&text);
		tear_down(&fixture);
	}
}

/* A method whose code begins @p offset bytes into the code heap: its header before it. */
static void make_code(struct fixture *fixture, uint64_t offset, uint64_t desc)
{
	uint64_t header = fake_alloc(fixture->memory, 64);
	fake_poke_u64(fixture->memory, header + 24, desc);
	fake_poke_u64(fixture->memory, CODE_BASE + offset - 8, header);
}

/* The code heap and its nibble map, of @p units u32. */
static uint64_t make_heap(struct fixture *fixture, const uint32_t *units, size_t count)
{
	uint64_t node = fake_alloc(fixture->memory, 64);
	uint64_t map = fake_alloc(fixture->memory, 4 * (uint64_t)count);
	fake_poke(fixture->memory, map, units, 4 * count);
	fake_poke_u64(fixture->memory, node + 32, CODE_BASE);
	fake_poke_u64(fixture->memory, node + 40, map);
	fake_poke_u64(fixture->memory, fixture->section + 40, node);
	return map;
}

/*
 * 256 bytes of code for a unit, 32 for a nibble; its value - 1 counts 4 bytes.  Methods begin at
 * 0x24 (nibble 1, value 2) and 0x300 (unit 3, nibble 0, value 1).
 */
TEST(test_jit)
{
	/* from 10 on a unit inside a method holds its start: offset & ~15 | 9 + offset / 4 % 4 */
	static const uint32_t units_10[] = { 0x02000000, 0x20 | (9 + 1), 0x20 | (9 + 1), 0x10000000,
					     0 };
	static const uint32_t units_9[] = { 0x02000000, 0, 0, 0x10000000, 0 };
	struct fixture fixture = set_up();
	make_code(&fixture, 0x24, fixture.run);
	make_code(&fixture, 0x300, fixture.walk);
	for (coreclr_of(fixture.runtime)->major = 9; coreclr_of(fixture.runtime)->major <= 10;
	     coreclr_of(fixture.runtime)->major++) {
		make_heap(&fixture, coreclr_of(fixture.runtime)->major == 9 ? units_9 : units_10,
			  5);
		check_code(&fixture, CODE_BASE + 0x24, fixture.run);
		check_code(&fixture, CODE_BASE + 0x3f, fixture.run);
		check_code(&fixture, CODE_BASE + 0x100, fixture.run);
		check_code(&fixture, CODE_BASE + 0x2ff, fixture.run);
		check_code(&fixture, CODE_BASE + 0x300, fixture.walk);
		check_code(&fixture, CODE_BASE + 0x3ff, fixture.walk);
		check_code(&fixture, CODE_BASE + 0x20, 0); /* before the first */
		check_code(&fixture, CODE_BASE, 0);
		check_code(&fixture, CODE_BASE + 0x10000, 0); /* outside the section */
	}
	coreclr_of(fixture.runtime)->major = 10;
	/* a stub has its kind in place of a header */
	fake_poke_u64(fixture.memory, CODE_BASE + 0x300 - 8, 3);
	check_code(&fixture, CODE_BASE + 0x300, 0);
	coreclr_of(fixture.runtime)->globals.dac_count = 0;
	check_code(&fixture, CODE_BASE + 0x24, 0);
	fake_clr_destroy(fixture.fake);
}

/* An address in the 32 bytes in which the next method begins, but before it. */
TEST(test_jit_same_nibble)
{
	static const uint32_t units[] = { 0x01050000 };
	struct fixture fixture = set_up();
	make_code(&fixture, 0x20, fixture.run);
	make_code(&fixture, 0x70, fixture.walk); /* nibble 3, value 5 */
	make_heap(&fixture, units, 1);
	check_code(&fixture, CODE_BASE + 0x6c, fixture.run);
	check_code(&fixture, CODE_BASE + 0x70, fixture.walk);
	check_code(&fixture, CODE_BASE + 0x90, fixture.walk);
	fake_clr_destroy(fixture.fake);
}

/* ReadyToRun: RUNTIME_FUNCTIONs by RVA; entry points in a hash map, values shifted right by one. */
TEST(test_ready_to_run)
{
	static const uint32_t functions[][3] = {
		{ 0x100, 0x180, 0 }, { 0x180, 0x1a0, 0 }, { 0x200, 0x280, 0 }, { 0x300, 0x340, 0 }
	};
	struct fixture fixture = set_up();
	struct fake_memory *memory = fixture.memory;
	uint64_t module = fake_module(fixture.fake), info = fake_alloc(memory, 512);
	uint64_t table = fake_alloc(memory, sizeof(functions));
	uint64_t buckets = fake_alloc(memory, (uint64_t)64 * 3);
	fake_poke(memory, table, functions, sizeof(functions));
	fake_poke_u64(memory, fixture.section + 32, module);
	fake_poke_u64(memory, module + FAKE_MODULE_READY_TO_RUN, info);
	fake_poke_u64(memory, info + 80, table);
	fake_poke_u32(memory, info + 88, 4);
	fake_poke_u64(memory, info + 360 + 16, buckets);
	fake_poke_u32(memory, buckets, 2);
	fake_poke_u64(memory, buckets + 64 + 8, CODE_BASE + 0x100);
	fake_poke_u64(memory, buckets + 64 + 32 + 8, fixture.run >> 1);
	fake_poke_u64(memory, buckets + 128, CODE_BASE + 0x200);
	fake_poke_u64(memory, buckets + 128 + 32, fixture.walk >> 1);
	check_code(&fixture, CODE_BASE + 0x100, fixture.run);
	check_code(&fixture, CODE_BASE + 0x17f, fixture.run);
	check_code(&fixture, CODE_BASE + 0x190, fixture.run); /* its funclet */
	check_code(&fixture, CODE_BASE + 0x1a0, 0);           /* between functions */
	check_code(&fixture, CODE_BASE + 0x200, fixture.walk);
	check_code(&fixture, CODE_BASE + 0x50, 0);
	fake_poke_u32(memory, buckets, UINT32_MAX);
	check_code(&fixture, CODE_BASE + 0x100, 0);
	fake_poke_u32(memory, buckets, 2);
	check_code(&fixture, CODE_BASE + 0x100, fixture.run);
	coreclr_of(fixture.runtime)->layout.origins[L_MODULE_R2R] =
		ORIGIN_NONE; /* an unknown runtime */
	check_code(&fixture, CODE_BASE + 0x100, 0);
	fake_clr_destroy(fixture.fake);
}

/* The stubs that stand for methods load the MethodDesc from the page of data after them. */
TEST(test_precode)
{
	static const uint8_t fixup[] = { 0xff, 0x25, 0xfa, 0x3f, 0, 0,    0x4c, 0x8b,
					 0x15, 0xfb, 0x3f, 0,    0, 0xff, 0x25, 0xfd };
	static const uint8_t stub[] = { 0x4c, 0x8b, 0x15, 0xf9, 0x3f, 0, 0, 0xff, 0x25, 0xfb };
	struct fixture fixture = set_up();
	struct fake_memory *memory = fixture.memory;
	uint64_t code = fake_alloc(memory, 0x8000);
	fake_poke(memory, code, fixup, sizeof(fixup));
	fake_poke_u64(memory, code + 0x4008, fixture.run);
	fake_poke(memory, code + 0x100, stub, sizeof(stub));
	fake_poke_u64(memory, code + 0x100 + 0x4000, fixture.walk);
	check_code(&fixture, code, fixture.run);
	check_code(&fixture, code + 6, fixture.run); /* where it goes when it is not patched */
	check_code(&fixture, code + 0x100, fixture.walk);
	check_code(&fixture, code + 0x200, 0);
	fake_poke_u64(memory, code + 0x4008, 0x1234);
	check_code(&fixture, code, 0);
	check_code(&fixture, 0, 0);
	fake_clr_destroy(fixture.fake);
}

TEST(precodes_are_those_of_the_processor)
{
	struct fixture fixture = set_up();
	uint64_t code = fake_alloc(fixture.memory, 16);
	fake_poke_u64(fixture.memory, code, MADE_UP_PRECODE);
	fake_poke_u64(fixture.memory, code + 8, fixture.run);
	check_code(&fixture, code, 0);
	fixture.fake->target.arch = &made_up_arch;
	check_code(&fixture, code, fixture.run);
	ASSERT_UINT(method_entry_target(fixture.runtime, code), code);
	fake_clr_destroy(fixture.fake);
}

TEST(test_cycle)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = fixture.memory;
	uint64_t table = fake_peek_u64(memory, coreclr_of(fixture.runtime)->globals.dac_table);
	static const unsigned int shifts[] = { 49, 41, 33, 25 };
	for (size_t i = 0; i < 4; i++)
		table = fake_peek_u64(memory, table + 8 * (CODE_BASE >> shifts[i] & 255)) & ~1ull;
	uint64_t fragment = fake_peek_u64(memory, table + 8 * (CODE_BASE >> 17 & 255)) & ~1ull;
	fake_poke_u64(memory, fragment, fragment);
	check_code(&fixture, CODE_BASE, 0);
	fake_clr_destroy(fixture.fake);
}

/* The part of an image that has its methods: rows 2, 3 and 4 of MethodDef begin with the functions 0, 2 and 3. */
static const uint8_t method_entries[] = { 0x20, 1, 2, 2, 0x1e, 0x0c, 0, 0x16, 8, 0x1a };

/* A ReadyToRun image of four functions, of whose methods only Run was called; returns the info that leads to it. */
static uint64_t make_image(struct fixture *fixture)
{
	static const uint32_t functions[][3] = { { 0x1000, 0x1040, 0x900 },
						 { 0x1040, 0x1080, 0x910 },
						 { 0x1080, 0x10c0, 0x920 },
						 { 0x10c0, 0x1100, 0x930 } };
	struct fake_memory *memory = fixture->memory;
	uint64_t module = fixture->fake->module, info = fake_alloc(memory, 512),
		 header = fake_alloc(memory, 64), buckets = fake_alloc(memory, 128),
		 table = fake_alloc(memory, sizeof(functions));
	fake_poke(memory, table, functions, sizeof(functions));
	fake_poke_u64(memory, fixture->section + 32, module);
	fake_poke_u64(memory, module + FAKE_MODULE_READY_TO_RUN, info);
	fake_poke_u64(memory, info + 16, header);
	fake_poke_u64(memory, info + 80, table);
	fake_poke_u32(memory, info + 88, 4);
	fake_poke_u64(memory, info + 360 + 16, buckets);
	fake_poke_u32(memory, buckets, 1);
	fake_poke_u64(memory, buckets + 64, CODE_BASE + 0x1000);
	fake_poke_u64(memory, buckets + 64 + 32, fixture->run >> 1);
	fake_poke_u32(memory, header, 0x00525452);
	fake_poke_u32(memory, header + 12, 1);
	fake_poke_u32(memory, header + 16, 103);
	fake_poke_u32(memory, header + 20, 0x400);
	fake_poke_u32(memory, header + 24, sizeof(method_entries));
	fake_poke(memory, CODE_BASE + 0x400, method_entries, sizeof(method_entries));
	return info;
}

static void check_uncalled(struct fixture *fixture, uint64_t code, const char *expected)
{
	uint64_t module = 0;
	uint32_t rid = 0;
	struct text text = { 0 };
	bool found = coreclr_uncalled_method(fixture->runtime, CODE_BASE + code, &module, &rid);
	CU_ASSERT_EQUAL(found, expected != NULL);
	if (found) {
		ASSERT_UINT(module, fixture->fake->module);
		method_row_signature(fixture->runtime, module, rid, &text);
		ASSERT_TEXT(text.bytes, expected);
	}
	text_deinit(&text);
}

TEST(an_image_knows_methods_that_nobody_has_called)
{
	struct fixture fixture = set_up();
	uint64_t method = 0;
	(void)make_image(&fixture);
	check_uncalled(&fixture, 0x1000, NULL); /* called */
	check_uncalled(&fixture, 0x1050,
		       NULL); /* a handler, or of an instance of a generic method */
	check_uncalled(&fixture, 0x1080, "Ns.Worker.Walk(?)");
	check_uncalled(&fixture, 0x10ff, "Ns.Worker.None()");
	check_uncalled(&fixture, 0x1100, NULL);
	check_uncalled(&fixture, 0x0fff, NULL);
	check_uncalled(&fixture, CODE_SIZE, NULL);
	/* Their code is not that of the method before. */
	CU_ASSERT_TRUE(runtime_method_at(fixture.runtime, CODE_BASE + 0x1050, &method));
	ASSERT_UINT(method, fixture.run);
	CU_ASSERT_FALSE(runtime_method_at(fixture.runtime, CODE_BASE + 0x1090, &method));
	fake_clr_destroy(fixture.fake);
}

TEST(methods_that_nobody_has_called_are_in_the_list_of_functions)
{
	struct fixture fixture = set_up();
	struct code_functions functions;
	(void)make_image(&fixture);
	ASSERT_UINT_FATAL(code_functions_read(fixture.runtime, NULL, &functions, NULL), HD_OK);
	static const uint32_t rids[] = { 0, 0, 3, 4 };
	ASSERT_UINT_FATAL(functions.rows_count, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct code_function *row = &functions.rows[i];
		ASSERT_UINT(row->method_desc, i ? 0 : fixture.run);
		ASSERT_UINT(row->rid, rids[i]);
		ASSERT_UINT(row->module, rids[i] ? fixture.fake->module : 0);
	}
	code_functions_deinit(&functions);
	fake_clr_destroy(fixture.fake);
}

TEST(an_image_that_lies_about_its_methods_knows_none)
{
	static const struct {
		uint64_t at; /* in the info if it is below 512, else in the code */
		uint32_t value;
	} lies[] = {
		{ 88, UINT32_MAX },    /* functions */
		{ 88, 2 },             /* numbers after the last one */
		{ 0x400, 0x0f0f0f0f }, /* elements, and the size of offsets */
		{ 0x400, 0xffffff20 }, /* the place of the tree */
		{ 0x404, 0xffffffff }, /* a part of it */
	};
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct fixture fixture = set_up();
		uint64_t info = make_image(&fixture);
		fake_poke_u32(fixture.memory, lies[i].at + (lies[i].at < 0x200 ? info : CODE_BASE),
			      lies[i].value);
		check_uncalled(&fixture, 0x1080, NULL);
		fake_clr_destroy(fixture.fake);
	}
}

SUITE(.name = "method")
