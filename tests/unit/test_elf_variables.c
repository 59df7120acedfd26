/* SPDX-License-Identifier: MIT */
/* Places and blocks of variables as DWARF has them. */
#include <string.h>

#include "arch/x86_64/frame_registers.h"
#include "managed_elf/dwarf.h"
#include "managed_elf/variables.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/dwarf_check.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"

#define START UINT64_C(0x7f0012345000)
#define SIZE  0x100u

static struct fake_clr *fake;
static struct making making;
static struct variable_making variables;
static struct text info, ranges;
static struct code_function function;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	making = (struct making){ .runtime = fake_runtime(fake) };
	variables = (struct variable_making){ .making = &making, .budget = 1000 };
	variables.types.runtime = making.runtime;
	info = ranges = (struct text){ 0 };
	function = (struct code_function){ .start = START, .begin = START, .end = START + SIZE };
}

static void tear_down(void)
{
	variable_making_deinit(&variables);
	text_deinit(&info);
	text_deinit(&ranges);
	fake_clr_destroy(fake);
}

/* Variables of type int, or of structs of 16 bytes: one of a pointer's size has no such place. */
static void make_variables(size_t arguments, size_t locals)
{
	struct method_variables *list = &variables.variables;
	list->count = arguments + locals;
	list->argument_count = arguments;
	list->rows = mem_calloc(list->count, sizeof(*list->rows));
	variables.type_rows = mem_calloc(list->count, sizeof(*variables.type_rows));
	CU_ASSERT_TRUE_FATAL(list->rows && variables.type_rows);
	for (size_t i = 0; i < list->count; i++) {
		char name[] = "arg0";
		name[3] = (char)('0' + i);
		list->rows[i].name = i < arguments ? mem_strndup(name, strlen(name)) : NULL;
		variables.type_rows[i] = elf_types_of(&variables.types, ELEMENT_I4, NULL, "");
	}
}

static void add_range(uint32_t number, uint32_t begin, uint32_t end, struct variable_home home)
{
	struct variable_ranges *list = &variables.ranges;
	CU_ASSERT_TRUE_FATAL(PAGES_RESERVE(list, rows));
	list->rows[list->rows_count++] = (struct variable_range){ number, begin, end, home };
}

static void add_scope(uint32_t begin, uint32_t end, uint32_t number, const char *name)
{
	struct pdb_scopes *list = &variables.scopes;
	CU_ASSERT_TRUE_FATAL(PAGES_RESERVE(list, rows) && PAGES_RESERVE(list, locals));
	list->rows[list->rows_count++] =
		(struct pdb_scope){ begin, end, (uint32_t)list->locals_count, 1 };
	list->locals[list->locals_count++] = (struct pdb_local){ number, name };
}

static void add_bound(uint32_t native, uint32_t il)
{
	struct code_bounds *list = &variables.bounds;
	CU_ASSERT_TRUE_FATAL(PAGES_RESERVE(list, rows));
	list->rows[list->rows_count++] = (struct code_bound){ native, il, true };
}

static void write_all(void)
{
	const struct dwarf_sections sections = { &info, &variables.locations, &ranges, 0 };
	struct dwarf_counts counts;
	variables_write(&variables, &function, &info, &ranges);
	CU_ASSERT(!info.failed && !ranges.failed && !variables.locations.failed);
	/* The types come later, and their places are not known yet. */
	const char *wrong = dwarf_check(&sections, &counts);
	if (wrong)
		ASSERT_TEXT(wrong, "a reference leads to no type");
}

