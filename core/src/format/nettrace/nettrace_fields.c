/* SPDX-License-Identifier: MIT */
/* Static fields of modules, and where their slots lie (methodtablebuilder.cpp). */
#include "format/nettrace/nettrace_fields.h"

#include <string.h>

#include "graph/heap_graph.h"
#include "util/alloc.h"
#include "util/arena.h"

/* Field attributes (corhdr.h). */
#define ATTRIBUTE_STATIC  0x10u
#define ATTRIBUTE_LITERAL 0x40u
#define ATTRIBUTE_HAS_RVA 0x100u

/* Columns (ECMA-335 II.22). */
#define FIELD_FLAGS_COLUMN 0u
#define FIELD_NAME_COLUMN  1u
#define TYPE_DEF_EXTENDS   3u
#define PARAM_OWNER        2u
#define MEMBER_CLASS       0u
#define ATTRIBUTE_PARENT   0u
#define ATTRIBUTE_TYPE     1u

#define ALL_FIELDS UINT32_MAX /* lower half of a key after the fields of a module */

/* Length of a name: the runtime leaves out fields whose name does not fit into 512 bytes. */
#define NAME_BYTES_MAX 1024u
/* At most so many custom attributes of a field are read. */
#define ATTRIBUTES_MAX 64u

/* DynamicMethods live in it: it has no types. */
#define METHODS_MODULE "Anonymously Hosted DynamicMethods Assembly"

enum storage {
	NO_SLOT,
	REFERENCE,
	BOXED,
	MAYBE_BOXED
};

enum hd_status nt_fields_name(struct nt_fields *fields, const char *bytes, size_t size,
			      uint32_t *ret, struct hd_error *err)
{
	if (!fields->arena)
		fields->arena = arena_create();
	TRY_MEMORY(fields->arena && PAGES_RESERVE(fields, names), err);
	uint32_t fresh = (uint32_t)fields->names_count;
	uint32_t index = type_table_add(&fields->table, 0, type_table_hash(bytes, size), fresh);
	if (index == UINT32_MAX)
		return fail_nomem(err);
	if (index == fresh) {
		char *copy = arena_alloc(fields->arena, size + 1);
		TRY_MEMORY(copy, err);
		memcpy(copy, bytes, size);
		copy[size] = '\0';
		fields->names[fields->names_count++] =
			(struct nt_name){ .bytes = copy, .size = size };
	}
	const struct nt_name *name = &fields->names[index];
	bool is_it = name->size == size && memcmp(name->bytes, bytes, size) == 0;
	*ret = is_it ? index : NT_NO_NAME;
	return HD_OK;
}

/* A string of #Strings; "" when it is longer than any name in a trace. */
static const char *name_at(const struct metadata *metadata, enum md_table table, uint32_t rid,
			   unsigned int column)
{
	uint32_t index = metadata_column(metadata, table, rid, column);
	if (index >= metadata->strings.size)
		return "";
	uint32_t left = metadata->strings.size - index;
	const uint8_t *at = metadata->bytes + metadata->strings.offset + index;
	return memchr(at, 0, left < NAME_BYTES_MAX ? left : NAME_BYTES_MAX) ? (const char *)at : "";
}

/* One of the names that are searched for. */
static uint32_t find_name(const struct nt_fields *fields, const struct metadata *metadata,
			  uint32_t rid)
{
	const char *name = name_at(metadata, MD_FIELD, rid, FIELD_NAME_COLUMN);
	size_t size = strlen(name);
	uint32_t index = type_table_find(&fields->table, 0, type_table_hash(name, size));
	if (index >= fields->names_count)
		return NT_NO_NAME;
	const struct nt_name *known = &fields->names[index];
	return known->size == size && memcmp(known->bytes, name, size) == 0 ? index : NT_NO_NAME;
}

bool nt_row_is_named(const struct metadata *metadata, enum md_table table, uint32_t rid,
		     const char *name)
{
	/* Both tables have the name in column 1 and the namespace in column 2. */
	const char *space = name_at(metadata, table, rid, 2);
	size_t size = strlen(space);
	if (size) {
		if (strncmp(name, space, size) != 0 || name[size] != '.')
			return false;
		name += size + 1;
	}
	return *name && strcmp(name, name_at(metadata, table, rid, 1)) == 0;
}

