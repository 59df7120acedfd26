/* SPDX-License-Identifier: MIT */
#include "command/sql/sql_output.h"

#include <string.h>
#include <strings.h>

#include "command/answer_aside.h"
#include "command/sql/rows_file.h"
#include "command/sql/sql_database.h"
#include "command/sql/sql_result.h"
#include "util/alloc.h"
#include "util/output_file.h"

enum output_kind {
	OUTPUT_PARQUET,
	OUTPUT_ARROW,
	OUTPUT_CSV,
	OUTPUT_KINDS
};

static const char *const output_endings[OUTPUT_KINDS] = { ".parquet", ".arrows", ".csv" };

static enum output_kind kind_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *point = strrchr(slash ? slash : path, '.');
	unsigned int kind = 0;
	while (kind < OUTPUT_KINDS && (!point || strcasecmp(point, output_endings[kind]) != 0))
		kind++;
	return (enum output_kind)kind;
}

enum hd_status sql_output_check(const struct call *call, const char *path)
{
	if (kind_of_path(path) == OUTPUT_KINDS) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "the name of a file for rows ends in .parquet, .arrows or .csv: %.80s "
			    "does not",
			    path);
	}
	if (call->settings.format == FORMAT_CSV || call->settings.format == FORMAT_NDJSON) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "with -o, --format is text or json: the rows go to the file");
	}
	return HD_OK;
}

/* One writing of all rows. */
struct output {
	struct sql_database *database;
	const struct sql_result *result;
	struct output_file file;
	uint64_t limit, rows;
};

static bool put_output(void *arg, const char *bytes, size_t size)
{
	return output_file_write(arg, bytes, size);
}

static int sink_output(void *arg, const char *bytes, size_t size)
{
	return output_file_write(arg, bytes, size) ? 0 : -1;
}

static uint32_t kind_of_cell(enum cell_kind kind)
{
	switch (kind) {
	case KIND_ADDRESS:
		return HD_KIND_ADDRESS;
	case KIND_BYTES:
		return HD_KIND_BYTES;
	case KIND_SIGNED:
		return HD_KIND_SIGNED;
	case KIND_REAL:
		return HD_KIND_REAL;
	case KIND_TEXT:
		return HD_KIND_TEXT;
	default:
		return HD_KIND_ANY;
	}
}

static struct hd_value value_of_cell(enum cell_kind kind, const struct cell *cell)
{
	struct hd_value value = { .kind = HD_KIND_NULL };
	if (!cell->is_there)
		return value;
	value.kind = kind_of_cell(kind == KIND_ANY ? (enum cell_kind)cell->kind : kind);
	if (value.kind == HD_KIND_TEXT) {
		value.text = cell->text.bytes;
		value.size = cell->text.size;
	} else { /* also the bits of a number that is signed or real */
		value.number = cell->number;
	}
	return value;
}

static enum hd_status next_row(struct output *output, struct cell *cells, bool *ret)
{
	*ret = output->rows < output->limit;
	if (*ret)
		TRY(sql_result_step(output->database, output->result, ret));
	if (!*ret)
		return HD_OK;
	output->rows++;
	sql_result_row(output->result, cells);
	return call_check(output->result->call);
}

static enum hd_status add_rows(struct output *output, struct rows_file *file)
{
	const struct sql_result *result = output->result;
	for (;;) {
		struct cell cells[SCHEMA_COLUMNS_MAX];
		struct hd_value values[SCHEMA_COLUMNS_MAX];
		bool is_there;
		TRY(next_row(output, cells, &is_there));
		if (!is_there)
			return HD_OK;
		for (size_t i = 0; i < result->count; i++)
			values[i] = value_of_cell(result->columns[i].kind, &cells[i]);
		TRY(rows_file_add(file, values));
	}
}

