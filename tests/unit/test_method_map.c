/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_map.h"
#include "support/native_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/text.h"

#define TRACES   ((uint64_t)0x7f4000000000)
#define INVOKES  ((uint64_t)0x7f4001000000)
#define FIXUPS   ((uint64_t)0x7f4002000000)
#define METADATA ((uint64_t)0x7f4003000000)
#define TYPES    ((uint64_t)0x7f4004000000)
#define CODE     ((uint64_t)0x7f4005000000)
#define TABLE    ((uint64_t)0x7f4006000000)

struct program {
	struct fake_memory memory;
	struct nativeaot aot;
	struct type_map types;
	struct method_map methods;
	struct native_maker metadata, traces, fixups;
	struct native_hash_maker invokes, entries;
	struct native_handle shop, list_of_int;
	uint32_t names[3], signature, arguments, record;
};

static uint32_t put_signature(struct native_maker *metadata, const struct native_handle *parameters,
			      uint32_t count)
{
	uint32_t offset = (uint32_t)metadata->size;
	native_put(metadata, 0);
	native_put_signed(metadata, 0);
	native_put(metadata, native_value(metadata, parameters[0]));
	native_put(metadata, count);
	for (uint32_t i = 0; i < count; i++)
		native_put(metadata, native_value(metadata, parameters[i]));
	return offset;
}

static void make_metadata(struct program *program)
{
	struct native_maker *metadata = &program->metadata;
	native_begin(metadata, program->aot.image.major < 16 ? 8 : 7);
	const struct native_handle scope = { 0x38, 4 };
	uint32_t system = native_namespace(metadata, scope, "System");
	uint32_t shop = native_namespace(metadata, scope, "Shop");
	struct native_handle in_system = { NATIVE_NAMESPACE_REFERENCE, system };
	struct native_handle int32 = { NATIVE_TYPE_REFERENCE,
				       native_type_reference(metadata, in_system, "Int32") };
	struct native_handle list = { NATIVE_TYPE, native_type(metadata, shop, 0, "List`1") };
	program->shop =
		(struct native_handle){ NATIVE_TYPE, native_type(metadata, shop, 0, "Till") };
	uint32_t instance = native_instance(metadata, list, &int32, 1);
	program->list_of_int = (struct native_handle){
		NATIVE_TYPE_SPECIFICATION,
		native_inner(metadata, (struct native_handle){ NATIVE_INSTANCE, instance })
	};
	const struct native_handle parameters[] = {
		int32,
		{ NATIVE_SZ_ARRAY, native_inner(metadata, program->shop) },
		{ NATIVE_BY_REFERENCE, native_inner(metadata, int32) },
	};
	program->signature = put_signature(metadata, parameters, 3);
	program->names[0] = native_string(metadata, "Open");
	program->names[1] = native_string(metadata, "Map");
	program->names[2] = native_string(metadata, "Main");
	uint32_t argument = native_string(metadata, "System.String");
	program->arguments = (uint32_t)metadata->size;
	native_put(metadata, 1);
	native_put(metadata, argument);
	program->record = (uint32_t)metadata->size;
	native_put(metadata, 6);
	native_put(metadata, 0);
	native_put(metadata, program->names[2]);
	native_put(metadata, program->signature);
}

static void put_code(struct program *program, uint64_t code)
{
	struct native_maker *traces = &program->traces;
	native_put_u32(traces, (uint32_t)(code - (TRACES + traces->size)));
}

static void make_traces(struct program *program)
{
	struct native_maker *traces = &program->traces, *metadata = &program->metadata;
	native_put_u32(traces, 3);
	native_put_u8(traces, 1 | 2 | 4);
	native_put_u32(traces, native_token(metadata, program->shop));
	native_put(traces, program->names[0]);
	native_put(traces, program->signature);
	put_code(program, CODE + 0x200);
	native_put_u8(traces, 16); /* all is as before */
	put_code(program, CODE + 0x100);
	native_put_u8(traces, 1 | 2 | 8);
	native_put_u32(traces, native_token(metadata, program->list_of_int));
	native_put(traces, program->names[1]);
	native_put(traces, program->signature);
	native_put(traces, program->arguments);
	put_code(program, CODE);
}

static void put_fixup(struct program *program, uint64_t address)
{
	native_put_u32(&program->fixups, (uint32_t)(address - (FIXUPS + program->fixups.size)));
}

static void put_invoke(struct program *program, uint32_t flags)
{
	native_hash_entry(&program->invokes);
	native_put(&program->invokes.entries, flags);
	native_put(&program->invokes.entries, program->record);
	native_put(&program->invokes.entries, 0);
	native_put(&program->invokes.entries, 1);
}

