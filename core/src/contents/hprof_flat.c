/* SPDX-License-Identifier: MIT */
/* The fields of a type with those of its structs, in one list. */
#include "contents/hprof_layout.h"
#include "util/alloc.h"
#include "util/text.h"

/* Structs in structs deeper than this are not taken apart, nor is a type of more fields. */
#define NESTED_MAX 16u
#define FIELDS_MAX 4096u

uint8_t hprof_type_of(uint8_t element_type)
{
	switch (element_type) {
	case ELEMENT_BOOLEAN:
		return HPROF_BOOLEAN;
	case ELEMENT_CHAR:
		return HPROF_CHAR;
	case ELEMENT_I1:
	case ELEMENT_U1:
		return HPROF_BYTE;
	case ELEMENT_I2:
	case ELEMENT_U2:
		return HPROF_SHORT;
	case ELEMENT_I4:
	case ELEMENT_U4:
		return HPROF_INT;
	case ELEMENT_R4:
		return HPROF_FLOAT;
	case ELEMENT_R8:
		return HPROF_DOUBLE;
	case ELEMENT_I8:
	case ELEMENT_U8:
	case ELEMENT_I:
	case ELEMENT_U:
	case ELEMENT_POINTER:
	case ELEMENT_BYREF:
	case ELEMENT_FUNCTION_POINTER:
		return HPROF_LONG;
	default:
		return element_is_reference(element_type) ? HPROF_OBJECT : 0;
	}
}

enum hd_status hprof_known_type(struct hprof_layouts *layouts, const struct type *type,
				struct hprof_known **ret)
{
	struct hd_error *err = layouts->writer->err;
	while (layouts->known_count <= type->index) {
		TRY_MEMORY(PAGES_RESERVE(layouts, known), err);
		layouts->known[layouts->known_count++] = (struct hprof_known){ 0 };
	}
	struct hprof_known *known = &layouts->known[type->index];
	if (!known->is_read) {
		struct hd_error unused = { 0 };
		known->is_read = true;
		/* Fields that cannot be read count as none; references are then found without names. */
		if (field_list_read(layouts->heap->heap->runtime, type, &known->fields, &unused) ==
		    HD_ERR_NOMEM)
			return fail_nomem(err);
		for (size_t i = 0; i < known->fields.count; i++)
			known->own_count += !known->fields.rows[i].is_static;
	}
	*ret = known;
	return HD_OK;
}

static enum hd_status add_flat(struct hprof_flats *flats, const struct hprof_flat *holder,
			       const struct field *field, struct hd_error *err)
{
	uint64_t offset = (holder ? (uint64_t)holder->offset : 0) + field->offset;
	HD_CLEANUP(text) struct text name = { 0 };
	if (offset > INT32_MAX)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(flats, rows), err);
	if (holder)
		text_printf(&name, "%s.", holder->name);
	text_puts(&name, field->name);
	TRY_MEMORY(!name.failed, err);
	char *copy = mem_strndup(name.bytes ? name.bytes : "", name.size);
	TRY_MEMORY(copy, err);
	flats->rows[flats->rows_count++] = (struct hprof_flat){
		.name = copy,
		.offset = (uint32_t)offset,
		.element_type = field->element_type,
		.type = field->type,
		.nesting = holder ? holder->nesting + 1 : 0,
	};
	return HD_OK;
}

static enum hd_status add_fields_of(struct hprof_layouts *layouts, const struct type *type,
				    const struct hprof_flat *holder, uint32_t skip,
				    struct hprof_flats *flats)
{
	struct hprof_known *known;
	TRY(hprof_known_type(layouts, type, &known));
	for (size_t i = 0; i < known->fields.count && flats->rows_count < FIELDS_MAX; i++) {
		const struct field *field = &known->fields.rows[i];
		if (field->is_static)
			continue;
		if (skip) {
			skip--;
			continue;
		}
		TRY(add_flat(flats, holder, field, layouts->writer->err));
	}
	return HD_OK;
}

enum hd_status hprof_flat_fields(struct hprof_layouts *layouts, const struct type *type,
				 uint32_t skip, struct hprof_flats *ret)
{
	TRY(add_fields_of(layouts, type, NULL, skip, ret));
	size_t kept = 0;
	for (size_t i = 0; i < ret->rows_count; i++) {
		const struct hprof_flat row = ret->rows[i];
		bool is_struct = row.element_type == ELEMENT_VALUE;
		bool is_known = is_struct && row.type && row.type != type;
		if (is_known && row.nesting < NESTED_MAX)
			TRY(add_fields_of(layouts, row.type, &row, 0, ret));
		if (is_struct) {
			mem_free(row.name);
			ret->rows[i].name = NULL;
		} else {
			ret->rows[i].name = NULL;
			ret->rows[kept++] = row;
		}
	}
	ret->rows_count = kept;
	return HD_OK;
}

void hprof_flats_deinit(struct hprof_flats *flats)
{
	for (size_t i = 0; i < flats->rows_count; i++)
		mem_free(flats->rows[i].name);
	pages_free(flats->rows, flats->rows_capacity, sizeof(*flats->rows));
	*flats = (struct hprof_flats){ 0 };
}
