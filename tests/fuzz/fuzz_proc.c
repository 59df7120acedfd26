/* SPDX-License-Identifier: MIT */
/* covers: core/src/targets/process/proc.c core/src/targets/process/cgroup_memory.c core/src/collect/discover.c
   core/src/collect/room.c */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/discover.h"
#include "collect/room.h"
#include "targets/process/cgroup.h"
#include "targets/process/cgroup_memory.h"
#include "targets/process/proc.h"
#include "util/alloc.h"
#include "util/peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte of the input says which of these the others are. */
enum {
	INPUT_MAPS,
	INPUT_TEXT, /* of stat, status, environ, cgroup, meminfo */
	INPUT_AUXV,
	INPUT_FILES, /* those that room_read() reads, parted by \xff */
	INPUT_KINDS
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Rows ascend and do not overlap, and so does what a target gets of them. */
static void run_maps(const char *text, size_t size)
{
	struct proc_maps maps = { 0 };
	require(proc_maps_parse(text, size, &maps));
	for (size_t i = 0; i < maps.rows_count; i++) {
		require(maps.rows[i].start < maps.rows[i].end && maps.rows[i].path);
		require(!i || maps.rows[i - 1].end <= maps.rows[i].start);
		(void)proc_map_is_readable(&maps.rows[i]);
	}
	struct target *target = target_create(TARGET_PROCESS, NULL);
	require(target && proc_maps_to_target(&maps, target));
	require(target->map.range_count <= maps.rows_count);
	for (size_t i = 0; i < target->map.mapping_count; i++)
		require(target->map.mappings[i].path[0] == '/');
	target_destroy(target);
	proc_maps_deinit(&maps);
}

/* Texts end with NUL, as those that proc_read_file() gives. */
static void run_text(const char *data, size_t size)
{
	struct process_stat stat;
	struct proc_status status;
	const char *path;
	char *text = mem_strndup(data, size);
	require(text);
	if (process_stat_parse(text, &stat))
		require(stat.start_time > 0 && stat.state);
	proc_status_parse(text, &status);
	require(memchr(status.name, 0, sizeof(status.name)));
	(void)inner_pid_parse(text);
	(void)effective_uid_parse(text);
	(void)proc_mount_may_hang(text, 0, 48);
	(void)kilobytes_parse(text, "RssAnon");
	size_t length = cgroup_parse(text, "memory", &path);
	require(!length || (path > text && path + length <= text + strlen(text)));
	struct cgroup_pressure pressure;
	if (cgroup_pressure_parse(text, "some", &pressure))
		require(pressure.average[0] <= 10099);
	mem_free(text);
	const char *directory = tmpdir_parse(data, size);
	require(!directory || memchr(directory, 0, size - (size_t)(directory - data)));
}

static void run_auxv(const uint8_t *data, size_t size)
{
	struct target *target = target_create(TARGET_PROCESS, NULL);
	require(target);
	target_auxv_read(&target->auxv, data, size);
	target_destroy(target);
}

static const char *const names[] = { "proc/meminfo",
				     "proc/7/status",
				     "proc/7/cgroup",
				     "sys/fs/cgroup/memory.max",
				     "sys/fs/cgroup/memory.current",
				     "sys/fs/cgroup/memory.stat",
				     "sys/fs/cgroup/memory/memory.limit_in_bytes",
				     "sys/fs/cgroup/memory/memory.usage_in_bytes",
				     "sys/fs/cgroup/memory/memory.stat",
				     "sys/fs/cgroup/memory.events",
				     "sys/fs/cgroup/memory.pressure",
				     "sys/fs/cgroup/memory/memory.oom_control",
				     "proc/pressure/memory" };
#define NAMES (sizeof(names) / sizeof(names[0]))

/** The folder that stands for the root, of this process. */
static char root[] = "/dev/shm/heapdump-fuzz-XXXXXX";
static int root_fd = -1;

static void remove_root(void)
{
	static const char *const folders[] = {
		"sys/fs/cgroup/memory", "sys/fs/cgroup", "sys/fs", "sys",
		"proc/pressure",        "proc/7",        "proc"
	};
	for (size_t i = 0; i < NAMES; i++)
		(void)unlinkat(root_fd, names[i], 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		(void)unlinkat(root_fd, folders[i], AT_REMOVEDIR);
	(void)rmdir(root);
}

static void make_root(void)
{
	static const char *const folders[] = {
		"proc",   "proc/7",        "proc/pressure",       "sys",
		"sys/fs", "sys/fs/cgroup", "sys/fs/cgroup/memory"
	};
	require(mkdtemp(root) != NULL);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	require(root_fd >= 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		require(mkdirat(root_fd, folders[i], 0700) == 0);
	require(atexit(remove_root) == 0);
}

static void run_files(const uint8_t *data, size_t size)
{
	if (root_fd < 0)
		make_root();
	for (size_t i = 0; i < NAMES; i++) {
		const uint8_t *end = memchr(data, 0xff, size);
		size_t length = end ? (size_t)(end - data) : size;
		int fd = openat(root_fd, names[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		require(fd >= 0 && write(fd, data, length) == (ssize_t)length && close(fd) == 0);
		data += length + (end != NULL);
		size -= length + (end != NULL);
	}
	struct room room;
	room_read(root, 7, &room);
	require(room_largest(&room) >= (uint64_t)1 << 20);
	require(room_first(&room) <= room_largest(&room));
	struct cgroup_memory group;
	if (!cgroup_memory_read(root, 7, &group))
		return;
	require(group.known && *group.path == '/' && !strstr(group.path, "/.."));
	require((group.limit == UINT64_MAX) == !group.limit_path);
	require(!group.tight.path || group.tight.left <= group.tight.limit);
	cgroup_memory_deinit(&group);
}

/* Any bytes as what /proc and cgroups say: the first byte tells which. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	unsigned int kind = *data++ % INPUT_KINDS;
	size--;
	switch (kind) {
	case INPUT_MAPS:
		run_maps((const char *)data, size);
		break;
	case INPUT_TEXT:
		run_text((const char *)data, size);
		break;
	case INPUT_AUXV:
		run_auxv(data, size);
		break;
	default:
		run_files(data, size);
		break;
	}
	return 0;
}
