/* SPDX-License-Identifier: MIT */
/* Reads the files of /proc about a process. */
#include "targets/process/proc.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "targets/process/server_protocol.h"
#include "util/alloc.h"
#include "util/opening.h"

#define READ_STEP ((size_t)16 << 10)

static void proc_path(int pid, const char *name, char *buf, size_t size)
{
	(void)snprintf(buf, size, "/proc/%d/%s", pid, name);
}

bool proc_read_path(const char *path, struct text *ret)
{
	int fd = open_as(HD_OPEN_SYSTEM, path);
	if (fd < 0)
		return false;
	HD_FREE char *buf = mem_alloc(READ_STEP, 1);
	ssize_t got = buf ? 1 : -1;
	int code = buf ? 0 : ENOMEM;
	while (got > 0) {
		got = read(fd, buf, READ_STEP);
		if (got > 0) {
			text_append(ret, buf, (size_t)got);
		} else if (got < 0 && errno == EINTR) {
			got = 1;
		} else if (got < 0) {
			code = errno;
		}
	}
	(void)close(fd);
	if (!code && ret->failed)
		code = ENOMEM;
	errno = code;
	return !code;
}

bool proc_read_file(int pid, const char *name, struct text *ret)
{
	char path[64];
	proc_path(pid, name, path, sizeof(path));
	return proc_read_path(path, ret);
}

bool proc_tasks_open(int pid, struct proc_tasks *ret)
{
	char path[64];
	proc_path(pid, "task", path, sizeof(path));
	ret->fd = open_as(HD_OPEN_SYSTEM, path);
	ret->at = ret->end = 0;
	return ret->fd >= 0;
}

/* With the system call itself, because readdir() allocates memory. */
int proc_tasks_next(struct proc_tasks *tasks)
{
	for (;;) {
		if (tasks->at >= tasks->end) {
			long got = syscall(SYS_getdents64, tasks->fd, tasks->bytes,
					   sizeof(tasks->bytes));
			if (got <= 0)
				return 0;
			tasks->at = 0;
			tasks->end = (size_t)got;
		}
		const struct dirent64 *entry =
			(const struct dirent64 *)(const void *)(tasks->bytes + tasks->at);
		tasks->at += entry->d_reclen;
		long tid = strtol(entry->d_name, NULL, 10);
		if (tid > 0 && tid <= INT_MAX)
			return (int)tid;
	}
}

void proc_tasks_close(struct proc_tasks *tasks)
{
	(void)close(tasks->fd);
}

char proc_task_state(int tid)
{
	char path[64], text[512];
	proc_path(tid, "stat", path, sizeof(path));
	int fd = open_as(HD_OPEN_SYSTEM, path);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		(void)close(fd);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	/* The name may hold anything, ") " too. */
	const char *name_end = strrchr(text, ')');
	if (!name_end || name_end[1] != ' ')
		return 0;
	return name_end[2];
}

bool proc_task_lives(int tid)
{
	char state = proc_task_state(tid);
	return state && state != 'Z' && state != 'X';
}

int proc_live_task(int pid)
{
	struct proc_tasks tasks;
	if (proc_task_lives(pid))
		return pid;
	if (!proc_tasks_open(pid, &tasks))
		return 0;
	int tid;
	while ((tid = proc_tasks_next(&tasks)) != 0 && !proc_task_lives(tid))
		continue;
	proc_tasks_close(&tasks);
	return tid;
}

/*
 * Remove " (deleted)" and decode "\012", which is how the kernel writes a newline; nothing else is
 * escaped.
 */
static void clean_path(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t size = strlen(path), suffix = sizeof(deleted) - 1;
	if (size > suffix && strcmp(path + size - suffix, deleted) == 0)
		path[size - suffix] = '\0';
	char *to = path;
	for (const char *from = path; *from; from++) {
		bool is_newline = strncmp(from, "\\012", 4) == 0;
		*to = *from;
		if (is_newline)
			*to = '\n';
		to++;
		from += is_newline ? 3 : 0;
	}
	*to = '\0';
}

