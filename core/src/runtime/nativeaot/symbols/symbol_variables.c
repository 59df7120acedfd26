/* SPDX-License-Identifier: MIT */
/* Arguments and locals of frames by the DWARF of the program (doc/nativeaot.md 9.5). */
#include <dwarf.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/field.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/symbols/symbol_walk.h"
#include "runtime/nativeaot/symbols/symbols.h"
#include "runtime/type.h"
#include "runtime/variables.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/text.h"

/* Variables of one method, and entries of their lists of places that are looked at. */
#define VARIABLES_MAX 1024u
#define RANGES_MAX    65536u
/* An entry of .debug_loc: where the range begins and ends, and how long the expression is (DWARF 4, 2.6.2). */
#define ENTRY_SIZE  16u
#define LENGTH_SIZE 2u

struct expression {
	const uint8_t *at, *end;
};

struct variables_reading {
	struct runtime *runtime;
	const struct aot_symbols *symbols;
	const struct dwarf_function *function;
	uint64_t place;     /* as in the file */
	uint8_t frame_base; /* register that DW_OP_fbreg means; ARCH_NONE */
	uint32_t ranges_left;
	const Elf_Data *places; /* .debug_loc; or NULL */
	struct method_variables variables;
	struct variable_home *homes;
};

/* A LEB128; false: it does not end. */
static bool read_leb(struct expression *expression, bool is_signed, int64_t *ret)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	while (expression->at < expression->end && shift < 63) {
		uint8_t byte = *expression->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40)
			value |= ~(uint64_t)0 << shift;
		*ret = (int64_t)value;
		return true;
	}
	return false;
}

static void home_in_register(const struct arch *arch, uint64_t number, struct variable_home *ret)
{
	bool is_float = number >= arch->dwarf.first_float &&
			number - arch->dwarf.first_float < arch->dwarf.floats;
	ret->number = is_float ? (uint8_t)(number - arch->dwarf.first_float)
			       : arch_of_dwarf(arch, number);
	ret->kind = is_float ? HOME_FLOAT_REGISTER : HOME_REGISTER;
	if (!is_float && ret->number == (uint8_t)ARCH_NONE)
		ret->kind = HOME_OTHER;
}

static void home_on_stack(uint8_t number, int64_t offset, struct variable_home *ret)
{
	bool is_known = number != (uint8_t)ARCH_NONE && offset >= INT32_MIN && offset <= INT32_MAX;
	ret->kind = is_known ? HOME_STACK : HOME_OTHER;
	ret->number = number;
	ret->offset = is_known ? (int32_t)offset : 0;
}

/* One place: a register, or a register and an offset.  Of a variable in pieces it is not one. */
static struct variable_home home_of(const struct variables_reading *reading,
				    struct expression expression)
{
	const struct arch *arch = reading->runtime->target->arch;
	struct variable_home home = { .kind = HOME_OTHER, .number = (uint8_t)ARCH_NONE };
	int64_t number = 0, offset = 0;
	if (expression.at == expression.end)
		return (struct variable_home){ .kind = HOME_NONE, .number = (uint8_t)ARCH_NONE };
	uint8_t code = *expression.at++;
	if (code >= DW_OP_reg0 && code <= DW_OP_reg31) {
		home_in_register(arch, code - DW_OP_reg0, &home);
	} else if (code == DW_OP_regx && read_leb(&expression, false, &number)) {
		home_in_register(arch, (uint64_t)number, &home);
	} else if (code >= DW_OP_breg0 && code <= DW_OP_breg31 &&
		   read_leb(&expression, true, &offset)) {
		home_on_stack(arch_of_dwarf(arch, code - DW_OP_breg0), offset, &home);
	} else if (code == DW_OP_fbreg && read_leb(&expression, true, &offset)) {
		home_on_stack(reading->frame_base, offset, &home);
	}
	if (expression.at < expression.end) {
		bool is_piece = *expression.at == DW_OP_piece;
		home.kind = is_piece ? HOME_REGISTERS : HOME_OTHER;
	}
	return home;
}

/* The place among those of a list, whose ranges are relative to the unit's base, which is 0. */
static struct variable_home home_in_list(struct variables_reading *reading, uint64_t offset)
{
	const struct variable_home none = { .kind = HOME_NONE, .number = (uint8_t)ARCH_NONE };
	const uint8_t *bytes = reading->places ? reading->places->d_buf : NULL;
	uint64_t size = reading->places ? reading->places->d_size : 0;
	while (offset <= size && size - offset >= ENTRY_SIZE && reading->ranges_left) {
		uint64_t begin = load_u64(bytes + offset), end = load_u64(bytes + offset + 8);
		reading->ranges_left--;
		offset += ENTRY_SIZE;
		/* The end of the list, and another base, which the compiler does not write. */
		if ((!begin && !end) || begin == UINT64_MAX || size - offset < LENGTH_SIZE)
			return none;
		uint64_t length = load_u16(bytes + offset);
		offset += LENGTH_SIZE;
		if (length > size - offset)
			return none;
		if (begin <= reading->place && reading->place < end) {
			return home_of(reading, (struct expression){ bytes + offset,
								     bytes + offset + length });
		}
		offset += length;
	}
	return none;
}

