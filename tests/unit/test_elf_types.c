/* SPDX-License-Identifier: MIT */
/* Types of a fake runtime as entries of .debug_info. */
#include <string.h>

#include "managed_elf/dwarf.h"
#include "managed_elf/elf_types.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/dwarf_check.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/text.h"

enum {
	VALUE_FLAGS = 0x00040000,
	/* In the EEClass of 10: in front of the number of fields (doc/coreclr.md 10.1). */
	PADDING = 49,
};

static struct fake_clr *fake;
static struct fake_types *types;
static struct runtime *runtime;
static struct elf_types table;
static struct text info;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	table = (struct elf_types){ 0 };
	info = (struct text){ 0 };
	text_append(&info, "head", 4);
}

static void tear_down(void)
{
	elf_types_deinit(&table);
	text_deinit(&info);
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

/* Say how many bytes of BaseSize are not fields. */
static void set_padding(uint64_t method_table, uint8_t padding)
{
	uint64_t ee_class = fake_peek_u64(&fake->memory, fake_at(fake, method_table, L_MT_CLASS));
	fake_poke(&fake->memory, ee_class + PADDING, &padding, 1);
}

static void begin(void)
{
	fake_types_attach(types);
	runtime = fake_runtime(fake);
	table.runtime = runtime;
}

static uint32_t stored(uint64_t method_table)
{
	return elf_types_stored(&table, type_find(runtime, method_table));
}

static void write_all(void)
{
	struct text none = { 0 };
	const struct dwarf_sections sections = { &info, &none, &none, 4 };
	struct dwarf_counts counts;
	ASSERT_UINT_FATAL(elf_types_write(&table, NULL, &info, NULL), HD_OK);
	CU_ASSERT_PTR_NULL(dwarf_check(&sections, &counts));
}

static bool has(const void *bytes, size_t size)
{
	return memmem(info.bytes, info.size, bytes, size) != NULL;
}

static bool has_name(const char *name)
{
	return has(name, strlen(name) + 1);
}

static unsigned int abbreviation_at(uint32_t entry)
{
	return (unsigned char)info.bytes[entry];
}

/* Where the reference of the member with that name is. */
static uint32_t target_of_member(const char *name)
{
	char entry[64] = { ABBREV_MEMBER };
	uint32_t target = 0;
	(void)strcpy(entry + 1, name);
	const char *at = memmem(info.bytes, info.size, entry, strlen(name) + 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	memcpy(&target, at + strlen(name) + 2, sizeof(target));
	return target;
}

TEST(a_class_has_its_base_first_and_its_fields_at_their_offsets)
{
	static const struct fake_field of_base[] = {
		{ .name = "a", .element = ELEMENT_I4, .offset = 0 }, { 0 }
	};
	static const struct fake_field fields[] = {
		{ .name = "b", .element = ELEMENT_I8, .offset = 8 },
		{ .name = "self", .element = ELEMENT_OBJECT, .offset = 16 },
		{ .name = "ours", .element = ELEMENT_I4, .is_static = true },
		{ 0 }
	};
	uint64_t base = fake_class(types, &(struct fake_class){ .name = "Base",
								.fields = of_base,
								.type = { .base_size = 24 } });
	uint64_t derived = fake_class(
		types, &(struct fake_class){ .name = "Derived",
					     .fields = fields,
					     .inherited = 1,
					     .type = { .base_size = 40, .parent = base } });
	set_padding(base, 20);
	set_padding(derived, 16);
	begin();
	uint32_t row = stored(derived);
	ASSERT_UINT(table.rows[row].kind, KIND_POINTER);
	ASSERT_UINT(elf_types_size(&table, row), 8);
	ASSERT_UINT(elf_types_size(&table, table.rows[row].target), 32);
	ASSERT_UINT(elf_types_size(&table, table.rows[stored(base)].target), 12);
	ASSERT_UINT(stored(derived), row);
	write_all();
	static const char head[] = { ABBREV_STRUCT,    'D', 'e', 'r', 'i', 'v', 'e', 'd', 0, 32,
				     ABBREV_BASE_CLASS };
	CU_ASSERT(has(head, sizeof(head)));
	CU_ASSERT(has_name("b"));
	CU_ASSERT(has_name("MethodTable"));
	CU_ASSERT(!has_name("ours"));
	/* A field of its base is only there. */
	CU_ASSERT(has_name("a"));
	ASSERT_UINT(abbreviation_at(target_of_member("b")), ABBREV_TYPEDEF);
	ASSERT_UINT(abbreviation_at(target_of_member("self")), ABBREV_POINTER);
}

TEST(a_struct_is_a_value_and_an_unknown_type_only_a_name)
{
	static const struct fake_field fields[] = { { .name = "<Size>k__BackingField",
						      .element = ELEMENT_I4 },
						    { .name = "Owner@", .element = ELEMENT_I4 },
						    { 0 } };
	uint64_t value = fake_class(
		types, &(struct fake_class){ .name = "Value",
					     .fields = fields,
					     .type = { .base_size = 24, .flags = VALUE_FLAGS } });
	set_padding(value, 20);
	begin();
	uint32_t row = stored(value);
	ASSERT_UINT(table.rows[row].kind, KIND_STRUCT);
	ASSERT_UINT(elf_types_size(&table, row), 4);
	uint32_t unknown = elf_types_of(&table, ELEMENT_CLASS, NULL, "Ns.Not\nLoaded");
	ASSERT_UINT(table.rows[unknown].kind, KIND_POINTER);
	ASSERT_UINT(elf_types_of(&table, ELEMENT_VALUE, NULL, "Ns.Struct"), TYPE_UNKNOWN);
	ASSERT_UINT(elf_types_of(&table, ELEMENT_POINTER, NULL, "System.Void*"), TYPE_ANYTHING);
	uint32_t number = elf_types_of(&table, ELEMENT_POINTER, NULL, "System.Int32**");
	ASSERT_UINT(table.rows[table.rows[number].target].kind, KIND_POINTER);
	write_all();
	CU_ASSERT(has_name("Size"));
	CU_ASSERT(has_name("Owner"));
	/* A control character is an escape. */
	CU_ASSERT(has_name("Ns.Not\\nLoaded") || has_name("Ns.Not\\u000aLoaded"));
}

TEST(the_first_type_may_be_a_pointer_to_anything)
{
	begin();
	uint32_t row = elf_types_of(&table, ELEMENT_FUNCTION_POINTER, NULL, "");
	ASSERT_UINT(row, TYPE_ANYTHING);
	ASSERT_UINT(elf_types_size(&table, row), 8);
	write_all();
}

TEST(a_long_name_is_cut)
{
	HD_CLEANUP(text) struct text name = { 0 };
	for (unsigned int i = 0; i < 100000; i++)
		text_puts(&name, "0123456789");
	begin();
	(void)elf_types_of(&table, ELEMENT_CLASS, NULL, name.bytes);
	write_all();
	CU_ASSERT(info.size < 2000);
	CU_ASSERT(has("789...", 7));
}

/* Debuggers would follow it without an end. */
TEST(a_struct_that_holds_itself_has_no_such_member)
{
	struct fake_field first[] = { { .name = "x", .element = ELEMENT_VALUE }, { 0 } };
	uint64_t a = fake_class(
		types, &(struct fake_class){ .name = "A",
					     .type = { .base_size = 24, .flags = VALUE_FLAGS } });
	first[0].type = a;
	uint64_t b = fake_class(
		types, &(struct fake_class){ .name = "B",
					     .fields = first,
					     .type = { .base_size = 24, .flags = VALUE_FLAGS } });
	set_padding(a, 16);
	set_padding(b, 16);
	/* The FieldDesc of B is that of A, too. */
	uint64_t of_a = fake_peek_u64(&fake->memory, fake_at(fake, a, L_MT_CLASS)),
		 of_b = fake_peek_u64(&fake->memory, fake_at(fake, b, L_MT_CLASS));
	fake_poke_u64(&fake->memory, fake_at(fake, of_a, L_CLASS_FIELDS),
		      fake_peek_u64(&fake->memory, fake_at(fake, of_b, L_CLASS_FIELDS)));
	fake_poke(&fake->memory, fake_at(fake, of_a, L_CLASS_NUM_INSTANCE), "\1", 1);
	begin();
	(void)stored(b);
	write_all();
	CU_ASSERT(has_name("A"));
	CU_ASSERT(has_name("B"));
	CU_ASSERT(!has_name("x"));
}

/* The longest chains, also those without an end, are left out. */
TEST(a_class_whose_base_classes_have_no_end_has_none)
{
	uint64_t a =
		fake_class(types, &(struct fake_class){ .name = "A", .type = { .base_size = 24 } });
	uint64_t b =
		fake_class(types, &(struct fake_class){ .name = "B",
							.type = { .base_size = 24, .parent = a } });
	fake_poke_u64(&fake->memory, fake_at(fake, a, L_MT_PARENT), b);
	begin();
	(void)stored(b);
	write_all();
	CU_ASSERT(has_name("B"));
	CU_ASSERT(!has_name("A"));
}

/* Fields that it has less room for than its base class takes. */
TEST(a_class_that_is_smaller_than_its_base_has_none)
{
	uint64_t a =
		fake_class(types, &(struct fake_class){ .name = "A", .type = { .base_size = 40 } });
	uint64_t b =
		fake_class(types, &(struct fake_class){ .name = "B",
							.type = { .base_size = 40, .parent = a } });
	set_padding(a, 16);
	set_padding(b, 40);
	begin();
	(void)stored(b);
	write_all();
	CU_ASSERT(has_name("B"));
	CU_ASSERT(!has_name("A"));
}

TEST(strings_and_arrays_have_a_length_and_as_many_elements)
{
	uint64_t array = fake_array_type(fake, fake->string_type);
	begin();
	(void)stored(array);
	write_all();
	static const char string[] = "System.String";
	CU_ASSERT(has(string, sizeof(string)));
	CU_ASSERT(has_name("chars"));
	CU_ASSERT(has_name("data"));
	ASSERT_UINT(abbreviation_at(target_of_member("data")), ABBREV_ARRAY);
	ASSERT_UINT(abbreviation_at(target_of_member("chars")), ABBREV_ARRAY);
	uint32_t length;
	memcpy(&length, info.bytes + target_of_member("chars") + 1 + 4 + 1, sizeof(length));
	CU_ASSERT(memcmp(info.bytes + length + 1, "length", 7) == 0);
}

SUITE(.name = "elf_types", .set_up = set_up, .tear_down = tear_down)
