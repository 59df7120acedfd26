/* SPDX-License-Identifier: MIT */
#include "support/fake_types.h"

#include <stdlib.h>

#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/field.h"
#include "util/alloc.h"

#define ROWS_MAX 256u
#define HEAP_MAX 16384u

/* A heap of the metadata. */
struct bytes {
	uint8_t bytes[HEAP_MAX];
	uint32_t size;
};

struct fake_types {
	struct fake_clr *fake;
	struct bytes strings, blobs;
	struct {
		uint16_t name, space, first_field;
	} types[ROWS_MAX];
	struct {
		uint16_t flags, name, signature;
	} fields[ROWS_MAX];
	struct {
		uint16_t parent, blob;
	} constants[ROWS_MAX], attributes[ROWS_MAX];
	uint32_t type_count, field_count, constant_count, attribute_count;
	uint64_t map; /* of MethodTables by RID */
};

static uint16_t put(struct bytes *heap, const void *bytes, size_t size)
{
	if (heap->size + size > HEAP_MAX)
		abort();
	memcpy(heap->bytes + heap->size, bytes, size);
	heap->size += (uint32_t)size;
	return (uint16_t)(heap->size - size);
}

static uint16_t put_string(struct fake_types *types, const char *string)
{
	return string && *string ? put(&types->strings, string, strlen(string) + 1) : 0;
}

static uint16_t put_blob(struct fake_types *types, const uint8_t *bytes, uint8_t size)
{
	uint16_t at = put(&types->blobs, &size, 1);
	(void)put(&types->blobs, bytes, size);
	return at;
}

static uint32_t add_type(struct fake_types *types, const char *space, const char *name,
			 uint64_t method_table)
{
	uint32_t rid = ++types->type_count;
	if (rid >= ROWS_MAX)
		abort();
	types->types[rid].name = put_string(types, name);
	types->types[rid].space = put_string(types, space);
	types->types[rid].first_field = (uint16_t)(types->field_count + 1);
	fake_poke_u64(&types->fake->memory, types->map + 8 * (uint64_t)rid, method_table);
	return rid;
}

struct fake_types *fake_types_create(struct fake_clr *fake)
{
	struct fake_types *types = calloc(1, sizeof(*types));
	if (!types)
		abort();
	types->fake = fake;
	types->strings.size = types->blobs.size = 1;
	types->map = fake_alloc(&fake->memory, 8 * (uint64_t)ROWS_MAX);
	uint64_t map = fake_at(fake, fake->module, L_MODULE_TYPE_DEF_MAP);
	fake_poke_u64(&fake->memory, map + 8, types->map); /* next, table, count, ..., mask */
	fake_poke_u32(&fake->memory, map + 16, ROWS_MAX);
	(void)add_type(types, "", "<Module>", 0);
	(void)add_type(types, "System", "Object", fake->object_type);
	(void)add_type(types, "System", "String", fake->string_type);
	return types;
}

void fake_types_destroy(struct fake_types *types)
{
	free(types);
}

static uint32_t rid_of(struct fake_types *types, uint64_t method_table)
{
	return (uint32_t)(fake_peek_u64(&types->fake->memory, method_table + 8) >> 8 & 0xffffff);
}

/* A field's row: flags, name and signature. */
static uint32_t add_field(struct fake_types *types, const struct fake_field *field)
{
	uint8_t signature[3] = { 0x06, field->element, 0 };
	if (field->type) {
		uint32_t rid = rid_of(types, field->type);
		uint32_t flags = (uint32_t)fake_peek_u64(&types->fake->memory, field->type);
		bool is_value = (flags & 0xc0000u) == 0x40000u;
		signature[1] = is_value ? ELEMENT_VALUE : ELEMENT_CLASS;
		signature[2] = (uint8_t)(rid << 2);
	}
	uint32_t rid = ++types->field_count;
	if (rid >= ROWS_MAX)
		abort();
	types->fields[rid].flags =
		(uint16_t)((field->is_static ? 0x10 : 0) | (field->is_literal ? 0x50 : 0));
	types->fields[rid].name = put_string(types, field->name);
	types->fields[rid].signature = put_blob(types, signature, field->type ? 3 : 2);
	if (field->is_literal) {
		uint32_t row = ++types->constant_count;
		types->constants[row].parent = (uint16_t)rid;
		types->constants[row].blob = put_blob(types, (const uint8_t *)&field->constant,
						      (uint8_t)element_size(field->element));
	}
	return rid;
}

