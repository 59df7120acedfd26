/* SPDX-License-Identifier: MIT */
#include "format/columns/arrow_file.h"

#include "format/columns/flatbuffer.h"
#include "util/alloc.h"

#define VERSION_5 4u
#define ALIGNMENT 64u
/* A column has at most validity, ends and text. */
#define BUFFERS_MAX (FIELDS_MAX * 3)

enum header_type {
	HEADER_SCHEMA = 1,
	HEADER_DICTIONARY = 2,
	HEADER_BATCH = 3,
};

enum arrow_type {
	ARROW_INT = 2,
	ARROW_REAL = 3,
	ARROW_TEXT = 5,
	ARROW_BOOL = 6,
};

/* A part of the body of a message. */
struct part {
	const void *bytes;
	uint64_t size;
};

/* The body: parts, each padded, and how the header tells about them. */
struct body {
	struct part parts[BUFFERS_MAX];
	int64_t buffers[BUFFERS_MAX][2]; /* offset, size */
	int64_t nodes[FIELDS_MAX][2];    /* rows, missing values */
	size_t parts_count, nodes_count;
	uint64_t size;
};

struct arrow_file {
	const struct field_table *table;
	struct field_target target;
	struct text header;
	struct text *rooms; /* of a column whose values have another form here */
	struct body body;
};

/* Is the dictionary of a column one of Arrow's?  Numbers are written as they are. */
static bool has_dictionary(const struct field *field)
{
	return field->dictionary && field->type == FIELD_TEXT;
}

static enum hd_status put_bytes(struct arrow_file *file, const void *bytes, uint64_t size)
{
	if (size && !file->target.write(file->target.arg, bytes, size))
		return fail_cancelled(file->target.err);
	return job_check(file->target.job, 0, file->target.err);
}

/* Begin the header of a message; returns where its own table is to be linked. */
static size_t begin_message(struct text *header, enum header_type type, uint64_t body_size)
{
	const struct flat_field fields[] = {
		{ 3, 8, body_size }, { 2, 0, 0 }, { 0, 2, VERSION_5 }, { 1, 1, type }
	};
	size_t places[4];
	flat_begin(header);
	flat_link(header, 0, flat_table(header, fields, 4, places));
	return places[1];
}

/* Write the header that was made, with its size in front. */
static enum hd_status put_message(struct arrow_file *file)
{
	struct text *header = &file->header;
	static const char zeros[8] = { 0 };
	text_append(header, zeros, (8 - header->size % 8) % 8);
	TRY_MEMORY(!header->failed, file->target.err);
	const uint32_t front[] = { UINT32_MAX, (uint32_t)header->size };
	TRY(put_bytes(file, front, sizeof(front)));
	return put_bytes(file, header->bytes, header->size);
}

static enum hd_status put_body(struct arrow_file *file)
{
	static const char zeros[ALIGNMENT] = { 0 };
	for (size_t i = 0; i < file->body.parts_count; i++) {
		const struct part *part = &file->body.parts[i];
		TRY(put_bytes(file, part->bytes, part->size));
		TRY(put_bytes(file, zeros, (ALIGNMENT - part->size % ALIGNMENT) % ALIGNMENT));
	}
	return HD_OK;
}

static void empty_body(struct body *body)
{
	body->parts_count = body->nodes_count = 0;
	body->size = 0;
}

