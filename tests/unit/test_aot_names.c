/* SPDX-License-Identifier: MIT */
/* MethodTables of a made-up program, and their names. */
#include "arch/arch.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_table.h"
#include "runtime/nativeaot/names.h"
#include "runtime/nativeaot/type_map.h"
#include "runtime/nativeaot/type_name.h"
#include "runtime/type.h"
#include "support/native_maker.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/findings.h"

#define TABLES   ((uint64_t)0x7f4000000000)
#define FIXUPS   ((uint64_t)0x7f4001000000)
#define TYPES    ((uint64_t)0x7f4002000000)
#define METADATA ((uint64_t)0x7f4003000000)
#define TABLE(n) (TABLES + 256 * (uint64_t)(n))
#define COUNT    48u

#define ELEMENT(n)    ((uint32_t)(n) << 26)
#define PARAMETERIZED 0x00020000u
#define DEFINITION    0x00030000u
#define GENERIC       0x02000000u
#define FINALIZER     0x00100000u

/* The numbers of its MethodTables. */
enum {
	OBJECT,
	INT32,
	LIST,
	LIST_OF_INT,
	PAIR,
	PAIR_OF,
	INNER,
	INNER_OF,
	ARRAY,
	MATRIX,
	VECTOR,
	FREE,
	STATICS,
	POINTER,
	CONTINUATION,
	SUSPENDED,
	FIRST_FREE
};

struct program {
	struct fake_memory memory;
	struct target target;
	struct nativeaot aot;
	struct type_map types;
	struct native_hash_maker entries;
	struct native_maker metadata, fixups;
};

static void put_table(struct program *program, unsigned int at, uint32_t flags, uint32_t size,
		      uint64_t related)
{
	fake_poke_u32(&program->memory, TABLE(at), flags);
	fake_poke_u32(&program->memory, TABLE(at) + 4, size);
	fake_poke_u64(&program->memory, TABLE(at) + 8, related);
}

static void put_relative(struct program *program, uint64_t at, uint64_t to)
{
	fake_poke_u32(&program->memory, at, (uint32_t)(to - at));
}

/* An instance of @p definition with these arguments; one is named directly. */
static void put_instance(struct program *program, unsigned int at, unsigned int definition,
			 const unsigned int *arguments, unsigned int count)
{
	uint64_t tail = TABLE(at) + 24, list = TABLE(at) + 128;
	put_table(program, at, GENERIC | FINALIZER | ELEMENT(20), 24, TABLE(OBJECT));
	/* TypeManager, writable data, finalizer, definition, composition */
	put_relative(program, tail + 12, TABLE(definition));
	put_relative(program, tail + 16, count == 1 ? TABLE(arguments[0]) : list);
	for (unsigned int i = 0; i < count && count > 1; i++)
		put_relative(program, list + 4 * (uint64_t)i, TABLE(arguments[i]));
}

static void put_definition(struct program *program, unsigned int at, uint32_t arity)
{
	bool is_8 = program->aot.major == 8;
	put_table(program, at, DEFINITION | GENERIC | (is_8 ? arity : 0), is_8 ? 0 : arity, 0);
}

static void name_table(struct program *program, unsigned int at, uint32_t type)
{
	uint32_t index = (uint32_t)(program->fixups.size / 4);
	native_put_u32(&program->fixups, (uint32_t)(TABLE(at) - (FIXUPS + program->fixups.size)));
	native_hash_entry(&program->entries);
	native_put(&program->entries.entries, index);
	native_put(&program->entries.entries,
		   native_token(&program->metadata, (struct native_handle){ NATIVE_TYPE, type }));
}

