/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/symbols/symbol_walk.h"

#include <dwarf.h>
#include <string.h>

#include "runtime/field.h"

/* Fields of one type with all that is in its structs. */
#define STEPS_MAX      65536u
#define REFERENCE_SIZE 8u

/* The only field of an inline array is its first element. */
static uint32_t element_count(const struct dwarf_types *types, const struct dwarf_type *type)
{
	const struct dwarf_member *only = NULL;
	for (uint32_t i = 0; i < type->count; i++) {
		const struct dwarf_member *member = &types->members[type->first + i];
		if (member->is_static)
			continue;
		if (only)
			return 1;
		only = member;
	}
	const struct dwarf_type *element = only ? dwarf_type_at(types, only->type) : NULL;
	uint32_t size = element ? symbol_size(element) : 0;
	return size && type->size >= 2 * size && type->size % size == 0 ? type->size / size : 1;
}

void symbol_walk_begin(struct symbol_walk *walk, const struct dwarf_types *types,
		       const struct dwarf_type *type)
{
	*walk = (struct symbol_walk){ .types = types, .depth = 1, .budget = STEPS_MAX };
	walk->levels[0] = (struct symbol_level){
		.type = type,
		.elements = type->has_base ? 1 : element_count(types, type),
	};
}

bool symbol_walk_next(struct symbol_walk *walk)
{
	while (walk->depth && !walk->is_bad) {
		struct symbol_level *level = &walk->levels[walk->depth - 1];
		if (!walk->budget) {
			walk->is_bad = true;
			break;
		}
		walk->budget--;
		if (level->next == level->type->count) {
			level->next = 0;
			if (++level->element >= level->elements)
				walk->depth--;
			continue;
		}
		const struct dwarf_member *member =
			&walk->types->members[level->type->first + level->next++];
		if (member->is_static)
			continue;
		walk->member = member;
		walk->member_type = dwarf_type_at(walk->types, member->type);
		uint32_t size = walk->member_type ? symbol_size(walk->member_type) : 0;
		uint64_t place =
			(uint64_t)level->base + member->place + (uint64_t)level->element * size;
		walk->is_bad = place > INT32_MAX;
		walk->place = (uint32_t)place;
		return !walk->is_bad;
	}
	return false;
}

void symbol_walk_enter(struct symbol_walk *walk)
{
	if (walk->depth == SYMBOL_DEPTH_MAX) {
		walk->is_bad = true;
		return;
	}
	walk->levels[walk->depth++] = (struct symbol_level){
		.type = walk->member_type,
		.base = walk->place,
		.elements = element_count(walk->types, walk->member_type),
	};
}

bool symbol_is_struct(const struct dwarf_type *type)
{
	return type->kind == DWARF_CLASS;
}

uint32_t symbol_size(const struct dwarf_type *type)
{
	switch ((enum dwarf_kind)type->kind) {
	case DWARF_CLASS:
	case DWARF_NUMBER:
	case DWARF_ENUM:
		return type->size;
	case DWARF_POINTER:
	case DWARF_REFERENCE:
		return REFERENCE_SIZE;
	case DWARF_ELEMENTS:
		break;
	}
	return 0;
}

static uint8_t element_of_number(const struct dwarf_type *type)
{
	static const struct {
		uint8_t encoding, size, element;
	} numbers[] = {
		{ DW_ATE_boolean, 1, ELEMENT_BOOLEAN }, { DW_ATE_UTF, 2, ELEMENT_CHAR },
		{ DW_ATE_signed_char, 1, ELEMENT_I1 },  { DW_ATE_unsigned_char, 1, ELEMENT_U1 },
		{ DW_ATE_signed, 1, ELEMENT_I1 },       { DW_ATE_unsigned, 1, ELEMENT_U1 },
		{ DW_ATE_signed, 2, ELEMENT_I2 },       { DW_ATE_unsigned, 2, ELEMENT_U2 },
		{ DW_ATE_signed, 4, ELEMENT_I4 },       { DW_ATE_unsigned, 4, ELEMENT_U4 },
		{ DW_ATE_signed, 8, ELEMENT_I8 },       { DW_ATE_unsigned, 8, ELEMENT_U8 },
		{ DW_ATE_float, 4, ELEMENT_R4 },        { DW_ATE_float, 8, ELEMENT_R8 },
	};
	/* The names of 9 and later, and of 8. */
	if (strcmp(type->name, "nint") == 0 || strcmp(type->name, "System.IntPtr") == 0)
		return ELEMENT_I;
	if (strcmp(type->name, "nuint") == 0 || strcmp(type->name, "System.UIntPtr") == 0)
		return ELEMENT_U;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].encoding == type->encoding && numbers[i].size == type->size)
			return numbers[i].element;
	}
	return 0;
}

uint8_t symbol_element(const struct dwarf_types *types, const struct dwarf_type *type)
{
	const struct dwarf_type *of;
	switch ((enum dwarf_kind)type->kind) {
	case DWARF_CLASS:
		return ELEMENT_VALUE;
	case DWARF_NUMBER:
		return element_of_number(type);
	case DWARF_ENUM:
		of = dwarf_type_at(types, type->target);
		return of && of->kind == DWARF_NUMBER ? element_of_number(of) : 0;
	case DWARF_POINTER:
		return ELEMENT_POINTER;
	case DWARF_REFERENCE:
		return ELEMENT_CLASS;
	case DWARF_ELEMENTS:
		break;
	}
	return 0;
}
