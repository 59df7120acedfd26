/* SPDX-License-Identifier: MIT */
/*
 * Fields of types, of which the program has neither names nor places (doc/nativeaot.md 7).  Without symbols that tell them, what the framework declares is
 * in a table, and is laid out as the compiler does; it is believed as far as the GCDesc and the size of the type agree.
 */
#include "runtime/nativeaot/fields.h"

#include <inttypes.h>

#include "framework/offsets/net_layout.h"
#include "runtime/nativeaot/field_rows.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_table.h"
#include "runtime/nativeaot/symbols/symbol_fields.h"
#include "util/alloc.h"
#include "util/text.h"

/* The word with the MethodTable, in front of the first field. */
#define HEADER 8u
/* Longer chains of base classes are damage. */
#define LEVELS_MAX    64u
#define ARGUMENTS_MAX 16u
/* Rows of one name that are tried. */
#define ROWS_MAX 4u
/* References without a name that are listed. */
#define UNNAMED_MAX 4096u

/* EETypeElementType from Boolean on (MethodTable.h), as codes of framework/offsets/net_layout.h. */
#define ELEMENT_FIRST 2u
static const char element_codes[] = "zcabstijlmnufd";

/* The type arguments of a type. */
struct arguments {
	uint64_t tables[ARGUMENTS_MAX];
	struct net_value values[ARGUMENTS_MAX];
	bool is_vague[ARGUMENTS_MAX]; /* a struct whose alignment is not known */
	size_t count;
};

struct fields_reading {
	struct runtime *runtime;
	const struct type *type;
	struct field_rows rows;
	uint32_t
		end; /* behind the fields that are known, from the object on, or from the begin of a struct */
	bool is_struct;
};

static bool is_struct_type(const struct type *type)
{
	return type->category == CATEGORY_VALUE || type->category == CATEGORY_NULLABLE ||
	       type->category == CATEGORY_PRIMITIVE || type->category == CATEGORY_TRUE_PRIMITIVE;
}

/* false: it cannot be read, or its size is not known. */
static bool read_argument(const struct runtime *runtime, uint64_t address, struct net_value *ret,
			  bool *ret_is_vague)
{
	struct aot_method_table table;
	if (!address || !aot_method_table_read(runtime->memory, address, &table))
		return false;
	uint32_t element = aot_element_type(&table);
	*ret_is_vague = false;
	if (table.kind == AOT_PARAMETERIZED && element == AOT_ELEMENT_POINTER) {
		*ret = (struct net_value){ .size = 8, .align = 8, .code = 'p' };
	} else if (element >= ELEMENT_FIRST &&
		   element < ELEMENT_FIRST + sizeof(element_codes) - 1) {
		char code = element_codes[element - ELEMENT_FIRST];
		uint32_t size = net_code_size(code);
		*ret = (struct net_value){ .size = size, .align = size, .code = code };
	} else if (element != AOT_ELEMENT_VALUE && element != AOT_ELEMENT_NULLABLE) {
		*ret = (struct net_value){
			.size = 8, .align = 8, .code = 'o', .has_references = true
		};
	} else {
		uint32_t size = aot_struct_size(runtime, &table);
		if (!size)
			return false;
		*ret = (struct net_value){ .size = size, .align = 8 };
		ret->has_references = aot_has_references(runtime, &table);
		*ret_is_vague = !ret->has_references;
	}
	return true;
}

static bool read_arguments(const struct runtime *runtime, const struct type *type,
			   struct arguments *ret)
{
	struct aot_method_table table;
	uint64_t definition;
	ret->count = 0;
	if (!aot_method_table_read(runtime->memory, type->method_table, &table))
		return false;
	if (!aot_is_instance(&table))
		return true;
	ret->count =
		aot_generic_arguments(runtime, &table, &definition, ret->tables, ARGUMENTS_MAX);
	for (size_t i = 0; i < ret->count; i++) {
		if (!read_argument(runtime, ret->tables[i], &ret->values[i], &ret->is_vague[i]))
			ret->values[i] = (struct net_value){ 0 };
	}
	return true;
}

static bool layouts_agree(const struct net_layout *a, const struct net_layout *b)
{
	if (a->end != b->end || a->size != b->size || a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (a->fields[i].offset != b->fields[i].offset)
			return false;
	}
	return true;
}

/*
 * A struct without references may be aligned to 1, 2, 4 or 8, as far as its size allows: the layout is known if it is
 * always the same.
 */
