/* SPDX-License-Identifier: MIT */
/* open, close and set: the commands about the session itself. */
#include <stdio.h>
#include <string.h>

#include "command/table.h"
#include "format/format.h"
#include "targets/target.h"

static const char *target_word(const struct target *target)
{
	return target->kind == TARGET_CORE ? "core" : "process";
}

#define OPENED_LIST(X)                                                                          \
	X(OPENED_PATH, "opened", NULL, KIND_TEXT, 0, 0, "what was opened")                      \
	X(OPENED_KIND, "kind", NULL, KIND_TEXT, 0, 0,                                           \
	  "core, process, or the name of the file's format")                                    \
	X(OPENED_OBJECTS, "objects", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                      \
	  "how many objects a dump file has")                                                   \
	X(OPENED_BYTES, "bytes", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT, "their bytes")            \
	X(OPENED_FINDINGS, "findings", NULL, KIND_NUMBER, 0, 0, "what info says about it")      \
	X(OPENED_ROOTS, .heading = "roots", .kind = KIND_NUMBER) /**< text only, as the next */ \
	X(OPENED_SECONDS, .heading = "seconds", .kind = KIND_REAL)

COLUMNS(opened, OPENED_COLUMNS, OPENED_LIST);

#define FINDINGS_LINE "[?findings {findings:+finding}: see info.\n]"

static void opened_target(struct call *call, const char *path)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(opened_columns),
		.lines =
			"Opened {kind} {opened}[?seconds  (stopped for {seconds} ms)].\n" FINDINGS_LINE
	};
	const struct target *target = call->session->target;
	const double seconds = target->process.stopped_seconds;
	char ms[40];
	(void)snprintf(ms, sizeof(ms), "%.0f", seconds * 1e3);
	const struct cell cells[OPENED_COLUMNS] = {
		[OPENED_PATH] = cell_string(path),
		[OPENED_KIND] = cell_string(target_word(target)),
		[OPENED_FINDINGS] = cell_number(target->findings.count),
		[OPENED_SECONDS] = cell_shown(cell_real(seconds), seconds > 0 ? ms : ""),
	};
	answer_record(&call->answer, &schema, cells);
}

static void opened_file(struct call *call, const char *path)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(opened_columns),
		.lines =
			"Opened {opened}: {objects:*object}, {bytes:*byte}, {roots:*root}.\n" FINDINGS_LINE
	};
	const struct hd_graph *graph = call->session->graph;
	const struct cell cells[OPENED_COLUMNS] = {
		[OPENED_PATH] = cell_string(path),
		[OPENED_KIND] = cell_string(call->session->format->name),
		[OPENED_OBJECTS] = cell_number(graph->object_count),
		[OPENED_BYTES] = cell_number(graph->total_size),
		[OPENED_FINDINGS] = cell_number(graph->findings.count),
		[OPENED_ROOTS] = cell_number(graph->root_count),
	};
	answer_record(&call->answer, &schema, cells);
}

static enum hd_status run_open(struct call *call)
{
	const char *path = call->words[0].text;
	TRY(session_open(call->session, path, &call->settings, &call->job, call->err));
	if (call->session->target) {
		opened_target(call, path);
	} else {
		opened_file(call, path);
	}
	return HD_OK;
}

static enum hd_status run_close(struct call *call)
{
	static const struct column columns[] = {
		{ "closed", NULL, KIND_TEXT, 0, 0, "what was closed" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns),
					      .lines = "Closed {closed}.\n" };
	const char *path = call->session->path;
	if (!path)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "nothing is open");
	answer_record(&call->answer, &schema, (const struct cell[]){ cell_string(path) });
	hd_session_close(call->session);
	return HD_OK;
}

enum setting_column {
	SETTING_VALUE, /**< its key is the setting's name */
	SETTING_NAME,  /**< text only, as the next */
	SETTING_HELP,
	SETTING_COLUMNS
};

static void setting_layout(struct out *out, const struct cell *cells)
{
	const struct cell *value = &cells[SETTING_VALUE];
	HD_CLEANUP(text) struct text shown = { 0 };
	text_escape(&shown, value->text.bytes, value->text.size);
	out_printf(out, "%-11s %-12s %s\n", cells[SETTING_NAME].text.bytes,
		   shown.bytes ? shown.bytes : "", cells[SETTING_HELP].text.bytes);
}

static enum hd_status show_settings(struct call *call, const char *only)
{
	static const struct schema settings = { .name = "settings" };
	const char *name, *help;
	answer_record_begin(&call->answer, &settings, NULL);
	for (size_t i = 0; (name = hd_setting_name(i, &help)); i++) {
		char value[HD_SETTING_SIZE];
		if (only && strcmp(only, name) != 0)
			continue;
		TRY(hd_session_get(call->session, name, value, sizeof(value), call->err));
		const struct column columns[SETTING_COLUMNS] = {
			[SETTING_VALUE] = { name, NULL, KIND_TEXT, 0, 0, help },
			[SETTING_NAME] = { .kind = KIND_TEXT },
			[SETTING_HELP] = { .kind = KIND_TEXT },
		};
		const struct schema schema = { SCHEMA_COLUMNS(columns), .layout = setting_layout };
		const struct cell cells[SETTING_COLUMNS] = {
			[SETTING_VALUE] = cell_string(value),
			[SETTING_NAME] = cell_string(name),
			[SETTING_HELP] = cell_string(help),
		};
		answer_record(&call->answer, &schema, cells);
	}
	answer_record_end(&call->answer);
	return HD_OK;
}

static void append_settings_help(struct text *text)
{
	const char *help, *name;
	text_puts(text, "\nSettings:\n");
	for (size_t i = 0; (name = hd_setting_name(i, &help)); i++)
		help_row(text, name, 18, help);
	text_puts(text, "\nThe shell program takes some from a file first: help config.\n");
}

static enum hd_status run_set(struct call *call)
{
	const char *name = call->words[0].text;
	if (call->words[1].given)
		TRY(hd_session_set(call->session, name, call->words[1].text, call->err));
	char value[HD_SETTING_SIZE];
	if (name)
		TRY(hd_session_get(call->session, name, value, sizeof(value), call->err));
	/* A setting that was changed is not echoed: scripts set many. */
	if (call->words[1].given && answer_is_text(&call->answer))
		return HD_OK;
	return show_settings(call, name);
}

COMMAND(open, .role = HD_ROLE_OPEN, .tells_findings = true,
	.summary = "open a heap dump file, a core file or a process",
	.description =
		"What was open is closed first; it stays open when FILE cannot be read. FILE may be the\n"
		"number of a process: the process is stopped, copied and let go.\n",
	.example = "open bubblecs.heap", .words = { { "FILE", VALUE_FILE, false } });

COMMAND(close, .role = HD_ROLE_CLOSE, .summary = "close what is open");

COMMAND(set, .role = HD_ROLE_OWN, .summary = "show or change settings", .example = "set workers 2",
	.words = { { "NAME", VALUE_SETTING, true }, { "VALUE", VALUE_OF_SETTING, true } },
	.append_help = append_settings_help);
