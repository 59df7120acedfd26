/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/symbols/dwarf_types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Names with one hash that are compared. */
#define SAME_HASH_MAX 8u
/* Bytes of an expression that is one of those that the compiler writes. */
#define EXPRESSION_MAX 24u
#define ADDRESS_SIZE   8u

struct types_reading {
	struct target *target;
	struct dwarf_types types;
};

/* Count the memory of a list that is going to grow, too. */
#define RESERVE(reading, field)                                                 \
	((reading)->types.field##_count < (reading)->types.field##_capacity ||  \
	 (target_reserve((reading)->target,                                     \
			 grown_capacity((reading)->types.field##_capacity, 1) - \
				 (reading)->types.field##_capacity,             \
			 sizeof(*(reading)->types.field), NULL) == HD_OK &&     \
	  PAGES_RESERVE(&(reading)->types, field)))

static uint32_t small_number(Dwarf_Die *die, unsigned int attribute)
{
	uint64_t value = 0;
	return dwarf_number_of(die, attribute, &value) && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static bool has_attribute(Dwarf_Die *die, unsigned int attribute)
{
	return dwarf_hasattr(die, attribute) != 0;
}

static bool read_member(struct types_reading *reading, Dwarf_Die *die, struct dwarf_type *type)
{
	const char *name = dwarf_string_of(die, DW_AT_name);
	uint64_t place = 0;
	if (!name)
		return true;
	bool is_placed = dwarf_number_of(die, DW_AT_data_member_location, &place);
	if (!is_placed && !has_attribute(die, DW_AT_declaration))
		return true;
	if (!RESERVE(reading, members))
		return false;
	type->count++;
	reading->types.members[reading->types.members_count++] = (struct dwarf_member){
		.name = name,
		.offset = (uint32_t)dwarf_dieoffset(die),
		.type = dwarf_reference_of(die, DW_AT_type),
		.place = place <= UINT32_MAX ? (uint32_t)place : UINT32_MAX,
		.is_static = !is_placed,
	};
	return true;
}

/* The fields and the base class of a class. */
static bool read_members(struct types_reading *reading, Dwarf_Die *die, struct dwarf_type *type)
{
	Dwarf_Die child;
	int result = dwarf_child(die, &child);
	for (; result == 0; result = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		if (tag == DW_TAG_inheritance) {
			type->has_base = true;
			type->target = dwarf_reference_of(&child, DW_AT_type);
		} else if (tag == DW_TAG_member && !read_member(reading, &child, type)) {
			return false;
		}
	}
	return true;
}

/* How many elements there are. */
static uint32_t element_count(Dwarf_Die *die)
{
	Dwarf_Die child;
	uint64_t last = 0;
	return dwarf_child(die, &child) == 0 && dwarf_tag(&child) == DW_TAG_subrange_type &&
			       dwarf_number_of(&child, DW_AT_upper_bound, &last) &&
			       last < UINT32_MAX
		       ? (uint32_t)last + 1
		       : 0;
}

static bool read_type(struct types_reading *reading, Dwarf_Die *die, enum dwarf_kind kind)
{
	const char *name = dwarf_string_of(die, DW_AT_name);
	if (kind == DWARF_CLASS && !name)
		return true;
	if (!RESERVE(reading, rows))
		return false;
	struct dwarf_type type = {
		.offset = (uint32_t)dwarf_dieoffset(die),
		.first = (uint32_t)reading->types.members_count,
		.size = small_number(die, DW_AT_byte_size),
		.kind = (uint8_t)kind,
		.encoding = (uint8_t)small_number(die, DW_AT_encoding),
		.is_declaration = has_attribute(die, DW_AT_declaration),
		.name = name ? name : "",
	};
	if (kind == DWARF_CLASS) {
		if (!read_members(reading, die, &type))
			return false;
	} else {
		type.target = dwarf_reference_of(die, DW_AT_type);
	}
	if (kind == DWARF_ELEMENTS)
		type.size = element_count(die);
	reading->types.rows[reading->types.rows_count++] = type;
	return true;
}

/*
 * The place of a static field: DW_OP_addr, maybe DW_OP_deref once or twice, maybe DW_OP_plus_uconst.
 */
static void read_place(Dwarf_Die *die, struct dwarf_static *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Block block = { 0 };
	ret->kind = DWARF_ELSEWHERE;
	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
	    dwarf_whatform(&attribute) != DW_FORM_exprloc ||
	    dwarf_formblock(&attribute, &block) != 0 || block.length <= ADDRESS_SIZE ||
	    block.length > EXPRESSION_MAX || block.data[0] != DW_OP_addr)
		return;
	const uint8_t *at = block.data + 1, *end = block.data + block.length;
	uint32_t offset = 0;
	bool is_holder = false;
	memcpy(&ret->address, at, ADDRESS_SIZE);
	for (at += ADDRESS_SIZE; at < end && *at == DW_OP_deref; at++)
		is_holder = true;
	if (at < end && *at == DW_OP_plus_uconst) {
		unsigned int shift = 0;
		uint8_t byte = 0x80;
		for (at++; at < end && byte & 0x80 && shift < 28; shift += 7) {
			byte = *at++;
			offset |= (uint32_t)(byte & 0x7f) << shift;
		}
	}
	if (at != end)
		return;
	ret->offset = offset;
	ret->kind = is_holder ? DWARF_IN_HOLDER : DWARF_IN_PLACE;
}

static bool read_static(struct types_reading *reading, Dwarf_Die *die)
{
	struct dwarf_static row = { .member = dwarf_reference_of(die, DW_AT_specification) };
	if (!row.member)
		return true;
	if (!RESERVE(reading, statics))
		return false;
	read_place(die, &row);
	reading->types.statics[reading->types.statics_count++] = row;
	return true;
}

static bool read_function(struct types_reading *reading, Dwarf_Die *die)
{
	Dwarf_Addr begin = 0, end = 0;
	if (dwarf_lowpc(die, &begin) != 0 || dwarf_highpc(die, &end) != 0 || begin >= end)
		return true;
	if (!RESERVE(reading, functions))
		return false;
	reading->types.functions[reading->types.functions_count++] = (struct dwarf_function){
		.begin = begin, .end = end, .offset = (uint32_t)dwarf_dieoffset(die)
	};
	return true;
}

static bool read_entry(struct types_reading *reading, Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
		return read_type(reading, die, DWARF_CLASS);
	case DW_TAG_base_type:
		return read_type(reading, die, DWARF_NUMBER);
	case DW_TAG_enumeration_type:
		return read_type(reading, die, DWARF_ENUM);
	case DW_TAG_pointer_type:
		return read_type(reading, die, DWARF_POINTER);
	case DW_TAG_reference_type:
		return read_type(reading, die, DWARF_REFERENCE);
	case DW_TAG_array_type:
		return read_type(reading, die, DWARF_ELEMENTS);
	case DW_TAG_variable:
		return read_static(reading, die);
	case DW_TAG_subprogram:
		return read_function(reading, die);
	default:
		return true;
	}
}