static uint32_t parse_flags(const char *text)
{
	return (text[0] == 'r' ? PF_R : 0u) | (text[1] == 'w' ? PF_W : 0u) |
	       (text[2] == 'x' ? PF_X : 0u);
}

/* Read a number in @p base, and the character @p after that follows it. */
static bool take_number(char **at, int base, char after, uint64_t *ret)
{
	char *end;
	errno = 0;
	*ret = strtoull(*at, &end, base);
	if (end == *at || errno || *end != after)
		return false;
	*at = end + 1;
	return true;
}

bool proc_map_parse(char *line, struct proc_map *ret)
{
	struct proc_map map = { 0 };
	uint64_t major, minor;
	char modes[5] = { 0 };
	if (!take_number(&line, 16, '-', &map.start) || !take_number(&line, 16, ' ', &map.end))
		return false;
	if (strlen(line) < 5 || line[4] != ' ')
		return false;
	memcpy(modes, line, 4);
	line += 5;
	if (!take_number(&line, 16, ' ', &map.offset) || !take_number(&line, 16, ':', &major) ||
	    !take_number(&line, 16, ' ', &minor))
		return false;
	char *end;
	map.inode = strtoull(line, &end, 10);
	if (end == line || map.end <= map.start)
		return false;
	map.path = end + strspn(end, " ");
	clean_path(map.path);
	map.flags = parse_flags(modes);
	map.is_shared = modes[3] == 's';
	map.dev_major = (uint32_t)major;
	map.dev_minor = (uint32_t)minor;
	*ret = map;
	return true;
}

/* Add the mapping of @p line if it is one above @p last; false when memory is exhausted. */
static bool add_proc_map(struct proc_maps *maps, char *line, uint64_t *last)
{
	struct proc_map map;
	if (!line || !PAGES_RESERVE(maps, rows))
		return false;
	if (!proc_map_parse(line, &map) || map.start < *last)
		return true;
	map.path = mem_strndup(map.path, strlen(map.path));
	if (!map.path)
		return false;
	*last = map.end;
	maps->rows[maps->rows_count++] = map;
	return true;
}

bool proc_maps_parse(const char *text, size_t size, struct proc_maps *ret)
{
	uint64_t last = 0;
	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;
		char *line = mem_strndup(text + at, length);
		bool added = add_proc_map(ret, line, &last);
		mem_free(line);
		if (!added)
			return false;
		at += length + 1;
	}
	return true;
}

void proc_maps_deinit(struct proc_maps *maps)
{
	for (size_t i = 0; i < maps->rows_count; i++)
		mem_free(maps->rows[i].path);
	pages_free(maps->rows, maps->rows_capacity, sizeof(*maps->rows));
	*maps = (struct proc_maps){ 0 };
}

bool proc_map_is_readable(const struct proc_map *map)
{
	return map->flags & PF_R && strncmp(map->path, "[vvar", 5) != 0 &&
	       strcmp(map->path, "[vsyscall]") != 0;
}

bool proc_mount_may_hang(const char *mounts, uint32_t major, uint32_t minor)
{
	static const char *const kinds[] = { "fuse", "nfs", "cifs",      "smb3",
					     "ceph", "afs", "glusterfs", "lustre" };
	char device[32];
	(void)snprintf(device, sizeof(device), "%u:%u", major, minor);
	/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": proc(5) */
	for (const char *line = mounts; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		size_t length = strcspn(line, "\n");
		const char *kind = strstr(line, " - ");
		const char *at = memchr(line, ' ', length);
		at = at ? memchr(at + 1, ' ', length - (size_t)(at + 1 - line)) : NULL;
		if (!at || !kind || kind >= line + length ||
		    strncmp(at + 1, device, strlen(device)) != 0 || at[1 + strlen(device)] != ' ')
			continue;
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			if (strncmp(kind + 3, kinds[i], strlen(kinds[i])) == 0)
				return true;
		}
	}
	return false;
}

