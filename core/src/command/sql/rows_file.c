/* SPDX-License-Identifier: MIT */
#include "command/sql/rows_file.h"

/* A column without any value has the form of numbers, too. */
static enum field_type field_type_of(enum column_type type)
{
	static const enum field_type types[] = {
		[COLUMN_NULL] = FIELD_SIGNED,   [COLUMN_BOOL] = FIELD_BOOL,
		[COLUMN_SIGNED] = FIELD_SIGNED, [COLUMN_UNSIGNED] = FIELD_UNSIGNED,
		[COLUMN_REAL] = FIELD_REAL,     [COLUMN_TEXT] = FIELD_TEXT,
	};
	return types[type];
}

/* Find the types that hold all rows so far; did any change? */
static bool find_types(struct rows_file *file)
{
	bool has_changed = false;
	for (size_t i = 0; i < file->table.count; i++) {
		enum column_type type = column_type_of(file->kinds[i], &file->facts[i]);
		if (type == COLUMN_NULL && file->is_text[i]) {
			type = COLUMN_TEXT;
		}
		has_changed |= type != file->types[i];
		file->types[i] = type;
		file->fields[i].type = field_type_of(type);
		file->fields[i].is_optional = true;
		file->fields[i].is_near = file->kinds[i] == HD_KIND_ADDRESS;
	}
	return has_changed;
}

enum hd_status rows_file_begin(struct rows_file *file)
{
	file->table.fields = file->fields;
	file->chunk = chunk_create(file->kinds, (uint32_t)file->table.count);
	return file->chunk ? HD_OK : fail_nomem(file->target.err);
}

static enum hd_status begin_writer(struct rows_file *file)
{
	bool has_changed = find_types(file);
	if (file->is_begun) {
		file->has_changed |= has_changed;
		return HD_OK;
	}
	TRY(field_writer_begin(&file->writer, file->format, &file->table, &file->target));
	file->is_begun = true;
	return HD_OK;
}

static enum hd_status write_chunk(struct rows_file *file)
{
	struct field_values values[FIELDS_MAX];
	struct chunk *chunk = file->chunk;
	for (uint32_t i = 0; i < chunk->count; i++) {
		const struct chunk_column *column = &chunk->columns[i];
		TRY(chunk_settle(chunk, i, file->types[i], file->target.err));
		values[i] = (struct field_values){
			.words = column->words,
			.ends = column->ends,
			.text = column->text.bytes,
			.validity = column->validity,
			.null_count = column->null_count,
		};
	}
	return field_writer_rows(&file->writer, values, chunk->rows);
}

/* Write the rows that were collected. */
static enum hd_status flush_rows(struct rows_file *file)
{
	TRY(begin_writer(file));
	if (!file->has_changed) {
		TRY(write_chunk(file));
	}
	chunk_destroy(file->chunk);
	file->chunk = chunk_create(file->kinds, (uint32_t)file->table.count);
	return file->chunk ? HD_OK : fail_nomem(file->target.err);
}

enum hd_status rows_file_add(struct rows_file *file, const struct hd_value *values)
{
	if (file->chunk->rows == FIELD_ROWS_MAX || !chunk_has_room(file->chunk, values)) {
		TRY(flush_rows(file));
	}
	file->rows++;
	return chunk_append(file->chunk, values, file->facts, file->target.err);
}

enum hd_status rows_file_end(struct rows_file *file, enum hd_status status)
{
	if (status == HD_OK) {
		status = flush_rows(file);
	}
	if (file->is_begun) {
		status = field_writer_end(&file->writer, status);
	}
	chunk_destroy(file->chunk);
	file->chunk = NULL;
	file->is_begun = false;
	return status;
}
