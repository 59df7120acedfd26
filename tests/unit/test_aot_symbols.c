/* SPDX-License-Identifier: MIT */
/* Fields and static fields by the symbols of a made-up program, and what is not believed. */
#include <dwarf.h>

#include "runtime/field.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_table.h"
#include "runtime/nativeaot/symbols/symbol_statics.h"
#include "runtime/nativeaot/symbols/symbols.h"
#include "runtime/type.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"

#define TABLES       ((uint64_t)0x7f4000000000)
#define TABLE(n)     (TABLES + 256 * ((uint64_t)(n) + 1))
#define COUNT        16u
#define CELL         (TABLES + 0x2000)
#define HOLDER_AT    (TABLES + 0x2100)
#define NODE_AT      (TABLES + 0x2200)
#define OTHER_AT     (TABLES + 0x2300)
#define NUMBER_AT    (TABLES + 0x2400)
#define HAS_POINTERS 0x01000000u
#define ELEMENT(n)   ((uint32_t)(n) << 26)
#define CLASS        20u
#define VALUE        16u

enum {
	OBJECT,
	NODE,
	OTHER,
	HOLDER,
	POINT
};

/* Entries of types, by their offsets; those of members are 100 and more. */
enum {
	INT = 1,
	OBJECT_CLASS,
	OBJECT_REF,
	POINT_CLASS,
	NODE_CLASS,
	NODE_REF,
	OTHER_CLASS
};

struct program {
	struct fake_memory memory;
	struct target target;
	struct nativeaot aot;
	struct aot_symbols symbols;
	struct dwarf_type types[8];
	struct dwarf_member members[16];
	struct dwarf_static statics[4];
	struct type_symbol tables[4];
	uint64_t class_hashes[4], table_hashes[4];
	uint32_t class_order[4], table_order[4];
};

static void put_table(struct program *program, unsigned int at, uint32_t size, uint32_t references,
		      unsigned int base)
{
	struct fake_memory *memory = &program->memory;
	fake_poke_u32(memory, TABLE(at), ELEMENT(CLASS) | (references ? HAS_POINTERS : 0));
	fake_poke_u32(memory, TABLE(at) + 4, size);
	fake_poke_u64(memory, TABLE(at) + 8, base == at ? 0 : TABLE(base));
	fake_poke_u64(memory, TABLE(at) - 8, references ? 1 : 0);
	fake_poke_u64(memory, TABLE(at) - 16, 8);
	fake_poke_u64(memory, TABLE(at) - 24, (uint64_t)8 * references - size);
}

/* Sort a few names by their hashes. */
static void sort_names(const char *const *names, size_t count, uint64_t *hashes, uint32_t *order)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = i;
		uint64_t hash = dwarf_name_hash(names[i]);
		for (; at && hashes[at - 1] > hash; at--) {
			hashes[at] = hashes[at - 1];
			order[at] = order[at - 1];
		}
		hashes[at] = hash;
		order[at] = (uint32_t)i;
	}
}

