/* SPDX-License-Identifier: MIT */
/* A reader keeps the mappings of the process, and their files, here. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "targets/process/server_reader.h"
#include "util/sort.h"

/* A list of mounts that is longer is cut: the files of the others are opened. */
#define MOUNTS_BYTES ((size_t)64 << 10)

void close_reader_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

int reader_open(const struct process_reader *reader, const char *name)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/%s", reader->tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool reader_choose_thread(struct process_reader *reader)
{
	int tid = proc_live_task(reader->setup->pid);
	if (!tid || tid == reader->tid)
		return false;
	reader->tid = tid;
	close_reader_fd(&reader->pagemap_fd);
	close_reader_fd(&reader->maps_fd);
	return true;
}

/* The next line of the maps file, or NULL; it stays until the next call. */
static char *next_line(struct process_reader *reader)
{
	for (;;) {
		char *line = reader->maps + reader->maps_at;
		size_t left = reader->maps_end - reader->maps_at;
		char *end = memchr(line, '\n', left);
		if (end) {
			*end = '\0';
			reader->maps_at = (size_t)(end - reader->maps) + 1;
			return line;
		}
		memmove(reader->maps, line, left);
		reader->maps_at = 0;
		reader->maps_end = left;
		ssize_t got = left < MAPS_BYTES ? read(reader->maps_fd, reader->maps + left,
						       MAPS_BYTES - left)
						: 0;
		if (got <= 0)
			return NULL;
		reader->maps_end += (size_t)got;
	}
}

static bool open_maps(struct process_reader *reader)
{
	reader->maps_fd = reader_open(reader, "maps");
	reader->maps_at = reader->maps_end = 0;
	return reader->maps_fd >= 0;
}

/* The line of the mapping that begins at @p start; mostly it is asked for in ascending order. */
static bool find_mapping_line(struct process_reader *reader, uint64_t start, struct proc_map *ret)
{
	for (unsigned int turn = 0; turn < 2; turn++) {
		char *line;
		if (reader->maps_fd < 0 && !open_maps(reader))
			return false;
		while ((line = next_line(reader)) != NULL) {
			if (proc_map_parse(line, ret) && ret->start == start)
				return true;
		}
		close_reader_fd(&reader->maps_fd);
	}
	return false;
}

