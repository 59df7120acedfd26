/* SPDX-License-Identifier: MIT */
#include "collect/discover.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "targets/process/proc.h"
#include "util/alloc.h"
#include "util/opening.h"
#include "util/peer.h"
#include "util/sort.h"

/* Fields after the name in /proc/PID/stat, counted from the state (0). */
#define FIELD_USER_TIME   11
#define FIELD_SYSTEM_TIME 12
#define FIELD_START_TIME  19

bool process_stat_parse(const char *text, struct process_stat *ret)
{
	/* The name may hold anything, ") " too. */
	const char *at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return false;
	*ret = (struct process_stat){ .state = at[2] };
	at += 2;
	for (int field = 0; field < FIELD_START_TIME; field++) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
		if (field + 1 == FIELD_USER_TIME || field + 1 == FIELD_SYSTEM_TIME)
			ret->cpu_time += strtoull(at, NULL, 10);
	}
	ret->start_time = strtoull(at, NULL, 10);
	return ret->start_time > 0;
}

bool process_stat_read(int pid, struct process_stat *ret)
{
	HD_CLEANUP(text) struct text text = { 0 };
	bool got = proc_read_file(pid, "stat", &text) && text.bytes &&
		   process_stat_parse(text.bytes, ret);
	/* Its first thread may have ended while others run on. */
	int task = got && ret->state == 'Z' ? proc_live_task(pid) : 0;
	if (task)
		ret->state = proc_task_state(task);
	return got;
}

uint64_t process_age(int pid)
{
	struct process_stat stat;
	struct timespec now;
	const long ticks = sysconf(_SC_CLK_TCK);
	if (ticks <= 0 || !process_stat_read(pid, &stat) ||
	    clock_gettime(CLOCK_BOOTTIME, &now) != 0)
		return UINT64_MAX;
	const uint64_t start = stat.start_time / (uint64_t)ticks * 1000 +
			       stat.start_time % (uint64_t)ticks * 1000 / (uint64_t)ticks;
	const uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	return ms > start ? ms - start : 0;
}

/* A file of /proc cannot be read: has the process ended, or may we not read it? */
static bool is_about_process(int code)
{
	return !code || code == ENOENT || code == ESRCH || code == EACCES || code == EPERM;
}

bool process_is_stopped(int pid)
{
	struct process_stat stat;
	return process_stat_read(pid, &stat) && (stat.state == 'T' || stat.state == 't');
}

bool process_has_ended(int pid, unsigned int ms)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	for (unsigned int waited = 0;; waited += 10) {
		struct process_stat stat;
		bool is_there = process_stat_read(pid, &stat);
		if (is_there ? stat.state == 'Z' || stat.state == 'X' : is_about_process(errno))
			return true;
		if (waited >= ms)
			return false;
		(void)nanosleep(&pause, NULL);
	}
}

uid_t effective_uid_parse(const char *status)
{
	const char *line = strstr(status, "\nUid:");
	unsigned int real, effective;
	/* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers; what is none fills less */
	if (!line || sscanf(line + 5, "%u %u", &real, &effective) != 2)
		return (uid_t)-1;
	return effective;
}

const char *tmpdir_parse(const char *text, size_t size)
{
	static const char name[] = "TMPDIR=";
	for (size_t at = 0; at < size;) {
		size_t length = strnlen(text + at, size - at);
		/* A text without its end was cut. */
		if (at + length < size && length > sizeof(name) - 1 &&
		    memcmp(text + at, name, sizeof(name) - 1) == 0)
			return text + at + sizeof(name) - 1;
		at += length + 1;
	}
	return NULL;
}

/* A process while its socket is searched for. */
struct socket_search {
	int pid;
	uid_t uid;
	int task;           /* a thread that has not ended: its folder in /proc has more */
	uint64_t inner_pid; /* its id in its own namespace */
	bool is_contained;
	uint64_t start_time;
	bool knows_directory; /* its environment could be read */
	int error;            /* errno if it could not be read; else 0 */
	struct text directory;
	bool is_planted;   /* there is a socket with its name that belongs to somebody else */
	uid_t planted_uid; /* the owner of that socket */
};