static void make_metadata(struct program *program)
{
	struct native_maker *metadata = &program->metadata;
	native_begin(metadata, program->aot.major < 10 ? 8 : 7);
	uint32_t root = native_namespace(metadata, (struct native_handle){ 0x38, 4 }, "");
	uint32_t system = native_namespace(
		metadata, (struct native_handle){ NATIVE_NAMESPACE, root }, "System");
	uint32_t shop = native_namespace(metadata, (struct native_handle){ NATIVE_NAMESPACE, root },
					 "Shop");
	name_table(program, OBJECT, native_type(metadata, system, 0, "Object"));
	name_table(program, INT32, native_type(metadata, system, 0, "Int32"));
	name_table(program, LIST, native_type(metadata, shop, 0, "List`1"));
	uint32_t compiler = native_namespace(
		metadata,
		(struct native_handle){
			NATIVE_NAMESPACE,
			native_namespace(metadata,
					 (struct native_handle){ NATIVE_NAMESPACE, system },
					 "Runtime") },
		"CompilerServices");
	name_table(program, CONTINUATION, native_type(metadata, compiler, 0, "Continuation"));
	uint32_t pair = native_type(metadata, shop, 0, "Pair`2");
	name_table(program, PAIR, pair);
	name_table(program, INNER, native_type(metadata, 0, pair, "Inner`1"));
}

static void make_tables(struct program *program)
{
	static const unsigned int one[] = { INT32 }, two[] = { INT32, LIST_OF_INT },
				  three[] = { INT32, ARRAY, OBJECT };
	put_table(program, OBJECT, ELEMENT(20), 24, 0);
	put_table(program, INT32, ELEMENT(8), 24, TABLE(OBJECT));
	put_definition(program, LIST, 1);
	put_definition(program, PAIR, 2);
	put_definition(program, INNER, 3);
	put_instance(program, LIST_OF_INT, LIST, one, 1);
	put_instance(program, PAIR_OF, PAIR, two, 2);
	put_instance(program, INNER_OF, INNER, three, 3);
	put_table(program, ARRAY, PARAMETERIZED | 0x80000000u | ELEMENT(24) | 8, 24, TABLE(OBJECT));
	put_table(program, MATRIX, PARAMETERIZED | 0x80000000u | ELEMENT(23) | 4, 48, TABLE(INT32));
	put_table(program, VECTOR, PARAMETERIZED | 0x80000000u | ELEMENT(23) | 4, 32, TABLE(INT32));
	put_table(program, POINTER, PARAMETERIZED | ELEMENT(26), 0, TABLE(INT32));
	put_table(program, STATICS, 0, 48, TABLE(OBJECT));
	put_table(program, CONTINUATION, ELEMENT(20), 40, TABLE(OBJECT));
	/* A size and a base class, and two series: Next, and two references behind what all have. */
	put_table(program, SUSPENDED, 0x01000000u, 72, TABLE(CONTINUATION));
	fake_poke_u64(&program->memory, TABLE(SUSPENDED) - 8, 2);
	fake_poke_u64(&program->memory, TABLE(SUSPENDED) - 16, 8);
	fake_poke_u64(&program->memory, TABLE(SUSPENDED) - 24, (uint64_t)-64);
	fake_poke_u64(&program->memory, TABLE(SUSPENDED) - 32, 32);
	fake_poke_u64(&program->memory, TABLE(SUSPENDED) - 40, (uint64_t)-56);
}

static void read_types(struct program *program)
{
	struct ready_to_run *image = &program->aot.image;
	struct hd_error err;
	struct native_maker types;
	native_hash_make(&program->entries, &types);
	native_map(&types, &program->memory, TYPES);
	native_map(&program->metadata, &program->memory, METADATA);
	native_map(&program->fixups, &program->memory, FIXUPS);
	image->major = program->aot.major < 10 ? 9 : 16;
	image->sections[0] =
		(struct ready_to_run_section){ READY_TO_RUN_TYPE_MAP, TYPES, types.size };
	image->sections[1] = (struct ready_to_run_section){ READY_TO_RUN_METADATA, METADATA,
							    program->metadata.size };
	image->sections[2] =
		(struct ready_to_run_section){ READY_TO_RUN_FIXUPS, FIXUPS, program->fixups.size };
	image->count = 3;
	CU_ASSERT_EQUAL_FATAL(type_map_read(&program->memory.memory, image, &program->types, &err),
			      HD_OK);
	program->aot.types = &program->types;
}

