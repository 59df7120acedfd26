/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COLLECT_DISCOVER_H
#define HEAPDUMP_SRC_COLLECT_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/fail.h"
#include "util/text.h"

/*
 * Where the diagnostics socket of a process is (doc/formats.md 8.1; ds-ipc-pal-socket.c, ds-rt-coreclr.h):
 * ${TMPDIR:-/tmp}/dotnet-diagnostic-PID-STARTTIME-socket, all of the process and its namespaces.
 */

/** What /proc/PID/stat says; times are in clock ticks. */
struct process_stat {
	char state; /**< R S D T t Z X */
	uint64_t cpu_time, start_time;
};

/** Parse the text of a stat file; false: it is none. */
bool process_stat_parse(const char *text, struct process_stat *ret);
/** Read it; false and errno when there is no such process. */
bool process_stat_read(int pid, struct process_stat *ret);
/** Does it stand still: by a signal, or in a debugger? */
bool process_is_stopped(int pid);

/**
 * Has it ended, or does it within @p ms milliseconds?  false where that cannot be found out (there may
 * be no descriptor left to look with).
 */
bool process_has_ended(int pid, unsigned int ms);

/** The user that the process acts as, of the text of a status file; (uid_t)-1: it does not tell. */
uid_t effective_uid_parse(const char *status);

/** Value of TMPDIR in the text of an environ file; NULL: none. */
const char *tmpdir_parse(const char *text, size_t size);

/** A process with a socket. */
struct dotnet_process {
	int pid;
	uid_t uid; /**< whom it acts as */
	char state;
	char *socket; /**< its path as we reach it */
};

/**
 * Find the socket of one process: by its id and its start time, where the process keeps it, and made
 * by its user or by root.  Who listens there is checked when it is asked: see connection_send().
 *
 * @param[out] ret To be given to dotnet_process_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND no such process, or it has no socket: the message says what to do
 * @retval HD_ERR_OS only another user's socket has its name, or nobody can look (there may be no descriptor
 * left)
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status dotnet_process_find(int pid, struct dotnet_process *ret,
						struct hd_error *err);
void dotnet_process_deinit(struct dotnet_process *process);

/** All of them, by id. */
struct dotnet_processes {
	struct dotnet_process *rows; /**< pages */
	size_t rows_count, rows_capacity;
};

HD_NODISCARD enum hd_status dotnet_processes_list(struct dotnet_processes *ret,
						  struct hd_error *err);
void dotnet_processes_deinit(struct dotnet_processes *processes);

#endif
