/* SPDX-License-Identifier: MIT */
#include "managed_elf/elf_types.h"

#include <string.h>

#include "managed_elf/dwarf.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "util/alloc.h"
#include "util/leb.h"

#define SLOTS_FIRST 1024u

/* Longest row of "*" and "&" after a name. */
#define SUFFIXES_MAX 16u

void elf_types_deinit(struct elf_types *table)
{
	for (size_t i = 0; i < table->rows_count; i++)
		mem_free(table->rows[i].name);
	pages_free(table->rows, table->rows_capacity, sizeof(*table->rows));
	pages_free(table->uses, table->uses_capacity, sizeof(*table->uses));
	mem_free(table->slots);
	*table = (struct elf_types){ 0 };
}

static uint64_t hash_of(const struct type_row *row)
{
	uint64_t hash = row->kind;
	for (const char *at = row->name; at && *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	hash ^= (uint64_t)row->target << 8 ^ (row->type ? row->type->method_table << 5 : 0);
	return hash * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

static bool is_same(const struct type_row *a, const struct type_row *b)
{
	return a->kind == b->kind && a->type == b->type && a->target == b->target &&
	       (a->name == b->name || (a->name && b->name && strcmp(a->name, b->name) == 0));
}

/* Where the row is, or may be. */
static size_t slot_of(const struct elf_types *table, const struct type_row *row)
{
	size_t slot = hash_of(row) & (table->slots_count - 1);
	while (table->slots[slot] && !is_same(&table->rows[table->slots[slot]], row))
		slot = (slot + 1) & (table->slots_count - 1);
	return slot;
}

/* Make room for a row; the table of slots stays at most half full. */
static bool reserve(struct elf_types *table)
{
	if (!PAGES_RESERVE(table, rows))
		return false;
	if (!table->rows_count) {
		table->rows_count = 2; /* there is room for several */
		table->rows[TYPE_ANYTHING] = (struct type_row){ .kind = KIND_POINTER };
	}
	if (!PAGES_RESERVE(table, rows))
		return false;
	if (2 * table->rows_count < table->slots_count)
		return true;
	size_t count = table->slots_count ? 2 * table->slots_count : SLOTS_FIRST;
	uint32_t *slots = mem_calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	mem_free(table->slots);
	table->slots = slots;
	table->slots_count = count;
	for (size_t i = 1; i < table->rows_count; i++)
		slots[slot_of(table, &table->rows[i])] = (uint32_t)i;
	return true;
}

/* The number of a row, which is appended if it is new.  Its name is borrowed. */
static uint32_t number_of(struct elf_types *table, const struct type_row *row)
{
	if (!reserve(table)) {
		table->failed = true;
		return TYPE_UNKNOWN;
	}
	size_t slot = slot_of(table, row);
	if (table->slots[slot])
		return table->slots[slot];
	bool is_limited = row->type || row->name;
	if (is_limited && table->rows_count >= TYPES_MAX)
		return TYPE_UNKNOWN;
	struct type_row copy = *row;
	if (row->name) {
		copy.name = mem_strndup(row->name, strlen(row->name));
		if (!copy.name) {
			table->failed = true;
			return TYPE_UNKNOWN;
		}
	}
	table->slots[slot] = (uint32_t)table->rows_count;
	table->rows[table->rows_count++] = copy;
	return table->slots[slot];
}

/* TYPE_ANYTHING, which the first row that is made makes, too. */
static uint32_t anything(struct elf_types *table)
{
	return number_of(table, &(struct type_row){ .kind = KIND_POINTER });
}

static uint32_t base_row(struct elf_types *table, uint8_t element)
{
	return number_of(table, &(struct type_row){ .kind = KIND_BASE, .target = element });
}

uint32_t elf_types_pointer(struct elf_types *table, uint32_t target)
{
	return number_of(table, &(struct type_row){ .kind = KIND_POINTER, .target = target });
}

uint32_t elf_types_reference(struct elf_types *table, uint32_t target)
{
	return target ? number_of(table,
				  &(struct type_row){ .kind = KIND_REFERENCE, .target = target })
		      : anything(table);
}

/* The primitive with that name; 0: it is not one. */
static uint8_t primitive_of(const char *name)
{
	for (unsigned int i = ELEMENT_VOID; i <= ELEMENT_U; i++) {
		const char *known = type_base_name((uint8_t)i);
		if (known && strcmp(known, name) == 0)
			return (uint8_t)i;
	}
	return 0;
}

static bool is_enum(struct elf_types *table, const struct type *type)
{
	const struct type *parent = type->category == CATEGORY_PRIMITIVE && type->parent
					    ? type_find(table->runtime, type->parent)
					    : NULL;
	return parent && strcmp(type_name(table->runtime, parent, NULL), "System.Enum") == 0;
}

uint32_t elf_types_content(struct elf_types *table, const struct type *type)
{
	uint8_t element = type->category == CATEGORY_TRUE_PRIMITIVE
				  ? primitive_of(type_name(table->runtime, type, NULL))
				  : 0;
	if (element)
		return base_row(table, element);
	return number_of(table,
			 &(struct type_row){ .kind = is_enum(table, type) ? KIND_ENUM : KIND_STRUCT,
					     .type = type });
}

uint32_t elf_types_stored(struct elf_types *table, const struct type *type)
{
	uint32_t row = elf_types_content(table, type);
	return type_is_struct(type) || !row ? row : elf_types_pointer(table, row);
}

uint32_t elf_types_word(struct elf_types *table, const char *name, size_t size)
{
	HD_FREE char *copy = mem_strndup(name, size);
	table->failed |= !copy;
	return copy ? number_of(table, &(struct type_row){ .kind = KIND_NAMED, .name = copy })
		    : TYPE_UNKNOWN;
}

/* The type with that name, which has no "*" and "&" at its end. */
static uint32_t plain_named(struct elf_types *table, char *name)
{
	uint8_t element = primitive_of(name);
	if (element)
		return element == ELEMENT_VOID ? TYPE_UNKNOWN : base_row(table, element);
	const struct type *type = type_by_name(table->runtime, name, 0);
	if (type)
		return elf_types_stored(table, type);
	return number_of(table, &(struct type_row){ .kind = KIND_NAMED, .name = name });
}

uint32_t elf_types_named(struct elf_types *table, const char *name)
{
	size_t size = strlen(name), suffixes = 0;
	while (size > suffixes && suffixes < SUFFIXES_MAX &&
	       strchr("*&", name[size - suffixes - 1]))
		suffixes++;
	size -= suffixes;
	HD_FREE char *plain = mem_strndup(name, size);
	if (!plain) {
		table->failed = true;
		return TYPE_UNKNOWN;
	}
	uint32_t row = plain_named(table, plain);
	for (const char *at = name + size; *at; at++) {
		row = *at == '*' ? elf_types_pointer(table, row) : elf_types_reference(table, row);
	}
	return row;
}

/* An object of the type with that name, or of any. */
static uint32_t object_row(struct elf_types *table, const char *name)
{
	uint32_t row = *name ? elf_types_named(table, name) : TYPE_UNKNOWN;
	if (row && table->rows[row].kind == KIND_POINTER)
		return row;
	return elf_types_pointer(table,
				 row && table->rows[row].kind == KIND_NAMED ? row : TYPE_UNKNOWN);
}

uint64_t elf_types_content_size(const struct elf_types *table, const struct type *type)
{
	uint32_t size;
	if (type->component_size || !type_fields_size(table->runtime, type, &size)) {
		return type_is_struct(type)              ? type_box_content(type)
		       : type->base_size > DWARF_ADDRESS ? type->base_size - DWARF_ADDRESS
							 : DWARF_ADDRESS;
	}
	return type_is_struct(type) ? size : size + DWARF_ADDRESS;
}

uint32_t elf_types_of(struct elf_types *table, uint8_t element, const struct type *type,
		      const char *name)
{
	switch (element) {
	case ELEMENT_POINTER:
	case ELEMENT_BYREF: {
		uint32_t row = *name ? elf_types_named(table, name) : TYPE_UNKNOWN;
		bool is_address = row && (table->rows[row].kind == KIND_POINTER ||
					  table->rows[row].kind == KIND_REFERENCE);
		return is_address ? row : anything(table);
	}
	case ELEMENT_FUNCTION_POINTER:
		return anything(table);
	case ELEMENT_VALUE:
		return type && type_is_struct(type) ? elf_types_stored(table, type) : TYPE_UNKNOWN;
	default:
		break;
	}
	if (element_is_reference(element)) {
		return type && !type_is_struct(type) ? elf_types_stored(table, type)
						     : object_row(table, name);
	}
	/* An enum is stored as its number. */
	if (type && is_enum(table, type) &&
	    elf_types_content_size(table, type) == element_size(element))
		return elf_types_stored(table, type);
	return type_base_name(element) && element != ELEMENT_VOID ? base_row(table, element)
								  : TYPE_UNKNOWN;
}

uint64_t elf_types_size(const struct elf_types *table, uint32_t row)
{
	const struct type_row *type = &table->rows[row];
	switch (row ? type->kind : KIND_UNKNOWN) {
	case KIND_BASE:
		return element_size((uint8_t)type->target);
	case KIND_POINTER:
	case KIND_REFERENCE:
		return DWARF_ADDRESS;
	case KIND_STRUCT:
	case KIND_ENUM:
		return elf_types_content_size(table, type->type);
	default:
		return 0;
	}
}

void elf_types_use(struct elf_types *table, uint32_t row, struct text *info)
{
	if (!PAGES_RESERVE(table, uses)) {
		table->failed = true;
		return;
	}
	table->uses[table->uses_count++] = (uint32_t)info->size;
	text_fixed(info, row ? row : TYPE_ANYTHING, 4);
}
