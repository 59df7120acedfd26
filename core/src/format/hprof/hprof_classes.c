/* SPDX-License-Identifier: MIT */
#include "format/hprof/hprof_classes.h"

#include "util/alloc.h"
#include "util/text.h"

/* Bytes in front of an object's fields; instance sizes are whole: doc/formats.md 10.3. */
#define OBJECT_HEADER 16u

static const char *const preset_names[PRESETS] = {
#define X(id, name) name,
	HPROF_PRESETS(X)
#undef X
};

uint64_t hprof_new_id(struct hprof_classes *classes)
{
	if (classes->last_id < 8 || classes->next_id > classes->last_id - 8)
		return 0;
	uint64_t id = classes->next_id;
	classes->next_id += 8;
	return id;
}

enum hd_status hprof_string(struct hprof_classes *classes, const char *text, size_t size,
			    uint32_t *ret)
{
	size_t at = 0;
	while (at < size && text[at] && utf8_length(text + at, size - at))
		at += utf8_length(text + at, size - at);
	if (at == size)
		return string_table_add(&classes->strings, text, size, ret, classes->err);
	HD_CLEANUP(text) struct text escaped = { 0 };
	char escape[ESCAPED_SIZE];
	for (at = 0; at < size;) {
		size_t length = utf8_length(text + at, size - at);
		if (length && text[at]) {
			text_append(&escaped, text + at, length);
			at += length;
		} else {
			at += escape_write(text + at, size - at, escape);
			text_puts(&escaped, escape);
		}
	}
	TRY_MEMORY(!escaped.failed, classes->err);
	return string_table_add(&classes->strings, escaped.bytes, escaped.size, ret, classes->err);
}

enum hd_status hprof_class_name(struct hprof_classes *classes, const char *name, size_t size,
				const char *end, uint32_t *ret)
{
	HD_CLEANUP(text) struct text text = { 0 };
	bool is_array = !end[0] && size > 2 && memcmp(name + size - 2, "[]", 2) == 0;
	if (is_array) {
		text_puts(&text, "[L");
		size -= 2;
	} else if (size && name[0] == '[') {
		text_puts(&text, "_"); /* Readers take it for an array. */
	}
	for (size_t i = 0; i < size; i++) {
		text_append(&text, name[i] == '.' ? "/" : name + i, 1);
	}
	text_puts(&text, is_array ? ";" : end);
	TRY_MEMORY(!text.failed, classes->err);
	return hprof_string(classes, text.bytes ? text.bytes : "", text.size, ret);
}

enum hd_status hprof_add_class(struct hprof_classes *classes, const struct hprof_class *row,
			       uint32_t *ret)
{
	TRY_MEMORY(PAGES_RESERVE(classes, rows), classes->err);
	if (classes->rows_count >= UINT32_MAX / 2)
		return fail(classes->err, HD_ERR_UNSUPPORTED, 0, "over 2 billion classes");
	struct hprof_class *to = &classes->rows[classes->rows_count];
	*to = *row;
	to->first_field = classes->fields_count;
	to->field_count = 0;
	if (!to->id)
		to->id = hprof_new_id(classes);
	if (!to->id) {
		return fail(classes->err, HD_ERR_UNSUPPORTED, 0,
			    "no ids are left for the classes that a .hprof must have");
	}
	*ret = (uint32_t)classes->rows_count++;
	return HD_OK;
}

enum hd_status hprof_add_field(struct hprof_classes *classes, uint32_t row,
			       const struct hprof_field *field)
{
	struct hprof_class *of = &classes->rows[row];
	/* The count has 16 bits in the file. */
	if (of->field_count == UINT16_MAX)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(classes, fields), classes->err);
	if (!of->field_count)
		of->first_field = classes->fields_count;
	classes->fields[classes->fields_count++] = *field;
	of->field_count++;
	return HD_OK;
}

enum hd_status hprof_add_named(struct hprof_classes *classes, uint32_t row, const char *name,
			       enum hprof_type type)
{
	struct hprof_field field = { .type = (uint8_t)type };
	TRY(hprof_string(classes, name, strlen(name), &field.name));
	return hprof_add_field(classes, row, &field);
}

static enum hd_status add_presets(struct hprof_classes *classes)
{
	for (unsigned int i = 0; i < PRESETS; i++) {
		struct hprof_class row = { .size = OBJECT_HEADER };
		uint32_t index;
		const char *name = preset_names[i];
		TRY(hprof_string(classes, name, strlen(name), &row.name));
		if (i)
			row.super = classes->rows[PRESET_OBJECT].id;
		if (i > PRESET_REFERENCE && i <= PRESET_PHANTOM_REFERENCE)
			row.super = classes->rows[PRESET_REFERENCE].id;
		TRY(hprof_add_class(classes, &row, &index));
	}
	return HD_OK;
}

