/* SPDX-License-Identifier: MIT */
#include "command/sql/sql_table_file.h"

#include "answer/rows.h"
#include "command/heap/heap_call.h"
#include "command/sql/rows_file.h"
#include "command/sql/sql_columns.h"
#include "util/alloc.h"

struct sql_table_reader {
	struct sql_source source;
	struct gaps gaps;
};

enum hd_status sql_table_reader_open(struct call *call, struct sql_table_reader **ret)
{
	struct sql_table_reader *reader = mem_calloc(1, sizeof(*reader));
	TRY_MEMORY(reader, call->err);
	/* An array of pointers.  NOLINTNEXTLINE(bugprone-sizeof-expression) */
	struct hd_rows **kept = mem_calloc(sql_kept_count(), sizeof(*kept));
	if (!kept) {
		mem_free(reader);
		return fail_nomem(call->err);
	}
	reader->source = (struct sql_source){
		.call = call, .heap = call->heap, .weight = 1, .gaps = &reader->gaps, .kept = kept
	};
	*ret = reader;
	return HD_OK;
}

void sql_table_reader_close(struct sql_table_reader *reader, bool is_done)
{
	if (!reader)
		return;
	if (is_done && reader->source.heap)
		gaps_report(reader->source.call, &reader->gaps);
	for (size_t i = 0; i < sql_kept_count(); i++)
		hd_rows_free(reader->source.kept[i]);
	mem_free(reader->source.kept);
	mem_free(reader);
}

static const struct sql_table *find_table(const char *name)
{
	size_t i = 0;
	while (strcmp(sql_table_at(i)->name, name) != 0)
		i++;
	return sql_table_at(i);
}

static uint32_t kind_of_column(const struct column *column)
{
	static const uint32_t kinds[] = {
		[KIND_FLAG] = HD_KIND_FLAG,       [KIND_NUMBER] = HD_KIND_NUMBER,
		[KIND_SIGNED] = HD_KIND_SIGNED,   [KIND_BYTES] = HD_KIND_BYTES,
		[KIND_ADDRESS] = HD_KIND_ADDRESS, [KIND_PERCENT] = HD_KIND_PERCENT,
		[KIND_REAL] = HD_KIND_REAL,       [KIND_SINGLE] = HD_KIND_REAL,
		[KIND_TEXT] = HD_KIND_TEXT,       [KIND_TYPE] = HD_KIND_TYPE,
		[KIND_SET] = HD_KIND_SET,         [KIND_ANY] = HD_KIND_ANY,
	};
	return kinds[column->kind];
}

static struct hd_value value_of(uint32_t kind, const struct cell *cell)
{
	struct hd_value value = { .kind = cell->is_there ? kind : HD_KIND_NULL };
	if (!cell->is_there)
		return value;
	switch ((enum hd_kind)kind) {
	case HD_KIND_TEXT:
	case HD_KIND_TYPE:
	case HD_KIND_SET:
		value.text = cell->text.bytes;
		value.size = cell->text.size;
		break;
	case HD_KIND_FLAG:
		value.number = cell->flag;
		break;
	default: /* also the bits of a number that is signed or real */
		value.number = cell->number;
		break;
	}
	return value;
}

static enum hd_status add_rows(struct sql_source *source, const struct sql_table *table,
			       void *cursor, struct rows_file *file)
{
	struct hd_value values[FIELDS_MAX];
	for (bool is_there = true;;) {
		TRY(table->next(cursor, &is_there));
		if (!is_there)
			return HD_OK;
		for (size_t i = 0; i < file->table.count; i++) {
			struct cell cell = { 0 };
			table->cell(cursor, i, &cell);
			values[i] = value_of(file->kinds[i], &cell);
		}
		TRY(rows_file_add(file, values));
		TRY(call_check(source->call));
	}
}

static enum hd_status fill_file(struct sql_source *source, const struct sql_table *table,
				struct rows_file *file)
{
	const struct sql_request request = { .key = { .match = SQL_MATCH_ALL },
					     .used = UINT64_MAX };
	void *cursor;
	TRY(table->open(source, table, &request, &cursor));
	enum hd_status status = add_rows(source, table, cursor, file);
	table->close(cursor);
	return status;
}

enum hd_status sql_table_write(struct sql_table_reader *reader, const char *name, const char *lacks,
			       enum field_format format, const struct field_target *target)
{
	const struct sql_table *table = find_table(name);
	struct sql_column columns[SQL_COLUMNS_MAX];
	struct rows_file *file = mem_calloc(1, sizeof(*file));
	TRY_MEMORY(file, target->err);
	file->format = format;
	file->target = *target;
	file->table = (struct field_table){ .name = name,
					    .count = sql_columns(table, columns),
					    .command = "export",
					    .lacks = lacks };
	for (size_t i = 0; i < file->table.count; i++) {
		file->fields[i].name = columns[i].name;
		file->kinds[i] = kind_of_column(columns[i].column);
	}
	enum hd_status status = rows_file_begin(file);
	if (status == HD_OK)
		status = fill_file(&reader->source, table, file);
	status = rows_file_end(file, status);
	mem_free(file);
	return status;
}
