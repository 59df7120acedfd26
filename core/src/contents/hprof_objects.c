/* SPDX-License-Identifier: MIT */
/* Objects as records: their values are read where they lie, and turned around. */
#include "contents/hprof_layout.h"

/* How many bytes are copied at once. */
#define PART ((uint64_t)HPROF_ROOM / 2)
#define PAGE 4096u

static void turn(const uint8_t *from, uint8_t *to, size_t size, unsigned int width)
{
	switch (width) {
	case 2:
		for (size_t i = 0; i + 2 <= size; i += 2)
			store_u16(to + i, load_u16(from + i));
		break;
	case 4:
		for (size_t i = 0; i + 4 <= size; i += 4)
			store_u32(to + i, load_u32(from + i));
		break;
	case 8:
		for (size_t i = 0; i + 8 <= size; i += 8)
			store_u64(to + i, load_u64(from + i));
		break;
	default:
		memcpy(to, from, size);
		break;
	}
}

/* Copy @p size bytes of numbers, each @p width bytes; false: some are not in the target, and 0 in the file. */
static bool copy_numbers(struct hprof_layouts *layouts, uint64_t address, uint64_t size,
			 unsigned int width)
{
	struct hprof_out *out = &layouts->writer->out;
	bool is_whole = true;
	while (size) {
		uint64_t part = size < PART ? size : PART;
		const uint8_t *bytes = window_at(&layouts->window, address, part, NULL);
		if (!bytes) {
			uint64_t rest = PAGE - address % PAGE;
			part = rest < part ? rest : part;
			part -= part % width;
			part = part ? part : width;
			bytes = window_at(&layouts->window, address, part, NULL);
		}
		if (bytes) {
			turn(bytes, hprof_room(out, part), part, width);
		} else {
			hprof_zeros(out, part);
			is_whole = false;
		}
		address += part;
		size -= part;
	}
	return is_whole;
}

/* Length of an array or a string that may be read: 0 when the target does not have its end. */
static uint32_t read_length(struct hprof_layouts *layouts, uint32_t node, uint64_t id,
			    uint32_t data, uint32_t stride)
{
	const uint8_t *bytes = window_at(&layouts->window, id + OBJECT_LENGTH, 4, NULL);
	uint64_t size = graph_size(layouts->writer->graph, node);
	uint32_t length = bytes ? load_u32(bytes) : 0;
	if (bytes && !length)
		return 0;
	uint64_t end = data + (uint64_t)stride * length;
	bool is_there = bytes && end <= size + 8 &&
			window_at(&layouts->window, id + end - 1, 1, NULL) != NULL;
	layouts->heap->unread += !is_there;
	return is_there ? length : 0;
}

static void write_values(struct hprof_layouts *layouts, const struct hprof_layout *layout,
			 const uint8_t *bytes)
{
	const struct hprof_copy *copy = layouts->copies + layout->first;
	struct hprof_out *out = &layouts->writer->out;
	for (size_t left = layout->count; left; left--, copy++) {
		uint8_t *room = hprof_room(out, copy->size);
		if (copy->is_constant) {
			store_u64(room, copy->constant);
			continue;
		}
		const uint8_t *from = bytes + copy->offset;
		switch (copy->size) {
		case 8:
			store_u64(room, load_u64(from));
			break;
		case 4:
			store_u32(room, load_u32(from));
			break;
		case 2:
			store_u16(room, load_u16(from));
			break;
		default:
			*room = *from;
			break;
		}
	}
}

static void write_instance(struct hprof_layouts *layouts, const struct hprof_layout *layout,
			   uint64_t id)
{
	static const uint8_t none[1] = { 0 };
	const uint8_t *bytes = none;
	if (layout->extent) {
		bytes = window_at(&layouts->window, id + OBJECT_FIELDS, layout->extent, NULL);
	}
	hprof_begin_instance(layouts->writer, id, layout->row, layout->size);
	if (bytes) {
		write_values(layouts, layout, bytes);
	} else {
		layouts->heap->unread++;
		hprof_zeros(&layouts->writer->out, layout->size);
	}
}

static void write_string(struct hprof_layouts *layouts, uint32_t node, uint64_t id)
{
	struct hprof_writer *writer = layouts->writer;
	uint32_t length = read_length(layouts, node, id, STRING_CHARS, 2);
	length = hprof_array_length(writer, length, 2);
	hprof_begin_primitives(writer, id + 4, HPROF_CHAR, length);
	layouts->heap->unread += !copy_numbers(layouts, id + STRING_CHARS, 2 * (uint64_t)length, 2);
	hprof_begin_instance(writer, id, PRESET_STRING, HPROF_ID + 4);
	hprof_u64(&writer->out, id + 4);
	hprof_u32(&writer->out, 0);
}

