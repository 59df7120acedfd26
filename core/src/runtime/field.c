/* SPDX-License-Identifier: MIT */
#include "runtime/field.h"

#include <string.h>

#include "runtime/runtime_ops.h"
#include "util/alloc.h"

enum hd_status field_list_read(struct runtime *runtime, const struct type *type,
			       struct field_list *ret, struct hd_error *err)
{
	const struct runtime_ops *ops = runtime_ops(runtime);
	if (ops->fields)
		return ops->fields(runtime, type, ret, err);
	*ret = (struct field_list){ 0 };
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

bool field_is_named(const struct field *field)
{
	return strncmp(field->name, FIELD_UNNAMED, strlen(FIELD_UNNAMED)) != 0;
}

const struct field *field_by_name(const struct field_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!list->rows[i].is_static && strcmp(list->rows[i].name, name) == 0)
			return &list->rows[i];
	}
	return NULL;
}