/* The entry with that name. */
static const uint8_t *entry_of(const char *name)
{
	const char *at = memmem(info.bytes, info.size, name, strlen(name) + 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	return (const uint8_t *)at - 1;
}

static uint64_t word_at(const struct text *text, size_t offset)
{
	uint64_t word = 0;
	CU_ASSERT_TRUE_FATAL(offset + sizeof(word) <= text->size);
	memcpy(&word, text->bytes + offset, sizeof(word));
	return word;
}

/* A pair of .debug_loc or .debug_ranges. */
static void check_pair(const struct text *text, size_t offset, uint64_t begin, uint64_t end)
{
	ASSERT_UINT(word_at(text, offset), begin);
	ASSERT_UINT(word_at(text, offset + 8), end);
}

TEST(one_place_for_all_of_the_function_is_an_expression)
{
	make_variables(2, 0);
	add_range(0, 0, SIZE, (struct variable_home){ HOME_STACK, REG_RBP, 0, -0x18 });
	write_all();
	const uint8_t *entry = entry_of("arg0");
	static const uint8_t place[] = { 2, OP_BREG0 + 6, 0x68 };
	ASSERT_UINT(entry[0], ABBREV_ARGUMENT);
	CU_ASSERT(memcmp(entry + 1 + 5 + 4, place, sizeof(place)) == 0);
	ASSERT_UINT(entry_of("arg1")[0], ABBREV_ARGUMENT_NOWHERE);
	ASSERT_UINT(variables.locations.size, 0);
}

TEST(ranges_are_a_list_without_what_calls_lose)
{
	make_variables(1, 0);
	add_range(0, 0, 0x10, (struct variable_home){ HOME_REGISTER, REG_RDI, 0, 0 });
	add_range(0, 0x10, 0x40, (struct variable_home){ HOME_REGISTER, REG_RBX, 0, 0 });
	add_range(0, 0x40, 0x80, (struct variable_home){ HOME_STACK, REG_RSP, 0, 8 });
	add_range(0, 0x90, 0x91, (struct variable_home){ HOME_REGISTER, REG_RAX, 0, 0 });
	write_all();
	const struct text *list = &variables.locations;
	ASSERT_UINT(entry_of("arg0")[0], ABBREV_ARGUMENT_IN_PLACES);
	check_pair(list, 0, START, START + 0xf);
	ASSERT_UINT((uint8_t)list->bytes[18], OP_REG0 + 5);
	check_pair(list, 19, START + 0x10, START + 0x40);
	ASSERT_UINT((uint8_t)list->bytes[19 + 18], OP_REG0 + 3);
	/* The code is not there, so a call may end at its end. */
	check_pair(list, 38, START + 0x40, START + 0x81);
	check_pair(list, 38 + 20, 0, 0);
	ASSERT_UINT(list->size, 38 + 20 + 16);
}

TEST(a_value_in_two_places_has_pieces)
{
	static const uint8_t registers[] = { OP_REG0 + 3, OP_PIECE, 8, OP_REG0 + 15, OP_PIECE, 8 };
	static const uint8_t mixed[] = {
		OP_BREG0 + 6, 0x78, OP_PIECE, 8, OP_REG0 + 3, OP_PIECE, 8
	};
	uint64_t value = fake_type(fake, &(struct fake_type){ .base_size = 32, .flags = 0x40000 });
	make_variables(2, 0);
	const struct type *type = type_find(making.runtime, value);
	variables.type_rows[0] = variables.type_rows[1] = elf_types_stored(&variables.types, type);
	ASSERT_UINT(elf_types_size(&variables.types, variables.type_rows[0]), 16);
	add_range(0, 0, SIZE, (struct variable_home){ HOME_REGISTERS, REG_RBX, REG_R15, 0 });
	add_range(1, 0, SIZE, (struct variable_home){ HOME_STACK_REGISTER, REG_RBX, REG_RBP, -8 });
	write_all();
	CU_ASSERT(memcmp(entry_of("arg0") + 11, registers, sizeof(registers)) == 0);
	CU_ASSERT(memcmp(entry_of("arg1") + 11, mixed, sizeof(mixed)) == 0);
}

TEST(a_value_that_does_not_fit_into_its_register_is_at_the_address_in_it)
{
	uint64_t value = fake_type(fake, &(struct fake_type){ .base_size = 40, .flags = 0x40000 });
	make_variables(1, 0);
	const struct type *type = type_find(making.runtime, value);
	variables.type_rows[0] = elf_types_stored(&variables.types, type);
	add_range(0, 0, SIZE, (struct variable_home){ HOME_REGISTER, REG_RBX, 0, 0 });
	write_all();
	ASSERT_UINT(entry_of("arg0")[11], OP_BREG0 + 3);
	ASSERT_UINT(entry_of("arg0")[12], 0);
}

TEST(a_handler_has_only_its_part_of_the_ranges)
{
	make_variables(1, 0);
	add_range(0, 0, 0x90, (struct variable_home){ HOME_STACK, REG_RBP, 0, -8 });
	add_range(0, 0x90, UINT32_MAX, (struct variable_home){ HOME_STACK, REG_RBP, 0, -16 });
	function.begin = START + 0x80;
	write_all();
	check_pair(&variables.locations, 0, START + 0x80, START + 0x90);
	check_pair(&variables.locations, 20, START + 0x90, START + SIZE);
}

static void add_kept(const char *name, uint64_t offset)
{
	struct kept_variable *rows =
		mem_realloc(variables.kept, variables.kept_count + 1, sizeof(*rows));
	CU_ASSERT_PTR_NOT_NULL_FATAL(rows);
	variables.kept = rows;
	rows[variables.kept_count++] =
		(struct kept_variable){ mem_strndup(name, strlen(name)),
					elf_types_of(&variables.types, ELEMENT_I4, NULL, ""),
					offset };
}

TEST(a_variable_in_a_field_is_where_this_leads)
{
	static const uint8_t on_stack[] = { 5, OP_BREG0 + 6, 0x78, OP_DEREF, OP_PLUS_UCONST, 16 };
	make_variables(1, 0);
	add_range(0, 0, 0x80, (struct variable_home){ HOME_REGISTER, REG_RBX, 0, 0 });
	add_range(0, 0x80, SIZE, (struct variable_home){ HOME_STACK, REG_RBP, 0, -8 });
	add_kept("sum", 16);
	add_kept("arg0", 24); /* an argument has that name */
	write_all();
	const struct text *list = &variables.locations;
	ASSERT_UINT(entry_of("sum")[0], ABBREV_LOCAL_IN_PLACES);
	uint32_t offset;
	memcpy(&offset, entry_of("sum") + 1 + 4 + 4, sizeof(offset));
	check_pair(list, offset, START, START + 0x80);
	ASSERT_UINT((uint8_t)list->bytes[offset + 18], OP_BREG0 + 3);
	ASSERT_UINT((uint8_t)list->bytes[offset + 19], 16);
	check_pair(list, offset + 20, START + 0x80, START + SIZE);
	CU_ASSERT(memcmp(list->bytes + offset + 36, on_stack, 1) == 0);
	CU_ASSERT(memcmp(list->bytes + offset + 38, on_stack + 1, 5) == 0);
	ASSERT_UINT(list->size, offset + 36 + 2 + 5 + 16);
}

TEST(blocks_have_the_code_of_their_il)
{
	make_variables(0, 3);
	add_bound(0, 0);
	add_bound(0x10, 10);
	add_bound(0x20, 20);
	add_bound(0x20, 30); /* the last one at a place counts */
	add_bound(0x30, CODE_BOUND_NOTHING);
	add_bound(0x40, 12);
	add_bound(0x50, 40);
	add_scope(0, 50, 0, "outer");
	add_scope(10, 20, 1, "inner");
	add_scope(11, 13, 2, "innermost");
	add_scope(60, 70, 2, "later");
	write_all();
	CU_ASSERT_TRUE(entry_of("outer") < entry_of("inner"));
	/* The outermost is not a block. */
	ASSERT_UINT((uint8_t)info.bytes[0], ABBREV_LOCAL_NOWHERE);
	const uint8_t *block = entry_of("inner") - 5;
	ASSERT_UINT(block[0], ABBREV_BLOCK);
	check_pair(&ranges, 0, START + 0x10, START + 0x20);
	check_pair(&ranges, 16, START + 0x40, START + 0x50);
	check_pair(&ranges, 32, 0, 0);
	check_pair(&ranges, 48, START + 0x40, START + 0x50);
	check_pair(&ranges, 64, 0, 0);
	ASSERT_UINT(ranges.size, 80);
	/* Both blocks end. */
	CU_ASSERT(memcmp(entry_of("later") - 2, "\0", 2) == 0);
}

TEST(blocks_that_cost_too_much_are_left_out)
{
	make_variables(0, 1);
	for (uint32_t i = 0; i < 100; i++)
		add_bound(i, i);
	for (uint32_t i = 0; i < 100; i++)
		add_scope(0, 100, 0, "x");
	write_all();
	ASSERT_UINT(info.size, 0);
	variables.budget = 20000;
	write_all();
	CU_ASSERT(info.size > 0);
	CU_ASSERT(variables.budget < 20000);
}

TEST(a_local_that_the_method_does_not_have_is_left_out)
{
	make_variables(0, 1);
	add_bound(0, 0);
	add_scope(0, 50, 1, "beyond");
	add_scope(10, 20, UINT32_MAX, "far");
	write_all();
	ASSERT_UINT(info.size, 0);
}

SUITE(.name = "elf_variables", .set_up = set_up, .tear_down = tear_down)