/* The value of line "KEY:\t..." of a status file, or NULL. */
static const char *status_value(const char *text, const char *key)
{
	size_t length = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, " \t");
	}
	return NULL;
}

static unsigned long status_number(const char *text, const char *key)
{
	const char *value = status_value(text, key);
	return value ? strtoul(value, NULL, 10) : 0;
}

int32_t proc_inner_id(const char *status)
{
	const char *value = status_value(status, "NSpid");
	long id = 0;
	for (char *end; value && *value && *value != '\n'; value = end) {
		id = strtol(value, &end, 10);
		if (end == value)
			return 0;
		end += strspn(end, "\t ");
	}
	return id > 0 && id <= INT32_MAX ? (int32_t)id : 0;
}

static int32_t read_inner_id(int tid)
{
	HD_CLEANUP(text) struct text text = { 0 };
	int32_t id =
		proc_read_file(tid, "status", &text) && text.bytes ? proc_inner_id(text.bytes) : 0;
	return id;
}

void proc_set_inner_ids(int pid, struct target_thread *threads, size_t count)
{
	int32_t own = read_inner_id(pid);
	if (!own || own == pid)
		return;
	for (size_t i = 0; i < count; i++)
		threads[i].inner_tid = read_inner_id(threads[i].tid);
}

uint64_t kilobytes_parse(const char *text, const char *name)
{
	size_t size = strlen(name);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, size) == 0 && line[size] == ':')
			return strtoull(line + size + 1, NULL, 10) << 10;
	}
	return 0;
}

void proc_status_parse(const char *text, struct proc_status *ret)
{
	*ret = (struct proc_status){ 0 };
	const char *name = status_value(text, "Name");
	if (name) {
		(void)snprintf(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(name, "\n"),
			       name);
	}
	const char *state = status_value(text, "State");
	if (state)
		ret->state = *state;
	ret->group = (int)status_number(text, "Tgid");
	ret->parent = (int)status_number(text, "PPid");
	ret->tracer = (int)status_number(text, "TracerPid");
	ret->uid = (uint32_t)status_number(text, "Uid");
	/* A zombie has no memory either. */
	const char *kernel = status_value(text, "Kthread");
	ret->is_kernel =
		kernel ? *kernel == '1'
		       : !status_value(text, "VmSize") && ret->state != 'Z' && ret->state != 'X';
}

bool proc_status_read(int pid, struct proc_status *ret)
{
	struct text text = { 0 };
	bool got = proc_read_file(pid, "status", &text) && text.bytes;
	int code = errno;
	if (got)
		proc_status_parse(text.bytes, ret);
	text_deinit(&text);
	/* Its first thread may have ended while others run on. */
	int tid = got && ret->state == 'Z' && ret->group == pid ? proc_live_task(pid) : 0;
	if (tid && proc_read_file(tid, "status", &text) && text.bytes) {
		struct proc_status other;
		proc_status_parse(text.bytes, &other);
		ret->state = other.state;
		ret->tracer = other.tracer;
	}
	text_deinit(&text);
	errno = code;
	return got;
}

bool proc_maps_to_target(const struct proc_maps *maps, struct target *target)
{
	target->map.mappings = mem_calloc(maps->rows_count, sizeof(*target->map.mappings));
	target->map.ranges = mem_calloc(maps->rows_count, sizeof(*target->map.ranges));
	if (!target->map.mappings || !target->map.ranges)
		return false;
	for (size_t i = 0; i < maps->rows_count; i++) {
		const struct proc_map *map = &maps->rows[i];
		if (proc_map_is_readable(map)) {
			target->map.ranges[target->map.range_count++] = (struct target_range){
				.start = map->start,
				.end = map->end,
				.captured = map->end - map->start,
				.flags = map->flags,
			};
		}
		if (map->path[0] != '/')
			continue;
		char *path = mem_strndup(map->path, strlen(map->path));
		if (!path)
			return false;
		target->map.mappings[target->map.mapping_count++] = (struct target_mapping){
			.start = map->start,
			.end = map->end,
			.offset = map->offset,
			.path = path,
		};
	}
	return true;
}

