/* SPDX-License-Identifier: MIT */
#include "contents/hprof_layout.h"

#include <stdio.h>

#include "framework/member.h"
#include "inspect/value.h"
#include "runtime/runtime.h"
#include "util/alloc.h"

/* Objects with fields beyond this have only those in front of it. */
#define EXTENT_MAX 65536u
/* Base classes over base classes. */
#define PARENTS_MAX 256u

/* The class that is being made, and which of its slots are told. */
struct making {
	const struct type *type;
	uint32_t row;
	uint32_t end;     /* of what may be read, from the first field */
	uint8_t *is_told; /* for each word from the first field */
	size_t word_count;
};

static void making_deinit(struct making *making)
{
	mem_free(making->is_told);
}

static struct hd_error *err_of(const struct hprof_layouts *layouts)
{
	return layouts->writer->err;
}

/* Add a value to the class and to the values that are copied. */
static enum hd_status add_value(struct hprof_layouts *layouts, const struct making *making,
				const char *name, const struct hprof_copy *copy, uint8_t type)
{
	struct hprof_classes *classes = &layouts->writer->classes;
	struct hprof_field field = { .type = type };
	if (classes->rows[making->row].field_count == UINT16_MAX)
		return HD_OK;
	TRY(hprof_string(classes, name, strlen(name), &field.name));
	TRY(hprof_add_field(classes, making->row, &field));
	TRY_MEMORY(PAGES_RESERVE(layouts, copies), err_of(layouts));
	layouts->copies[layouts->copies_count++] = *copy;
	if (copy->is_reference && !copy->is_constant && copy->offset / 8 < making->word_count)
		making->is_told[copy->offset / 8] = 1;
	return HD_OK;
}

static enum hd_status add_flats(struct hprof_layouts *layouts, const struct making *making,
				uint32_t skip)
{
	HD_CLEANUP(hprof_flats) struct hprof_flats flats = { 0 };
	TRY(hprof_flat_fields(layouts, making->type, skip, &flats));
	for (size_t i = 0; i < flats.rows_count; i++) {
		const struct hprof_flat *flat = &flats.rows[i];
		uint8_t type = hprof_type_of(flat->element_type);
		unsigned int size = hprof_type_size(type, HPROF_ID);
		if (!size || flat->offset + size > making->end)
			continue;
		const struct hprof_copy copy = { .offset = flat->offset,
						 .size = (uint8_t)size,
						 .is_reference = type == HPROF_OBJECT };
		TRY(add_value(layouts, making, flat->name, &copy, type));
	}
	return HD_OK;
}

/* Add a reference at a slot that no field names. */
static enum hd_status add_unnamed(struct hprof_layouts *layouts, const struct making *making,
				  uint64_t offset)
{
	char name[48];
	if (offset % 8 != 0 || offset / 8 >= making->word_count || making->is_told[offset / 8])
		return HD_OK;
	const struct hprof_copy copy = { .offset = (uint32_t)offset,
					 .size = 8,
					 .is_reference = true };
	(void)snprintf(name, sizeof(name), "<field at %x>", (unsigned int)offset);
	return add_value(layouts, making, name, &copy, HPROF_OBJECT);
}

/* Add the references that the GC knows and no field names. */
static enum hd_status add_unnamed_slots(struct hprof_layouts *layouts, const struct making *making)
{
	const struct type *type = making->type;
	for (uint32_t i = 0; i < type->desc.series_count; i++) {
		const struct gc_series *series = &type->desc.series[i];
		uint64_t size = ((uint64_t)series->size + type->base_size) & ~(uint64_t)7;
		for (uint64_t at = 0; at < size && at < EXTENT_MAX; at += 8)
			TRY(add_unnamed(layouts, making, series->offset + at - OBJECT_FIELDS));
	}
	return HD_OK;
}

static enum hd_status making_init(struct hprof_layouts *layouts, struct making *making)
{
	making->word_count = making->end / 8;
	making->is_told = mem_calloc(making->word_count + 1, 1);
	return making->is_told ? HD_OK : fail_nomem(err_of(layouts));
}

/* The slots that a base class has told are not told again. */
static void tell_parent_slots(const struct hprof_layouts *layouts, const struct making *making,
			      size_t first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct hprof_copy *copy = &layouts->copies[first + i];
		if (copy->is_reference && !copy->is_constant &&
		    copy->offset / 8 < making->word_count)
			making->is_told[copy->offset / 8] = 1;
	}
}

