/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "collect/connection.h"
#include "command/table.h"
#include "targets/process/proc.h"
#include "util/opening.h"

/* How long each may take to say its version, milliseconds. */
#define PS_VERSION_MS 300u

struct process_row {
	struct text runtime, command;
	char user[64];
};

static void row_deinit(struct process_row *row)
{
	text_deinit(&row->runtime);
	text_deinit(&row->command);
}

static bool listed_is_stopped(const struct dotnet_process *process)
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
static bool row_init(struct process_row *row, const struct dotnet_process *process, struct job *job)
{
	*row = (struct process_row){ 0 };
	find_user(process->uid, row->user, sizeof(row->user));
	find_command(process->pid, &row->command);
	struct endpoint endpoint = endpoint_of(process);
	/* A process that is stopped does not answer. */
	if (!listed_is_stopped(process))
		endpoint_version(&endpoint, PS_VERSION_MS, job, &row->runtime);
	return !endpoint.is_planted;
}

#define PROCESS_LIST(X)                                                                       \
	X(PROCESS_PID, "pid", "PID", KIND_NUMBER, 8, 0, "id of the process")                  \
	X(PROCESS_USER, "user", "User", KIND_TEXT, 12, LOOK_LEFT,                             \
	  "whose it is: a name, or the number where there is none")                           \
	X(PROCESS_UID, "uid", NULL, KIND_NUMBER, 0, 0, "number of the user")                  \
	X(PROCESS_RUNTIME, "runtime", "Runtime", KIND_TEXT, 10, LOOK_LEFT,                    \
	  "version of its runtime, as it answers")                                            \
	X(PROCESS_STOPPED, "stopped", NULL, KIND_FLAG, 0, 0,                                  \
	  "is it stopped, so that it cannot answer?")                                         \
	X(PROCESS_COMMAND, "command", "Command", KIND_TEXT, 0, LOOK_LEFT, "its command line") \
	X(PROCESS_SOCKET, "socket", NULL, KIND_TEXT, 0, 0, "its diagnostics socket")

COLUMNS(process, PROCESS_COLUMNS, PROCESS_LIST);

SCHEMA(process, .name = "processes", .is_main = true);

static void write_process_row(struct answer *answer, const struct dotnet_process *process,
			      const struct process_row *row)
{
	struct cell runtime = cell_string(row->runtime.bytes);
	if (!row->runtime.size)
		runtime = cell_shown(runtime, listed_is_stopped(process) ? "(stopped)" : "?");
	const struct cell cells[PROCESS_COLUMNS] = {
		[PROCESS_PID] = cell_number((uint64_t)process->pid),
		[PROCESS_USER] = cell_string(row->user),
		[PROCESS_UID] = cell_number(process->uid),
		[PROCESS_RUNTIME] = runtime,
		[PROCESS_STOPPED] = cell_flag(listed_is_stopped(process)),
		[PROCESS_COMMAND] = cell_text(row->command.bytes, row->command.size),
		[PROCESS_SOCKET] = cell_string(process->socket),
	};
	answer_row(answer, cells);
}

static enum hd_status run_ps(struct call *call)
{
	HD_CLEANUP(dotnet_processes) struct dotnet_processes processes = { 0 };
	TRY(dotnet_processes_list(&processes, call->err));
	static const struct table_options options = { .limit = UINT64_MAX, .late_heading = true };
	bool is_empty = true;
	answer_table(&call->answer, &process_schema, &options);
	for (size_t i = 0; i < processes.rows_count; i++) {
		TRY(call_check(call));
		struct process_row row;
		if (row_init(&row, &processes.rows[i], &call->job)) {
			is_empty = false;
			write_process_row(&call->answer, &processes.rows[i], &row);
		}
		row_deinit(&row);
	}
	(void)answer_table_end(&call->answer);
	if (is_empty) {
		answer_remark(&call->answer,
			      "No .NET process with a diagnostics socket is running.\n");
	}
	return HD_OK;
}

COMMAND(ps, .role = HD_ROLE_SYSTEM, .summary = "list the running .NET processes",
	.description =
		"It lists those with a diagnostics socket; those of other users as far as they can be\n"
		"seen.\n",
	.has_rows = true, .needs = NEEDS_NOTHING);