/* Open @p path, if it is the regular file with this inode; -1. */
static int open_exactly(char *path, size_t size, const struct reader_file *file)
{
	struct stat info;
	int fd = open(path, O_PATH | O_CLOEXEC);
	bool is_it = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
		     info.st_ino == file->inode && major(info.st_dev) == file->dev_major &&
		     minor(info.st_dev) == file->dev_minor;
	int opened = -1;
	if (is_it) {
		(void)snprintf(path, size, "/proc/self/fd/%d", fd);
		opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	close_reader_fd(&fd);
	return opened;
}

int reader_open_mapped(struct process_reader *reader, uint64_t start)
{
	static char path[MAPS_BYTES];
	struct proc_map map;
	if (!find_mapping_line(reader, start, &map) || map.path[0] != '/')
		return -1;
	struct reader_file file = { map.inode, map.dev_major, map.dev_minor, -1 };
	int size = snprintf(path, sizeof(path), "/proc/%d/root%s", reader->tid, map.path);
	int fd = -1;
	if (size > 0 && (size_t)size < sizeof(path))
		fd = open_exactly(path, sizeof(path), &file);
	if (fd < 0) {
		/* The executable, whose file was deleted or replaced: the kernel still has it. */
		(void)snprintf(path, sizeof(path), "/proc/%d/exe", reader->tid);
		fd = open_exactly(path, sizeof(path), &file);
	}
	return fd;
}

/*
 * A file that has no name in any folder: the process has it open, mostly.  Only descriptors that
 * lead to such a file are looked at, as others may not answer.
 */
static int open_memory_file(struct process_reader *reader, const struct reader_file *file)
{
	struct proc_tasks list = { .fd = reader_open(reader, "fd") };
	int number, found = -1;
	if (list.fd < 0)
		return -1;
	while (found < 0 && (number = proc_tasks_next(&list)) != 0) {
		char path[64], name[16];
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", reader->tid, number);
		ssize_t size = readlink(path, name, sizeof(name));
		if (size > 7 && memcmp(name, "/memfd:", 7) == 0)
			found = open_exactly(path, sizeof(path), file);
	}
	proc_tasks_close(&list);
	return found;
}

/* The mounts of the process, which tell what may not answer; they are read once. */
static const char *read_mounts(const struct process_reader *reader)
{
	static char text[MOUNTS_BYTES + 1];
	size_t size = 0;
	ssize_t got = 1;
	if (text[0])
		return text;
	int fd = reader_open(reader, "mountinfo");
	while (fd >= 0 && got > 0 && size < MOUNTS_BYTES) {
		got = read(fd, text + size, MOUNTS_BYTES - size);
		size += got > 0 ? (size_t)got : 0;
	}
	close_reader_fd(&fd);
	text[size] = '\0';
	return text;
}

static enum reader_map_kind kind_of_map(const struct process_reader *reader,
					const struct proc_map *map, const char *mounts)
{
	if (!proc_map_is_readable(map))
		return READER_MAP_OTHER;
	if (strcmp(map->path, "[vdso]") == 0) {
		bool is_same = reader->kernel_code.begin &&
			       reader->kernel_code.size == map->end - map->start;
		return is_same ? READER_MAP_KERNEL : READER_MAP_OTHER;
	}
	if (strncmp(map->path, "/memfd:", 7) == 0)
		return READER_MAP_MEMORY;
	if (!map->is_shared && (map->path[0] == '\0' || map->path[0] == '['))
		return READER_MAP_PRIVATE;
	if (map->path[0] == '/' && map->inode &&
	    !proc_mount_may_hang(mounts, map->dev_major, map->dev_minor))
		return READER_MAP_FILE;
	return READER_MAP_OTHER;
}

/* Where the kernel's code is in the reader itself. */
static void find_kernel_code(struct process_reader *reader)
{
	struct proc_map map;
	char *line;
	reader->maps_fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	reader->maps_at = reader->maps_end = 0;
	while (reader->maps_fd >= 0 && (line = next_line(reader)) != NULL) {
		if (!proc_map_parse(line, &map) || strcmp(map.path, "[vdso]") != 0)
			continue;
		/* An address of this process. NOLINTNEXTLINE(performance-no-int-to-ptr) */
		reader->kernel_code.begin = (const uint8_t *)(uintptr_t)map.start;
		reader->kernel_code.size = map.end - map.start;
		break;
	}
	close_reader_fd(&reader->maps_fd);
}

static void add_row(struct process_reader *reader, char *line, const char *mounts)
{
	struct proc_map map;
	if (!proc_map_parse(line, &map) || reader->rows_count == READER_MAPS_MAX)
		return;
	struct reader_map *row = &reader->rows[reader->rows_count];
	if (reader->rows_count && map.start < row[-1].end)
		return;
	*row = (struct reader_map){ map.start,
				    map.end,
				    map.offset,
				    map.inode,
				    map.dev_major,
				    map.dev_minor,
				    (uint8_t)kind_of_map(reader, &map, mounts),
				    map.is_shared };
	reader->rows_count++;
}

void reader_learn_maps(struct process_reader *reader, uint32_t epoch)
{
	char *line;
	if (reader->epoch == epoch)
		return;
	reader->epoch = epoch;
	reader->rows_count = 0;
	for (unsigned int i = 0; i < reader->files_count; i++)
		close_reader_fd(&reader->files[i].fd);
	reader->files_count = 0;
	close_reader_fd(&reader->maps_fd);
	if (!reader->kernel_code.begin)
		find_kernel_code(reader);
	if (!open_maps(reader))
		return;
	const char *mounts = read_mounts(reader);
	while ((line = next_line(reader)) != NULL)
		add_row(reader, line, mounts);
	close_reader_fd(&reader->maps_fd);
}

const struct reader_map *reader_map_at(const struct process_reader *reader, uint64_t address)
{
	size_t low = ROWS_ABOVE(reader->rows, reader->rows_count, end, address);
	return low < reader->rows_count && reader->rows[low].start <= address ? &reader->rows[low]
									      : NULL;
}

int reader_file_of(struct process_reader *reader, const struct reader_map *map)
{
	unsigned int count =
		reader->files_count < READER_FILES ? reader->files_count : READER_FILES;
	for (unsigned int i = 0; i < count; i++) {
		const struct reader_file *file = &reader->files[i];
		if (file->inode == map->inode && file->dev_major == map->dev_major &&
		    file->dev_minor == map->dev_minor)
			return file->fd;
	}
	/* When all places are used, the oldest file is closed. */
	struct reader_file *file = &reader->files[reader->files_count % READER_FILES];
	if (reader->files_count >= READER_FILES)
		close_reader_fd(&file->fd);
	reader->files_count++;
	*file = (struct reader_file){ map->inode, map->dev_major, map->dev_minor, -1 };
	file->fd = map->kind == READER_MAP_MEMORY ? open_memory_file(reader, file)
						  : reader_open_mapped(reader, map->start);
	return file->fd;
}