uint64_t dwarf_name_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
	return hash;
}

static bool is_definition(const struct dwarf_type *type)
{
	return type->kind == DWARF_CLASS && !type->is_declaration;
}

/* Sort the classes that have members by the hash of their names. */
static bool sort_names(struct types_reading *reading)
{
	struct dwarf_types *types = &reading->types;
	size_t count = 0;
	for (size_t i = 0; i < types->rows_count; i++)
		count += is_definition(&types->rows[i]);
	if (target_reserve(reading->target, count, sizeof(*types->hashes) + 2 * sizeof(uint32_t),
			   NULL) != HD_OK)
		return false;
	HD_FREE uint32_t *rows = mem_alloc(count + 1, sizeof(*rows));
	types->hashes = mem_alloc(count + 1, sizeof(*types->hashes));
	types->order = mem_alloc(count + 1, sizeof(*types->order));
	if (!rows || !types->hashes || !types->order)
		return false;
	for (size_t i = 0; i < types->rows_count; i++) {
		if (!is_definition(&types->rows[i]))
			continue;
		types->hashes[types->definitions] = dwarf_name_hash(types->rows[i].name);
		rows[types->definitions++] = (uint32_t)i;
	}
	if (count && !sort_keys(types->hashes, types->order, (uint32_t)count))
		return false;
	for (size_t i = 0; i < count; i++)
		types->order[i] = rows[types->order[i]];
	return true;
}