/* struct Point { object O; int X; }; class Node { Node Next; Point P; int Id; static int s_number; static Node s_list; } */
static void make_symbols(struct program *program)
{
	static const struct dwarf_type types[] = {
		{ .offset = INT,
		  .size = 4,
		  .kind = DWARF_NUMBER,
		  .encoding = DW_ATE_signed,
		  .name = "int" },
		{ .offset = OBJECT_CLASS, .size = 8, .first = 0, .count = 1, .name = "Object" },
		{ .offset = OBJECT_REF,
		  .target = OBJECT_CLASS,
		  .size = 8,
		  .kind = DWARF_REFERENCE,
		  .name = "" },
		{ .offset = POINT_CLASS, .size = 16, .first = 1, .count = 2, .name = "Point" },
		{ .offset = NODE_CLASS,
		  .target = OBJECT_CLASS,
		  .size = 40,
		  .first = 3,
		  .count = 5,
		  .has_base = true,
		  .name = "Node" },
		{ .offset = NODE_REF,
		  .target = NODE_CLASS,
		  .size = 8,
		  .kind = DWARF_REFERENCE,
		  .name = "" },
		{ .offset = OTHER_CLASS,
		  .target = OBJECT_CLASS,
		  .size = 16,
		  .first = 8,
		  .has_base = true,
		  .name = "Other" },
	};
	static const struct dwarf_member members[] = {
		{ "m_pEEType", 100, OBJECT_REF, 0, false },
		{ "O", 101, OBJECT_REF, 0, false },
		{ "X", 102, INT, 8, false },
		{ "Next", 103, NODE_REF, 8, false },
		{ "P", 104, POINT_CLASS, 16, false },
		{ "Id", 105, INT, 32, false },
		{ "s_number", 106, INT, 0, true },
		{ "s_list", 107, NODE_REF, 0, true },
	};
	static const char *const classes[] = { "Object", "Point", "Node", "Other" };
	static const uint32_t rows[] = { 1, 3, 4, 6 };
	static const char *const tables[] = { "Object", "Node", "Other" };
	struct aot_symbols *symbols = &program->symbols;
	memcpy(program->types, types, sizeof(types));
	memcpy(program->members, members, sizeof(members));
	/* The word with the MethodTable is no reference. */
	program->members[0].type = INT;
	/* As the compiler writes them: in the order of the metadata, with each other's names. */
	program->statics[0] = (struct dwarf_static){ 106, 4, CELL, 8, DWARF_IN_HOLDER };
	program->statics[1] = (struct dwarf_static){ 107, 4, NUMBER_AT, 0, DWARF_IN_PLACE };
	for (size_t i = 0; i < 3; i++)
		program->tables[i] = (struct type_symbol){ TABLE(i), tables[i] };
	sort_names(classes, 4, program->class_hashes, program->class_order);
	for (size_t i = 0; i < 4; i++)
		program->class_order[i] = rows[program->class_order[i]];
	sort_names(tables, 3, program->table_hashes, program->table_order);
	symbols->types = (struct dwarf_types){ .rows = program->types,
					       .rows_count = 7,
					       .members = program->members,
					       .members_count = 8,
					       .statics = program->statics,
					       .statics_count = 2,
					       .hashes = program->class_hashes,
					       .order = program->class_order,
					       .definitions = 4 };
	symbols->tables.tables = (struct symbol_list){ .rows = program->tables,
						       .count = 3,
						       .hashes = program->table_hashes,
						       .order = program->table_order };
}

static struct program *make_program(void)
{
	static struct program program;
	struct hd_error err;
	program = (struct program){ .aot = { .major = 10, .has_tried_symbols = true } };
	fake_memory_init(&program.memory);
	fake_map(&program.memory, TABLES, 0x3000);
	program.target.memory = &program.memory.memory;
	program.target.arch = &arch_x86_64;
	struct runtime *runtime = &program.aot.base;
	runtime->ops = &nativeaot_ops;
	runtime->target = &program.target;
	runtime->memory = &program.memory.memory;
	program.aot.symbols = &program.symbols;
	CU_ASSERT_EQUAL_FATAL(runtime_type_table_create(&runtime->types, &err), HD_OK);
	put_table(&program, OBJECT, 24, 0, OBJECT);
	put_table(&program, NODE, 48, 2, OBJECT);
	put_table(&program, OTHER, 24, 0, OBJECT);
	put_table(&program, HOLDER, 24, 1, OBJECT);
	fake_poke_u64(&program.memory, CELL, HOLDER_AT);
	fake_poke_u64(&program.memory, HOLDER_AT, TABLE(HOLDER));
	fake_poke_u64(&program.memory, HOLDER_AT + 8, NODE_AT);
	fake_poke_u64(&program.memory, NODE_AT, TABLE(NODE));
	fake_poke_u64(&program.memory, OTHER_AT, TABLE(OTHER));
	make_symbols(&program);
	return &program;
}