/* The directory as the process sees it; a relative one is in its working directory. */
static void find_directory(struct socket_search *search)
{
	HD_CLEANUP(text) struct text variables = { 0 };
	search->knows_directory = proc_read_file(search->task, "environ", &variables);
	if (!search->knows_directory && !is_about_process(errno))
		search->error = errno;
	const char *value = variables.bytes ? tmpdir_parse(variables.bytes, variables.size) : NULL;
	if (!value)
		value = "/tmp";
	size_t size = strlen(value);
	while (size > 1 && value[size - 1] == '/')
		size--;
	text_append(&search->directory, value, size);
}

/*
 * Is it a socket made by the process, or by root for it?  In a directory where everybody may write,
 * anyone can make a socket with its name.
 */
static bool is_own_socket(struct socket_search *search, const char *path)
{
	struct stat stat;
	int place = open_as(HD_OPEN_PLACE, path);
	bool is_socket = place >= 0 && fstat(place, &stat) == 0 && S_ISSOCK(stat.st_mode);
	if (place >= 0)
		(void)close(place);
	if (!is_socket)
		return false;
	if (stat.st_uid == search->uid || stat.st_uid == 0)
		return true;
	search->is_planted = true;
	search->planted_uid = stat.st_uid;
	return false;
}

/* The path in our own file system, through the root directory of the process if @p through_root. */
static char *socket_path(const struct socket_search *search, bool through_root)
{
	struct text path = { 0 };
	const char *directory = search->directory.bytes ? search->directory.bytes : "/tmp";
	if (*directory != '/') {
		text_printf(&path, "/proc/%d/cwd/", search->task);
	} else if (through_root) {
		text_printf(&path, "/proc/%d/root", search->task);
	}
	text_printf(&path, "%s/dotnet-diagnostic-%" PRIu64 "-%" PRIu64 "-socket", directory,
		    search->inner_pid, search->start_time);
	if (path.failed) {
		text_deinit(&path);
		return NULL;
	}
	return path.bytes;
}

/* HD_ERR_NOTFOUND without a message when there is none. */
static enum hd_status find_socket(struct socket_search *search, char **ret, struct hd_error *err)
{
	/* A container may share the ids of processes, but not the files: look at both. */
	for (int through_root = search->is_contained; through_root < 2; through_root++) {
		char *path = socket_path(search, through_root);
		TRY_MEMORY(path, err);
		if (is_own_socket(search, path)) {
			*ret = path;
			return HD_OK;
		}
		mem_free(path);
	}
	return HD_ERR_NOTFOUND;
}

/* Fill @p search; false: there is no such process. */
static bool search_init(struct socket_search *search, int pid, struct process_stat *stat)
{
	*search =
		(struct socket_search){ .pid = pid, .uid = (uid_t)-1, .inner_pid = (uint64_t)pid };
	HD_CLEANUP(text) struct text status = { 0 };
	if (!process_stat_read(pid, stat)) {
		search->error = is_about_process(errno) ? 0 : errno;
		return false;
	}
	if (!proc_read_file(pid, "status", &status)) {
		search->error = is_about_process(errno) ? 0 : errno;
	} else if (status.bytes) {
		uint64_t inner = inner_pid_parse(status.bytes);
		search->uid = effective_uid_parse(status.bytes);
		search->is_contained = inner != 0;
		if (inner)
			search->inner_pid = inner;
	}
	int task = proc_live_task(pid);
	search->task = task ? task : pid;
	search->start_time = stat->start_time;
	find_directory(search);
	return true;
}

static enum hd_status no_socket(const struct socket_search *search, const struct process_stat *stat,
				struct hd_error *err)
{
	struct proc_status status = { 0 };
	(void)proc_status_read(search->pid, &status);
	if (stat->state == 'Z' || stat->state == 'X') {
		return fail(err, HD_ERR_NOTFOUND, 0, "process %d (%s) has ended", search->pid,
			    status.name);
	}
	if (status.group && status.group != search->pid) {
		return fail(err, HD_ERR_NOTFOUND, 0, "%d is a thread of process %d: give that one",
			    search->pid, status.group);
	}
	if (search->is_planted) {
		errno = EPERM;
		return fail(
			err, HD_ERR_OS, 0,
			"the socket that has the name of process %d (%s) belongs to user %u and "
			"not to user %u, as the process does: it is not asked",
			search->pid, status.name, (unsigned int)search->planted_uid,
			(unsigned int)search->uid);
	}
	if (!search->knows_directory) {
		return fail(err, HD_ERR_NOTFOUND, 0,
			    "process %d (%s) has no diagnostics socket in /tmp, and its TMPDIR may "
			    "not be read: run this as its user or as root",
			    search->pid, status.name);
	}
	return fail(
		err, HD_ERR_NOTFOUND, 0,
		"process %d (%s) has no diagnostics socket in %s: it is not a program of .NET Core "
		"3 or later, was compiled by NativeAOT without EventSourceSupport, has just "
		"started, or DOTNET_EnableDiagnostics=0 is set; heapdump %d export FILE reads its "
		"memory instead",
		search->pid, status.name,
		search->directory.bytes ? search->directory.bytes : "/tmp", search->pid);
}