/* Does the row of TypeDef or TypeRef that a TypeDefOrRef means have that name? */
static bool coded_is_named(const struct metadata *metadata, uint32_t coded, const char *name)
{
	if (!(coded >> 2) || (coded & 3) > 1)
		return false;
	return nt_row_is_named(metadata, coded & 1 ? MD_TYPE_REF : MD_TYPE_DEF, coded >> 2, name);
}

/*
 * Is an attribute's constructor (CustomAttributeType: tag 2 MethodDef, 3 MemberRef) that of
 * ThreadStatic?
 */
static bool is_thread_static(const struct metadata *metadata, uint32_t constructor)
{
	static const char name[] = "System.ThreadStaticAttribute";
	uint32_t rid = constructor >> 3;
	if ((constructor & 7) == 2) {
		uint32_t owner = metadata_owner(metadata, MD_METHOD, rid);
		return nt_row_is_named(metadata, MD_TYPE_DEF, owner, name);
	}
	if ((constructor & 7) != 3)
		return false;
	/* MemberRefParent: tag 0 TypeDef, 1 TypeRef */
	uint32_t parent = metadata_column(metadata, MD_MEMBER_REF, rid, MEMBER_CLASS);
	return (parent & 7) < 2 &&
	       nt_row_is_named(metadata, parent & 1 ? MD_TYPE_REF : MD_TYPE_DEF, parent >> 3, name);
}

/* Does a field have the attribute [ThreadStatic]?  HasCustomAttribute: tag 1. */
static bool is_of_thread(const struct metadata *metadata, uint32_t rid)
{
	uint32_t key = rid << 5 | 1, rows = metadata->tables[MD_CUSTOM_ATTRIBUTE].rows;
	uint32_t row = metadata_search(metadata, MD_CUSTOM_ATTRIBUTE, ATTRIBUTE_PARENT, key);
	for (unsigned int i = 0; i < ATTRIBUTES_MAX && row <= rows; i++, row++) {
		if (metadata_column(metadata, MD_CUSTOM_ATTRIBUTE, row, ATTRIBUTE_PARENT) != key)
			return false;
		if (is_thread_static(metadata, metadata_column(metadata, MD_CUSTOM_ATTRIBUTE, row,
							       ATTRIBUTE_TYPE)))
			return true;
	}
	return false;
}

/* How a struct's field is stored, by the TypeDefOrRef of the struct. */
static enum storage storage_of_struct(const struct metadata *metadata, const uint8_t *at,
				      const uint8_t *end)
{
	uint32_t coded;
	if (!metadata_compressed(&at, end, &coded) || coded & 3)
		return MAYBE_BOXED;
	uint32_t extends = metadata_column(metadata, MD_TYPE_DEF, coded >> 2, TYPE_DEF_EXTENDS);
	return coded_is_named(metadata, extends, "System.Enum") ? NO_SLOT : BOXED;
}

static enum storage storage_of(const struct metadata *metadata, uint32_t rid)
{
	uint32_t flags = metadata_column(metadata, MD_FIELD, rid, FIELD_FLAGS_COLUMN);
	if (!(flags & ATTRIBUTE_STATIC) || flags & (ATTRIBUTE_LITERAL | ATTRIBUTE_HAS_RVA))
		return NO_SLOT;
	const uint8_t *at, *end;
	enum storage storage = NO_SLOT;
	switch (nt_field_element(metadata, rid, &at, &end)) {
	case NT_ELEMENT_STRING:
	case NT_ELEMENT_CLASS:
	case NT_ELEMENT_ARRAY:
	case NT_ELEMENT_OBJECT:
	case NT_ELEMENT_SZ_ARRAY:
		storage = REFERENCE;
		break;
	case NT_ELEMENT_VALUE:
		storage = storage_of_struct(metadata, at, end);
		break;
	case NT_ELEMENT_GENERIC_INST:
		if (at == end)
			return NO_SLOT;
		storage = *at == NT_ELEMENT_VALUE ? storage_of_struct(metadata, at + 1, end)
						  : REFERENCE;
		break;
	default:
		return NO_SLOT;
	}
	return storage != NO_SLOT && is_of_thread(metadata, rid) ? NO_SLOT : storage;
}

/* A module whose fields are read. */
struct field_module {
	struct nt_types *types;
	const struct metadata *metadata;
	uint32_t assembly, position;
};

/*
 * Add the fields [begin, end) of a type whose name is searched for: boxed structs come before
 * references.
 */