static enum hd_status add_preset_fields(struct hprof_classes *classes)
{
	static const struct {
		enum hprof_preset of;
		enum hprof_type type;
		const char *name;
	} fields[] = {
		{ PRESET_STRING, HPROF_OBJECT, "value" },
		{ PRESET_STRING, HPROF_INT, "hash" },
		{ PRESET_THREAD, HPROF_OBJECT, "name" },
		{ PRESET_PROPERTIES, HPROF_OBJECT, "defaults" },
		{ PRESET_PROPERTIES, HPROF_OBJECT, "table" },
		{ PRESET_ENTRY, HPROF_OBJECT, "key" },
		{ PRESET_ENTRY, HPROF_OBJECT, "value" },
		{ PRESET_ENTRY, HPROF_OBJECT, "next" },
		{ PRESET_REFERENCE, HPROF_OBJECT, "referent" },
	};
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		TRY(hprof_add_named(classes, fields[i].of, fields[i].name, fields[i].type));
		classes->rows[fields[i].of].size += 8;
	}
	classes->rows[PRESET_STRING].size = 24; /* of 28 */
	classes->rows[PRESET_SOFT_REFERENCE].size += 8;
	classes->rows[PRESET_WEAK_REFERENCE].size += 8;
	classes->rows[PRESET_FINAL_REFERENCE].size += 8;
	classes->rows[PRESET_PHANTOM_REFERENCE].size += 8;
	return HD_OK;
}

enum hd_status hprof_classes_init(struct hprof_classes *classes, uint64_t first, uint64_t last,
				  struct hd_error *err)
{
	*classes = (struct hprof_classes){ .next_id = first, .last_id = last, .err = err };
	TRY(add_presets(classes));
	return add_preset_fields(classes);
}

void hprof_classes_deinit(struct hprof_classes *classes)
{
	string_table_deinit(&classes->strings);
	pages_free(classes->rows, classes->rows_capacity, sizeof(*classes->rows));
	pages_free(classes->fields, classes->fields_capacity, sizeof(*classes->fields));
	pages_free(classes->statics, classes->statics_capacity, sizeof(*classes->statics));
	*classes = (struct hprof_classes){ 0 };
}

/* Row of the class that comes at @p place in the file. */
static uint32_t row_at(const struct hprof_classes *classes, size_t place)
{
	size_t others = classes->rows_count - PRESETS;
	return (uint32_t)(place < others ? place + PRESETS : place - others);
}

enum hd_status hprof_write_names(const struct hprof_classes *classes, struct hprof_out *out)
{
	for (size_t i = 0; i < classes->strings.places_count; i++) {
		size_t size;
		const char *text = string_table_at(&classes->strings, (uint32_t)i, &size);
		if (size > UINT32_MAX - HPROF_ID) {
			return fail(classes->err, HD_ERR_UNSUPPORTED, 0,
				    "a name of 4 GB, which a .hprof cannot hold");
		}
		hprof_record(out, HPROF_STRING, (uint32_t)(HPROF_ID + size));
		hprof_u64(out, i + 1);
		hprof_put(out, text, size);
	}
	for (size_t i = 0; i < classes->rows_count; i++) {
		const struct hprof_class *row = &classes->rows[row_at(classes, i)];
		hprof_record(out, HPROF_LOAD_CLASS, 4 + HPROF_ID + 4 + HPROF_ID);
		hprof_u32(out, (uint32_t)i + 1);
		hprof_u64(out, row->id);
		hprof_u32(out, 0);
		hprof_u64(out, (uint64_t)row->name + 1);
	}
	return HD_OK;
}

void hprof_write_classes(const struct hprof_classes *classes, struct hprof_out *out)
{
	for (size_t i = 0; i < classes->rows_count; i++) {
		const struct hprof_class *row = &classes->rows[row_at(classes, i)];
		uint64_t size = 7 * (uint64_t)HPROF_ID + 4 + 4 + 2 + 2 + 2 +
				row->static_count * (uint64_t)(HPROF_ID + 1 + HPROF_ID) +
				row->field_count * (uint64_t)(HPROF_ID + 1);
		hprof_sub(out, HPROF_CLASS_DUMP, size);
		hprof_u64(out, row->id);
		hprof_u32(out, 0);
		hprof_u64(out, row->super);
		hprof_zeros(out, 5 * (uint64_t)HPROF_ID);
		hprof_u32(out, row->size);
		hprof_u16(out, 0);
		hprof_u16(out, (uint16_t)row->static_count);
		for (size_t k = 0; k < row->static_count; k++) {
			const struct hprof_static *of = &classes->statics[row->first_static + k];
			hprof_u64(out, (uint64_t)of->name + 1);
			hprof_u8(out, HPROF_OBJECT);
			hprof_u64(out, of->object);
		}
		hprof_u16(out, (uint16_t)row->field_count);
		for (size_t k = 0; k < row->field_count; k++) {
			const struct hprof_field *field = &classes->fields[row->first_field + k];
			hprof_u64(out, (uint64_t)field->name + 1);
			hprof_u8(out, field->type);
		}
	}
}