/* An attribute: its value is a prolog, the length, and the number of named arguments. */
static void add_inline_array(struct fake_types *types, uint32_t rid, uint32_t length)
{
	uint8_t value[8] = { 1,
			     0,
			     (uint8_t)length,
			     (uint8_t)(length >> 8),
			     (uint8_t)(length >> 16),
			     (uint8_t)(length >> 24) };
	uint32_t row = ++types->attribute_count;
	if (row >= ROWS_MAX)
		abort();
	types->attributes[row].parent = (uint16_t)rid;
	types->attributes[row].blob = put_blob(types, value, sizeof(value));
}

uint64_t fake_class(struct fake_types *types, const struct fake_class *class)
{
	struct fake_memory *memory = &types->fake->memory;
	struct fake_type type = class->type;
	type.token = types->type_count + 1;
	uint64_t method_table = fake_type(types->fake, &type);
	uint32_t rid = add_type(types, class->space, class->name, method_table);
	if (class->inline_length)
		add_inline_array(types, rid, class->inline_length);
	struct fake_clr *fake = types->fake;
	uint64_t ee_class = fake_peek_u64(memory, fake_at(fake, method_table, L_MT_CLASS));
	uint64_t descs = fake_alloc(memory, 16 * (uint64_t)ROWS_MAX), at = descs;
	uint16_t instance = (uint16_t) class->inherited, statics = 0;
	for (const struct fake_field *field = class->fields; field && field->name; field++) {
		uint32_t field_rid = add_field(types, field);
		if (field->is_literal)
			continue;
		fake_poke_u64(memory, at, method_table);
		fake_poke_u32(memory, at + 8, field_rid | (field->is_static ? 0x01000000u : 0));
		fake_poke_u32(memory, at + 12, field->offset | (uint32_t)field->element << 27);
		at += 16;
		instance = (uint16_t)(instance + !field->is_static);
		statics = (uint16_t)(statics + field->is_static);
	}
	fake_poke_u64(memory, fake_at(fake, ee_class, L_CLASS_FIELDS), descs);
	fake_poke(memory, fake_at(fake, ee_class, L_CLASS_NUM_INSTANCE), &instance, 2);
	fake_poke(memory, fake_at(fake, ee_class, L_CLASS_NUM_STATIC), &statics, 2);
	return method_table;
}

static void put_u16(struct bytes *out, uint32_t value)
{
	uint8_t bytes[2] = { (uint8_t)value, (uint8_t)(value >> 8) };
	(void)put(out, bytes, 2);
}

static void put_u32(struct bytes *out, uint32_t value)
{
	put_u16(out, value);
	put_u16(out, value >> 16);
}