enum hd_status proc_check(int pid, struct proc_status *ret, struct hd_error *err)
{
	struct proc_status status;
	if (pid <= 0)
		return fail(err, HD_ERR_ARGUMENT, 0, "%d is not a process id", pid);
	if (!proc_status_read(pid, &status))
		return proc_refused(pid, errno == ENOENT ? ESRCH : errno, err);
	*ret = status;
	if (status.group == getpid()) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "process %d is this one: it cannot stop itself", pid);
	}
	if (status.group != pid) {
		return fail(err, HD_ERR_ARGUMENT, 0, "%d is a thread of process %d: give that one",
			    pid, status.group);
	}
	if (status.is_kernel) {
		return fail(err, HD_ERR_UNSUPPORTED, 0, "process %d (%s) is a thread of the kernel",
			    pid, status.name);
	}
	if (status.state == 'Z' || status.state == 'X' || status.tracer)
		return proc_refused(pid, EPERM, err);
	return HD_OK;
}

/* A hint about the Yama module's rule for tracing, or "". */
static const char *yama_hint(void)
{
	HD_CLEANUP(text) struct text text = { 0 };
	bool is_set = proc_read_path("/proc/sys/kernel/yama/ptrace_scope", &text) && text.bytes &&
		      *text.bytes >= '1' && *text.bytes <= '3';
	bool is_never = is_set && *text.bytes == '3';
	if (is_never)
		return " (kernel.yama.ptrace_scope is 3: nobody may until the machine restarts)";
	return is_set ? " (kernel.yama.ptrace_scope is set: sudo sysctl kernel.yama.ptrace_scope=0)"
		      : "";
}

static enum hd_status refused_permission(int pid, const struct proc_status *status,
					 struct hd_error *err)
{
	if (status->state == 'Z' || status->state == 'X') {
		return fail(err, HD_ERR_OS, 0,
			    "process %d (%s) has ended: its parent has not asked for its status "
			    "yet, its memory is gone",
			    pid, status->name);
	}
	if (status->tracer) {
		/* It may be any thread of the tracer. */
		struct proc_status thread = { .name = "" }, tracer = { .name = "" };
		int group = status->tracer;
		if (proc_status_read(group, &thread) && thread.group)
			group = thread.group;
		/* One of our own helpers: name the process that it works for. */
		if (strcmp(thread.name, SERVER_NAME) == 0 && thread.parent)
			group = thread.parent;
		if (!proc_status_read(group, &tracer))
			tracer.name[0] = '\0';
		return fail(err, HD_ERR_OS, 0,
			    "process %d (%s) is traced by process %d (%s) already: detach that "
			    "first, or load heapdump into it",
			    pid, status->name, group, tracer.name);
	}
	return fail(err, HD_ERR_OS, 0,
		    "the kernel refused to let uid %u look at process %d (%s) of uid %u: run as "
		    "that user or with sudo%s; in a container add --cap-add=SYS_PTRACE; or write a "
		    "core (createdump --full, gcore) and open that",
		    (unsigned int)geteuid(), pid, status->name, status->uid, yama_hint());
}

enum hd_status proc_refused(int pid, int code, struct hd_error *err)
{
	struct proc_status status;
	bool is_there = code != ESRCH && proc_status_read(pid, &status);
	errno = code;
	if (!is_there && (code == ESRCH || code == EPERM || code == EACCES)) {
		errno = ESRCH;
		return fail(err, HD_ERR_OS, 0,
			    "no process %d here: it may have ended; in a container it has the pid "
			    "that the container gives it",
			    pid);
	}
	if (code == ENOMEM)
		return fail_nomem(err);
	if (is_there && (code == EPERM || code == EACCES))
		return refused_permission(pid, &status, err);
	return fail(err, HD_ERR_OS, 0, "cannot look at process %d: %s", pid, strerrordesc_np(code));
}