static enum hd_status read_program(struct program *program)
{
	struct ready_to_run *image = &program->aot.image;
	struct native_maker invokes, types;
	struct hd_error err;
	native_hash_make(&program->invokes, &invokes);
	native_hash_make(&program->entries, &types);
	native_map(&program->traces, &program->memory, TRACES);
	native_map(&invokes, &program->memory, INVOKES);
	native_map(&types, &program->memory, TYPES);
	native_map(&program->fixups, &program->memory, FIXUPS);
	native_map(&program->metadata, &program->memory, METADATA);
	const struct ready_to_run_section sections[] = {
		{ READY_TO_RUN_TYPE_MAP, TYPES, types.size },
		{ READY_TO_RUN_METADATA, METADATA, program->metadata.size },
		{ READY_TO_RUN_FIXUPS, FIXUPS, program->fixups.size },
		{ READY_TO_RUN_INVOKE_MAP, INVOKES, invokes.size },
		{ READY_TO_RUN_STACK_TRACE_MAP, TRACES, program->traces.size },
	};
	memcpy(image->sections, sections, sizeof(sections));
	image->count = 5;
	program->aot.base.memory = &program->memory.memory;
	program->aot.types = &program->types;
	CU_ASSERT_EQUAL_FATAL(type_map_read(&program->memory.memory, image, &program->types, &err),
			      HD_OK);
	return method_map_read(&program->memory.memory, image, &program->types, &program->methods,
			       &err);
}

static struct program *make_program(uint16_t major)
{
	static struct program program;
	program = (struct program){ .aot = { .major = 10, .image = { .major = major } } };
	fake_memory_init(&program.memory);
	fake_map(&program.memory, TABLE, 0x100);
	make_metadata(&program);
	make_traces(&program);
	put_fixup(&program, TABLE);
	put_fixup(&program, CODE + 0x300);
	/* The MethodTable of Main's class. */
	native_hash_entry(&program.entries);
	native_put(&program.entries.entries, 0);
	native_put(&program.entries.entries, native_token(&program.metadata, program.shop));
	return &program;
}

static void destroy_program(struct program *program)
{
	method_map_deinit(&program->methods);
	type_map_deinit(&program->types);
	fake_memory_deinit(&program->memory);
}

static void check_signature(struct program *program, uint64_t code, const char *want)
{
	struct text text = { 0 };
	const struct method_row *row = method_map_find(&program->methods, code);
	if (row)
		aot_method_signature(&program->aot, row, &text);
	CU_ASSERT_STRING_EQUAL(text.bytes ? text.bytes : "", want);
	text_deinit(&text);
}

TEST(methods_have_types_arguments_and_parameters)
{
	static const uint16_t versions[] = { 9, 10, 16, 26 };
	for (size_t i = 0; i < 4; i++) {
		struct program *program = make_program(versions[i]);
		put_invoke(program, versions[i] < 16 ? 0x24 : 0x20);
		CU_ASSERT_EQUAL(read_program(program), HD_OK);
		CU_ASSERT_FALSE(program->methods.is_cut);
		CU_ASSERT_EQUAL(program->methods.rows_count, 4);
		check_signature(program, CODE,
				"Shop.List<System.Int32>.Map<System.String>(Int32, Shop.Till[], "
				"Int32 ByRef)");
		check_signature(program, CODE + 0x100,
				"Shop.Till.Open(Int32, Shop.Till[], Int32 ByRef)");
		check_signature(program, CODE + 0x200,
				"Shop.Till.Open(Int32, Shop.Till[], Int32 ByRef)");
		check_signature(program, CODE + 0x300,
				"Shop.Till.Main(Int32, Shop.Till[], Int32 ByRef)");
		check_signature(program, CODE + 1, "");
		destroy_program(program);
	}
}

TEST(an_entry_without_code_or_record_is_left_out)
{
	struct program *program = make_program(9);
	put_invoke(program, 0x20);
	put_invoke(program, 0x04);
	CU_ASSERT_EQUAL(read_program(program), HD_OK);
	CU_ASSERT_EQUAL(program->methods.rows_count, 3);
	destroy_program(program);
}

TEST(a_count_beyond_the_table_reads_what_is_there)
{
	struct program *program = make_program(16);
	memset(program->traces.bytes, 0xff, 4);
	native_put_u8(&program->traces, 0x1f);
	CU_ASSERT_EQUAL(read_program(program), HD_OK);
	CU_ASSERT_EQUAL(program->methods.rows_count, 3);
	CU_ASSERT_TRUE(program->methods.is_cut);
	destroy_program(program);
}

TEST(memory_that_is_exhausted_is_told)
{
	for (uint64_t nth = 1; nth < 8; nth++) {
		struct program *program = make_program(16);
		struct hd_error err;
		CU_ASSERT_EQUAL(read_program(program), HD_OK);
		method_map_deinit(&program->methods);
		alloc_fail_at(nth);
		enum hd_status status =
			method_map_read(&program->memory.memory, &program->aot.image,
					&program->types, &program->methods, &err);
		CU_ASSERT_TRUE(status == HD_ERR_NOMEM || alloc_calls() < nth);
		alloc_fail_at(0);
		destroy_program(program);
	}
}

SUITE(.name = "method_map")
