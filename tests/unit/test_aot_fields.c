/* SPDX-License-Identifier: MIT */
/* Fields of the types of a made-up program, by the table of the framework and by GCDescs. */
#include "runtime/nativeaot/fields.h"
#include "runtime/nativeaot/internal.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"

#define TABLES       ((uint64_t)0x7f4000000000)
#define TABLE(n)     (TABLES + 256 * ((uint64_t)(n) + 1))
#define COUNT        16u
#define ELEMENT(n)   ((uint32_t)(n) << 26)
#define HAS_POINTERS 0x01000000u
#define CLASS        20u

enum {
	OBJECT,
	BASE,
	DERIVED,
	VALUE_TYPE,
	ENUM,
	COLOR,
	RANGE,
	OTHER
};

struct program {
	struct fake_memory memory;
	struct target target;
	struct nativeaot aot;
};

/* A MethodTable, with one series of references in its GCDesc; none: @p references is 0. */
static void put_table(struct program *program, unsigned int at, uint32_t flags, uint32_t size,
		      uint32_t references)
{
	struct fake_memory *memory = &program->memory;
	fake_poke_u32(memory, TABLE(at), flags | (references ? HAS_POINTERS : 0));
	fake_poke_u32(memory, TABLE(at) + 4, size);
	fake_poke_u64(memory, TABLE(at) - 8, references ? 1 : 0);
	fake_poke_u64(memory, TABLE(at) - 16, 8);
	fake_poke_u64(memory, TABLE(at) - 24, (uint64_t)8 * references - size);
}

static void derive(struct program *program, unsigned int at, unsigned int from)
{
	fake_poke_u64(&program->memory, TABLE(at) + 8, TABLE(from));
}

static const struct type *name_type(struct program *program, unsigned int at, const char *name)
{
	const struct type *type = type_find(&program->aot.base, TABLE(at));
	CU_ASSERT_PTR_NOT_NULL_FATAL(type);
	struct type *mutable = type_at(&program->aot.base, type->index);
	mutable->name = mem_strndup(name, strlen(name));
	mutable->name_size = (uint32_t)strlen(name);
	return type;
}

static struct program *make_program(void)
{
	static struct program program;
	struct hd_error err;
	program = (struct program){ .aot = { .major = 10 } };
	fake_memory_init(&program.memory);
	fake_map(&program.memory, TABLES, 256 * COUNT);
	program.target.memory = &program.memory.memory;
	program.target.arch = &arch_x86_64;
	struct runtime *runtime = &program.aot.base;
	runtime->ops = &nativeaot_ops;
	runtime->target = &program.target;
	runtime->memory = &program.memory.memory;
	CU_ASSERT_EQUAL_FATAL(runtime_type_table_create(&runtime->types, &err), HD_OK);
	put_table(&program, OBJECT, ELEMENT(CLASS), 24, 0);
	name_type(&program, OBJECT, "System.Object");
	return &program;
}

static void destroy_program(struct program *program)
{
	runtime_type_table_destroy(program->aot.base.types);
	fake_memory_deinit(&program->memory);
}

static void check_field(const struct field *field, const char *name, uint32_t offset,
			uint8_t element)
{
	CU_ASSERT_STRING_EQUAL(field->name, name);
	CU_ASSERT_EQUAL(field->offset, offset);
	CU_ASSERT_EQUAL(field->element_type, element);
}

static struct field_list read_fields(struct program *program, const struct type *type)
{
	struct field_list list;
	struct hd_error err;
	CU_ASSERT_EQUAL_FATAL(field_list_read(&program->aot.base, type, &list, &err), HD_OK);
	return list;
}

TEST(fields_of_the_framework_have_names)
{
	struct program *program = make_program();
	put_table(program, BASE, ELEMENT(CLASS), 32, 1);
	derive(program, BASE, OBJECT);
	const struct type *type =
		name_type(program, BASE, "System.Collections.Generic.List<System.Int32>");
	struct field_list list = read_fields(program, type);
	CU_ASSERT_EQUAL_FATAL(list.count, 3);
	check_field(&list.rows[0], "_items", 0, ELEMENT_CLASS);
	check_field(&list.rows[1], "_size", 8, ELEMENT_I4);
	check_field(&list.rows[2], "_version", 12, ELEMENT_I4);
	CU_ASSERT_STRING_EQUAL(list.rows[1].type_name, "System.Int32");
	CU_ASSERT_TRUE(field_is_named(&list.rows[0]));
	field_list_deinit(&list);
	destroy_program(program);
}

