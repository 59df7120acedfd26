/* SPDX-License-Identifier: MIT */
#include "format/hprof/hprof_parse.h"

#include <string.h>

#include "format/hprof/hprof_files.h"

#define RECORD_HEADER 9u

static const char magic[] = "JAVA PROFILE 1.0.";

bool hprof_detect(const char *bytes, size_t size)
{
	return size >= sizeof(magic) - 1 && memcmp(bytes, magic, sizeof(magic) - 1) == 0;
}

bool hprof_open(const uint8_t *bytes, uint64_t size, struct hprof_file *ret)
{
	size_t head = sizeof(magic) - 1;
	if (size < head + 2 + 12 || !hprof_detect((const char *)bytes, head) || bytes[head + 1])
		return false;
	struct hprof_file file = { .bytes = bytes, .size = size, .first = head + 2 + 12 };
	file.id_size = (unsigned int)hprof_number(&file, head + 2, 4);
	file.time = hprof_number(&file, head + 6, 8);
	if (file.id_size != 4 && file.id_size != 8)
		return false;
	*ret = file;
	return true;
}

void hprof_begin(struct hprof_walk *walk, const struct hprof_file *file)
{
	*walk = (struct hprof_walk){ .file = file, .at = file->first };
}

/* Take @p size bytes of the record; false: it has not so many. */
static bool take(struct hprof_walk *walk, uint64_t size, uint64_t *ret_at)
{
	if (size > walk->end - walk->at)
		return false;
	*ret_at = walk->at;
	walk->at += size;
	return true;
}

static bool take_number(struct hprof_walk *walk, unsigned int size, uint64_t *ret)
{
	uint64_t at;
	if (!take(walk, size, &at))
		return false;
	*ret = hprof_number(walk->file, at, size);
	return true;
}

static bool take_id(struct hprof_walk *walk, uint64_t *ret)
{
	return take_number(walk, walk->file->id_size, ret);
}

static bool take_u32(struct hprof_walk *walk, uint32_t *ret)
{
	uint64_t value;
	if (!take_number(walk, 4, &value))
		return false;
	*ret = (uint32_t)value;
	return true;
}

static bool take_u16(struct hprof_walk *walk, uint16_t *ret)
{
	uint64_t value;
	if (!take_number(walk, 2, &value))
		return false;
	*ret = (uint16_t)value;
	return true;
}

static bool skip(struct hprof_walk *walk, uint64_t size)
{
	uint64_t at;
	return take(walk, size, &at);
}

static bool take_array(struct hprof_walk *walk, struct hprof_item *item, unsigned int width)
{
	item->size = (uint64_t)item->count * width;
	return take(walk, item->size, &item->data);
}

/* Skip a value that follows its type. */
static bool skip_value(struct hprof_walk *walk)
{
	uint64_t type;
	if (!take_number(walk, 1, &type))
		return false;
	unsigned int size = hprof_type_size((unsigned int)type, walk->file->id_size);
	return size && skip(walk, size);
}

static bool take_class(struct hprof_walk *walk, struct hprof_item *item)
{
	unsigned int id = walk->file->id_size;
	uint16_t constants;
	if (!skip(walk, 4) || !take(walk, 6 * (uint64_t)id, &item->data) ||
	    !take_u32(walk, &item->instance_size) || !take_u16(walk, &constants))
		return false;
	for (uint16_t i = 0; i < constants; i++) {
		if (!skip(walk, 2) || !skip_value(walk))
			return false;
	}
	if (!take_u16(walk, &item->static_count))
		return false;
	item->statics = walk->at;
	for (uint16_t i = 0; i < item->static_count; i++) {
		if (!skip(walk, id) || !skip_value(walk))
			return false;
	}
	if (!take_u16(walk, &item->field_count) ||
	    !take(walk, (uint64_t)item->field_count * (id + 1), &item->fields))
		return false;
	for (uint16_t i = 0; i < item->field_count; i++) {
		uint8_t type = walk->file->bytes[item->fields + (uint64_t)i * (id + 1) + id];
		if (!hprof_type_size(type, id))
			return false;
	}
	return true;
}

static bool take_object(struct hprof_walk *walk, struct hprof_item *item, uint64_t tag)
{
	unsigned int id = walk->file->id_size;
	uint64_t type;
	switch (tag) {
	case HPROF_INSTANCE:
		item->kind = ITEM_INSTANCE;
		return skip(walk, 4) && take_id(walk, &item->of) && take_u32(walk, &item->count) &&
		       take_array(walk, item, 1);
	case HPROF_OBJECT_ARRAY:
		item->kind = ITEM_OBJECTS;
		return skip(walk, 4) && take_u32(walk, &item->count) && take_id(walk, &item->of) &&
		       take_array(walk, item, id);
	case HPROF_PRIMITIVE_ARRAY:
	case HPROF_PRIMITIVE_ARRAY_WITHOUT_DATA:
		item->kind = ITEM_NUMBERS;
		if (!skip(walk, 4) || !take_u32(walk, &item->count) || !take_number(walk, 1, &type))
			return false;
		item->type = (uint8_t)type;
		if (type == HPROF_OBJECT || !hprof_type_size((unsigned int)type, id))
			return false;
		if (tag == HPROF_PRIMITIVE_ARRAY_WITHOUT_DATA)
			return true;
		return take_array(walk, item, hprof_type_size((unsigned int)type, id));
	default:
		return false;
	}
}

