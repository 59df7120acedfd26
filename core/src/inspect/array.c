/* SPDX-License-Identifier: MIT */
#include "framework/member.h"
#include "inspect/value.h"
#include "util/text.h"

/* Lengths and bounds of each dimension; their product must be the array's length. */
static bool read_dimensions(struct memory *memory, uint64_t address, struct array_info *array)
{
	uint64_t lengths = address + ARRAY_DIMENSIONS, bounds = lengths + 4 * (uint64_t)array->rank;
	uint64_t product = 1;
	for (uint32_t i = 0; i < array->rank; i++) {
		if (!memory_u32(memory, lengths + 4 * (uint64_t)i, &array->lengths[i]) ||
		    !memory_i32(memory, bounds + 4 * (uint64_t)i, &array->bounds[i]))
			return false;
		if (__builtin_mul_overflow(product, array->lengths[i], &product))
			return false;
	}
	return product == array->length;
}

static void find_element(struct runtime *runtime, const struct type *type, struct array_info *array)
{
	array->element_handle = type->links.per_inst;
	array->element_size = type->component_size;
	array->element_type = ELEMENT_POINTER;
	if (type->links.per_inst & 2) /* a TypeDesc: a pointer */
		return;
	array->element = type_find(runtime, type->links.per_inst);
	if (array->element) {
		array->element_type = type_storage(runtime, array->element);
	} else {
		array->element_type = type->has_pointers ? ELEMENT_CLASS : ELEMENT_VALUE;
	}
}

bool array_read(struct heap *heap, const struct object *object, struct array_info *ret)
{
	const struct type *type = object->type;
	if (type->category != CATEGORY_SZ_ARRAY && type->category != CATEGORY_MD_ARRAY)
		return false;
	struct array_info array = { .rank = 1, .length = object->length };
	if (type->base_size < ARRAY_BASE_SIZE)
		return false;
	array.data = object->address + type->base_size - 8;
	array.lengths[0] = object->length;
	if (type->category == CATEGORY_MD_ARRAY) {
		array.rank = (type->base_size - ARRAY_BASE_SIZE) / 8;
		if (!array.rank || array.rank > ARRAY_RANK_MAX ||
		    !read_dimensions(heap->memory, object->address, &array))
			return false;
	}
	find_element(heap->runtime, type, &array);
	*ret = array;
	return true;
}

void array_index_text(const struct array_info *array, uint32_t index, struct text *text)
{
	uint32_t parts[ARRAY_RANK_MAX] = { 0 };
	for (uint32_t i = array->rank; i-- > 0;) {
		uint32_t length = array->lengths[i] ? array->lengths[i] : 1;
		parts[i] = index % length;
		index /= length;
	}
	for (uint32_t i = 0; i < array->rank; i++)
		text_printf(text, "[%lld]", (long long)array->bounds[i] + parts[i]);
}

bool array_at(struct heap *heap, struct members *members, uint64_t address, struct array_info *ret)
{
	struct object object;
	return member_object(members, address, &object) && array_read(heap, &object, ret);
}

uint64_t array_reference(struct heap *heap, const struct array_info *array, uint64_t index)
{
	uint64_t value = 0;
	if (index < array->length && array->element_size == 8)
		(void)memory_u64(heap->memory, array->data + 8 * index, &value);
	return value;
}
