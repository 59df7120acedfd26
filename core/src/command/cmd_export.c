/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "command/command.h"
#include "util/output_file.h"

enum {
	OPT_FORMAT
};

static const char *const format_choices[] = { "rpm", NULL };

const struct option export_options[] = {
	[OPT_FORMAT] = { "format", VALUE_CHOICE, "NAME", "rpm: the text log v2 (the default)",
			 format_choices },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static bool write_out(void *arg, const char *bytes, size_t size)
{
	struct out *out = arg;
	if (out->sink->write(out->sink->arg, bytes, size) != 0)
		out->stopped = true;
	return !out->stopped;
}

static bool write_file(void *arg, const char *bytes, size_t size)
{
	return output_file_write(arg, bytes, size);
}

static enum hd_status export_file(struct call *call, const struct format *format, const char *path)
{
	struct output_file file;
	TRY(output_file_open(&file, path, call->err));
	enum hd_status status =
		format->write(call->graph, &call->job, write_file, &file, call->err);
	/* A failed write stops the writer as if cancelled; commit says what failed. */
	if (status == HD_OK || file.error)
		return output_file_commit(&file, call->err);
	output_file_abandon(&file);
	return status;
}

enum hd_status run_export(struct call *call)
{
	const struct value *name = &call->options[OPT_FORMAT];
	const struct format *format = format_find(name->given ? name->text : "rpm");
	const char *path = call->words[0].text;
	if (strcmp(path, "-") == 0) {
		if (call->as_json) {
			return fail(call->err, HD_ERR_ARGUMENT, 0,
				    "--json and the output of \"export -\" exclude each other");
		}
		return format->write(call->graph, &call->job, write_out, &call->out, call->err);
	}
	TRY(export_file(call, format, path));
	job_end(&call->job);
	if (call->as_json) {
		json_string(&call->json, "file", path);
		json_string(&call->json, "format", format->name);
		json_number(&call->json, "objects", call->graph->object_count);
		json_number(&call->json, "roots", call->graph->root_count);
		return HD_OK;
	}
	char number[27];
	out_puts(&call->out, "Wrote ");
	text_escape(&call->out.text, path, strlen(path));
	out_printf(&call->out, ": %s objects", format_thousands(call->graph->object_count, number));
	out_printf(&call->out, ", %s references",
		   format_thousands(call->graph->forward.edge_count, number));
	out_printf(&call->out, ", %s roots.\n", format_thousands(call->graph->root_count, number));
	return HD_OK;
}