static bool make_layout(const struct net_layout_row *row, const struct arguments *known,
			uint32_t begin, struct net_layout *ret)
{
	struct arguments arguments = *known;
	bool is_vague = false;
	for (uint32_t align = 8; align; align /= 2) {
		struct net_layout other;
		for (size_t i = 0; i < arguments.count; i++) {
			struct net_value *value = &arguments.values[i];
			if (!arguments.is_vague[i] || !value->size)
				continue;
			uint32_t most = value->size & ~(value->size - 1);
			value->align = align < most ? align : most;
			is_vague = true;
		}
		if (!net_layout_make(row, arguments.values, arguments.count, begin,
				     align == 8 ? ret : &other) ||
		    (align != 8 && !layouts_agree(ret, &other)))
			return false;
		if (!is_vague)
			return true;
	}
	return true;
}

/* Does the GCDesc have a reference at @p offset of an object? */
static bool is_reference_at(const struct type *type, uint32_t offset)
{
	for (uint32_t i = 0; i < type->desc.series_count; i++) {
		const struct gc_series *series = &type->desc.series[i];
		uint64_t end = series->offset + (uint64_t)(series->size + (int64_t)type->base_size);
		if (offset >= series->offset && (uint64_t)offset + 8 <= end)
			return true;
	}
	return false;
}

/* A layout says about the word at @p offset: 'o' a reference, '?' part of a struct that is not known, else 0. */
static char word_at(const struct net_layout *layout, uint32_t offset)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct net_field *field = &layout->fields[i];
		if (field->offset == offset && field->code == 'o')
			return 'o';
		bool is_around = field->offset <= offset && offset < field->offset + field->size;
		if (field->code == '!' && is_around)
			return '?';
	}
	return 0;
}

/* Has the type its references where the layout says, and no others there? */
static bool agrees_with_gc(const struct arguments *arguments, const struct type *type,
			   const struct net_layout *layout, uint32_t begin)
{
	if (type->has_bad_desc)
		return false;
	for (uint32_t at = begin & ~7u; at + 8 <= layout->end; at += 8) {
		char says = word_at(layout, at);
		if (says == '?')
			continue;
		if ((says == 'o') != is_reference_at(type, at) && at >= begin)
			return false;
	}
	for (size_t i = 0; i < layout->count; i++) {
		const struct net_field *field = &layout->fields[i];
		if (field->code == '!' && arguments->values[field->argument].code == 'o' &&
		    !is_reference_at(type, field->offset))
			return false;
	}
	return true;
}

/* Has the type no more bytes than that? */
static bool agrees_with_size(const struct type *type, const struct net_layout *layout,
			     bool is_struct)
{
	if (type->is_string)
		return true;
	uint64_t size = is_struct ? layout->size + 16u : ((layout->end + 7u) & ~7u) + 8u;
	size = (size + 7) & ~(uint64_t)7;
	return type->base_size == (size < 24 ? 24 : size);
}

static uint8_t element_of(char code)
{
	switch (code) {
	case 'z':
		return ELEMENT_BOOLEAN;
	case 'c':
		return ELEMENT_CHAR;
	case 'a':
		return ELEMENT_I1;
	case 'b':
		return ELEMENT_U1;
	case 's':
		return ELEMENT_I2;
	case 't':
		return ELEMENT_U2;
	case 'i':
		return ELEMENT_I4;
	case 'j':
		return ELEMENT_U4;
	case 'l':
		return ELEMENT_I8;
	case 'm':
		return ELEMENT_U8;
	case 'f':
		return ELEMENT_R4;
	case 'd':
		return ELEMENT_R8;
	case 'n':
		return ELEMENT_I;
	case 'u':
		return ELEMENT_U;
	case 'p':
		return ELEMENT_POINTER;
	case 'o':
		return ELEMENT_CLASS;
	default:
		return ELEMENT_VALUE;
	}
}

static bool add_known(struct fields_reading *reading, const struct type *declaring,
		      const struct arguments *arguments, const struct net_field *known)
{
	HD_CLEANUP(text) struct text name = { 0 };
	HD_CLEANUP(text) struct text type_name = { 0 };
	struct field field = {
		.declaring = declaring,
		.offset = known->offset - (reading->is_struct ? 0 : HEADER),
		.element_type = element_of(known->code),
	};
	if (known->code == '!') {
		uint64_t table = arguments->tables[known->argument];
		char code = arguments->values[known->argument].code;
		field.element_type = code ? element_of(code) : ELEMENT_VALUE;
		field.type = type_find(reading->runtime, table);
		type_name_append(reading->runtime, table, &type_name);
	} else {
		text_puts(&type_name, field_element_name(field.element_type));
	}
	text_append(&name, known->name, known->name_size);
	return field_rows_add(&reading->rows, &field, &name, &type_name);
}