/* Write it, with the types that hold what is known from before; file->has_changed: once more. */
static enum hd_status write_columns(struct output *output, enum field_format format,
				    struct rows_file *file)
{
	const struct sql_result *result = output->result;
	struct call *call = result->call;
	file->format = format;
	file->has_changed = false;
	file->target = (struct field_target){
		.write = put_output, .arg = &output->file, .job = &call->job, .err = call->err
	};
	file->table =
		(struct field_table){ .name = "rows", .count = result->count, .command = "sql" };
	for (size_t i = 0; i < result->count; i++) {
		file->fields[i].name = result->names[i];
		file->kinds[i] = kind_of_cell(result->columns[i].kind);
		file->is_text[i] = result->columns[i].look & LOOK_LEFT;
	}
	enum hd_status status = rows_file_begin(file);
	if (status == HD_OK)
		status = add_rows(output, file);
	return rows_file_end(file, status);
}

static enum hd_status write_csv(struct output *output)
{
	const struct sql_result *result = output->result;
	struct call *call = result->call;
	struct answer_aside aside;
	const struct table_options options = { .limit = UINT64_MAX };
	const struct hd_sink sink = { .struct_size = sizeof(sink),
				      .arg = &output->file,
				      .write = sink_output };
	enum hd_status status = HD_OK;
	answer_set_aside(call, &sink, FORMAT_CSV, &aside);
	answer_table(&call->answer, &result->schema, &options);
	for (bool is_there = true; status == HD_OK && is_there;) {
		struct cell cells[SCHEMA_COLUMNS_MAX];
		status = next_row(output, cells, &is_there);
		if (status == HD_OK && is_there)
			answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	if (status == HD_OK)
		status = answer_aside_flush(call);
	answer_take_back(call, &aside);
	return status;
}

/* Write the file once; *@p ret_again: its columns do not have the right types. */
static enum hd_status write_once(struct output *output, const char *path, struct rows_file *file,
				 bool *ret_again)
{
	struct call *call = output->result->call;
	enum output_kind kind = kind_of_path(path);
	output->rows = 0;
	TRY(output_file_open(&output->file, path, &call->job, call->err));
	enum hd_status status =
		kind == OUTPUT_CSV
			? write_csv(output)
			: write_columns(output, kind == OUTPUT_ARROW ? FIELD_ARROW : FIELD_PARQUET,
					file);
	*ret_again = status == HD_OK && file->has_changed;
	if (!*ret_again && (status == HD_OK || output->file.error))
		return output_file_commit(&output->file, call->err);
	output_file_abandon(&output->file);
	return status;
}

#define WRITTEN_LIST(X)                                                              \
	X(WRITTEN_FILE, "file", NULL, KIND_TEXT, 0, 0, "with -o: what was written")  \
	X(WRITTEN_FORMAT, "format", NULL, KIND_TEXT, 0, 0, "parquet, arrows or csv") \
	X(WRITTEN_ROWS, "written", NULL, KIND_NUMBER, 0, 0, "how many rows")

COLUMNS(written, WRITTEN_COLUMNS, WRITTEN_LIST);

enum hd_status sql_output_write(struct sql_database *database, const struct sql_result *result,
				const char *path, uint64_t limit)
{
	static const struct schema schema = { SCHEMA_COLUMNS(written_columns),
					      .lines = "Wrote {file}: {written:*row}.\n" };
	struct call *call = result->call;
	struct output output = { .database = database, .result = result, .limit = limit };
	struct rows_file *file = mem_calloc(1, sizeof(*file));
	bool again = false;
	TRY_MEMORY(file, call->err);
	enum hd_status status = write_once(&output, path, file, &again);
	if (status == HD_OK && again) {
		(void)sqlite3_reset(result->statement);
		status = write_once(&output, path, file, &again);
	}
	mem_free(file);
	if (status != HD_OK)
		return status;
	if (again) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "the rows have other types each time that they are asked for: CAST the "
			    "columns");
	}
	call->is_written = true;
	job_end(&call->job);
	answer_record(&call->answer, &schema,
		      (const struct cell[]){ cell_string(path),
					     cell_string(&output_endings[kind_of_path(path)][1]),
					     cell_number(output.rows) });
	return HD_OK;
}
