/* SPDX-License-Identifier: MIT */
/* open, close and set: the commands about the session itself. */
#include <string.h>

#include "command/command.h"
#include "target/target.h"

static const char *target_word(const struct target *target)
{
	return target->kind == TARGET_CORE ? "core" : "process";
}

/* What a target was opened as; its runtime is looked for by the first command that needs it. */
static void opened_target(struct call *call, const char *path)
{
	const struct target *target = call->session->target;
	if (call->as_json) {
		json_string(&call->json, "opened", path);
		json_string(&call->json, "kind", target_word(target));
		json_number(&call->json, "findings", target->findings.count);
		return;
	}
	struct out *out = &call->out;
	out_printf(out, "Opened %s ", target_word(target));
	text_escape(&out->text, path, strlen(path));
	if (target->stopped_seconds > 0)
		out_printf(out, " (stopped for %.0f ms)", target->stopped_seconds * 1e3);
	out_puts(out, ".\n");
	if (target->findings.count) {
		out_printf(out, "%zu finding%s: see info.\n", target->findings.count,
			   target->findings.count == 1 ? "" : "s");
	}
}

enum hd_status run_open(struct call *call)
{
	const char *path = call->words[0].text;
	TRY(session_open(call->session, path, &call->settings, &call->job, call->err));
	if (call->session->target) {
		opened_target(call, path);
		return HD_OK;
	}
	const struct hd_graph *graph = call->session->graph;
	char number[COUNT_SIZE];
	if (call->as_json) {
		json_string(&call->json, "opened", path);
		json_string(&call->json, "kind", call->session->format->name);
		json_number(&call->json, "objects", graph->object_count);
		json_number(&call->json, "bytes", graph->total_size);
		json_number(&call->json, "findings", graph->finding_count);
		return HD_OK;
	}
	struct out *out = &call->out;
	out_puts(out, "Opened ");
	text_escape(&out->text, path, strlen(path));
	out_printf(out, ": %s", format_count(graph->object_count, "object", number));
	out_printf(out, ", %s", format_count(graph->total_size, "byte", number));
	out_printf(out, ", %s.\n", format_count(graph->root_count, "root", number));
	if (graph->finding_count) {
		out_printf(out, "%zu finding%s: see info.\n", graph->finding_count,
			   graph->finding_count == 1 ? "" : "s");
	}
	return HD_OK;
}

enum hd_status run_close(struct call *call)
{
	const char *path = call->session->path;
	if (!path)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "nothing is open");
	if (call->as_json) {
		json_string(&call->json, "closed", path);
	} else {
		out_puts(&call->out, "Closed ");
		text_escape(&call->out.text, path, strlen(path));
		out_puts(&call->out, ".\n");
	}
	hd_session_close(call->session);
	return HD_OK;
}

static enum hd_status show(struct call *call, const char *only)
{
	if (call->as_json)
		json_object(&call->json, "settings");
	const char *name, *help;
	for (size_t i = 0; (name = hd_setting_name(i, &help)); i++) {
		char value[HD_SETTING_SIZE];
		if (only && strcmp(only, name) != 0)
			continue;
		TRY(hd_session_get(call->session, name, value, sizeof(value), call->err));
		if (call->as_json) {
			json_string(&call->json, name, value);
		} else {
			struct text shown = { 0 };
			text_escape(&shown, value, strlen(value));
			out_printf(&call->out, "%-11s %-12s %s\n", name,
				   shown.bytes ? shown.bytes : "", help);
			text_deinit(&shown);
		}
	}
	if (call->as_json)
		json_end(&call->json);
	return HD_OK;
}

enum hd_status run_set(struct call *call)
{
	const char *name = call->words[0].text;
	if (call->words[1].given)
		TRY(hd_session_set(call->session, name, call->words[1].text, call->err));
	char value[HD_SETTING_SIZE];
	if (name)
		TRY(hd_session_get(call->session, name, value, sizeof(value), call->err));
	/* A setting that was changed is not echoed: scripts set many. */
	if (call->words[1].given && !call->as_json)
		return HD_OK;
	return show(call, name);
}
