/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "command/completeness.h"
#include "command/session/export_code.h"
#include "command/session/export_columns.h"
#include "command/session/export_graph.h"
#include "command/sql/sql_export.h"
#include "command/table.h"
#include "contents/hprof_heap.h"
#include "util/output_file.h"

static const char *const format_choices[] = { "rpm",        "gcdump", "heapsnapshot", "folded",
					      "speedscope", "sqlite", "hprof",        "parquet",
					      "arrows",     "elf",    "perfmap",      NULL };
static const char *const codec_choices[] = { "zstd", "none", NULL };

#define EXPORT_OPTIONS(X)                                                                                         \
	X(OPT_FORMAT, "format", VALUE_CHOICE, "NAME",                                                             \
	  "rpm gcdump heapsnapshot folded speedscope sqlite hprof parquet arrows elf perfmap; by FILE, else rpm", \
	  format_choices)                                                                                         \
	X(OPT_CODEC, "codec", VALUE_CHOICE, "NAME", "zstd or none: how a .parquet is compressed",                 \
	  codec_choices)                                                                                          \
	X(OPT_TABLE, "table", VALUE_CHOICE, "NAME",                                                               \
	  "objects, refs, types, roots, strings, threads or findings: of a .parquet or .arrows only this one",    \
	  columns_tables)                                                                                         \
	X(OPT_LIVE, "live", VALUE_NONE, NULL, "leave out what no root keeps alive", NULL)

OPTIONS(export, EXPORT_OPTIONS);

static bool has_cut_file(const struct hd_graph *graph)
{
	for (size_t i = 0; graph && i < graph->findings.count; i++) {
		if (graph->findings.rows[i].kind == FINDING_CUT_FILE)
			return true;
	}
	return false;
}

/* A .gcdump of a .gcdump is that file; so is that of a trace whose graph is the one of dotnet-gcdump. */
static bool is_copy(const struct exporting *exporting)
{
	const struct format *from = exporting->session->format;
	if (exporting->format != &gcdump_format || exporting->live_only ||
	    has_cut_file(exporting->graph))
		return false;
	return from == &gcdump_format ||
	       (from == &nettrace_format && exporting->copy_options.exact);
}

static const struct format *export_format(const struct call *call)
{
	return output_format(&call->options[OPT_FORMAT], &call->words[0], &rpm_format);
}

/* A database is not a format of graphs: it has the tables of sql. */
static bool wants_database(const struct call *call)
{
	const struct value *name = &call->options[OPT_FORMAT];
	const char *point = strrchr(call->words[0].text, '.');
	return name->given ? strcasecmp(name->text, "sqlite") == 0
			   : point && strcasecmp(point, ".sqlite") == 0;
}

static enum hd_status check_database(struct call *call)
{
	if (call->options[OPT_LIVE].given) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "-live leaves nothing out of a .sqlite: objects has a column \"live\"");
	}
	return output_is_stdout(call->words[0].text) ? output_check(call, ".sqlite", true) : HD_OK;
}

static bool wants_columns(const struct call *call, struct columns_export *ret)
{
	const struct value *codec = &call->options[OPT_CODEC];
	const struct value *table = &call->options[OPT_TABLE];
	*ret = (struct columns_export){
		.table = table->given ? table->text : NULL,
		.is_plain = codec->given && strcasecmp(codec->text, "none") == 0,
	};
	return export_wants_columns(&call->options[OPT_FORMAT], &call->words[0], ret);
}

static enum hd_status check_columns(struct call *call, const struct columns_export *what)
{
	if (call->options[OPT_LIVE].given) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "-live leaves nothing out of tables: objects has a column \"live\"");
	}
	if (what->is_stream && call->options[OPT_CODEC].given)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "-codec is only for a .parquet");
	return export_columns_check(call, what);
}

static enum hd_status check_without_columns(struct call *call)
{
	bool has_codec = call->options[OPT_CODEC].given;
	if (!has_codec && !call->options[OPT_TABLE].given)
		return HD_OK;
	return fail(call->err, HD_ERR_ARGUMENT, 0, "%s",
		    has_codec ? "-codec is only for a .parquet"
			      : "-table is only for a .parquet or .arrows");
}