static struct variable_home read_home(struct variables_reading *reading, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Block block = { 0 };
	Dwarf_Word offset = 0;
	const struct variable_home none = { .kind = HOME_NONE, .number = (uint8_t)ARCH_NONE };
	if (!dwarf_attr(die, DW_AT_location, &attribute))
		return none;
	unsigned int form = dwarf_whatform(&attribute);
	if (form == DW_FORM_exprloc && dwarf_formblock(&attribute, &block) == 0) {
		struct expression all = { block.data, block.data + block.length };
		struct variable_home home = home_of(reading, all);
		/*
		 * The compiler writes no list for one range, and does not say where that is: a register has
		 * something else outside of it.
		 */
		return home.kind == HOME_STACK ? home : none;
	}
	if ((form == DW_FORM_sec_offset || form == DW_FORM_data4) &&
	    dwarf_formudata(&attribute, &offset) == 0)
		return home_in_list(reading, offset);
	return none;
}

/* The type of a variable: of a reference that is one to a struct or number, it is by reference. */
static void fill_type(const struct variables_reading *reading, const struct dwarf_type *type,
		      struct method_variable *ret, struct text *name)
{
	const struct dwarf_types *types = &reading->symbols->types;
	const struct dwarf_type *of = type;
	ret->element_type = symbol_element(types, type);
	if (type->kind == DWARF_REFERENCE || type->kind == DWARF_POINTER)
		of = dwarf_type_at(types, type->target);
	if (!of)
		return;
	uint64_t table = of->kind == DWARF_CLASS || of->kind == DWARF_ENUM
				 ? aot_symbols_table(reading->symbols, of)
				 : 0;
	ret->type = table ? type_find(reading->runtime, table) : NULL;
	if (of->kind == DWARF_NUMBER || of->kind == DWARF_REFERENCE) {
		text_puts(name, of->name);
	} else {
		aot_symbols_append_name(reading->runtime, reading->symbols, of, name);
	}
	if (type->kind == DWARF_POINTER)
		text_puts(name, "*");
}

static bool add_variable(struct variables_reading *reading, Dwarf_Die *die)
{
	HD_CLEANUP(text) struct text type_name = { 0 };
	struct method_variable *row = &reading->variables.rows[reading->variables.count];
	const char *name = dwarf_string_of(die, DW_AT_name);
	const struct dwarf_type *type =
		dwarf_type_at(&reading->symbols->types, dwarf_reference_of(die, DW_AT_type));
	*row = (struct method_variable){ 0 };
	if (type)
		fill_type(reading, type, row, &type_name);
	row->name = name ? mem_strndup(name, strlen(name)) : NULL;
	row->type_name = mem_strndup(type_name.bytes ? type_name.bytes : "", type_name.size);
	reading->homes[reading->variables.count++] = read_home(reading, die);
	return row->type_name && (row->name || !name) && !type_name.failed;
}

/* The entries of one kind. */
static bool add_all(struct variables_reading *reading, Dwarf_Die *function, int tag)
{
	Dwarf_Die child;
	int result = dwarf_child(function, &child);
	for (; result == 0 && reading->variables.count < VARIABLES_MAX;
	     result = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) == tag && !add_variable(reading, &child))
			return false;
	}
	return true;
}

/* DW_AT_frame_base is a register. */
static uint8_t read_frame_base(const struct arch *arch, Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Block block = { 0 };
	if (!dwarf_attr(function, DW_AT_frame_base, &attribute) ||
	    dwarf_whatform(&attribute) != DW_FORM_exprloc ||
	    dwarf_formblock(&attribute, &block) != 0 || block.length != 1 ||
	    block.data[0] < DW_OP_reg0 || block.data[0] > DW_OP_reg31)
		return (uint8_t)ARCH_NONE;
	return arch_of_dwarf(arch, block.data[0] - DW_OP_reg0);
}

static bool read_variables(struct variables_reading *reading, Dwarf_Die *function)
{
	reading->variables.rows = mem_calloc(VARIABLES_MAX, sizeof(*reading->variables.rows));
	reading->homes = mem_calloc(VARIABLES_MAX, sizeof(*reading->homes));
	if (!reading->variables.rows || !reading->homes ||
	    !add_all(reading, function, DW_TAG_formal_parameter))
		return false;
	reading->variables.argument_count = reading->variables.count;
	reading->variables.has_names = true;
	return add_all(reading, function, DW_TAG_variable);
}

static void free_variables(struct variables_reading *reading)
{
	for (size_t i = 0; i < reading->variables.count; i++) {
		mem_free(reading->variables.rows[i].name);
		mem_free(reading->variables.rows[i].type_name);
	}
	mem_free(reading->variables.rows);
	mem_free(reading->homes);
}

enum hd_status aot_variables(struct runtime *runtime, uint64_t place, struct method_variables *ret,
			     struct variable_home **ret_homes, struct hd_error *err)
{
	struct aot_symbols *symbols = aot_symbols(runtime);
	Dwarf_Die function;
	struct variables_reading reading = { .runtime = runtime,
					     .symbols = symbols,
					     .ranges_left = RANGES_MAX };
	*ret = (struct method_variables){ 0 };
	*ret_homes = NULL;
	if (!symbols)
		return HD_OK;
	reading.place = place - symbols->bias;
	reading.function = dwarf_function_at(&symbols->types, reading.place);
	if (!reading.function ||
	    !dwarf_offdie(symbols->file.dwarf, reading.function->offset, &function))
		return HD_OK;
	reading.places = dwarf_file_section(&symbols->file, ".debug_loc");
	reading.frame_base = read_frame_base(runtime->target->arch, &function);
	if (!read_variables(&reading, &function)) {
		free_variables(&reading);
		return fail_nomem(err);
	}
	*ret = reading.variables;
	*ret_homes = reading.homes;
	return HD_OK;
}