static enum hd_status append_copies(struct hprof_layouts *layouts, size_t first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		TRY_MEMORY(PAGES_RESERVE(layouts, copies), err_of(layouts));
		layouts->copies[layouts->copies_count++] = layouts->copies[first + i];
	}
	return HD_OK;
}

/* Thread inherits the name that readers ask for. */
static enum hd_status add_thread_name(struct hprof_layouts *layouts, const struct type *type)
{
	struct hprof_known *known;
	TRY(hprof_known_type(layouts, type, &known));
	const struct field *field = field_by_name(&known->fields, fact_row(FACT_THREAD_NAME)->path);
	const struct hprof_copy copy = { .size = 8,
					 .offset = field ? field->offset : 0,
					 .is_reference = true,
					 .is_constant = !field };
	TRY_MEMORY(PAGES_RESERVE(layouts, copies), err_of(layouts));
	layouts->copies[layouts->copies_count++] = copy;
	return HD_OK;
}

static enum hd_status name_class(struct hprof_layouts *layouts, const struct type *type,
				 const char *end, uint32_t *ret)
{
	size_t size = 0;
	const char *name = type_name(layouts->heap->heap->runtime, type, &size);
	return hprof_class_name(&layouts->writer->classes, name, size, end, ret);
}

/* Add the values of the class that is being made: its fields, and references that no field names. */
static enum hd_status add_own_values(struct hprof_layouts *layouts, const struct making *making,
				     const struct type *parent, uint32_t skip)
{
	const struct type *type = making->type;
	const struct hprof_copy copy = { .size = 8,
					 .is_constant = true,
					 .is_reference = true,
					 .constant = type->loader_allocator };
	TRY(add_flats(layouts, making, skip));
	TRY(add_unnamed_slots(layouts, making));
	if (!type->loader_allocator || (parent && parent->loader_allocator))
		return HD_OK;
	return add_value(layouts, making, "<LoaderAllocator>", &copy, HPROF_OBJECT);
}

/* Is it Thread, and not a class that derives from it? */
static bool is_thread_class(struct runtime *runtime, const struct type *type,
			    const struct type *parent)
{
	return type_is_a(runtime, type, NET_THREAD) &&
	       (!parent || !type_is_a(runtime, parent, NET_THREAD));
}

/* How many bytes of its fields are read. */
static uint32_t fields_end(const struct type *type)
{
	uint32_t end = type->base_size > 16 ? type->base_size - 16 : 0;
	if (type->component_size)
		return 0;
	return end < EXTENT_MAX ? end : EXTENT_MAX;
}

/* Add a class that has no fields yet. */
static enum hd_status add_class_of(struct hprof_layouts *layouts, const struct type *type,
				   uint64_t super, uint32_t *ret)
{
	struct hprof_class row = { .id = type->method_table,
				   .super = super,
				   .size = type->base_size < 24 ? 24 : type->base_size };
	TRY(name_class(layouts, type, "", &row.name));
	return hprof_add_class(&layouts->writer->classes, &row, ret);
}

/* The values of a class: its own, and then those of its base classes. */
static enum hd_status add_values(struct hprof_layouts *layouts, struct making *making,
				 const struct type *parent, const struct hprof_known *base)
{
	const struct type *type = making->type;
	making->end = fields_end(type);
	TRY(making_init(layouts, making));
	tell_parent_slots(layouts, making, base->first, base->count);
	TRY(add_own_values(layouts, making, parent, base->own_count));
	if (is_thread_class(layouts->heap->heap->runtime, type, parent))
		return add_thread_name(layouts, type);
	return append_copies(layouts, base->first, base->count);
}

/* Make the class of a type whose base class has one, or has none. */
static enum hd_status make_class(struct hprof_layouts *layouts, const struct type *type,
				 const struct type *parent)
{
	const struct hprof_classes *classes = &layouts->writer->classes;
	HD_CLEANUP(making) struct making making = { .type = type };
	struct hprof_known base = { 0 }, *known;
	uint64_t super = classes->rows[PRESET_OBJECT].id;
	size_t first = layouts->copies_count;
	if (parent) {
		TRY(hprof_known_type(layouts, parent, &known));
		base = *known;
		super = classes->rows[base.row - 1].id;
	}
	if (is_thread_class(layouts->heap->heap->runtime, type, parent))
		super = classes->rows[PRESET_THREAD].id;
	TRY(add_class_of(layouts, type, super, &making.row));
	TRY(add_values(layouts, &making, parent, &base));
	TRY(hprof_known_type(layouts, type, &known));
	known->row = making.row + 1;
	known->first = first;
	known->count = layouts->copies_count - first;
	return HD_OK;
}