/* Write numbers as an array of their own. */
static void write_numbers(struct hprof_layouts *layouts, const struct hprof_layout *layout,
			  uint64_t id, uint64_t data, uint64_t length)
{
	unsigned int width = hprof_type_size(layout->element, HPROF_ID);
	uint32_t count = hprof_array_length(layouts->writer, length, width);
	hprof_begin_primitives(layouts->writer, id, layout->element, count);
	layouts->heap->unread += !copy_numbers(layouts, data, (uint64_t)count * width, width);
}

/* Write an array of one reference, to the numbers or bytes of the elements. */
static void write_packed(struct hprof_layouts *layouts, const struct hprof_layout *layout,
			 uint64_t id, uint32_t length)
{
	struct hprof_writer *writer = layouts->writer;
	bool is_bytes = layout->element == HPROF_BYTE;
	uint64_t count = is_bytes ? (uint64_t)length * layout->stride : length;
	write_numbers(layouts, layout, id + 4, id + layout->data, count);
	hprof_begin_array(writer, id, layout->row, 1);
	hprof_u64(&writer->out, id + 4);
}

/* Bytes of an element; NULL: not in the target. */
static const uint8_t *element_bytes(struct hprof_layouts *layouts,
				    const struct hprof_layout *layout, uint64_t at)
{
	static const uint8_t none[1] = { 0 };
	return layout->extent ? window_at(&layouts->window, at, layout->extent, NULL) : none;
}

static bool has_reference(const struct hprof_layouts *layouts, const struct hprof_layout *layout,
			  const uint8_t *bytes)
{
	const struct hprof_copy *copies = layouts->copies + layout->first;
	bool found = false;
	for (size_t i = 0; i < layout->count && !found; i++)
		found = copies[i].is_reference && load_u64(bytes + copies[i].offset);
	return found;
}

/* Write the elements of an array of structs that refer to something, and then the array. */
static enum hd_status write_structs(struct hprof_layouts *layouts,
				    const struct hprof_layout *layout, uint64_t id, uint32_t length)
{
	struct hprof_writer *writer = layouts->writer;
	uint64_t missing = 0;
	length = hprof_array_length(writer, length, HPROF_ID);
	for (uint32_t i = 0; i < length; i++) {
		uint64_t at = id + layout->data + (uint64_t)layout->stride * i;
		const uint8_t *bytes = element_bytes(layouts, layout, at);
		missing += !bytes;
		if (i % JOB_STRIDE == JOB_STRIDE - 1)
			TRY(job_check(writer->job, 0, writer->err));
		if (!bytes || !has_reference(layouts, layout, bytes))
			continue;
		hprof_begin_instance(writer, at, layout->element_row, layout->size);
		write_values(layouts, layout, bytes);
	}
	hprof_begin_array(writer, id, layout->row, length);
	for (uint32_t i = 0; i < length; i++) {
		uint64_t at = id + layout->data + (uint64_t)layout->stride * i;
		const uint8_t *bytes = element_bytes(layouts, layout, at);
		bool is_written = bytes && has_reference(layouts, layout, bytes);
		hprof_u64(&writer->out, is_written ? at : 0);
	}
	layouts->heap->unread += missing != 0;
	return HD_OK;
}

enum hd_status hprof_write_object(struct hprof_layouts *layouts, uint32_t node, uint64_t id)
{
	struct hprof_writer *writer = layouts->writer;
	const struct hprof_layout *layout = &layouts->rows[writer->graph->node_types[node]];
	uint32_t length;
	if (layout->shape == SHAPE_INSTANCE) {
		write_instance(layouts, layout, id);
		return HD_OK;
	}
	if (layout->shape == SHAPE_STRING) {
		write_string(layouts, node, id);
		return HD_OK;
	}
	length = read_length(layouts, node, id, layout->data, layout->stride);
	switch ((enum hprof_shape)layout->shape) {
	case SHAPE_PRIMITIVES:
		write_numbers(layouts, layout, id, id + layout->data, length);
		break;
	case SHAPE_REFERENCES:
		length = hprof_array_length(writer, length, HPROF_ID);
		hprof_begin_array(writer, id, layout->row, length);
		layouts->heap->unread +=
			!copy_numbers(layouts, id + layout->data, (uint64_t)length * 8, 8);
		break;
	case SHAPE_STRUCTS:
		return write_structs(layouts, layout, id, length);
	case SHAPE_PACKED:
		write_packed(layouts, layout, id, length);
		break;
	case SHAPE_INSTANCE:
	case SHAPE_STRING:
		break;
	}
	return HD_OK;
}