/* The stream of tables, in the order of their numbers (ECMA-335 II.24.2.6); all indexes are small. */
static void put_tables(struct fake_types *types, struct bytes *out)
{
	put_u32(out, 0);
	put_u32(out, 0x01000002); /* version 2.0, narrow heaps */
	put_u32(out, 1u << MD_TYPE_REF | 1u << MD_TYPE_DEF | 1u << MD_FIELD | 1u << MD_MEMBER_REF |
			     1u << MD_CONSTANT | 1u << MD_CUSTOM_ATTRIBUTE);
	put_u32(out, 0);
	put_u32(out, 0);
	put_u32(out, 0);
	put_u32(out, 1);
	put_u32(out, types->type_count);
	put_u32(out, types->field_count);
	put_u32(out, 1);
	put_u32(out, types->constant_count);
	put_u32(out, types->attribute_count);
	put_u16(out, 0);
	put_u16(out, put_string(types, "InlineArrayAttribute"));
	put_u16(out, put_string(types, "System.Runtime.CompilerServices"));
	for (uint32_t i = 1; i <= types->type_count; i++) {
		put_u32(out, 0);
		put_u16(out, types->types[i].name);
		put_u16(out, types->types[i].space);
		put_u16(out, 0);
		put_u16(out, types->types[i].first_field);
		put_u16(out, 1);
	}
	for (uint32_t i = 1; i <= types->field_count; i++) {
		put_u16(out, types->fields[i].flags);
		put_u16(out, types->fields[i].name);
		put_u16(out, types->fields[i].signature);
	}
	/* The attribute's constructor: MemberRefParent 1 is a TypeRef. */
	put_u16(out, 1 << 3 | 1);
	put_u16(out, 0);
	put_u16(out, 0);
	for (uint32_t i = 1; i <= types->constant_count; i++) {
		put_u16(out, 0);
		put_u16(out, (uint32_t)types->constants[i].parent << 2);
		put_u16(out, types->constants[i].blob);
	}
	/* HasCustomAttribute 3 is a TypeDef, CustomAttributeType 3 a MemberRef. */
	for (uint32_t i = 1; i <= types->attribute_count; i++) {
		put_u16(out, (uint32_t)types->attributes[i].parent << 5 | 3);
		put_u16(out, 1 << 3 | 3);
		put_u16(out, types->attributes[i].blob);
	}
}

static void put_header(struct bytes *out, uint32_t *at, uint32_t size, const char *name,
		       uint32_t name_size)
{
	put_u32(out, *at);
	put_u32(out, size);
	(void)put(out, name, name_size);
	*at += size;
}

/* All of it, for free(). */
static struct bytes *make_metadata(struct fake_types *types)
{
	struct bytes *tables = calloc(1, sizeof(*tables)), *out = calloc(1, sizeof(*out));
	if (!tables || !out)
		abort();
	put_tables(types, tables);
	put_u32(out, 0x424a5342);
	put_u32(out, 0x00010001);
	put_u32(out, 0);
	put_u32(out, 4);
	put_u32(out, 0x00307634); /* "4v0" */
	put_u32(out, 3u << 16);
	uint32_t at = out->size + 12 + 20 + 16;
	put_header(out, &at, tables->size, "#~\0", 4);
	put_header(out, &at, types->strings.size, "#Strings\0\0\0", 12);
	put_header(out, &at, types->blobs.size, "#Blob\0\0", 8);
	(void)put(out, tables->bytes, tables->size);
	(void)put(out, types->strings.bytes, types->strings.size);
	(void)put(out, types->blobs.bytes, types->blobs.size);
	free(tables);
	return out;
}

void fake_types_attach(struct fake_types *types)
{
	struct bytes *made = make_metadata(types);
	uint8_t *bytes = mem_alloc(made->size, 1);
	struct module *module = module_find(fake_runtime(types->fake), types->fake->module);
	if (!bytes || !module)
		abort();
	memcpy(bytes, made->bytes, made->size);
	if (module->metadata ||
	    metadata_create(bytes, made->size, &module->metadata, NULL) != HD_OK)
		abort();
	free(made);
}

void fake_types_export(struct fake_types *types)
{
	struct fake_memory *memory = &types->fake->memory;
	struct bytes *made = make_metadata(types);
	uint64_t at = fake_alloc(memory, 4 + (uint64_t)made->size);
	fake_poke_u32(memory, at, made->size);
	fake_poke(memory, at + 4, made->bytes, made->size);
	fake_poke_u64(memory, fake_at(types->fake, types->fake->module, L_MODULE_DYNAMIC_METADATA),
		      at);
	free(made);
}