static enum hd_status check_export(struct call *call)
{
	if (wants_database(call))
		return check_database(call);
	struct columns_export columns;
	if (wants_columns(call, &columns))
		return check_columns(call, &columns);
	TRY(check_without_columns(call));
	/* Managed code is also in a core that has no heap. */
	call->needs_no_heap = export_wants_code(call);
	if (call->needs_no_heap)
		return export_code_check(call);
	if (!output_is_stdout(call->words[0].text))
		TRY(output_ending_check(call, &call->options[OPT_FORMAT], &call->words[0]));

	const struct format *format = export_format(call);
	if (!format->write) {
		return fail(
			call->err, HD_ERR_ARGUMENT, 0,
			"a %s is what a process sends: collect writes it, export cannot; -format "
			"NAME chooses another format",
			format->extension);
	}
	return output_is_stdout(call->words[0].text)
		       ? output_check(call, format->extension, format->is_binary)
		       : HD_OK;
}

static enum hd_status prepare_export(struct call *call, struct exporting *exporting)
{
	const struct hd_session *session = call->session;
	const struct settings *settings = &call->settings;
	*exporting = (struct exporting){
		.session = call->session,
		.graph = call->graph,
		.format = export_format(call),
		.live_only = call->options[OPT_LIVE].given,
		.copy_options = { .exact = settings->exact || session->is_exact,
				  .snapshot = session->snapshot },
		.job = &call->job,
		.err = call->err,
	};
	if (is_copy(exporting))
		exporting->copied = call->session->path;
	return export_prepare(exporting);
}

#define EXPORTED_LIST(X)                                                                     \
	X(EXPORTED_FILE, "file", NULL, KIND_TEXT, 0, 0, "what was written")                  \
	X(EXPORTED_FORMAT, "format", NULL, KIND_TEXT, 0, 0, "name of its format")            \
	X(EXPORTED_OBJECTS, "objects", NULL, KIND_NUMBER, 0, 0, "how many objects it has")   \
	X(EXPORTED_REFERENCES, "references", NULL, KIND_NUMBER, 0, 0, "how many references") \
	X(EXPORTED_ROOTS, "roots", NULL, KIND_NUMBER, 0, 0, "how many roots")                \
	X(EXPORTED_ROWS, "rows", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                       \
	  "where it is one table: how many rows")

COLUMNS(exported, EXPORTED_COLUMNS, EXPORTED_LIST);

static void write_exported(struct call *call, const char *path, const char *format,
			   const struct export_counts *counts, const uint64_t *rows)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(exported_columns),
		.lines =
			"Wrote {file}: [{rows:*row}|{objects:*object}, {references:*reference}, {roots:*root}].\n"
	};
	const struct cell cells[EXPORTED_COLUMNS] = {
		[EXPORTED_FILE] = cell_string(path),
		[EXPORTED_FORMAT] = cell_string(format),
		[EXPORTED_OBJECTS] = cell_number(counts->objects),
		[EXPORTED_REFERENCES] = cell_number(counts->references),
		[EXPORTED_ROOTS] = cell_number(counts->roots),
		[EXPORTED_ROWS] = rows ? cell_number(*rows) : (struct cell){ 0 },
	};
	answer_record(&call->answer, &schema, cells);
	completeness_json(call);
}

/* Files that hold the whole graph. */
static void write_whole(struct call *call, const char *path, const char *format,
			const uint64_t *rows)
{
	const struct export_counts counts = {
		.objects = call->graph->object_count,
		.references = call->graph->forward.edge_count,
		.roots = call->graph->root_count,
	};
	call->is_written = true;
	job_end(&call->job);
	write_exported(call, path, format, &counts, rows);
	completeness_write(call, "so is what was written");
}

static bool write_part(void *arg, const char *bytes, size_t size)
{
	return output_file_write(arg, bytes, size);
}

static enum hd_status export_database(struct call *call)
{
	const char *path = call->words[0].text;
	struct output_file file;
	if (output_is_stdout(path))
		return sql_export(call, output_write, &call->out);
	TRY(output_file_open(&file, path, &call->job, call->err));
	enum hd_status status = sql_export(call, write_part, &file);
	if (status != HD_OK && !file.error) {
		output_file_abandon(&file);
		return status;
	}
	TRY(output_file_commit(&file, call->err));
	write_whole(call, path, "sqlite", NULL);
	return HD_OK;
}

