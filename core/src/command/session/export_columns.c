/* SPDX-License-Identifier: MIT */
#include "command/session/export_columns.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "command/sql/sql_table_file.h"
#include "format/columns/graph_tables.h"
#include "mem/mapped_file.h"
#include "util/output_file.h"
#include "util/path_end.h"

#define FOLDER ".parquet"
#define STREAM ".arrows"

/* In the order in which they are written; the first ones are those of enum graph_table. */
const char *const columns_tables[] = { "objects", "refs",    "types",    "roots",
				       "strings", "threads", "findings", NULL };

/* Only a core or a process has it. */
#define THREADS 5u

/* The tables of one export. */
struct table_files {
	struct call *call;
	const struct columns_export *what;
	const char *folder; /* with a slash; of a stream NULL */
	const char *lacks;
	bool is_prepared;
	uint64_t rows;
	struct graph_tables graph;
	struct sql_table_reader *reader;
};

/* Bytes of a path without the slashes at its end. */
static size_t folder_size(const char *path)
{
	size_t size = strlen(path);
	while (size > 1 && path[size - 1] == '/')
		size--;
	return size;
}

static bool is_called(const struct value *format, const char *path, size_t size,
		      const char *extension)
{
	size_t tail = strlen(extension);
	if (format->given)
		return strcasecmp(format->text, &extension[1]) == 0;
	return size > tail && strncasecmp(path + size - tail, extension, tail) == 0;
}

bool export_wants_columns(const struct value *format, const struct value *path,
			  struct columns_export *ret)
{
	bool is_folder = is_called(format, path->text, folder_size(path->text), FOLDER);
	ret->path = path->text;
	ret->is_stream = !is_folder && is_called(format, path->text, strlen(path->text), STREAM);
	return is_folder || ret->is_stream;
}

enum hd_status export_columns_check(struct call *call, const struct columns_export *what)
{
	bool is_stdout = output_is_stdout(what->path);
	if (is_stdout && what->is_stream)
		return output_check(call, STREAM, true);
	if (is_stdout) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "a " FOLDER " is a folder with a file for each table: give its name");
	}
	return HD_OK;
}

static bool write_table_bytes(void *arg, const char *bytes, size_t size)
{
	return output_file_write(arg, bytes, size);
}

static enum hd_status prepare_graph(struct table_files *files)
{
	struct call *call = files->call;
	const struct csr *forward;
	const struct reach *live;
	if (files->is_prepared)
		return HD_OK;
	TRY(graph_forward(call->graph, &call->job, &forward, call->err));
	TRY(session_live(call->session, &call->job, &live, call->err));
	files->graph = (struct graph_tables){ .graph = call->graph,
					      .live = live->bitmap,
					      .lacks = files->lacks,
					      .job = &call->job,
					      .err = call->err };
	files->is_prepared = true;
	return graph_tables_prepare(&files->graph);
}

/* Write the rows of a table, by its index. */
static enum hd_status write_rows_of(struct table_files *files, size_t table, format_write_fn write,
				    void *arg)
{
	struct call *call = files->call;
	const struct field_target target = { .write = write,
					     .arg = arg,
					     .job = &call->job,
					     .err = call->err,
					     .is_plain = files->what->is_plain,
					     .rows = &files->rows };
	enum field_format format = files->what->is_stream ? FIELD_ARROW : FIELD_PARQUET;
	if (table < GRAPH_TABLES) {
		TRY(prepare_graph(files));
		return graph_tables_write(&files->graph, (enum graph_table)table, format, &target);
	}
	if (!files->reader)
		TRY(sql_table_reader_open(call, &files->reader));
	return sql_table_write(files->reader, columns_tables[table], files->lacks, format, &target);
}

static enum hd_status write_table_file(struct table_files *files, size_t table, const char *path)
{
	struct output_file file;
	struct hd_error *err = files->call->err;
	TRY(output_file_open(&file, path, &files->call->job, err));
	output_file_write_in_background(&file);
	enum hd_status status = write_rows_of(files, table, write_table_bytes, &file);
	if (status == HD_OK && mapped_files_shrunk())
		status = fail(err, HD_ERR_OS, 0, "a file shrank while it was read");
	/* A failed write stops the writer as if cancelled; commit says what failed. */
	if (status == HD_OK || file.error)
		return output_file_commit(&file, err);
	output_file_abandon(&file);
	return status;
}

/* Is the table one of those that are wanted? */
static bool is_wanted(const struct table_files *files, size_t table)
{
	const char *name = files->what->table;
	if (name)
		return strcasecmp(name, columns_tables[table]) == 0;
	return files->what->is_stream ? table == 0 : table != THREADS || files->call->heap;
}

static enum hd_status write_tables(struct table_files *files)
{
	for (size_t i = 0; columns_tables[i]; i++) {
		HD_CLEANUP(text) struct text path = { 0 };
		if (!is_wanted(files, i))
			continue;
		if (!files->folder && output_is_stdout(files->what->path))
			return write_rows_of(files, i, output_write, &files->call->out);
		if (!files->folder)
			return write_table_file(files, i, files->what->path);
		text_printf(&path, "%s%s" FOLDER, files->folder, columns_tables[i]);
		TRY_MEMORY(!path.failed, files->call->err);
		TRY(write_table_file(files, i, path.bytes));
	}
	return HD_OK;
}

/* Write the tables into a folder, which appears when they are complete. */
static enum hd_status write_folder(struct table_files *files)
{
	struct call *call = files->call;
	HD_CLEANUP(text) struct text folder = { 0 };
	struct output_place *place = NULL;
	int fd;
	text_append(&folder, files->what->path, folder_size(files->what->path));
	text_puts(&folder, "/");
	TRY_MEMORY(!folder.failed, call->err);
	TRY(output_place_open(folder.bytes, &call->job, &place, &fd, call->err));
	(void)close(fd);
	files->folder = folder.bytes;
	enum hd_status status = write_tables(files);
	if (status != HD_OK) {
		output_place_abandon(place);
		return status;
	}
	int code = output_place_commit(place, -1);
	return code ? path_end_fail(files->what->path, code, call->err) : HD_OK;
}

enum hd_status export_columns(struct call *call, const struct columns_export *what,
			      uint64_t *ret_rows)
{
	HD_CLEANUP(text) struct text lacks = { 0 };
	struct table_files files = { .call = call, .what = what };
	if (what->table && strcasecmp(what->table, columns_tables[THREADS]) == 0 && !call->heap) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "only a core or a process has the table threads");
	}
	TRY(export_lacks(call->session, &lacks, call->err));
	files.lacks = lacks.bytes;
	enum hd_status status = what->is_stream ? write_tables(&files) : write_folder(&files);
	graph_tables_deinit(&files.graph);
	sql_table_reader_close(files.reader, status == HD_OK);
	*ret_rows = files.rows;
	return status;
}