/* The row of the class around the member at @p offset; the number of rows: there is none. */
static size_t class_around(const struct dwarf_types *types, uint32_t offset)
{
	size_t at = ROWS_ABOVE(types->rows, types->rows_count, offset, offset);
	return at && types->rows[at - 1].kind == DWARF_CLASS ? at - 1 : types->rows_count;
}

/* Give each place of a static field its class; those without one are dropped. */
static void find_classes(struct dwarf_types *types)
{
	size_t kept = 0;
	for (size_t i = 0; i < types->statics_count; i++) {
		struct dwarf_static row = types->statics[i];
		size_t of = class_around(types, row.member);
		size_t member = ROWS_FROM(types->members, types->members_count, offset, row.member);
		if (of == types->rows_count || member == types->members_count ||
		    types->members[member].offset != row.member ||
		    member - types->rows[of].first >= types->rows[of].count)
			continue;
		row.type = (uint32_t)of;
		types->statics[kept++] = row;
	}
	types->statics_count = kept;
}

static int compare_functions(const void *a, const void *b)
{
	const struct dwarf_function *left = a, *right = b;
	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	return (left->offset > right->offset) - (left->offset < right->offset);
}

void dwarf_types_deinit(struct dwarf_types *types)
{
	pages_free(types->rows, types->rows_capacity, sizeof(*types->rows));
	pages_free(types->members, types->members_capacity, sizeof(*types->members));
	pages_free(types->statics, types->statics_capacity, sizeof(*types->statics));
	pages_free(types->functions, types->functions_capacity, sizeof(*types->functions));
	mem_free(types->hashes);
	mem_free(types->order);
	*types = (struct dwarf_types){ 0 };
}

enum hd_status dwarf_types_read(struct target *target, struct dwarf_file *file,
				struct dwarf_types *ret, struct hd_error *err)
{
	struct types_reading reading = { .target = target };
	Dwarf_Die entry;
	bool is_read = true;
	int result = dwarf_child(&file->unit, &entry);
	for (; is_read && result == 0; result = dwarf_siblingof(&entry, &entry))
		is_read = read_entry(&reading, &entry);
	if (!is_read || !sort_names(&reading)) {
		dwarf_types_deinit(&reading.types);
		return fail_nomem(err);
	}
	find_classes(&reading.types);
	if (reading.types.functions_count) {
		qsort(reading.types.functions, reading.types.functions_count,
		      sizeof(*reading.types.functions), compare_functions);
	}
	*ret = reading.types;
	return HD_OK;
}

const struct dwarf_type *dwarf_class_by_name(const struct dwarf_types *types, const char *name)
{
	uint64_t hash = dwarf_name_hash(name);
	size_t low = 0, high = types->definitions;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (types->hashes[middle] < hash) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (size_t i = low; i < types->definitions && i - low < SAME_HASH_MAX; i++) {
		const struct dwarf_type *type = &types->rows[types->order[i]];
		if (types->hashes[i] != hash)
			break;
		if (strcmp(type->name, name) == 0)
			return type;
	}
	return NULL;
}

const struct dwarf_type *dwarf_type_at(const struct dwarf_types *types, uint32_t offset)
{
	size_t at = ROWS_FROM(types->rows, types->rows_count, offset, offset);
	if (!offset || at == types->rows_count || types->rows[at].offset != offset)
		return NULL;
	const struct dwarf_type *type = &types->rows[at];
	return type->kind == DWARF_CLASS && type->is_declaration
		       ? dwarf_class_by_name(types, type->name)
		       : type;
}

const struct dwarf_function *dwarf_function_at(const struct dwarf_types *types, uint64_t place)
{
	size_t at = ROWS_ABOVE(types->functions, types->functions_count, begin, place);
	return at && place < types->functions[at - 1].end ? &types->functions[at - 1] : NULL;
}