/* Make the classes of a type and of those that it derives from. */
static enum hd_status class_of_type(struct hprof_layouts *layouts, const struct type *type,
				    uint32_t *ret)
{
	const struct type *chain[PARENTS_MAX];
	struct runtime *runtime = layouts->heap->heap->runtime;
	struct hprof_known *known;
	size_t count = 0;
	const struct type *at = type, *parent = NULL;
	while (at && count < PARENTS_MAX) {
		TRY(hprof_known_type(layouts, at, &known));
		if (known->row) {
			parent = at;
			break;
		}
		if (known->is_being_made) /* a circle */
			break;
		known->is_being_made = true;
		chain[count++] = at;
		at = at->parent ? type_find(runtime, at->parent) : NULL;
	}
	while (count) {
		TRY(make_class(layouts, chain[--count], parent));
		parent = chain[count];
	}
	TRY(hprof_known_type(layouts, type, &known));
	*ret = known->row - 1;
	return HD_OK;
}

/* Sum up the bytes of the values of a layout. */
static void measure(const struct hprof_layouts *layouts, struct hprof_layout *layout)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct hprof_copy *copy = &layouts->copies[layout->first + i];
		layout->size += copy->size;
		if (!copy->is_constant && copy->offset + copy->size > layout->extent)
			layout->extent = copy->offset + copy->size;
	}
}

/* Add the references of an element that no field names. */
static enum hd_status add_element_slots(struct hprof_layouts *layouts, const struct making *making,
					const struct type *array, uint32_t data)
{
	uint64_t stride = array->component_size;
	if (array->desc.series_count) {
		for (uint64_t at = 0; at + 8 <= stride; at += 8)
			TRY(add_unnamed(layouts, making, at));
	}
	uint64_t at = array->desc.runs_offset - data;
	for (uint32_t i = 0; i < array->desc.run_count; i++) {
		const struct gc_run *run = &array->desc.runs[i];
		for (uint32_t k = 0; k < run->pointers && k < EXTENT_MAX / 8; k++, at += 8)
			TRY(add_unnamed(layouts, making, at % stride));
		at += run->skip;
	}
	return HD_OK;
}

/* Make the class of the elements of an array of structs. */
static enum hd_status make_element_class(struct hprof_layouts *layouts, const struct type *array,
					 const struct type *element, struct hprof_layout *layout)
{
	struct hprof_classes *classes = &layouts->writer->classes;
	struct hprof_class row = { .super = classes->rows[PRESET_OBJECT].id,
				   .size = array->component_size };
	HD_CLEANUP(making) struct making making = { .type = element, .end = layout->stride };
	TRY(name_class(layouts, element ? element : array, " (element)", &row.name));
	TRY(hprof_add_class(classes, &row, &making.row));
	TRY(making_init(layouts, &making));
	layout->element_row = making.row;
	layout->first = layouts->copies_count;
	if (element)
		TRY(add_flats(layouts, &making, 0));
	TRY(add_element_slots(layouts, &making, array, layout->data));
	layout->count = layouts->copies_count - layout->first;
	measure(layouts, layout);
	return HD_OK;
}

/* Make the class of arrays, whose own class has no fields. */
static enum hd_status make_array_class(struct hprof_layouts *layouts, const struct type *type,
				       const struct graph_type *of, uint32_t *ret)
{
	struct hprof_classes *classes = &layouts->writer->classes;
	struct hprof_class row = { .id = type->method_table,
				   .super = classes->rows[PRESET_OBJECT].id };
	uint64_t mean = of->count ? of->size / of->count : type->base_size;
	row.size = mean < INT32_MAX ? (uint32_t)mean : INT32_MAX;
	TRY(name_class(layouts, type, "", &row.name));
	return hprof_add_class(classes, &row, ret);
}

