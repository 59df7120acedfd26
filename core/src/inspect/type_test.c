/* SPDX-License-Identifier: MIT */
/* Finds out the kind of a type, by the classes that it derives from, and the interfaces that it implements. */
#include "framework/facts.h"
#include "inspect/value.h"
#include "runtime/coreclr/types/method_table.h"

/* Longer chains of base classes are damage. */
#define PARENTS_MAX 256u

bool type_derives_from(struct runtime *runtime, const struct type *type, uint64_t method_table,
		       const char *name)
{
	for (unsigned int i = 0; type && i < PARENTS_MAX; i++) {
		if (method_table ? type->method_table == method_table
				 : strcmp(type_name(runtime, type, NULL), name) == 0)
			return true;
		type = type->parent ? type_find(runtime, type->parent) : NULL;
	}
	return false;
}

bool type_implements(struct runtime *runtime, const struct type *type,
		     bool (*is_wanted)(const char *name))
{
	uint64_t interface;
	for (uint32_t i = 0; (interface = type_interface(runtime, type, i)) != 0; i++) {
		const struct type *found = type_find(runtime, interface);
		if (found && is_wanted(type_name(runtime, found, NULL)))
			return true;
	}
	return false;
}

bool type_is_exception(struct runtime *runtime, const struct type *type)
{
	return type->category == CATEGORY_CLASS &&
	       type_derives_from(runtime, type, runtime_exception_method_table(runtime),
				 net_type_name(NET_EXCEPTION));
}

const struct type *type_exception_base(struct runtime *runtime, const struct type *type)
{
	const struct type *base = type;
	for (unsigned int i = 0; type && i < PARENTS_MAX && type_is_exception(runtime, type); i++) {
		base = type;
		type = type->parent ? type_find(runtime, type->parent) : NULL;
	}
	return base;
}

bool type_is_delegate(struct runtime *runtime, const struct type *type)
{
	return type->category == CATEGORY_CLASS &&
	       type_derives_from(runtime, type, 0, net_type_name(NET_DELEGATE));
}

bool type_is_enum(struct runtime *runtime, const struct type *type)
{
	const struct type *parent = type->category == CATEGORY_PRIMITIVE && type->parent
					    ? type_find(runtime, type->parent)
					    : NULL;
	return parent && strcmp(type_name(runtime, parent, NULL), net_type_name(NET_ENUM)) == 0;
}

/* Storage of the only field of an enum or a primitive. */
static uint8_t storage_of_only_field(struct runtime *runtime, const struct type *type)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	uint8_t storage = ELEMENT_VALUE;
	if (field_list_read(runtime, type, &list, NULL) != HD_OK)
		return storage;
	for (size_t i = 0; i < list.count; i++) {
		if (!list.rows[i].is_static) {
			storage = list.rows[i].element_type;
			break;
		}
	}
	return storage;
}

uint8_t type_storage(struct runtime *runtime, const struct type *type)
{
	switch (type->category) {
	case CATEGORY_VALUE:
	case CATEGORY_NULLABLE:
		return ELEMENT_VALUE;
	case CATEGORY_PRIMITIVE:
		return type_is_enum(runtime, type) ? storage_of_only_field(runtime, type)
						   : ELEMENT_VALUE;
	case CATEGORY_TRUE_PRIMITIVE:
		return storage_of_only_field(runtime, type);
	case CATEGORY_SZ_ARRAY:
		return ELEMENT_SZ_ARRAY;
	case CATEGORY_MD_ARRAY:
		return ELEMENT_ARRAY;
	default:
		return type->is_string ? ELEMENT_STRING : ELEMENT_CLASS;
	}
}