static enum hd_status add_named_fields(struct nt_fields *fields, const struct field_module *module,
				       uint32_t type, uint32_t begin, uint32_t end)
{
	const struct metadata *metadata = module->metadata;
	struct nt_field boxed = { 0 }, reference = { 0 };
	uint32_t sure = 0;
	for (uint32_t i = begin; i < end; i++) {
		enum storage storage = storage_of(metadata, metadata_member(metadata, MD_FIELD, i));
		reference.before += storage == BOXED;
		reference.unsure += storage == MAYBE_BOXED;
		sure += storage == BOXED || storage == REFERENCE;
	}
	for (uint32_t i = begin; i < end; i++) {
		uint32_t rid = metadata_member(metadata, MD_FIELD, i);
		enum storage storage = storage_of(metadata, rid);
		if (storage == NO_SLOT)
			continue;
		struct nt_field *next = storage == REFERENCE ? &reference : &boxed;
		struct nt_field field = *next;
		next->before += storage != MAYBE_BOXED;
		next->unsure += storage == MAYBE_BOXED;
		field.name = find_name(fields, metadata, rid);
		if (field.name == NT_NO_NAME)
			continue;
		if (fields->rows_count >= HD_NONE || !PAGES_RESERVE(fields, rows))
			return fail_nomem(module->types->err);
		field.key = (uint64_t)module->position << 32 | i;
		field.assembly = module->assembly;
		field.rid = rid;
		field.type = type;
		field.is_sure = storage != MAYBE_BOXED;
		field.after = sure - field.before - field.is_sure;
		fields->names[field.name].count++;
		fields->rows[fields->rows_count++] = field;
	}
	return HD_OK;
}

/* Does a type that is not generic have static fields with names that are searched for? */
static bool is_wanted_class(struct nt_fields *fields, const struct metadata *metadata,
			    uint32_t type, uint32_t begin, uint32_t end)
{
	bool has_name = false;
	for (uint32_t i = begin; i < end && !has_name; i++) {
		uint32_t rid = metadata_member(metadata, MD_FIELD, i);
		uint32_t flags = metadata_column(metadata, MD_FIELD, rid, FIELD_FLAGS_COLUMN);
		has_name = flags & ATTRIBUTE_STATIC &&
			   !(flags & (ATTRIBUTE_LITERAL | ATTRIBUTE_HAS_RVA)) &&
			   find_name(fields, metadata, rid) != NT_NO_NAME;
	}
	if (!has_name)
		return false;
	/* TypeOrMethodDef: tag 0 */
	uint32_t row = metadata_search(metadata, MD_GENERIC_PARAM, PARAM_OWNER, type << 1);
	return row > metadata->tables[MD_GENERIC_PARAM].rows ||
	       metadata_column(metadata, MD_GENERIC_PARAM, row, PARAM_OWNER) != type << 1;
}

/* *ret_whole: whether the lists of fields follow one another. */
static enum hd_status read_module(struct nt_fields *fields, const struct field_module *module,
				  bool *ret_whole)
{
	uint32_t done = 1, end;
	*ret_whole = true;
	for (uint32_t type = 1; type <= module->metadata->tables[MD_TYPE_DEF].rows; type++) {
		uint32_t begin = metadata_members(module->metadata, MD_FIELD, type, &end);
		if (begin == end)
			continue;
		if (begin < done) {
			*ret_whole = false;
			return HD_OK;
		}
		done = end;
		if (is_wanted_class(fields, module->metadata, type, begin, end))
			TRY(add_named_fields(fields, module, type, begin, end));
		if (type % 1024 == 0 && !job_step(module->types->job, 0, 0))
			return fail_cancelled(module->types->err);
	}
	return HD_OK;
}

static enum hd_status add_unknown(struct nt_fields *fields, uint64_t key, struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(fields, unknown), err);
	fields->unknown[fields->unknown_count++] = key;
	return HD_OK;
}

/* Are there certainly no other modules than those of the rundown? */
static bool has_all_modules(const struct nt_types *types)
{
	if (!types->has_rundown_end || types->has_loss)
		return false;
	for (size_t i = 0; i < types->assemblies_count; i++) {
		const struct nt_assembly *assembly = &types->assemblies[i];
		if (assembly->id && assembly->first != HD_NONE && !assembly->position)
			return false;
	}
	return true;
}

