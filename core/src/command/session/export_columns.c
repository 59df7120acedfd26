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

#define EXTENSION ".parquet"

/* Bytes of a path without the slashes at its end. */
static size_t folder_size(const char *path)
{
	size_t size = strlen(path);
	while (size > 1 && path[size - 1] == '/')
		size--;
	return size;
}

bool export_wants_columns(const struct value *format, const struct value *path)
{
	size_t size = folder_size(path->text), extension = strlen(EXTENSION);
	if (format->given)
		return strcasecmp(format->text, &EXTENSION[1]) == 0;
	return size > extension &&
	       strncasecmp(path->text + size - extension, EXTENSION, extension) == 0;
}

enum hd_status export_columns_check(struct call *call, bool live_only)
{
	if (live_only) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "-live leaves nothing out of a " EXTENSION
			    ": objects has a column \"live\"");
	}
	if (!output_is_stdout(call->words[0].text))
		return HD_OK;
	return fail(call->err, HD_ERR_ARGUMENT, 0,
		    "a " EXTENSION " is a folder with a file for each table: give its name");
}

static bool write_table_bytes(void *arg, const char *bytes, size_t size)
{
	return output_file_write(arg, bytes, size);
}

/* The tables of one export. */
struct table_files {
	struct call *call;
	const char *path; /* of the folder, with a slash */
	const char *lacks;
	bool is_plain;
	struct graph_tables graph;
	struct sql_table_reader *reader;
};

/* Write one table; @p name is that of a table of sql, or NULL for @p which of the graph. */
static enum hd_status write_table(struct table_files *files, const char *name,
				  enum graph_table which)
{
	struct call *call = files->call;
	HD_CLEANUP(text) struct text path = { 0 };
	struct output_file file;
	text_printf(&path, "%s%s" EXTENSION, files->path, name ? name : graph_table_name(which));
	TRY_MEMORY(!path.failed, call->err);
	TRY(output_file_open(&file, path.bytes, &call->job, call->err));
	output_file_write_in_background(&file);
	const struct field_target target = { .write = write_table_bytes,
					     .arg = &file,
					     .job = &call->job,
					     .err = call->err,
					     .is_plain = files->is_plain };
	enum hd_status status =
		name ? sql_table_write(files->reader, name, files->lacks, FIELD_PARQUET, &target)
		     : graph_tables_write(&files->graph, which, FIELD_PARQUET, &target);
	/* A failed write stops the writer as if cancelled; commit says what failed. */
	if (status == HD_OK || file.error)
		return output_file_commit(&file, call->err);
	output_file_abandon(&file);
	return status;
}

static enum hd_status write_tables(struct table_files *files)
{
	static const struct {
		const char *name;
		bool is_of_heaps;
	} tables[] = {
		{ "roots", false }, { "strings", false }, { "threads", true }, { "findings", false }
	};
	struct call *call = files->call;
	const struct reach *live;
	TRY(session_live(call->session, &call->job, &live, call->err));
	files->graph = (struct graph_tables){ .graph = call->graph,
					      .live = live->bitmap,
					      .lacks = files->lacks,
					      .job = &call->job,
					      .err = call->err };
	TRY(graph_tables_prepare(&files->graph));
	for (unsigned int i = 0; i < GRAPH_TABLES; i++)
		TRY(write_table(files, NULL, (enum graph_table)i));
	TRY(sql_table_reader_open(call, &files->reader));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (call->heap || !tables[i].is_of_heaps)
			TRY(write_table(files, tables[i].name, GRAPH_TABLES));
	}
	if (mapped_files_shrunk())
		return fail(call->err, HD_ERR_OS, 0, "a file shrank while it was read");
	return HD_OK;
}

enum hd_status export_columns(struct call *call, const char *path,
			      const struct columns_options *options)
{
	const struct csr *forward;
	HD_CLEANUP(text) struct text folder = { 0 };
	HD_CLEANUP(text) struct text lacks = { 0 };
	struct output_place *place = NULL;
	int fd;
	TRY(graph_forward(call->graph, &call->job, &forward, call->err));
	text_append(&folder, path, folder_size(path));
	text_puts(&folder, "/");
	TRY_MEMORY(!folder.failed, call->err);
	TRY(export_lacks(call->session, &lacks, call->err));
	TRY(output_place_open(folder.bytes, &call->job, &place, &fd, call->err));
	(void)close(fd);
	struct table_files files = { .call = call,
				     .path = folder.bytes,
				     .lacks = lacks.bytes,
				     .is_plain = options->is_plain };
	enum hd_status status = write_tables(&files);
	graph_tables_deinit(&files.graph);
	sql_table_reader_close(files.reader, status == HD_OK);
	if (status != HD_OK) {
		output_place_abandon(place);
		return status;
	}
	int code = output_place_commit(place, -1);
	return code ? path_end_fail(path, code, call->err) : HD_OK;
}
