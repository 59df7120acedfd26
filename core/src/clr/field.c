/* SPDX-License-Identifier: MIT */
#include "clr/field.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clr/type_lookup.h"
#include "clr/type_name.h"
#include "util/alloc.h"

/*
 * FieldDesc (field.h), the same in 8, 9 and 10: the enclosing MethodTable; u32: Field RID and
 * flags; u32: offset and element type.
 */
#define FIELD_DESC_SIZE   16u
#define FIELD_RID_MASK    0x00ffffffu
#define FIELD_STATIC      0x01000000u
#define FIELD_THREAD      0x02000000u
#define FIELD_RVA         0x04000000u
#define FIELD_OFFSET_MASK 0x07ffffffu
#define FIELD_TYPE_SHIFT  27
/* From here on an offset says that the field has no place (yet): FIELD_OFFSET_LAST_REAL_OFFSET. */
#define FIELD_OFFSET_NONE 0x07fffff0u

#define SIGNATURE_FIELD 0x06u

/* EEClass of 8 (class.h): where its packed counts begin, and their order in there. */
#define CLASS_8_IS_PACKED  49u
#define CLASS_8_FIXED_SIZE 50u
#define PACKED_INSTANCE    0u
#define PACKED_STATIC      2u

#define HIERARCHY_MAX 256u
#define FIELDS_MAX    65536u /* of one class: counts are 16 bits wide */
#define LIST_MAX      262144u

/* Numbers of fields of a class; those of base classes count among its instance fields. */
struct field_counts {
	uint32_t instance, statics;
};

/* Number @p index of the packed fields at @p address: each is 5 bits of length - 1, then that. */
static bool unpack_count(struct clr *clr, uint64_t address, unsigned int index, uint32_t *ret)
{
	uint8_t bytes[48]; /* 7 numbers of at most 37 bits, and what is read beyond */
	size_t size = memory_prefix(clr->memory, address, bytes, sizeof(bytes));
	memset(bytes + size, 0, sizeof(bytes) - size);
	uint32_t bit = 0, value = 0;
	for (unsigned int i = 0; i <= index; i++) {
		unsigned int length =
			(unsigned int)(load_u64(bytes + bit / 8) >> bit % 8 & 0x1f) + 1;
		bit += 5;
		uint64_t word = load_u64(bytes + bit / 8) >> bit % 8;
		value = (uint32_t)(word & (((uint64_t)1 << length) - 1));
		bit += length;
		if (bit > 8 * (uint32_t)size)
			return false;
	}
	*ret = value;
	return true;
}

static bool read_counts_8(struct clr *clr, uint64_t ee_class, struct field_counts *ret)
{
	uint8_t is_packed, size;
	if (!memory_u8(clr->memory, ee_class + CLASS_8_IS_PACKED, &is_packed) ||
	    !memory_u8(clr->memory, ee_class + CLASS_8_FIXED_SIZE, &size))
		return false;
	uint64_t block = ee_class + size;
	if (is_packed) {
		return unpack_count(clr, block, PACKED_INSTANCE, &ret->instance) &&
		       unpack_count(clr, block, PACKED_STATIC, &ret->statics);
	}
	return memory_u32(clr->memory, block + (uint64_t)PACKED_INSTANCE * 4, &ret->instance) &&
	       memory_u32(clr->memory, block + (uint64_t)PACKED_STATIC * 4, &ret->statics);
}

static bool read_counts(struct clr *clr, uint64_t ee_class, struct field_counts *ret)
{
	uint16_t instance, statics;
	if (clr->major == 8)
		return read_counts_8(clr, ee_class, ret);
	if (!layout_has(&clr->layout, L_CLASS_NUM_INSTANCE) ||
	    !layout_has(&clr->layout, L_CLASS_NUM_STATIC) ||
	    !memory_u16(clr->memory, ee_class + clr_offset(clr, L_CLASS_NUM_INSTANCE), &instance) ||
	    !memory_u16(clr->memory, ee_class + clr_offset(clr, L_CLASS_NUM_STATIC), &statics))
		return false;
	ret->instance = instance;
	ret->statics = statics;
	return true;
}