static enum hd_status export_tables(struct call *call, const struct columns_export *what)
{
	uint64_t rows = 0;
	TRY(export_columns(call, what, &rows));
	if (!output_is_stdout(what->path)) {
		write_whole(call, what->path, what->is_stream ? "arrows" : "parquet",
			    what->is_stream || what->table ? &rows : NULL);
	}
	return HD_OK;
}

static enum hd_status write_contents(const struct exporting *exporting, format_write_fn write,
				     void *arg)
{
	return hprof_write_heap(exporting->contents, &exporting->options, exporting->job, write,
				arg, exporting->err);
}

/* An HPROF file of a target has the contents of its objects. */
static enum hd_status add_contents(struct exporting *exporting, struct hprof_heap *contents)
{
	struct hd_session *session = exporting->session;
	*contents = (struct hprof_heap){ .graph = exporting->graph };
	if (exporting->format != &hprof_format || !graph_is_heap(exporting->graph))
		return HD_OK;
	TRY(session_heap(session, exporting->job, &contents->heap, exporting->err));
	TRY(session_roots(session, false, exporting->job, &contents->roots, exporting->err));
	exporting->contents = contents;
	exporting->make = write_contents;
	return HD_OK;
}

/* Tell what of the objects' contents is not in the file. */
static void tell_contents(struct call *call, const struct hprof_heap *contents)
{
	char count[COUNT_SIZE];
	if (contents->unread) {
		answer_remark(&call->answer,
			      "Of %s the target does not have all bytes: these are 0, or an "
			      "array is empty.\n",
			      format_count(contents->unread, "object", count));
	}
	if (contents->cut) {
		answer_remark(&call->answer,
			      "The format has no room for %s, which end early in the file.\n",
			      format_count(contents->cut, "array", count));
	}
}

static enum hd_status run_export(struct call *call)
{
	const char *path = call->words[0].text;
	struct columns_export columns;
	if (export_wants_code(call))
		return export_code(call);
	TRY(session_graph(call->session, false, &call->job, &call->graph, call->err));
	if (wants_database(call))
		return export_database(call);
	if (wants_columns(call, &columns))
		return export_tables(call, &columns);
	struct exporting exporting;
	struct hprof_heap contents;
	TRY(prepare_export(call, &exporting));
	TRY(add_contents(&exporting, &contents));
	if (output_is_stdout(path))
		return export_output(&exporting, call);
	uint64_t size;
	TRY(export_file(&exporting, path, &size));
	call->is_written = true;
	job_end(&call->job);
	const struct export_counts counts = export_count(&exporting);
	write_exported(call, path, exporting.format->name, &counts, NULL);
	if (!call->options[OPT_FORMAT].given && !format_of_path(path)) {
		answer_remark(&call->answer,
			      "It is a text log (%s), since the name has no ending: -format NAME "
			      "chooses another.\n",
			      exporting.format->name);
	}
	tell_contents(call, &contents);
	if (exporting.live_only) {
		dead_completeness_write(call, "what was left out may still be alive");
	} else {
		completeness_write(call, "so is what was written");
	}
	return HD_OK;
}

COMMAND(export, .writes = true, .summary = "write the heap to a dump file",
	.description =
		"The file appears under its name when it is complete, and replaces a file of that name.\n"
		"FILE - is the output of the command; what is not text goes to no terminal. For a core\n"
		"or process: objects with their addresses, dead ones too, references, and all roots. A\n"
		".hprof, which VisualVM opens, has the contents of objects, too. A .sqlite has the tables\n"
		"of sql except arrays; it is made in $TMPDIR first. A .parquet is a folder with a Parquet\n"
		"file for each table, for DuckDB and pandas; an .arrows is one table, as a stream of\n"
		"Arrow. An .elf has the managed code of a core or process for debuggers\n"
		"(add-symbol-file in GDB), a .perfmap its names for perf, which reads them as\n"
		"/tmp/perf-PID.map.\n",
	.example = "export copy.heap --format rpm", .needs = NEEDS_EITHER,
	.options = export_options, .words = { { "FILE", VALUE_OUTPUT, false } },
	.check = check_export);
