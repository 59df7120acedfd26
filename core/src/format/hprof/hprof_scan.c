/* SPDX-License-Identifier: MIT */
/* The first pass over an HPROF file: names, classes, frames, roots, and how many objects there are. */
#include <string.h>

#include "format/hprof/hprof_reading.h"
#include "util/alloc.h"

static uint32_t find(const struct hprof_reading *reading, enum hprof_ids ids, uint64_t id)
{
	return type_table_find(&reading->tables.ids, (uint32_t)ids, id);
}

/* Add an id that has row @p fresh, unless it has one. */
static enum hd_status add(struct hprof_reading *reading, enum hprof_ids ids, uint64_t id,
			  size_t fresh, uint32_t *ret)
{
	*ret = type_table_add(&reading->tables.ids, (uint32_t)ids, id, (uint32_t)fresh);
	return *ret == UINT32_MAX ? fail_nomem(reading->err) : HD_OK;
}

uint32_t hprof_class_row(const struct hprof_reading *reading, uint64_t id)
{
	return id ? find(reading, IDS_CLASSES, id) : HD_NONE;
}

struct hprof_place *hprof_string_place(const struct hprof_reading *reading, uint64_t id)
{
	uint32_t row = find(reading, IDS_STRINGS, id);
	return row == HD_NONE ? NULL : &reading->tables.strings[row];
}

const char *hprof_string_at(const struct hprof_reading *reading, uint64_t id, size_t *size)
{
	const struct hprof_place *place = hprof_string_place(reading, id);
	*size = place ? (size_t)place->size : 0;
	return place ? (const char *)reading->file.bytes + place->at : "";
}

static enum hd_status add_string(struct hprof_reading *reading, const struct hprof_item *item)
{
	uint32_t row;
	TRY_MEMORY(PAGES_RESERVE(&reading->tables, strings), reading->err);
	TRY(add(reading, IDS_STRINGS, item->id, reading->tables.strings_count, &row));
	if (row != reading->tables.strings_count)
		return HD_OK;
	reading->tables.strings[reading->tables.strings_count++] =
		(struct hprof_place){ .at = item->data, .size = item->size };
	return HD_OK;
}

/* The row of a class, which is made where there is none. */
static enum hd_status class_of(struct hprof_reading *reading, uint64_t id, uint32_t *ret)
{
	TRY_MEMORY(PAGES_RESERVE(&reading->tables, classes), reading->err);
	TRY(add(reading, IDS_CLASSES, id, reading->tables.classes_count, ret));
	if (*ret == reading->tables.classes_count) {
		reading->tables.classes[reading->tables.classes_count++] =
			(struct hprof_loaded){ .id = id, .parent = HD_NONE, .next = HD_NONE };
	}
	return HD_OK;
}

static enum hd_status load_class(struct hprof_reading *reading, const struct hprof_item *item)
{
	uint32_t row, unused;
	TRY(class_of(reading, item->id, &row));
	if (!reading->tables.classes[row].name)
		reading->tables.classes[row].name = item->of;
	return add(reading, IDS_SERIALS, item->serial, row, &unused);
}

static enum hd_status dump_class(struct hprof_reading *reading, const struct hprof_item *item)
{
	const struct hprof_file *file = &reading->file;
	uint32_t row;
	TRY(class_of(reading, item->id, &row));
	struct hprof_loaded *of = &reading->tables.classes[row];
	if (of->is_dumped)
		return HD_OK;
	of->is_dumped = true;
	of->super = hprof_id(file, item->data);
	of->data = item->data;
	of->statics = item->statics;
	of->fields = item->fields;
	of->static_count = item->static_count;
	of->field_count = item->field_count;
	of->instance_size = item->instance_size;
	for (uint16_t i = 0; i < of->field_count; i++) {
		uint64_t at = of->fields + (uint64_t)i * (file->id_size + 1) + file->id_size;
		of->own += hprof_type_size(file->bytes[at], file->id_size);
	}
	return HD_OK;
}

static enum hd_status add_trace(struct hprof_reading *reading, const struct hprof_item *item)
{
	uint32_t row;
	TRY_MEMORY(PAGES_RESERVE(&reading->tables, traces), reading->err);
	TRY(add(reading, IDS_TRACES, item->serial, reading->tables.traces_count, &row));
	if (row == reading->tables.traces_count) {
		reading->tables.traces[reading->tables.traces_count++] =
			(struct hprof_place){ .at = item->data, .size = item->size };
	}
	return HD_OK;
}

static enum hd_status add_frame(struct hprof_reading *reading, const struct hprof_item *item)
{
	uint32_t row;
	TRY_MEMORY(PAGES_RESERVE(&reading->tables, methods), reading->err);
	TRY(add(reading, IDS_FRAMES, item->id, reading->tables.methods_count, &row));
	if (row == reading->tables.methods_count) {
		reading->tables.methods[reading->tables.methods_count++] =
			(struct hprof_method){ .name = item->of, .serial = item->number };
	}
	return HD_OK;
}

