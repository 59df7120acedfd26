/* SPDX-License-Identifier: MIT */
#include "worker_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <heapdump/broker.h>

/*
 * Address space that a worker needs besides what is counted: stacks and arenas of threads,
 * libraries.
 */
#define SLACK            ((uint64_t)1 << 30)
#define SLACK_PER_THREAD ((uint64_t)256 << 20)
/* Reading needs at most max-mem; what queries keep for later needs at most the same, twice. */
#define MAX_MEM_TIMES 3u

/* Most module files that are counted, and most bytes of them: more than any program has. */
#define HANDED_MAX       16384u
#define MODULE_BYTES_MAX ((uint64_t)16 << 30)
/* No process can map a file that is larger. */
#define FILE_MAX ((uint64_t)1 << 46)

/* A file that was opened for a worker. */
struct handed_file {
	dev_t device;
	ino_t inode;
};

static uint64_t process_address_space(pid_t pid)
{
	char path[64];
	unsigned long long pages = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1) /* NOLINT(cert-err34-c): the kernel's own number */
		pages = 0;
	(void)fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t number_setting(const struct cli *cli, const char *name)
{
	char value[HD_SETTING_SIZE];
	if (hd_session_get(cli->session, name, value, sizeof(value), NULL) != HD_OK)
		return 0;
	return strtoull(value, NULL, 10);
}

/* max-mem of the settings, or of an option of this command. */
static uint64_t max_mem(struct cli *cli, const struct hd_command_names *names)
{
	static const char name[] = "max-mem";
	char old[HD_SETTING_SIZE];
	uint64_t size = number_setting(cli, name);
	if (names->max_mem && hd_session_get(cli->session, name, old, sizeof(old), NULL) == HD_OK &&
	    hd_session_set(cli->session, name, names->max_mem, NULL) == HD_OK) {
		size = number_setting(cli, name);
		enum hd_status ignored = hd_session_set(cli->session, name, old, NULL);
		(void)ignored;
	}
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), page = (uint64_t)sysconf(_SC_PAGESIZE);
	return size ? size : pages / 4 * page;
}

/* Set how much address space the worker may have from now on. */
static void limit(const struct cli *cli, const struct worker *worker)
{
#ifndef __SANITIZE_ADDRESS__ /* it reserves terabytes */
	uint64_t threads = number_setting(cli, "workers");
	if (!threads)
		threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t most = 0;
	if (__builtin_mul_overflow(worker->max_mem, MAX_MEM_TIMES, &most) ||
	    __builtin_add_overflow(most, worker->own_size + worker->handed, &most) ||
	    __builtin_add_overflow(most, SLACK + threads * SLACK_PER_THREAD, &most))
		return;
	struct rlimit size;
	if (prlimit(worker->pid, RLIMIT_AS, NULL, &size) != 0 || size.rlim_max <= most)
		return; /* the user's own limit is smaller */
	size.rlim_cur = most;
	(void)prlimit(worker->pid, RLIMIT_AS, &size, NULL);
#else
	(void)cli;
	(void)worker;
#endif
}

void worker_limits_begin(struct worker *worker)
{
	worker->own_size = process_address_space(worker->pid);
}

void worker_limits_set(struct cli *cli, struct worker *worker, const struct hd_command_names *names)
{
	worker->max_mem = max_mem(cli, names);
	limit(cli, worker);
}

/* Is it the first time? false also if there are too many. */
static bool note_file(struct worker *worker, const struct stat *info)
{
	for (size_t i = 0; i < worker->handed_count; i++) {
		const struct handed_file *file = &worker->handed_files[i];
		if (file->device == info->st_dev && file->inode == info->st_ino)
			return false;
	}
	struct handed_file *files =
		worker->handed_count < HANDED_MAX
			? realloc(worker->handed_files, (worker->handed_count + 1) * sizeof(*files))
			: NULL;
	if (!files)
		return false;
	files[worker->handed_count++] =
		(struct handed_file){ .device = info->st_dev, .inode = info->st_ino };
	worker->handed_files = files;
	return true;
}

/*
 * Files are mapped, so their sizes count.  A file that the user names may be mapped twice (diff
 * with itself), and may have holes; for a module, which the target names, only its blocks on the
 * disk count.
 */
void worker_limits_count(const struct cli *cli, struct worker *worker, int as, int fd)
{
	struct stat info;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0 ||
	    !note_file(worker, &info))
		return;
	uint64_t size = (uint64_t)info.st_size, room = (uint64_t)info.st_blocks * 512;
	if (as == HD_OPEN_INPUT) {
		size = size < FILE_MAX ? size : FILE_MAX;
		worker->handed += 2 * size;
	} else {
		size = size < room ? size : room;
		size = size < MODULE_BYTES_MAX - worker->modules
			       ? size
			       : MODULE_BYTES_MAX - worker->modules;
		worker->modules += size;
		worker->handed += size;
	}
	limit(cli, worker);
}
