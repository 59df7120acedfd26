/* SPDX-License-Identifier: MIT */
#include "command/session/export_graph.h"

#include <stdio.h>
#include <string.h>

#include "format/gcdump/gcdump.h"
#include "mem/mapped_file.h"
#include "session/losses.h"
#include "util/bitmap.h"
#include "util/output_file.h"

static bool write_output_bytes(void *arg, const char *bytes, size_t size)
{
	return output_file_write(arg, bytes, size);
}

enum hd_status export_lacks(const struct hd_session *session, struct text *text,
			    struct hd_error *err)
{
	struct met_loss met[FINDING_KINDS];
	losses_write(met, session_losses(session, met), text);
	return text->failed ? fail_nomem(err) : HD_OK;
}

static enum hd_status tell_losses(struct exporting *exporting)
{
	HD_CLEANUP(text) struct text text = { 0 };
	TRY(export_lacks(exporting->session, &text, exporting->err));
	(void)snprintf(exporting->lacks, sizeof(exporting->lacks), "%.*s", (int)text.size,
		       text.bytes ? text.bytes : "");
	exporting->options.lacks = exporting->lacks;
	return HD_OK;
}

enum hd_status export_prepare(struct exporting *exporting)
{
	struct write_options *options = &exporting->options;
	struct job *job = exporting->job;
	struct hd_error *err = exporting->err;
	*options = (struct write_options){ .live_only = exporting->live_only };
	if (exporting->copied)
		return HD_OK;
	const struct csr *forward;
	TRY(graph_forward(exporting->graph, job, &forward, err));
	if (exporting->format->uses_life || options->live_only) {
		const struct reach *live;
		TRY(session_live(exporting->session, job, &live, err));
		options->live = live->bitmap;
	}
	TRY(tell_losses(exporting));
	if (exporting->format->uses_dominators)
		TRY(session_dominators(exporting->session, job, &options->dominators, err));
	return HD_OK;
}

/* Objects and references that have a bit in @p live. */
static void count_live(const struct hd_graph *graph, const uint64_t *live,
		       struct export_counts *ret)
{
	for (uint32_t node = 0; node < graph->object_count; node++) {
		if (!bitmap_has(live, node))
			continue;
		ret->objects++;
		ret->references +=
			csr_begin(&graph->forward, node + 1) - csr_begin(&graph->forward, node);
	}
}

struct export_counts export_count(const struct exporting *exporting)
{
	const struct hd_graph *graph = exporting->graph;
	const struct format *format = exporting->format;
	bool is_all = exporting->copied || (format->has_dead && !exporting->live_only);
	struct export_counts counts = { 0 };
	if (is_all) {
		counts.objects = graph->object_count;
		counts.references = graph->forward.edge_count;
	} else {
		count_live(graph, exporting->options.live, &counts);
	}
	for (size_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		bool is_written = is_all || bitmap_has(exporting->options.live, root->node);
		is_written &= !format->roots_once || !root->repeated;
		counts.roots += is_written && (format->has_weak || !root_is_weak(root));
	}
	return counts;
}

enum hd_status export_write(const struct exporting *exporting, format_write_fn write, void *arg)
{
	if (exporting->make)
		return exporting->make(exporting, write, arg);
	if (exporting->copied) {
		const int *fd = exporting->copied_fd;
		const struct dump_input copied = { .path = exporting->copied, .fd = fd ? *fd : -1 };
		return gcdump_copy(&copied, &exporting->copy_options, exporting->job, write, arg,
				   exporting->err);
	}
	return exporting->format->write(exporting->graph, &exporting->options, exporting->job,
					write, arg, exporting->err);
}

enum hd_status export_file(const struct exporting *exporting, const char *path, uint64_t *ret_size)
{
	struct output_file file;
	TRY(output_file_open(&file, path, exporting->job, exporting->err));
	output_file_write_in_background(&file);
	enum hd_status status = export_write(exporting, write_output_bytes, &file);
	/*
	 * The bytes read of a file that shrank were zeros: hd_command_run() says which file it is.
	 */
	if (status == HD_OK && mapped_files_shrunk())
		status = fail(exporting->err, HD_ERR_OS, 0, "a file shrank while it was read");
	/* A failed write stops the writer as if cancelled; commit says what failed. */
	const uint64_t size = file.size;
	if (status == HD_OK || file.error) {
		TRY(output_file_commit(&file, exporting->err));
		*ret_size = size;
		return HD_OK;
	}
	output_file_abandon(&file);
	return status;
}

const struct format *output_format(const struct value *name, const struct value *path,
				   const struct format *otherwise)
{
	if (name->given)
		return format_find(name->text);
	const struct format *by_path = path->given ? format_of_path(path->text) : NULL;
	return by_path ? by_path : otherwise;
}

enum hd_status output_ending_check(const struct call *call, const struct value *name,
				   const struct value *path)
{
	const char *slash = path->given ? strrchr(path->text, '/') : NULL;
	const char *point = path->given ? strrchr(slash ? slash : path->text, '.') : NULL;
	if (name->given || !point || format_of_path(path->text))
		return HD_OK;
	HD_CLEANUP(text) struct text list = { 0 };
	for (size_t i = 0; format_at(i); i++) {
		if (format_at(i)->write)
			text_printf(&list, "%s, ", format_at(i)->extension);
	}
	enum hd_status status = fail(
		call->err, HD_ERR_ARGUMENT, 0,
		"the ending %.40s is not one of %s.parquet, .arrows, .sqlite, .elf, .perfmap: give one of "
		"these, or "
		"-format NAME",
		point, list.bytes ? list.bytes : "");
	return status;
}

bool output_is_stdout(const char *path)
{
	static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(path, names[i]) == 0)
			return true;
	}
	return false;
}

enum hd_status output_check(const struct call *call, const char *extension, bool is_binary)
{
	if (call->answer.visit) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "a dump has no rows to be asked for: give the name of a file");
	}
	if (call->as_json) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "--json and a dump cannot go to the same output");
	}
	if (!is_binary || call->sink->binary)
		return HD_OK;
	return fail(call->err, HD_ERR_ARGUMENT, 0,
		    "a %s is not text: give the name of a file, or in the shell send the output to "
		    "one or to a pipe",
		    extension);
}

bool output_write(void *arg, const char *bytes, size_t size)
{
	struct out *out = arg;
	if (!out->stopped && out->sink->write(out->sink->arg, bytes, size) != 0)
		out->stopped = true;
	return !out->stopped;
}

enum hd_status export_output(const struct exporting *exporting, struct call *call)
{
	return export_write(exporting, output_write, &call->out);
}