/* The TypeDef that the signature at @p at begins with; 0 = anything else. */
static uint32_t own_type_def(const uint8_t *at, const uint8_t *end)
{
	uint32_t token;
	if (at == end || (*at != ELEMENT_CLASS && *at != ELEMENT_VALUE))
		return 0;
	at++;
	return metadata_compressed(&at, end, &token) && !(token & 3) ? token >> 2 : 0;
}

/* Name and type of a field from the metadata of the module that declares it. */
static bool read_names(struct clr *clr, const struct module *module,
		       struct type_arguments arguments, struct field *field)
{
	const struct metadata *metadata = module ? module->metadata : NULL;
	uint32_t rid = field->token & FIELD_RID_MASK, size = 0;
	const char *name = "";
	if (metadata)
		name = metadata_string(metadata, metadata_column(metadata, MD_FIELD, rid, 1));
	char unknown[32];
	if (!*name) {
		(void)snprintf(unknown, sizeof(unknown), "<field %08" PRIx32 ">", field->token);
		name = unknown;
	}
	field->name = mem_strndup(name, strlen(name));
	const uint8_t *signature = NULL;
	if (metadata) {
		signature =
			metadata_blob(metadata, metadata_column(metadata, MD_FIELD, rid, 2), &size);
	}
	struct text text = { 0 };
	if (signature && size > 1 && signature[0] == SIGNATURE_FIELD) {
		signature_type_name(clr, module, signature + 1, size - 1, arguments, &text);
		uint32_t type_def = own_type_def(signature + 1, signature + size);
		if (type_def) {
			field->type = type_find(clr, module_type_def(clr, module, type_def));
		} else if (text.size) {
			field->type = type_by_name(clr, text.bytes, module->address);
		}
	}
	field->type_name = text.size ? text.bytes : mem_strndup("", 0);
	return field->name && field->type_name && !text.failed;
}

static void decode(const uint8_t *bytes, const struct type *declaring, struct field *ret)
{
	uint32_t head = load_u32(bytes + 8), tail = load_u32(bytes + 12);
	*ret = (struct field){
		.declaring = declaring,
		.token = 0x04000000u | (head & FIELD_RID_MASK),
		.offset = tail & FIELD_OFFSET_MASK,
		.element_type = (uint8_t)(tail >> FIELD_TYPE_SHIFT),
		.is_static = head & FIELD_STATIC,
		.is_thread_static = (head & FIELD_STATIC) && head & FIELD_THREAD,
		.is_rva = (head & FIELD_STATIC) && head & FIELD_RVA,
	};
}

/* Append the fields of @p bytes to @p list. */
static enum hd_status append_fields(struct clr *clr, const struct type *type, const uint8_t *bytes,
				    size_t count, struct field_list *list, struct hd_error *err)
{
	struct field *rows = mem_realloc(list->rows, list->count + count, sizeof(*rows));
	if (!rows)
		return fail_nomem(err);
	list->rows = rows;
	const struct module *module = module_find(clr, type_home_module(clr, type));
	struct type_arguments arguments = type_arguments(clr, type);
	for (size_t i = 0; i < count; i++) {
		struct field *field = &rows[list->count];
		decode(bytes + i * FIELD_DESC_SIZE, type, field);
		if (!(field->token & FIELD_RID_MASK) || field->offset >= FIELD_OFFSET_NONE)
			continue;
		list->count++;
		if (!read_names(clr, module, arguments, field))
			return fail_nomem(err);
	}
	return HD_OK;
}

