/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "collect/connection.h"
#include "command/command.h"
#include "target/proc.h"
#include "util/opening.h"

/* How long each may take to say its version, milliseconds. */
#define VERSION_MS 300u

struct row {
	struct text runtime, command;
	char user[64];
};

static void row_deinit(struct row *row)
{
	text_deinit(&row->runtime);
	text_deinit(&row->command);
}

static bool is_stopped(const struct dotnet_process *process)
{
	return process->state == 'T' || process->state == 't';
}

/* The name of a user, or its number. */
static void find_user(uid_t uid, char *buf, size_t size)
{
	if (!user_name(uid, buf, size))
		(void)snprintf(buf, size, "%u", (unsigned int)uid);
}

static void find_command(int pid, struct text *ret)
{
	int task = proc_live_task(pid);
	if (!proc_read_file(task ? task : pid, "cmdline", ret)) {
		ret->size = 0;
		text_puts(ret, "?");
	}
	if (!ret->bytes)
		return;
	while (ret->size && !ret->bytes[ret->size - 1])
		ret->size--;
	for (size_t i = 0; i < ret->size; i++) {
		if (!ret->bytes[i])
			ret->bytes[i] = ' ';
	}
}

/* Fill @p row; false: another process listens at its socket, so nothing says that it is one of .NET. */
static bool row_init(struct row *row, const struct dotnet_process *process, struct job *job)
{
	*row = (struct row){ 0 };
	find_user(process->uid, row->user, sizeof(row->user));
	find_command(process->pid, &row->command);
	struct endpoint endpoint = endpoint_of(process);
	/* One that stands still does not answer. */
	if (!is_stopped(process))
		endpoint_version(&endpoint, VERSION_MS, job, &row->runtime);
	return !endpoint.is_planted;
}

static void write_json(struct call *call, const struct dotnet_process *process,
		       const struct row *row)
{
	struct json *json = &call->json;
	json_object(json, NULL);
	json_number(json, "pid", (uint64_t)process->pid);
	json_string(json, "user", row->user);
	json_number(json, "uid", process->uid);
	json_string(json, "runtime", row->runtime.bytes);
	json_bool(json, "stopped", is_stopped(process));
	json_text(json, "command", row->command.bytes, row->command.size);
	json_string(json, "socket", process->socket);
	json_end(json);
}

static void write_text(struct call *call, const struct dotnet_process *process,
		       const struct row *row)
{
	struct out *out = &call->out;
	struct text user = { 0 }, runtime = { 0 };
	text_escape(&user, row->user, strlen(row->user));
	text_escape(&runtime, row->runtime.bytes, row->runtime.size);
	out_printf(out, "%8d %-12s %-10s ", process->pid, user.bytes ? user.bytes : "",
		   runtime.size          ? runtime.bytes
		   : is_stopped(process) ? "(stopped)"
					 : "?");
	text_deinit(&user);
	text_deinit(&runtime);
	text_escape(&out->text, row->command.bytes ? row->command.bytes : "", row->command.size);
	out_puts(out, "\n");
}

/* Before the first row. */
static void write_head(struct call *call, bool *is_empty)
{
	if (!*is_empty)
		return;
	*is_empty = false;
	out_styled(&call->out, STYLE_HEAD, "%8s %-12s %-10s %s", "PID", "User", "Runtime",
		   "Command");
	out_puts(&call->out, "\n");
}

static enum hd_status write_rows(struct call *call, const struct dotnet_processes *processes)
{
	bool is_empty = true;
	if (call->as_json)
		json_array(&call->json, "processes");
	for (size_t i = 0; i < processes->rows_count; i++) {
		TRY(call_check(call));
		struct row row;
		if (!row_init(&row, &processes->rows[i], &call->job)) {
			row_deinit(&row);
			continue;
		}
		if (call->as_json) {
			write_json(call, &processes->rows[i], &row);
		} else {
			write_head(call, &is_empty);
			write_text(call, &processes->rows[i], &row);
		}
		row_deinit(&row);
	}
	if (call->as_json) {
		json_end(&call->json);
	} else if (is_empty) {
		out_puts(&call->out, "No .NET process with a diagnostics socket is running.\n");
	}
	return HD_OK;
}

enum hd_status run_ps(struct call *call)
{
	struct dotnet_processes processes;
	TRY(dotnet_processes_list(&processes, call->err));
	enum hd_status status = write_rows(call, &processes);
	dotnet_processes_deinit(&processes);
	return status;
}