TEST(what_a_class_of_the_program_adds_has_places_but_no_names)
{
	struct program *program = make_program();
	put_table(program, BASE, ELEMENT(CLASS), 32, 1);
	derive(program, BASE, OBJECT);
	name_type(program, BASE, "System.Collections.Generic.List<System.Int32>");
	put_table(program, DERIVED, ELEMENT(CLASS), 48, 1);
	/* A second series: the reference at 24. */
	fake_poke_u64(&program->memory, TABLE(DERIVED) - 8, 2);
	fake_poke_u64(&program->memory, TABLE(DERIVED) - 32, 24);
	fake_poke_u64(&program->memory, TABLE(DERIVED) - 40, (uint64_t)8 - 48);
	derive(program, DERIVED, BASE);
	struct field_list list = read_fields(program, name_type(program, DERIVED, "My.Items"));
	CU_ASSERT_EQUAL_FATAL(list.count, 4);
	check_field(&list.rows[0], "_items", 0, ELEMENT_CLASS);
	check_field(&list.rows[3], "<field at 18>", 16, ELEMENT_CLASS);
	CU_ASSERT_FALSE(field_is_named(&list.rows[3]));
	field_list_deinit(&list);
	destroy_program(program);
}

TEST(a_row_that_the_type_contradicts_is_not_believed)
{
	static const struct {
		uint32_t size, references;
		size_t fields;
	} cases[] = {
		{ 32, 2, 2 }, /* a number of the row is a reference */
		{ 32, 0, 0 }, /* the reference of the row is none */
		{ 40, 1, 1 }, /* there are more fields than the row has */
	};
	for (size_t i = 0; i < 3; i++) {
		struct program *program = make_program();
		put_table(program, BASE, ELEMENT(CLASS), cases[i].size, cases[i].references);
		derive(program, BASE, OBJECT);
		const struct type *type =
			name_type(program, BASE, "System.Collections.Generic.List<System.Int32>");
		struct field_list list = read_fields(program, type);
		CU_ASSERT_EQUAL(list.count, cases[i].fields);
		for (size_t at = 0; at < list.count; at++)
			CU_ASSERT_FALSE(field_is_named(&list.rows[at]));
		field_list_deinit(&list);
		destroy_program(program);
	}
}

TEST(structs_and_enums_have_their_fields)
{
	struct program *program = make_program();
	put_table(program, VALUE_TYPE, ELEMENT(CLASS), 24, 0);
	derive(program, VALUE_TYPE, OBJECT);
	name_type(program, VALUE_TYPE, "System.ValueType");
	put_table(program, ENUM, ELEMENT(CLASS), 24, 0);
	derive(program, ENUM, VALUE_TYPE);
	name_type(program, ENUM, "System.Enum");
	put_table(program, COLOR, ELEMENT(6), 24, 0);
	derive(program, COLOR, ENUM);
	struct field_list list = read_fields(program, name_type(program, COLOR, "My.Color"));
	CU_ASSERT_EQUAL_FATAL(list.count, 1);
	CU_ASSERT_EQUAL(list.rows[0].element_type, ELEMENT_I2);
	field_list_deinit(&list);
	put_table(program, RANGE, ELEMENT(16), 24, 0);
	derive(program, RANGE, VALUE_TYPE);
	list = read_fields(program, name_type(program, RANGE, "System.TimeSpan"));
	CU_ASSERT_EQUAL_FATAL(list.count, 1);
	check_field(&list.rows[0], "_ticks", 0, ELEMENT_I8);
	field_list_deinit(&list);
	/* A struct of the program: nothing is known of it. */
	put_table(program, OTHER, ELEMENT(16), 32, 0);
	derive(program, OTHER, VALUE_TYPE);
	list = read_fields(program, name_type(program, OTHER, "My.Point"));
	CU_ASSERT_EQUAL(list.count, 0);
	field_list_deinit(&list);
	destroy_program(program);
}

SUITE(.name = "aot_fields")