static void add_part(struct body *body, const void *bytes, uint64_t size)
{
	body->parts[body->parts_count] = (struct part){ bytes, size };
	body->buffers[body->parts_count][0] = (int64_t)body->size;
	body->buffers[body->parts_count][1] = (int64_t)size;
	body->parts_count++;
	body->size += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void add_node(struct body *body, uint64_t rows, uint32_t null_count, const uint8_t *validity)
{
	body->nodes[body->nodes_count][0] = (int64_t)rows;
	body->nodes[body->nodes_count][1] = null_count;
	body->nodes_count++;
	add_part(body, validity, null_count ? (rows + 7) / 8 : 0);
}

/* The table of a batch of rows, or of a dictionary. */
static void put_batch(struct text *header, size_t place, const struct body *body, uint64_t rows)
{
	const struct flat_field fields[] = { { 0, 8, rows }, { 1, 0, 0 }, { 2, 0, 0 } };
	size_t places[3];
	flat_link(header, place, flat_table(header, fields, 3, places));
	flat_pairs(header, places[1], body->nodes, body->nodes_count);
	flat_pairs(header, places[2], body->buffers, body->parts_count);
}

static void put_int_type(struct text *header, size_t place, uint32_t bits, bool is_signed)
{
	const struct flat_field fields[] = { { 0, 4, bits }, { 1, 1, is_signed } };
	flat_link(header, place, flat_table(header, fields, 2, NULL));
}

static void put_type(struct text *header, size_t place, enum field_type type)
{
	const struct flat_field precision[] = { { 0, 2, 2 } }; /* double */
	if (type == FIELD_UNSIGNED || type == FIELD_SIGNED) {
		put_int_type(header, place, 64, type == FIELD_SIGNED);
	} else {
		flat_link(header, place,
			  flat_table(header, precision, type == FIELD_REAL ? 1 : 0, NULL));
	}
}

static void put_field(struct text *header, size_t place, const struct field *field, size_t id)
{
	static const uint8_t types[] = {
		[FIELD_UNSIGNED] = ARROW_INT, [FIELD_SIGNED] = ARROW_INT, [FIELD_REAL] = ARROW_REAL,
		[FIELD_BOOL] = ARROW_BOOL,    [FIELD_TEXT] = ARROW_TEXT,
	};
	const struct flat_field fields[] = {
		{ 0, 0, 0 },
		{ 3, 0, 0 },
		{ 5, 0, 0 },
		{ 1, 1, field->is_optional },
		{ 2, 1, types[field->type] },
	};
	const struct flat_field with_dictionary[] = { fields[0],   fields[1], fields[2],
						      { 4, 0, 0 }, fields[3], fields[4] };
	const struct flat_field encoding[] = { { 0, 8, id }, { 1, 0, 0 } };
	bool has_any = has_dictionary(field);
	size_t places[6], inner[2];
	size_t table = has_any ? flat_table(header, with_dictionary, 6, places)
			       : flat_table(header, fields, 5, places);
	flat_link(header, place, table);
	flat_string(header, places[0], field->name);
	put_type(header, places[1], field->type);
	(void)flat_list(header, places[2], 0);
	if (has_any) {
		flat_link(header, places[3], flat_table(header, encoding, 2, inner));
		put_int_type(header, inner[1], 32, true);
	}
}

static void put_pairs(struct text *header, size_t place, const struct field_table *table)
{
	struct field_pair pairs[FIELD_PAIRS];
	const struct flat_field fields[] = { { 0, 0, 0 }, { 1, 0, 0 } };
	field_metadata(table, pairs);
	size_t list = flat_list(header, place, FIELD_PAIRS);
	for (size_t i = 0; i < FIELD_PAIRS; i++) {
		size_t places[2];
		flat_link(header, list + i * 4, flat_table(header, fields, 2, places));
		flat_string(header, places[0], pairs[i].key);
		flat_string(header, places[1], pairs[i].value);
	}
}

static enum hd_status put_arrow_schema(struct arrow_file *file)
{
	const struct field_table *table = file->table;
	const struct flat_field fields[] = { { 1, 0, 0 }, { 2, 0, 0 }, { 0, 2, 0 } };
	struct text *header = &file->header;
	size_t places[3], place = begin_message(header, HEADER_SCHEMA, 0);
	flat_link(header, place, flat_table(header, fields, 3, places));
	size_t list = flat_list(header, places[0], table->count);
	for (size_t i = 0; i < table->count; i++)
		put_field(header, list + i * 4, &table->fields[i], i);
	put_pairs(header, places[1], table);
	return put_message(file);
}

static enum hd_status put_dictionary(struct arrow_file *file, size_t index)
{
	const struct field *field = &file->table->fields[index];
	const struct field_dictionary *dictionary = field->dictionary;
	const struct flat_field fields[] = { { 0, 8, index }, { 1, 0, 0 } };
	struct body *body = &file->body;
	HD_CLEANUP(text) struct text text = { 0 };
	HD_FREE int32_t *ends = mem_alloc((size_t)dictionary->count + 1, sizeof(*ends));
	TRY_MEMORY(ends, file->target.err);
	ends[0] = 0;
	for (uint32_t i = 0; i < dictionary->count; i++) {
		if (text.size + dictionary->texts[i].size > INT32_MAX) {
			return fail(file->target.err, HD_ERR_UNSUPPORTED, 0,
				    "the names of the column %.48s take 2 GB or more, for which a "
				    "dictionary of Arrow has no place: a .parquet has",
				    field->name);
		}
		text_append(&text, dictionary->texts[i].bytes, dictionary->texts[i].size);
		ends[i + 1] = (int32_t)text.size;
	}
	TRY_MEMORY(!text.failed, file->target.err);
	empty_body(body);
	add_node(body, dictionary->count, 0, NULL);
	add_part(body, ends, ((uint64_t)dictionary->count + 1) * sizeof(*ends));
	add_part(body, text.bytes, text.size);
	size_t places[2], place = begin_message(&file->header, HEADER_DICTIONARY, body->size);
	flat_link(&file->header, place, flat_table(&file->header, fields, 2, places));
	put_batch(&file->header, places[1], body, dictionary->count);
	TRY(put_message(file));
	return put_body(file);
}

static void free_arrow(struct arrow_file *file)
{
	for (size_t i = 0; file->rooms && i < file->table->count; i++)
		text_deinit(&file->rooms[i]);
	mem_free(file->rooms);
	text_deinit(&file->header);
	mem_free(file);
}

static enum hd_status begin_stream(struct arrow_file *file)
{
	file->rooms = mem_calloc(file->table->count, sizeof(*file->rooms));
	TRY_MEMORY(file->rooms, file->target.err);
	TRY(put_arrow_schema(file));
	for (size_t i = 0; i < file->table->count; i++) {
		if (has_dictionary(&file->table->fields[i]))
			TRY(put_dictionary(file, i));
	}
	return HD_OK;
}

enum hd_status arrow_file_begin(const struct field_table *table, const struct field_target *target,
				struct arrow_file **ret)
{
	struct arrow_file *file = mem_calloc(1, sizeof(*file));
	TRY_MEMORY(file, target->err);
	file->table = table;
	file->target = *target;
	enum hd_status status = begin_stream(file);
	if (status != HD_OK) {
		free_arrow(file);
		return status;
	}
	*ret = file;
	return HD_OK;
}

/* A bit for each row. */
static void pack_bits(struct text *room, const uint64_t *words, uint32_t rows)
{
	uint8_t *bits = (uint8_t *)text_extend(room, ((size_t)rows + 7) / 8);
	if (!bits)
		return;
	memset(bits, 0, ((size_t)rows + 7) / 8);
	for (uint32_t i = 0; i < rows; i++)
		bits[i / 8] |= (uint8_t)((words[i] ? 1u : 0u) << i % 8);
}

/* The numbers that indices stand for. */
static void look_up(struct text *room, const uint64_t *numbers, const uint32_t *indices,
		    uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++)
		text_append(room, (const char *)&numbers[indices[i]], sizeof(*numbers));
}