/* The fields that @p type itself declares. */
static enum hd_status read_declared(struct clr *clr, const struct type *type,
				    const struct type *parent, struct field_list *list,
				    struct hd_error *err)
{
	struct field_counts own, inherited = { 0 };
	if (!read_counts(clr, type->ee_class, &own) ||
	    (parent && !read_counts(clr, parent->ee_class, &inherited))) {
		return fail(err, HD_ERR_FAULT, type->ee_class,
			    "cannot read the EEClass of method table 0x%" PRIx64,
			    type->method_table);
	}
	if (own.instance < inherited.instance || own.instance > FIELDS_MAX ||
	    own.statics > FIELDS_MAX) {
		return fail(err, HD_ERR_FAULT, type->ee_class,
			    "method table 0x%" PRIx64 ": its EEClass counts %" PRIu32
			    " instance and %" PRIu32 " static fields",
			    type->method_table, own.instance, own.statics);
	}
	size_t count = own.instance - inherited.instance + own.statics;
	uint64_t descs;
	if (!count)
		return HD_OK;
	if (list->count + count > LIST_MAX ||
	    !clr_pointer(clr, type->ee_class, L_CLASS_FIELDS, &descs)) {
		return fail(err, HD_ERR_FAULT, type->ee_class,
			    "cannot read the fields of method table 0x%" PRIx64,
			    type->method_table);
	}
	uint8_t *bytes = mem_alloc(count, FIELD_DESC_SIZE);
	if (!bytes)
		return fail_nomem(err);
	enum hd_status status =
		memory_read(clr->memory, descs, bytes, count * FIELD_DESC_SIZE)
			? append_fields(clr, type, bytes, count, list, err)
			: fail(err, HD_ERR_FAULT, descs,
			       "cannot read the FieldDescs of method table 0x%" PRIx64,
			       type->method_table);
	mem_free(bytes);
	return status;
}

enum hd_status field_list_read(struct clr *clr, const struct type *type, struct field_list *ret,
			       struct hd_error *err)
{
	const struct type *levels[HIERARCHY_MAX];
	size_t count = 0;
	struct field_list list = { 0 };
	if (type->is_free || type->category == CATEGORY_SZ_ARRAY ||
	    type->category == CATEGORY_MD_ARRAY) {
		*ret = list;
		return HD_OK;
	}
	for (const struct type *level = type; level && count < HIERARCHY_MAX;
	     level = level->parent ? type_find(clr, level->parent) : NULL)
		levels[count++] = level;
	enum hd_status status = HD_OK;
	for (size_t i = count; i-- > 0 && status == HD_OK;) {
		const struct type *parent = i + 1 < count ? levels[i + 1] : NULL;
		status = read_declared(clr, levels[i], parent, &list, err);
	}
	if (status != HD_OK) {
		field_list_deinit(&list);
		return status;
	}
	*ret = list;
	return HD_OK;
}

void field_list_deinit(struct field_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		mem_free(list->rows[i].name);
		mem_free(list->rows[i].type_name);
	}
	mem_free(list->rows);
	*list = (struct field_list){ 0 };
}

bool element_is_reference(uint8_t element_type)
{
	switch (element_type) {
	case ELEMENT_STRING:
	case ELEMENT_CLASS:
	case ELEMENT_VAR:
	case ELEMENT_ARRAY:
	case ELEMENT_GENERIC_INST:
	case ELEMENT_OBJECT:
	case ELEMENT_SZ_ARRAY:
	case ELEMENT_MVAR:
		return true;
	default:
		return false;
	}
}

unsigned int element_size(uint8_t element_type)
{
	switch (element_type) {
	case ELEMENT_BOOLEAN:
	case ELEMENT_I1:
	case ELEMENT_U1:
		return 1;
	case ELEMENT_CHAR:
	case ELEMENT_I2:
	case ELEMENT_U2:
		return 2;
	case ELEMENT_I4:
	case ELEMENT_U4:
	case ELEMENT_R4:
		return 4;
	case ELEMENT_I8:
	case ELEMENT_U8:
	case ELEMENT_R8:
	case ELEMENT_STRING:
	case ELEMENT_POINTER:
	case ELEMENT_BYREF:
	case ELEMENT_CLASS:
	case ELEMENT_ARRAY:
	case ELEMENT_I:
	case ELEMENT_U:
	case ELEMENT_FUNCTION_POINTER:
	case ELEMENT_OBJECT:
	case ELEMENT_SZ_ARRAY:
		return 8;
	default:
		return 0;
	}
}