static struct program *make_program(unsigned int major)
{
	static struct program program;
	program = (struct program){ .aot = { .major = major } };
	fake_memory_init(&program.memory);
	fake_map(&program.memory, TABLES, 256 * COUNT);
	program.target.memory = &program.memory.memory;
	program.aot.base.target = &program.target;
	program.aot.base.memory = &program.memory.memory;
	program.aot.base.tables.free = TABLE(FREE);
	make_metadata(&program);
	make_tables(&program);
	return &program;
}

static void destroy_program(struct program *program)
{
	type_map_deinit(&program->types);
	fake_memory_deinit(&program->memory);
}

static void check_name(struct program *program, unsigned int at, const char *want)
{
	struct text text = { 0 };
	aot_table_name(&program->aot, TABLE(at), &text);
	CU_ASSERT_STRING_EQUAL(text.bytes, want);
	text_deinit(&text);
}

TEST(names_are_made_of_definitions_and_their_arguments)
{
	static const unsigned int releases[] = { 8, 9, 10, 11 };
	for (size_t i = 0; i < 4; i++) {
		struct program *program = make_program(releases[i]);
		read_types(program);
		CU_ASSERT_FALSE(program->types.is_cut);
		check_name(program, INT32, "System.Int32");
		check_name(program, LIST, "Shop.List`1");
		check_name(program, LIST_OF_INT, "Shop.List<System.Int32>");
		check_name(program, PAIR_OF, "Shop.Pair<System.Int32, Shop.List<System.Int32>>");
		check_name(program, INNER_OF,
			   "Shop.Pair<System.Int32, System.Object[]>+Inner<System.Object>");
		check_name(program, ARRAY, "System.Object[]");
		check_name(program, MATRIX, "System.Int32[,,]");
		check_name(program, VECTOR, "System.Int32[*]");
		check_name(program, POINTER, "System.Int32*");
		check_name(program, FREE, "Free");
		CU_ASSERT_EQUAL(aot_known_type(&program->aot.base, AOT_TYPE_OBJECT), TABLE(OBJECT));
		CU_ASSERT_EQUAL(aot_known_type(&program->aot.base, AOT_TYPE_THREAD), 0);
		destroy_program(program);
	}
}

TEST(what_runtime_async_keeps_has_a_table_without_a_tail)
{
	struct program *program = make_program(11);
	struct runtime *runtime = &program->aot.base;
	struct type type;
	put_table(program, FIRST_FREE, 0x01000000u, 72, TABLE(INT32));
	read_types(program);
	program->target.arch = &arch_x86_64;
	/* The first word behind Continuation's leads to itself, those of all other tables elsewhere. */
	program->aot.type_manager = TABLE(CONTINUATION) + AOT_METHOD_TABLE_SIZE;
	CU_ASSERT_FALSE(aot_describe_type(runtime, TABLE(SUSPENDED), &type));
	program->aot.globals.continuation = aot_known_type(runtime, AOT_TYPE_CONTINUATION);
	CU_ASSERT_EQUAL(program->aot.globals.continuation, TABLE(CONTINUATION));
	CU_ASSERT_TRUE(aot_describe_type(runtime, TABLE(SUSPENDED), &type));
	CU_ASSERT_EQUAL(type.base_size, 72);
	CU_ASSERT_TRUE(type.has_pointers);
	CU_ASSERT_EQUAL(type.parent, TABLE(CONTINUATION));
	/* Another base class. */
	CU_ASSERT_FALSE(aot_describe_type(runtime, TABLE(FIRST_FREE), &type));
	check_name(program, SUSPENDED, "Continuation_32_0_2");
	destroy_program(program);
}

/* A program that was compiled without names of methods, or without those of types, too. */
TEST(what_the_compiler_left_out_is_told)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct program *program = make_program(10);
		struct runtime *runtime = &program->aot.base;
		struct hd_error err;
		read_types(program);
		type_map_deinit(&program->types);
		program->types = (struct type_map){ .is_cut = false };
		program->aot.image.address = METADATA;
		if (i)
			program->aot.image.count = 0;
		CU_ASSERT_EQUAL_FATAL(aot_names_read(runtime, &err), HD_OK);
		CU_ASSERT_EQUAL(program->target.findings.count, 1 + i);
		CU_ASSERT_TRUE(findings_has(&program->target.findings, FINDING_MISSING_SYMBOLS));
		aot_names_destroy(runtime);
		findings_deinit(&program->target.findings);
		destroy_program(program);
	}
}