static void destroy_program(struct program *program)
{
	symbol_statics_destroy(program->symbols.statics);
	runtime_type_table_destroy(program->aot.base.types);
	fake_memory_deinit(&program->memory);
}

/* The struct has a MethodTable with so many slots, and a symbol for it. What is in front of it is no GCDesc. */
static void put_point(struct program *program, uint16_t slots)
{
	static const char *const tables[] = { "Object", "Node", "Other", "Point" };
	struct fake_memory *memory = &program->memory;
	struct symbol_list *list = &program->symbols.tables.tables;
	put_table(program, POINT, 32, 1, OBJECT);
	fake_poke_u32(memory, TABLE(POINT), ELEMENT(VALUE) | HAS_POINTERS);
	fake_poke_u64(memory, TABLE(POINT) - 8, 0xfffbfc14fffba590);
	fake_poke_u32(memory, TABLE(POINT) + 16, slots);
	program->tables[3] = (struct type_symbol){ TABLE(POINT), "Point" };
	sort_names(tables, 4, program->table_hashes, program->table_order);
	list->count = 4;
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

static struct field_list read_node(struct program *program)
{
	struct field_list list;
	struct hd_error err;
	/* The table of the framework has none of them. */
	name_type(program, OBJECT, "My.Object");
	name_type(program, OTHER, "My.Other");
	const struct type *type = name_type(program, NODE, "My.Node");
	CU_ASSERT_EQUAL_FATAL(field_list_read(&program->aot.base, type, &list, &err), HD_OK);
	return list;
}

static void check_field(const struct field *field, const char *name, uint32_t offset,
			uint8_t element)
{
	CU_ASSERT_STRING_EQUAL(field->name, name);
	CU_ASSERT_EQUAL(field->offset, offset);
	CU_ASSERT_EQUAL(field->element_type, element);
}

TEST(fields_of_own_types_have_names_by_symbols)
{
	struct program *program = make_program();
	struct field_list list = read_node(program);
	CU_ASSERT_EQUAL_FATAL(list.count, 6);
	check_field(&list.rows[0], "Next", 0, ELEMENT_CLASS);
	/* The struct has no MethodTable. */
	check_field(&list.rows[1], "P.O", 8, ELEMENT_CLASS);
	check_field(&list.rows[2], "P.X", 16, ELEMENT_I4);
	check_field(&list.rows[3], "Id", 24, ELEMENT_I4);
	CU_ASSERT_STRING_EQUAL(list.rows[3].type_name, "System.Int32");
	CU_ASSERT(list.rows[0].type == type_find(&program->aot.base, TABLE(NODE)));
	CU_ASSERT_TRUE(list.rows[4].is_static && list.rows[5].is_static);
	field_list_deinit(&list);
	destroy_program(program);
}

TEST(a_struct_that_is_never_boxed_has_fields_but_no_gc_desc)
{
	struct program *program = make_program();
	struct field_list list, inside;
	struct hd_error err;
	put_point(program, 0);
	const struct type *point = name_type(program, POINT, "My.Point");
	list = read_node(program);
	CU_ASSERT_EQUAL_FATAL(list.count, 5);
	check_field(&list.rows[1], "P", 8, ELEMENT_VALUE);
	CU_ASSERT(list.rows[1].type == point);
	CU_ASSERT_EQUAL(field_list_read(&program->aot.base, point, &inside, &err), HD_OK);
	CU_ASSERT_EQUAL_FATAL(inside.count, 2);
	check_field(&inside.rows[0], "O", 0, ELEMENT_CLASS);
	check_field(&inside.rows[1], "X", 8, ELEMENT_I4);
	field_list_deinit(&inside);
	field_list_deinit(&list);
	destroy_program(program);
	/* One that has objects has a GCDesc, and this is none. */
	program = make_program();
	put_point(program, 3);
	name_type(program, POINT, "My.Point");
	list = read_node(program);
	CU_ASSERT_EQUAL_FATAL(list.count, 6);
	CU_ASSERT_STRING_EQUAL(list.rows[1].name, "P.O");
	field_list_deinit(&list);
	destroy_program(program);
}

TEST(static_fields_get_their_names_back)
{
	struct program *program = make_program();
	struct field_list list = read_node(program);
	CU_ASSERT_EQUAL_FATAL(list.count, 6);
	CU_ASSERT_STRING_EQUAL(list.rows[4].name, "s_number");
	CU_ASSERT_EQUAL(aot_static_address(&program->aot.base, &list.rows[4], NULL), NUMBER_AT);
	CU_ASSERT_STRING_EQUAL(list.rows[5].name, "s_list");
	CU_ASSERT_EQUAL(aot_static_address(&program->aot.base, &list.rows[5], NULL), HOLDER_AT + 8);
	CU_ASSERT_EQUAL(program->symbols.statics->refused, 0);
	field_list_deinit(&list);
	destroy_program(program);
}

/* Nothing but the places of references is shown, as without symbols. */
static void check_unbelieved(struct program *program, size_t count)
{
	struct field_list list = read_node(program);
	CU_ASSERT_EQUAL(list.count, count);
	for (size_t i = 0; i < list.count; i++)
		CU_ASSERT_FALSE(field_is_named(&list.rows[i]));
	field_list_deinit(&list);
	destroy_program(program);
}

TEST(fields_that_the_type_contradicts_are_not_believed)
{
	struct program *program = make_program();
	put_table(program, NODE, 48, 1, OBJECT);
	check_unbelieved(program, 1);
	program = make_program();
	put_table(program, NODE, 48, 3, OBJECT);
	check_unbelieved(program, 3);
	program = make_program();
	put_table(program, NODE, 56, 2, OBJECT);
	check_unbelieved(program, 2);
	/* Another base class. */
	program = make_program();
	put_table(program, NODE, 48, 2, OTHER);
	check_unbelieved(program, 2);
	program = make_program();
	program->members[3].place = 12;
	check_unbelieved(program, 2);
}

/* The class is refused as a whole: no static field of it is told. */
static void check_refused(struct program *program)
{
	struct field_list list = read_node(program);
	CU_ASSERT_EQUAL(list.count, 4);
	CU_ASSERT_EQUAL(program->symbols.statics->refused, 1);
	field_list_deinit(&list);
	destroy_program(program);
}

TEST(static_fields_that_the_heap_contradicts_are_not_believed)
{
	/* An object of another type. */
	struct program *program = make_program();
	fake_poke_u64(&program->memory, HOLDER_AT + 8, OTHER_AT);
	check_refused(program);
	/* No reference is there. */
	program = make_program();
	program->statics[0].offset = 16;
	check_refused(program);
	/* The cell leads to no object. */
	program = make_program();
	fake_poke_u64(&program->memory, CELL, 8);
	check_refused(program);
	/* A reference outside of the heap. */
	program = make_program();
	program->statics[0].kind = DWARF_IN_PLACE;
	check_refused(program);
}

TEST(a_static_field_of_an_interface_is_believed)
{
	/* It derives from System.Object, too, but has no bytes. */
	struct program *program = make_program();
	program->types[5].target = OTHER_CLASS;
	program->types[6].size = 0;
	struct field_list list = read_node(program);
	CU_ASSERT_EQUAL_FATAL(list.count, 6);
	CU_ASSERT_STRING_EQUAL(list.rows[5].name, "s_list");
	CU_ASSERT_EQUAL(program->symbols.statics->refused, 0);
	field_list_deinit(&list);
	destroy_program(program);
}

TEST(a_static_field_that_holds_nothing_is_believed)
{
	struct program *program = make_program();
	fake_poke_u64(&program->memory, HOLDER_AT + 8, 0);
	struct field_list list = read_node(program);
	CU_ASSERT_EQUAL(list.count, 6);
	field_list_deinit(&list);
	destroy_program(program);
}

SUITE(.name = "aot_symbols")