static enum hd_status add_root(struct hprof_reading *reading, const struct hprof_item *item)
{
	uint32_t unused;
	if (item->tag == HPROF_UNREACHABLE)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(&reading->tables, roots), reading->err);
	reading->tables.roots[reading->tables.roots_count++] = (struct hprof_root){
		.id = item->id, .serial = item->serial, .number = item->number, .tag = item->tag
	};
	if (item->tag == HPROF_ROOT_THREAD && item->number < UINT32_MAX - 1)
		return add(reading, IDS_THREADS, item->serial, item->number, &unused);
	return HD_OK;
}

static enum hd_status scan_item(struct hprof_reading *reading, const struct hprof_item *item)
{
	switch ((enum hprof_item_kind)item->kind) {
	case ITEM_STRING:
		return add_string(reading, item);
	case ITEM_LOAD_CLASS:
		return load_class(reading, item);
	case ITEM_FRAME:
		return add_frame(reading, item);
	case ITEM_TRACE:
		return add_trace(reading, item);
	case ITEM_ROOT:
		return add_root(reading, item);
	case ITEM_CLASS:
		reading->objects++;
		return dump_class(reading, item);
	case ITEM_INSTANCE:
	case ITEM_OBJECTS:
	case ITEM_NUMBERS:
		reading->objects++;
		return HD_OK;
	case ITEM_BAD:
		reading->bad++;
		if (!reading->lenient) {
			return fail(reading->err, HD_ERR_FORMAT, item->at,
				    "%s: offset 0x%llx: a record of a heap dump is damaged "
				    "(--lenient goes on)",
				    reading->path, (unsigned long long)item->at);
		}
		return HD_OK;
	case ITEM_END:
		return HD_OK;
	}
	return HD_OK;
}

/* Find which classes are roots, and the super class of each. */
static void link_classes(struct hprof_reading *reading)
{
	for (size_t i = 0; i < reading->tables.roots_count; i++) {
		uint32_t row = hprof_class_row(reading, reading->tables.roots[i].id);
		if (row != HD_NONE)
			reading->tables.classes[row].is_root = true;
	}
	for (size_t i = 0; i < reading->tables.classes_count; i++) {
		struct hprof_loaded *of = &reading->tables.classes[i];
		of->parent = of->is_dumped ? hprof_class_row(reading, of->super) : HD_NONE;
	}
}

/* Sum up the fields of a class and its super classes: each class once, though chains may be long, or a circle. */
static void resolve(struct hprof_reading *reading, uint32_t *chain, uint32_t row)
{
	struct hprof_loaded *classes = reading->tables.classes;
	size_t count = 0;
	while (row != HD_NONE && !classes[row].state) {
		classes[row].state = 1;
		chain[count++] = row;
		row = classes[row].parent;
	}
	bool is_circle = row != HD_NONE && classes[row].state == 1;
	while (count) {
		struct hprof_loaded *of = &classes[chain[--count]];
		uint32_t parent = is_circle ? HD_NONE : of->parent;
		is_circle = false;
		of->parent = parent;
		of->total = of->own;
		of->state = 2;
		if (parent == HD_NONE)
			continue;
		of->total += classes[parent].total;
		of->next = classes[parent].field_count ? parent : classes[parent].next;
	}
}

static bool is_named(const struct hprof_reading *reading, const struct hprof_loaded *of,
		     const char *name)
{
	size_t size;
	const char *text = hprof_string_at(reading, of->name, &size);
	return size == strlen(name) && memcmp(text, name, size) == 0;
}

enum hd_status hprof_scan(struct hprof_reading *reading)
{
	struct hprof_walk walk;
	struct hprof_item item;
	uint64_t steps = 0, at = 0;
	job_begin(reading->job, "Reading classes", reading->file.size);
	hprof_begin(&walk, &reading->file);
	for (hprof_next(&walk, &item); item.kind != ITEM_END; hprof_next(&walk, &item)) {
		TRY(scan_item(reading, &item));
		if (++steps % JOB_STRIDE == 0) {
			TRY(job_check(reading->job, walk.at - at, reading->err));
			at = walk.at;
		}
	}
	reading->is_cut = walk.is_cut;
	link_classes(reading);
	HD_FREE uint32_t *chain = mem_alloc(reading->tables.classes_count + 1, sizeof(*chain));
	TRY_MEMORY(chain, reading->err);
	for (size_t i = 0; i < reading->tables.classes_count; i++) {
		resolve(reading, chain, (uint32_t)i);
		if (is_named(reading, &reading->tables.classes[i], "java/lang/Object") ||
		    is_named(reading, &reading->tables.classes[i], "java.lang.Object"))
			reading->object_size = reading->tables.classes[i].instance_size;
	}
	return HD_OK;
}
