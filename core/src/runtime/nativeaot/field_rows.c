/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/field_rows.h"

#include "util/alloc.h"
#include "util/text.h"

const char *field_element_name(uint8_t element)
{
	static const char *const names[] = {
		[ELEMENT_BOOLEAN] = "System.Boolean", [ELEMENT_CHAR] = "System.Char",
		[ELEMENT_I1] = "System.SByte",        [ELEMENT_U1] = "System.Byte",
		[ELEMENT_I2] = "System.Int16",        [ELEMENT_U2] = "System.UInt16",
		[ELEMENT_I4] = "System.Int32",        [ELEMENT_U4] = "System.UInt32",
		[ELEMENT_I8] = "System.Int64",        [ELEMENT_U8] = "System.UInt64",
		[ELEMENT_R4] = "System.Single",       [ELEMENT_R8] = "System.Double",
		[ELEMENT_I] = "System.IntPtr",        [ELEMENT_U] = "System.UIntPtr",
	};
	const char *name = element < sizeof(names) / sizeof(names[0]) ? names[element] : NULL;
	return name ? name : "";
}

/* The bytes of a text, which the caller owns then; NULL: memory is exhausted. */
static char *take_bytes(struct text *text)
{
	char *bytes = text->failed ? NULL : text->bytes ? text->bytes : mem_calloc(1, 1);
	if (bytes)
		*text = (struct text){ 0 };
	return bytes;
}

bool field_rows_add(struct field_rows *rows, const struct field *field, struct text *name,
		    struct text *type_name)
{
	struct field_list *list = &rows->list;
	if (list->count == rows->capacity) {
		size_t capacity = grown_capacity(rows->capacity, sizeof(*field));
		struct field *grown =
			capacity ? mem_realloc(list->rows, capacity, sizeof(*field)) : NULL;
		if (!grown)
			return false;
		list->rows = grown;
		rows->capacity = capacity;
	}
	struct field *row = &list->rows[list->count++];
	*row = *field;
	row->name = take_bytes(name);
	row->type_name = take_bytes(type_name);
	return row->name && row->type_name;
}
