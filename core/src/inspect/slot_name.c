/* SPDX-License-Identifier: MIT */
#include "inspect/slot_name.h"

#include <inttypes.h>

#include "inspect/suspended.h"
#include "inspect/value.h"
#include "runtime/coreclr/types/continuation.h"
#include "util/text.h"

/* How deep structs in structs are followed. */
#define STRUCT_DEPTH_MAX 16u

/* The instance field that holds offset @p offset, or NULL; the innermost class's wins. */
static const struct field *field_around(const struct field_list *list, uint64_t offset)
{
	const struct field *best = NULL;
	for (size_t i = 0; i < list->count; i++) {
		const struct field *field = &list->rows[i];
		bool fits = field->element_type == ELEMENT_VALUE ? field->offset <= offset
								 : field->offset == offset;
		if (!field->is_static && fits && (!best || field->offset >= best->offset))
			best = field;
	}
	return best;
}

/*
 * Size of an element if @p type is an [InlineArray] of references or of structs that hold some: its
 * only field represents all elements.  Else 0.
 */
static uint64_t inline_element(const struct type *type, const struct field_list *list)
{
	const struct field *only = NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (!list->rows[i].is_static && only)
			return 0;
		if (!list->rows[i].is_static)
			only = &list->rows[i];
	}
	if (!only || type->category != CATEGORY_VALUE)
		return 0;
	uint64_t size = sizeof(uint64_t);
	if (only->element_type == ELEMENT_VALUE)
		size = only->type ? type_box_content(only->type) : 0;
	return size && type_box_content(type) >= 2 * size ? size : 0;
}

/* One step into the struct or object: appends its name and returns the type below it. */
static const struct type *step_into(const struct type *type, const struct field_list *list,
				    bool dotted, uint64_t *offset, struct text *text)
{
	uint64_t element = inline_element(type, list);
	if (element) {
		text_printf(text, "[%" PRIu64 "]", *offset / element);
		*offset %= element;
	}
	const struct field *field = field_around(list, *offset);
	if (!field)
		return NULL;
	if (!element)
		text_printf(text, "%s%s", dotted ? "." : "", field->name);
	*offset -= field->offset;
	return field->element_type == ELEMENT_VALUE ? field->type : NULL;
}

/* Names of nested fields, joined with points. */
static void append_field_path(struct heap *heap, const struct type *type, uint64_t offset,
			      bool dotted, struct text *text)
{
	size_t before = text->size;
	for (unsigned int depth = 0; type && depth < STRUCT_DEPTH_MAX; depth++) {
		struct field_list list;
		if (field_list_read(heap->runtime, type, &list, NULL) != HD_OK)
			break;
		type = step_into(type, &list, dotted || depth, &offset, text);
		field_list_deinit(&list);
	}
	if (offset || text->size == before)
		text_printf(text, "+%" PRIx64, offset);
}

void slot_name_in_struct(struct heap *heap, const struct type *type, uint64_t offset,
			 struct text *text)
{
	append_field_path(heap, type, offset, true, text);
}

void slot_name(struct heap *heap, const struct object *object, uint64_t slot, struct text *text)
{
	struct array_info array;
	if (!slot) {
		text_puts(text, "LoaderAllocator");
	} else if (type_is_continuation(heap->runtime, object->type) &&
		   suspended_slot_append(text, heap, object, slot)) {
		return;
	} else if (!array_read(heap, object, &array)) {
		append_field_path(heap, object->type, slot - object->address - OBJECT_FIELDS, false,
				  text);
	} else if (array.element_size && slot >= array.data) {
		uint64_t offset = slot - array.data;
		array_index_text(&array, (uint32_t)(offset / array.element_size), text);
		if (array.element_type == ELEMENT_VALUE) {
			append_field_path(heap, array.element, offset % array.element_size, true,
					  text);
		}
	}
}
