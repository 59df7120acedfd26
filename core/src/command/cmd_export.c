/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "command/command.h"
#include "command/completeness.h"
#include "command/export_graph.h"

enum {
	OPT_FORMAT,
	OPT_LIVE
};

static const char *const format_choices[] = { "rpm",    "gcdump",     "heapsnapshot",
					      "folded", "speedscope", NULL };

const struct option export_options[] = {
	[OPT_FORMAT] = { "format", VALUE_CHOICE, "NAME",
			 "rpm, gcdump, heapsnapshot, folded or speedscope (as FILE ends; else rpm)",
			 format_choices },
	[OPT_LIVE] = { "live", VALUE_NONE, NULL, "leave out what no root keeps alive", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static bool is_cut(const struct hd_graph *graph)
{
	for (size_t i = 0; graph && i < graph->finding_count; i++) {
		if (strcmp(graph->findings[i].kind, "cut-file") == 0)
			return true;
	}
	return false;
}

/* A .gcdump of a .gcdump is that file; so is that of a trace whose graph is the one of dotnet-gcdump. */
static bool is_copy(const struct exporting *exporting)
{
	const struct format *from = exporting->session->format;
	if (exporting->format != &gcdump_format || exporting->live_only || is_cut(exporting->graph))
		return false;
	return from == &gcdump_format ||
	       (from == &nettrace_format && exporting->copy_options.exact);
}

static const struct format *wanted_format(const struct call *call)
{
	return output_format(&call->options[OPT_FORMAT], &call->words[0], &rpm_format);
}

enum hd_status check_export(struct call *call)
{
	const struct format *format = wanted_format(call);
	if (!format->write) {
		return fail(
			call->err, HD_ERR_ARGUMENT, 0,
			"a %s is what a process sends: collect writes it, export cannot; -format "
			"NAME chooses another format",
			format->extension);
	}
	return is_output(call->words[0].text) ? output_check(call, format) : HD_OK;
}

static enum hd_status prepare(struct call *call, struct exporting *exporting)
{
	const struct hd_session *session = call->session;
	const struct settings *settings = &call->settings;
	*exporting = (struct exporting){
		.session = call->session,
		.graph = call->graph,
		.format = wanted_format(call),
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

enum hd_status run_export(struct call *call)
{
	const char *path = call->words[0].text;
	struct exporting exporting;
	TRY(prepare(call, &exporting));
	if (is_output(path))
		return export_output(&exporting, call);
	uint64_t size;
	TRY(export_file(&exporting, path, &size));
	call->is_written = true;
	job_end(&call->job);
	const struct export_counts counts = export_count(&exporting);
	if (call->as_json) {
		json_string(&call->json, "file", path);
		json_string(&call->json, "format", exporting.format->name);
		json_number(&call->json, "objects", counts.objects);
		json_number(&call->json, "references", counts.references);
		json_number(&call->json, "roots", counts.roots);
		completeness_json(call);
		return HD_OK;
	}
	char number[COUNT_SIZE];
	out_puts(&call->out, "Wrote ");
	text_escape(&call->out.text, path, strlen(path));
	out_printf(&call->out, ": %s", format_count(counts.objects, "object", number));
	out_printf(&call->out, ", %s", format_count(counts.references, "reference", number));
	out_printf(&call->out, ", %s.\n", format_count(counts.roots, "root", number));
	completeness_write(call, exporting.live_only ? "what was left out need not be dead"
						     : "so is what was written");
	return HD_OK;
}