enum hd_status dotnet_process_find(int pid, struct dotnet_process *ret, struct hd_error *err)
{
	struct socket_search search;
	struct process_stat stat;
	bool is_there = search_init(&search, pid, &stat);
	if (search.error) {
		text_deinit(&search.directory);
		errno = search.error;
		return fail(err, HD_ERR_OS, 0, "process %d cannot be looked at: %s", pid,
			    strerrordesc_np(search.error));
	}
	if (!is_there) {
		return fail(err, HD_ERR_NOTFOUND, 0,
			    "there is no process %d; the command ps lists those of .NET", pid);
	}
	char *socket = NULL;
	enum hd_status status = find_socket(&search, &socket, err);
	if (status == HD_OK) {
		*ret = (struct dotnet_process){
			.pid = pid, .uid = search.uid, .state = stat.state, .socket = socket
		};
	} else if (status == HD_ERR_NOTFOUND) {
		status = no_socket(&search, &stat, err);
	}
	text_deinit(&search.directory);
	return status;
}

void dotnet_process_deinit(struct dotnet_process *process)
{
	mem_free(process->socket);
	process->socket = NULL;
}

ORDER_BY(by_pid, struct dotnet_process, pid)

/* The process of an entry of /proc, or 0. */
static int entry_pid(const char *name)
{
	uint64_t pid = 0;
	bool is_number = *name && strspn(name, "0123456789") == strlen(name);
	return is_number && parse_number(name, &pid) && pid <= INT_MAX ? (int)pid : 0;
}

static enum hd_status add_process(struct dotnet_processes *processes, int pid, struct hd_error *err)
{
	struct dotnet_process process = { 0 };
	struct hd_error reason;
	enum hd_status status = dotnet_process_find(pid, &process, &reason);
	/* Fail: there is no socket, or only one that somebody else has put there. */
	if (status == HD_ERR_NOTFOUND || (status == HD_ERR_OS && reason.os_errno == EPERM))
		return HD_OK;
	if (status != HD_OK && err)
		*err = reason;
	TRY(status);
	if (!PAGES_RESERVE(processes, rows)) {
		dotnet_process_deinit(&process);
		return fail_nomem(err);
	}
	processes->rows[processes->rows_count++] = process;
	return HD_OK;
}

enum hd_status dotnet_processes_list(struct dotnet_processes *ret, struct hd_error *err)
{
	*ret = (struct dotnet_processes){ 0 };
	DIR *directory = open_system_folder("/proc");
	if (!directory) {
		return fail(err, HD_ERR_OS, 0, "/proc cannot be read: %s", strerrordesc_np(errno));
	}
	enum hd_status status = HD_OK;
	const struct dirent *entry;
	errno = 0;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own */
	while (status == HD_OK && (entry = readdir(directory)) != NULL) {
		int pid = entry_pid(entry->d_name);
		if (pid)
			status = add_process(ret, pid, err);
		errno = 0; /* which tells a failure from the end */
	}
	if (status == HD_OK && errno) {
		status =
			fail(err, HD_ERR_OS, 0, "/proc cannot be read: %s", strerrordesc_np(errno));
	}
	(void)closedir(directory);
	if (status != HD_OK) {
		dotnet_processes_deinit(ret);
	} else if (ret->rows_count) {
		qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), by_pid);
	}
	return status;
}

void dotnet_processes_deinit(struct dotnet_processes *processes)
{
	for (size_t i = 0; i < processes->rows_count; i++)
		dotnet_process_deinit(&processes->rows[i]);
	pages_free(processes->rows, processes->rows_capacity, sizeof(*processes->rows));
	*processes = (struct dotnet_processes){ 0 };
}