/* The fields that one type of the chain declares; false in *@p ret_is_known: no row of the table fits. */
static bool add_level(struct fields_reading *reading, const struct type *declaring,
		      bool *ret_is_known)
{
	struct arguments arguments;
	struct net_layout layout;
	const struct net_layout_row *row = NULL;
	size_t size;
	const char *name = type_name(reading->runtime, declaring, &size);
	*ret_is_known = false;
	if (!read_arguments(reading->runtime, declaring, &arguments))
		return true;
	for (unsigned int i = 0; i < ROWS_MAX && !*ret_is_known; i++) {
		row = net_layout_find(name, size, aot_of(reading->runtime)->major, i);
		if (!row)
			return true;
		*ret_is_known = (row->kind >= NET_STRUCT) == reading->is_struct &&
				make_layout(row, &arguments, reading->end, &layout) &&
				(reading->is_struct || agrees_with_gc(&arguments, reading->type,
								      &layout, reading->end)) &&
				(declaring != reading->type ||
				 agrees_with_size(declaring, &layout, reading->is_struct));
	}
	if (!*ret_is_known)
		return true;
	for (size_t i = 0; i < layout.count; i++) {
		if (!add_known(reading, declaring, &arguments, &layout.fields[i]))
			return false;
	}
	reading->end = layout.end;
	return true;
}

/* The references of an object behind what is known: where they are is all that is known about them. */
static bool add_unnamed(struct fields_reading *reading)
{
	const struct type *type = reading->type;
	for (uint32_t at = (reading->end + 7) & ~7u, count = 0;
	     at + 8 <= type->base_size && count < UNNAMED_MAX; at += 8) {
		HD_CLEANUP(text) struct text name = { 0 };
		HD_CLEANUP(text) struct text type_name = { 0 };
		const struct field field = { .declaring = type,
					     .offset = at - HEADER,
					     .element_type = ELEMENT_CLASS };
		if (!is_reference_at(type, at))
			continue;
		count++;
		text_printf(&name, FIELD_UNNAMED "at %" PRIx32 ">", at);
		if (!field_rows_add(&reading->rows, &field, &name, &type_name))
			return false;
	}
	return true;
}

/* The one field of an enum, which has the storage of a number. */
static bool add_enum(struct fields_reading *reading, bool *ret_is_enum)
{
	struct net_value value;
	bool is_vague;
	HD_CLEANUP(text) struct text name = { 0 };
	HD_CLEANUP(text) struct text type_name_of = { 0 };
	const struct type *type = reading->type;
	const struct type *parent = type->parent ? type_find(reading->runtime, type->parent) : NULL;
	size_t size;
	const char *parent_name = parent ? type_name(reading->runtime, parent, &size) : "";
	*ret_is_enum = parent && net_name_is("System.Enum", parent_name, size) &&
		       read_argument(reading->runtime, type->method_table, &value, &is_vague);
	if (!*ret_is_enum)
		return true;
	const struct field field = { .declaring = type, .element_type = element_of(value.code) };
	text_puts(&name, "value__");
	text_puts(&type_name_of, field_element_name(field.element_type));
	return field_rows_add(&reading->rows, &field, &name, &type_name_of);
}

static bool read_struct(struct fields_reading *reading)
{
	bool is_known = false, is_enum = false;
	reading->is_struct = true;
	if (!add_enum(reading, &is_enum))
		return false;
	return is_enum || add_level(reading, reading->type, &is_known);
}

static bool read_class(struct fields_reading *reading)
{
	const struct type *chain[LEVELS_MAX], *at = reading->type;
	size_t count = 0;
	bool is_known = true;
	for (; at && count < LEVELS_MAX; count++) {
		chain[count] = at;
		at = at->parent ? type_find(reading->runtime, at->parent) : NULL;
	}
	reading->end = HEADER;
	while (count-- > 0 && is_known) {
		if (!add_level(reading, chain[count], &is_known))
			return false;
	}
	return is_known || add_unnamed(reading);
}

enum hd_status aot_fields(struct runtime *runtime, const struct type *type, struct field_list *ret,
			  struct hd_error *err)
{
	struct fields_reading reading = { .runtime = runtime, .type = type };
	bool has_fields = !type->is_free && type->category != CATEGORY_SZ_ARRAY &&
			  type->category != CATEGORY_MD_ARRAY &&
			  type->category != CATEGORY_INTERFACE;
	bool is_told = false;
	if (has_fields)
		TRY(symbol_fields(runtime, type, ret, &is_told, err));
	if (is_told)
		return HD_OK;
	bool is_read = !has_fields ||
		       (is_struct_type(type) ? read_struct(&reading) : read_class(&reading));
	if (!is_read) {
		field_list_deinit(&reading.rows.list);
		return fail_nomem(err);
	}
	*ret = reading.rows.list;
	return HD_OK;
}