static enum hd_status make_array(struct hprof_layouts *layouts, const struct type *type,
				 uint32_t index)
{
	struct runtime *runtime = layouts->heap->heap->runtime;
	struct hprof_layout *layout = &layouts->rows[index];
	const struct type *element =
		type->links.per_inst & 2 ? NULL : type_find(runtime, type->links.per_inst);
	uint8_t storage = element ? type_storage(runtime, element) : 0;
	layout->element = hprof_type_of(storage);
	layout->data = type->base_size - 8;
	layout->stride = type->component_size;
	bool is_plain = type->category == CATEGORY_SZ_ARRAY;
	unsigned int size = hprof_type_size(layout->element, HPROF_ID);
	bool is_numbers = size && layout->element != HPROF_OBJECT && size == layout->stride &&
			  !type->has_pointers;
	if (element && is_numbers && is_plain && element->category == CATEGORY_TRUE_PRIMITIVE) {
		layout->shape = SHAPE_PRIMITIVES;
		return HD_OK;
	}
	TRY(make_array_class(layouts, type, &layouts->writer->graph->types[index], &layout->row));
	layouts->writer->type_classes[index] = layout->row;
	if (type->has_pointers && layout->stride == 8 &&
	    (!element || layout->element == HPROF_OBJECT)) {
		layout->shape = SHAPE_REFERENCES;
	} else if (type->has_pointers) {
		layout->shape = SHAPE_STRUCTS;
		TRY(make_element_class(layouts, type, element, layout));
	} else {
		layout->shape = SHAPE_PACKED;
		if (!is_numbers) {
			layout->element = HPROF_BYTE;
		}
	}
	return HD_OK;
}

/* A type that cannot be read any more keeps its name. */
static enum hd_status make_unknown(struct hprof_layouts *layouts, uint32_t index)
{
	const struct graph_type *from = &layouts->writer->graph->types[index];
	struct hprof_classes *classes = &layouts->writer->classes;
	struct hprof_class row = { .super = classes->rows[PRESET_OBJECT].id, .size = 24 };
	const char *name = from->name ? from->name : "<unknown type>";
	TRY(hprof_class_name(classes, name, from->name ? from->name_size : strlen(name), "",
			     &row.name));
	TRY(hprof_add_class(classes, &row, &layouts->rows[index].row));
	layouts->writer->type_classes[index] = layouts->rows[index].row;
	return HD_OK;
}

static enum hd_status make_layout(struct hprof_layouts *layouts, uint32_t index)
{
	struct hprof_writer *writer = layouts->writer;
	struct hprof_layout *layout = &layouts->rows[index];
	const struct type *type =
		type_find(layouts->heap->heap->runtime, writer->graph->types[index].id);
	struct hprof_known *known;
	if (!type)
		return make_unknown(layouts, index);
	if (type->is_string) {
		layout->shape = SHAPE_STRING;
		layout->row = writer->type_classes[index] = PRESET_STRING;
		return HD_OK;
	}
	if (type->component_size || type->category == CATEGORY_SZ_ARRAY ||
	    type->category == CATEGORY_MD_ARRAY) {
		if (type->base_size < ARRAY_BASE_SIZE || !type->component_size)
			return make_unknown(layouts, index);
		return make_array(layouts, type, index);
	}
	TRY(class_of_type(layouts, type, &layout->row));
	writer->type_classes[index] = layout->row;
	TRY(hprof_known_type(layouts, type, &known));
	layout->first = known->first;
	layout->count = known->count;
	measure(layouts, layout);
	return HD_OK;
}

enum hd_status hprof_layouts_make(struct hprof_layouts *layouts)
{
	uint32_t count = layouts->writer->graph->type_count;
	layouts->rows = pages_alloc(count, sizeof(*layouts->rows));
	TRY_MEMORY(layouts->rows, err_of(layouts));
	for (uint32_t i = 0; i < count; i++) {
		TRY(make_layout(layouts, i));
		if (i % 256 == 0)
			TRY(job_check(layouts->writer->job, 0, err_of(layouts)));
	}
	return HD_OK;
}

void hprof_layouts_deinit(struct hprof_layouts *layouts)
{
	for (size_t i = 0; i < layouts->known_count; i++)
		field_list_deinit(&layouts->known[i].fields);
	pages_free(layouts->known, layouts->known_capacity, sizeof(*layouts->known));
	pages_free(layouts->copies, layouts->copies_capacity, sizeof(*layouts->copies));
	pages_free(layouts->rows, layouts->heap->graph->type_count, sizeof(*layouts->rows));
	window_deinit(&layouts->window);
}
