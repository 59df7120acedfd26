/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/fail.h"
#include "util/text.h"

/*
 * Where the diagnostics socket of a process is (doc/formats.md 8.1; ds-ipc-pal-socket.c,
 * ds-rt-coreclr.h): ${TMPDIR:-/tmp}/dotnet-diagnostic-PID-STARTTIME-socket, where TMPDIR, PID and
 * the folder are those of the process and its namespaces.
 */

/** The numbers of /proc/PID/stat; times are in clock ticks. */
struct process_stat {
	char state; /**< R S D T t Z X */
	uint64_t cpu_time, start_time;
};

/** Parse the text of a stat file; false if it is not one. */
bool process_stat_parse(const char *text, struct process_stat *ret);
/** Read it; false and errno when there is no such process. */
bool process_stat_read(int pid, struct process_stat *ret);
/** For how many milliseconds the process has existed; UINT64_MAX: not known. */
uint64_t process_age(int pid);
/** Is it stopped, by a signal or a debugger? */
bool process_is_stopped(int pid);

/**
 * Has it ended, or does it end within @p ms milliseconds? false also when that cannot be found out
 * (there may be no free descriptor).
 */
bool process_has_ended(int pid, unsigned int ms);

/**
 * The effective user of the process, from the text of a status file; (uid_t)-1: the text does not
 * tell.
 */
uid_t effective_uid_parse(const char *status);

/** Value of TMPDIR in the text of an environ file; NULL: it is not set. */
const char *tmpdir_parse(const char *text, size_t size);

/** A process with a socket. */
struct dotnet_process {
	int pid;
	uid_t uid; /**< its effective user */
	char state;
	char *socket; /**< its path in our own file system */
};

/**
 * Find the socket of one process by its id and start time, in the folder where the process keeps
 * it; it must belong to the process's user or to root.  Which process listens there is checked
 * later: see connection_send().
 *
 * @param[out] ret To be given to dotnet_process_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND no such process, or it has no socket: the message says what to do
 * @retval HD_ERR_OS a socket with its name belongs to another user, or the search failed (there may
 * be no free descriptor)
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status dotnet_process_find(int pid, struct dotnet_process *ret,
						struct hd_error *err);
void dotnet_process_deinit(struct dotnet_process *process);

/** Find all such processes, in order of id. */
struct dotnet_processes {
	struct dotnet_process *rows; /**< pages */
	size_t rows_count, rows_capacity;
};

HD_NODISCARD enum hd_status dotnet_processes_list(struct dotnet_processes *ret,
						  struct hd_error *err);
void dotnet_processes_deinit(struct dotnet_processes *processes);