TEST(a_table_without_a_record_says_its_address)
{
	struct program *program = make_program(10);
	put_table(program, FIRST_FREE, ELEMENT(20), 24, TABLE(OBJECT));
	read_types(program);
	check_name(program, FIRST_FREE, "<unknown type 7f4000001000>");
	check_name(program, COUNT + 1, "<unknown type 7f4000003100>");
	destroy_program(program);
}

TEST(a_type_that_is_its_own_argument_has_a_name_that_ends)
{
	static const unsigned int self[] = { PAIR_OF, PAIR_OF };
	struct program *program = make_program(10);
	struct text text = { 0 };
	put_instance(program, PAIR_OF, PAIR, self, 2);
	put_table(program, ARRAY, PARAMETERIZED | 0x80000000u | ELEMENT(24) | 8, 24, TABLE(ARRAY));
	read_types(program);
	aot_table_name(&program->aot, TABLE(PAIR_OF), &text);
	CU_ASSERT_TRUE(text.size <= AOT_NAME_MAX + 3);
	CU_ASSERT_TRUE(string_ends_with(text.bytes, "..."));
	text.size = 0;
	aot_table_name(&program->aot, TABLE(ARRAY), &text);
	CU_ASSERT_TRUE(string_begins_with(text.bytes, "...[][]"));
	text_deinit(&text);
	destroy_program(program);
}

TEST(an_argument_that_stands_for_all_classes_is_canon)
{
	static const unsigned int arguments[] = { FIRST_FREE };
	struct program *program = make_program(10);
	put_table(program, FIRST_FREE, ELEMENT(20), 24, TABLE(OBJECT));
	put_instance(program, LIST_OF_INT, LIST, arguments, 1);
	read_types(program);
	check_name(program, LIST_OF_INT, "Shop.List<System.__Canon>");
	destroy_program(program);
}

TEST(many_long_names_make_all_further_names_short)
{
	static const unsigned int self[] = { PAIR_OF, PAIR_OF };
	struct program *program = make_program(10);
	struct text text = { 0 };
	put_instance(program, PAIR_OF, PAIR, self, 2);
	read_types(program);
	for (unsigned int i = 0; i < 4096 && program->aot.name_extra <= AOT_NAME_EXTRA_MAX; i++) {
		text.size = 0;
		aot_table_name(&program->aot, TABLE(PAIR_OF), &text);
		CU_ASSERT_TRUE(text.size > AOT_NAME_USUAL + 3);
	}
	text.size = 0;
	aot_table_name(&program->aot, TABLE(PAIR_OF), &text);
	CU_ASSERT_TRUE(text.size <= AOT_NAME_USUAL + 3);
	check_name(program, INT32, "System.Int32");
	text_deinit(&text);
	destroy_program(program);
}

TEST(a_damaged_table_leaves_the_others_their_names)
{
	struct program *program = make_program(10);
	/* An index beyond 308, a record of another kind, and a token beyond the metadata. */
	native_hash_entry(&program->entries);
	native_put(&program->entries.entries, 100000);
	native_put(&program->entries.entries, 0);
	native_hash_entry(&program->entries);
	native_put(&program->entries.entries, 0);
	native_put(&program->entries.entries, 0);
	name_table(program, FIRST_FREE, 0xfffff);
	put_table(program, FIRST_FREE, ELEMENT(20), 24, TABLE(OBJECT));
	read_types(program);
	CU_ASSERT_TRUE(program->types.is_cut);
	check_name(program, INT32, "System.Int32");
	check_name(program, FIRST_FREE, "<unknown type 7f4000001000>");
	destroy_program(program);
}

SUITE(.name = "aot_names")
