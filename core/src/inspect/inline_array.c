/* SPDX-License-Identifier: MIT */
#include "inspect/inline_array.h"

#include "framework/facts.h"
#include "inspect/value.h"
#include "mem/memory.h"
#include "metadata/attribute.h"
#include "runtime/coreclr/modules/module.h"

/* The prolog of an attribute's value (ECMA-335 II.23.3), before its one argument. */
#define ATTRIBUTE_PROLOG 0x0001u

/* The argument of the attribute; 0: there is none. */
static uint32_t length_of(struct runtime *runtime, const struct type *type)
{
	const struct module *module = module_find(runtime, type_home_module(runtime, type));
	uint32_t size = 0;
	if (!module || !module->metadata)
		return 0;
	const uint8_t *value = metadata_type_attribute(module->metadata, type->token & 0xffffff,
						       net_type_name(NET_INLINE_ARRAY), &size);
	if (!value || size < 6 || load_u16(value) != ATTRIBUTE_PROLOG)
		return 0;
	return load_u32(value + 2);
}

static const struct field *only_instance_field(const struct field_list *list)
{
	const struct field *only = NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (list->rows[i].is_static)
			continue;
		if (only)
			return NULL;
		only = &list->rows[i];
	}
	return only;
}

bool inline_array_read(struct runtime *runtime, const struct type *type, struct inline_array *ret)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	if (type->category != CATEGORY_VALUE)
		return false;
	uint32_t length = length_of(runtime, type);
	if (!length || field_list_read(runtime, type, &list, NULL) != HD_OK)
		return false;
	const struct field *field = only_instance_field(&list);
	if (!field || field->offset != 0)
		return false;
	uint8_t stored = field->element_type;
	if (stored == ELEMENT_VALUE && field->type)
		stored = type_storage(runtime, field->type);
	unsigned int size = element_size(stored);
	/* An attribute that lies: elements do not go beyond the struct. */
	if (!size || length > type_box_content(type) / size)
		return false;
	*ret = (struct inline_array){
		.length = length, .element_size = size, .element_type = stored, .type = field->type
	};
	return true;
}