static enum hd_status read_position(struct nt_fields *fields, struct nt_types *types,
				    uint32_t position, uint32_t assembly)
{
	const char *path = types->assemblies[assembly].path;
	if (types->assemblies[assembly].is_dynamic && path && strcmp(path, METHODS_MODULE) == 0)
		return HD_OK;
	struct field_module module = { .types = types,
				       .metadata = nt_module_metadata(types, assembly),
				       .assembly = assembly,
				       .position = position };
	bool is_whole = false;
	size_t before = fields->rows_count;
	if (module.metadata)
		TRY(read_module(fields, &module, &is_whole));
	if (is_whole)
		return HD_OK;
	while (fields->rows_count > before)
		fields->names[fields->rows[--fields->rows_count].name].count--;
	return add_unknown(fields, (uint64_t)position << 32, types->err);
}

static enum hd_status read_modules(struct nt_fields *fields, struct nt_types *types,
				   uint32_t *by_position)
{
	bool has_gaps = !has_all_modules(types);
	for (uint32_t i = 0; i <= types->positions; i++)
		by_position[i] = HD_NONE;
	for (size_t i = 0; i < types->assemblies_count; i++)
		by_position[types->assemblies[i].position] = (uint32_t)i;
	/* Modules that are not in the rundown have 0. */
	for (uint32_t i = 0; i <= types->positions; i++) {
		if (i && by_position[i] != HD_NONE)
			TRY(read_position(fields, types, i, by_position[i]));
		TRY(job_check(types->job, 0, types->err));
		if (has_gaps)
			TRY(add_unknown(fields, (uint64_t)i << 32 | ALL_FIELDS, types->err));
	}
	return HD_OK;
}

static enum hd_status sort_by_name(struct nt_fields *fields, struct hd_error *err)
{
	fields->by_name = pages_alloc(fields->rows_count, sizeof(*fields->by_name));
	TRY_MEMORY(fields->by_name, err);
	fields->by_name_count = fields->rows_count;
	size_t next = 0;
	for (size_t i = 0; i < fields->names_count; i++) {
		fields->names[i].first = next;
		next += fields->names[i].count;
		fields->names[i].count = 0;
	}
	for (size_t i = 0; i < fields->rows_count; i++) {
		struct nt_name *name = &fields->names[fields->rows[i].name];
		fields->by_name[name->first + name->count++] = (uint32_t)i;
	}
	return HD_OK;
}

enum hd_status nt_fields_read(struct nt_fields *fields, struct nt_types *types)
{
	size_t count = (size_t)types->positions + 1;
	uint32_t *by_position = pages_alloc(count, sizeof(*by_position));
	TRY_MEMORY(by_position, types->err);
	enum hd_status status = read_modules(fields, types, by_position);
	pages_free(by_position, count, sizeof(*by_position));
	TRY(status);
	return sort_by_name(fields, types->err);
}

void nt_fields_deinit(struct nt_fields *fields)
{
	pages_free(fields->rows, fields->rows_capacity, sizeof(*fields->rows));
	pages_free(fields->names, fields->names_capacity, sizeof(*fields->names));
	pages_free(fields->by_name, fields->by_name_count, sizeof(*fields->by_name));
	pages_free(fields->unknown, fields->unknown_capacity, sizeof(*fields->unknown));
	type_table_deinit(&fields->table);
	arena_destroy(fields->arena);
}

bool nt_fields_fit(const struct nt_field *a, uint64_t a_slot, const struct nt_field *b,
		   uint64_t b_slot, uint32_t pointer_size)
{
	if (a->before + a->unsure > b->before + b->unsure) {
		const struct nt_field *field = a;
		uint64_t slot = a_slot;
		a = b;
		a_slot = b_slot;
		b = field;
		b_slot = slot;
	}
	if (a_slot >= b_slot || (b_slot - a_slot) % pointer_size)
		return false;
	/* Both hold an object, so that their own slots are there. */
	uint64_t distance = (b_slot - a_slot) / pointer_size;
	uint64_t least = 1 + (uint64_t)b->before - a->before - a->is_sure;
	return distance >= least && distance <= least + b->unsure - a->unsure - !a->is_sure;
}

bool nt_field_is_near(const struct nt_field *field, uint64_t slot, uint64_t address,
		      uint32_t pointer_size)
{
	return address < slot ? (slot - address) / pointer_size <= field->before
			      : (address - slot) / pointer_size <= field->after;
}