static enum hd_status add_values(struct arrow_file *file, size_t column,
				 const struct field_values *values, uint32_t rows)
{
	const struct field *field = &file->table->fields[column];
	struct body *body = &file->body;
	struct text *room = &file->rooms[column];
	room->size = 0;
	add_node(body, rows, values->null_count, values->validity);
	if (has_dictionary(field)) {
		add_part(body, values->indices, (uint64_t)rows * sizeof(*values->indices));
	} else if (field->dictionary || field->type == FIELD_BOOL) {
		if (field->dictionary) {
			look_up(room, field->dictionary->numbers, values->indices, rows);
		} else {
			pack_bits(room, values->words, rows);
		}
		TRY_MEMORY(!room->failed, file->target.err);
		add_part(body, room->bytes, room->size);
	} else if (field->type == FIELD_TEXT) {
		add_part(body, values->ends, ((uint64_t)rows + 1) * sizeof(*values->ends));
		add_part(body, values->text, (uint64_t)values->ends[rows]);
	} else {
		add_part(body, values->words, (uint64_t)rows * sizeof(*values->words));
	}
	return HD_OK;
}

enum hd_status arrow_file_rows(struct arrow_file *file, const struct field_values *values,
			       uint32_t rows)
{
	if (!rows)
		return HD_OK;
	empty_body(&file->body);
	for (size_t i = 0; i < file->table->count; i++)
		TRY(add_values(file, i, &values[i], rows));
	size_t place = begin_message(&file->header, HEADER_BATCH, file->body.size);
	put_batch(&file->header, place, &file->body, rows);
	TRY(put_message(file));
	return put_body(file);
}

enum hd_status arrow_file_end(struct arrow_file *file, enum hd_status status)
{
	static const uint32_t mark[] = { UINT32_MAX, 0 };
	if (status == HD_OK)
		status = put_bytes(file, mark, sizeof(mark));
	free_arrow(file);
	return status;
}