/* The rest of a root after its id; false also for what is not one. */
static bool take_root(struct hprof_walk *walk, struct hprof_item *item, uint64_t tag)
{
	item->kind = ITEM_ROOT;
	switch (tag) {
	case HPROF_ROOT_UNKNOWN:
	case HPROF_ROOT_STICKY_CLASS:
	case HPROF_ROOT_MONITOR:
	case HPROF_ROOT_INTERNED:
	case HPROF_ROOT_FINALIZING:
	case HPROF_ROOT_DEBUGGER:
	case HPROF_ROOT_REFERENCE_CLEANUP:
	case HPROF_ROOT_VM_INTERNAL:
	case HPROF_UNREACHABLE:
		return true;
	case HPROF_ROOT_JNI_GLOBAL:
		return take_id(walk, &item->of);
	case HPROF_ROOT_NATIVE_STACK:
	case HPROF_ROOT_THREAD_BLOCK:
		item->number = UINT32_MAX;
		return take_u32(walk, &item->serial);
	case HPROF_ROOT_JNI_LOCAL:
	case HPROF_ROOT_JAVA_FRAME:
	case HPROF_ROOT_THREAD:
	case HPROF_ROOT_JNI_MONITOR:
		return take_u32(walk, &item->serial) && take_u32(walk, &item->number);
	default:
		return false;
	}
}

/* Take a record of a heap dump; false: it is bad, or cut. */
static bool take_sub(struct hprof_walk *walk, struct hprof_item *item)
{
	uint64_t tag = 0;
	item->at = walk->at;
	if (!take_number(walk, 1, &tag))
		return false;
	item->tag = (uint8_t)tag;
	if (tag == HPROF_HEAP_INFO) {
		item->kind = ITEM_END; /* not for anybody */
		return skip(walk, 4 + (uint64_t)walk->file->id_size);
	}
	if (!take_id(walk, &item->id))
		return false;
	if (tag == HPROF_CLASS_DUMP) {
		item->kind = ITEM_CLASS;
		return take_class(walk, item);
	}
	if ((tag >= HPROF_INSTANCE && tag <= HPROF_PRIMITIVE_ARRAY) ||
	    tag == HPROF_PRIMITIVE_ARRAY_WITHOUT_DATA)
		return take_object(walk, item, tag);
	return take_root(walk, item, tag);
}

/* Take a record that is not of a heap dump; what is not needed stays ITEM_END. */
static bool take_record(struct hprof_walk *walk, struct hprof_item *item, uint8_t tag)
{
	switch (tag) {
	case HPROF_STRING:
		item->kind = ITEM_STRING;
		if (!take_id(walk, &item->id))
			return false;
		item->size = walk->end - walk->at;
		return take(walk, item->size, &item->data);
	case HPROF_LOAD_CLASS:
		item->kind = ITEM_LOAD_CLASS;
		return take_u32(walk, &item->serial) && take_id(walk, &item->id) && skip(walk, 4) &&
		       take_id(walk, &item->of);
	case HPROF_FRAME:
		item->kind = ITEM_FRAME;
		return take_id(walk, &item->id) && take_id(walk, &item->of) &&
		       skip(walk, 2 * (uint64_t)walk->file->id_size) &&
		       take_u32(walk, &item->number);
	case HPROF_TRACE:
		item->kind = ITEM_TRACE;
		return take_u32(walk, &item->serial) && skip(walk, 4) &&
		       take_u32(walk, &item->count) && take_array(walk, item, walk->file->id_size);
	default:
		return true;
	}
}

/* Begin the next record of the file; false: there is none. */
static bool next_record(struct hprof_walk *walk, uint8_t *ret_tag)
{
	const struct hprof_file *file = walk->file;
	if (file->size - walk->at < RECORD_HEADER) {
		walk->is_cut |= file->size != walk->at;
		return false;
	}
	*ret_tag = file->bytes[walk->at];
	uint64_t size = hprof_number(file, walk->at + 5, 4);
	walk->at += RECORD_HEADER;
	if (size > file->size - walk->at) {
		walk->is_cut = true;
		size = file->size - walk->at;
	}
	walk->end = walk->at + size;
	walk->is_heap = *ret_tag == HPROF_HEAP_DUMP || *ret_tag == HPROF_SEGMENT;
	return true;
}

void hprof_next(struct hprof_walk *walk, struct hprof_item *ret)
{
	uint8_t tag = 0;
	for (;;) {
		*ret = (struct hprof_item){ .kind = ITEM_END };
		bool is_good = true;
		if (walk->is_heap && walk->at < walk->end) {
			is_good = take_sub(walk, ret);
		} else if (next_record(walk, &tag)) {
			ret->at = walk->at;
			is_good = walk->is_heap || take_record(walk, ret, tag);
			if (!walk->is_heap)
				walk->at = walk->end;
		} else {
			return;
		}
		if (is_good && ret->kind != ITEM_END)
			return;
		if (!is_good) {
			bool is_last = walk->is_cut && walk->end == walk->file->size;
			walk->at = walk->end;
			ret->kind = is_last ? ITEM_END : ITEM_BAD;
			if (!is_last)
				return;
		}
	}
}
