/* SPDX-License-Identifier: MIT */
#include "command/session/export_code.h"

#include <strings.h>

#include "command/session/export_graph.h"
#include "gc/heap.h"
#include "managed_elf/managed_elf.h"
#include "runtime/coreclr/code/source.h"
#include "runtime/runtime_ops.h"
#include "util/output_file.h"

/* A file about code. */
struct code_format {
	const char *name, *ending;
	bool is_binary;
	enum hd_status (*write)(struct runtime *runtime, struct job *job,
				managed_elf_write_fn write, void *arg,
				struct managed_elf_counts *ret, struct hd_error *err);
};

static const struct code_format formats[] = {
	{ "elf", ".elf", true, managed_elf_write },
	{ "perfmap", ".perfmap", false, perf_map_write },
};

#define CODE_LIST(X)                                                                               \
	X(CODE_FILE, "file", NULL, KIND_TEXT, 0, 0, "what was written")                            \
	X(CODE_FORMAT_NAME, "format", NULL, KIND_TEXT, 0, 0, "name of its format")                 \
	X(CODE_METHODS, "methods", NULL, KIND_NUMBER, 0, 0,                                        \
	  ".elf, .perfmap: how many bodies of methods have a name in it")                          \
	X(CODE_FUNCTIONS, "functions", NULL, KIND_NUMBER, 0, 0,                                    \
	  ".elf, .perfmap: how many functions it has: also handlers; .elf: also precompiled code " \
	  "that nobody called, and native code of a NativeAOT program")                            \
	X(CODE_FRAMES, "frames", NULL, KIND_NUMBER, 0, 0,                                          \
	  ".elf: how many of these have a description of their frame")                             \
	X(CODE_LINES, "lines", NULL, KIND_NUMBER, 0, 0, ".elf: rows of its table of source lines") \
	X(CODE_LEFT_OUT, "left_out", NULL, KIND_NUMBER, 0, 0,                                      \
	  ".elf, .perfmap: functions that overlap others; .elf: also those whose unwind codes "    \
	  "contradict themselves")                                                                 \
	X(CODE_WITHOUT, "without_variables", NULL, KIND_NUMBER, 0, 0,                              \
	  ".elf: functions whose arguments and locals were left out: there are too many")          \
	X(CODE_ALL, "all_code", NULL, KIND_FLAG, 0, 0,                                             \
	  ".elf, .perfmap: could all tables of code be read?")

COLUMNS(code, CODE_COLUMNS, CODE_LIST);

/* The one that the call asks for; NULL: none. */
static const struct code_format *asked_format(const struct call *call)
{
	const struct value *name = &call->options[0];
	const char *point = strrchr(call->words[0].text, '.');
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (name->given ? strcasecmp(name->text, formats[i].name) == 0
				: point && strcasecmp(point, formats[i].ending) == 0)
			return &formats[i];
	}
	return NULL;
}

bool export_wants_code(const struct call *call)
{
	return asked_format(call);
}

enum hd_status export_code_check(struct call *call)
{
	const struct code_format *format = asked_format(call);
	return output_is_stdout(call->words[0].text)
		       ? output_check(call, format->ending, format->is_binary)
		       : HD_OK;
}

/* Why there are no source lines. */
static const char *no_lines(const struct call *call, const struct managed_elf_counts *counts)
{
	if (!(runtime_capabilities(call->heap->runtime) & RUNTIME_METADATA)) {
		return "No source lines: those of a NativeAOT program are in its symbol file (.dbg), "
		       "which debuggers read themselves.\n";
	}
	return counts->has_pdb
		       ? "No source lines: the PDBs that were found have none for this code.\n"
		       : "No source lines: no PDB of these modules was found. -symbols DIR says "
			 "where to look.\n";
}

static void answer_code(struct call *call, const char *path, const struct code_format *format,
			const struct managed_elf_counts *counts)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(code_columns),
		.lines = "Wrote {file}: {methods:*method}, {functions:*function}[=lines , "
			 "{lines:*line}].\n"
	};
	struct cell cells[CODE_COLUMNS] = {
		[CODE_FILE] = cell_string(path),
		[CODE_FORMAT_NAME] = cell_string(format->name),
		[CODE_METHODS] = cell_number(counts->methods),
		[CODE_FUNCTIONS] = cell_number(counts->functions),
		[CODE_LEFT_OUT] = cell_number(counts->left_out),
		[CODE_WITHOUT] = cell_number(counts->without_variables),
		[CODE_ALL] = cell_flag(!counts->is_partial),
	};
	char count[COUNT_SIZE];
	if (format->is_binary) {
		cells[CODE_FRAMES] = cell_number(counts->frames);
		cells[CODE_LINES] = cell_number(counts->lines);
	}
	answer_record(&call->answer, &schema, cells);
	if (counts->without_variables) {
		answer_remark(&call->answer,
			      "%s without arguments and locals: there are too many.\n",
			      format_count(counts->without_variables, "function", count));
	}
	if (counts->left_out) {
		answer_remark(&call->answer,
			      format->is_binary ? "%s left out or without frames: they overlap "
						  "others, or their unwind codes contradict "
						  "themselves.\n"
						: "%s left out: they overlap others.\n",
			      format_count(counts->left_out, "function", count));
	}
	if (format->is_binary && !counts->lines)
		answer_remark(&call->answer, "%s", no_lines(call, counts));
	if (counts->is_partial) {
		answer_remark(&call->answer,
			      "Some tables of compiled code cannot be read: functions may be "
			      "missing.\n");
	}
}

static bool write_part(void *arg, const char *bytes, size_t size)
{
	return output_file_write(arg, bytes, size);
}

enum hd_status export_code(struct call *call)
{
	const char *path = call->words[0].text;
	const struct code_format *format = asked_format(call);
	struct managed_elf_counts counts;
	struct output_file file;
	if (!call->heap) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "a %s is made of a core or a process; a heap dump file has no code",
			    format->ending);
	}
	runtime_symbols_set(call->heap->runtime, call->settings.symbols);
	if (output_is_stdout(path)) {
		return format->write(call->heap->runtime, &call->job, output_write, &call->out,
				     &counts, call->err);
	}
	TRY(output_file_open(&file, path, &call->job, call->err));
	enum hd_status status = format->write(call->heap->runtime, &call->job, write_part, &file,
					      &counts, call->err);
	if (status != HD_OK && !file.error) {
		output_file_abandon(&file);
		return status;
	}
	TRY(output_file_commit(&file, call->err));
	call->is_written = true;
	job_end(&call->job);
	answer_code(call, path, format, &counts);
	return HD_OK;
}
