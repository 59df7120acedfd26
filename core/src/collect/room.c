/* SPDX-License-Identifier: MIT */
#include "collect/room.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/proc.h"

#define MEGABYTE     ((uint64_t)1 << 20)
#define BUFFER_MIN   (64 * MEGABYTE)
#define BUFFER_MAX   (UINT64_C(0xffffffff) * MEGABYTE)
#define FREE_UNKNOWN (1024 * MEGABYTE)

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

/* Is @p controller one of the names, parted by commas, from @p list to @p end? */
static bool has_controller(const char *list, const char *end, const char *controller)
{
	size_t size = strlen(controller);
	while (list <= end) {
		size_t length = strcspn(list, ",:");
		if (length == size && strncmp(list, controller, size) == 0)
			return true;
		list += length + 1;
	}
	return false;
}

size_t cgroup_parse(const char *text, const char *controller, const char **ret)
{
	for (const char *line = text; line && *line;) {
		const char *end = strchrnul(line, '\n');
		const char *list = memchr(line, ':', (size_t)(end - line));
		const char *path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
		if (path && path + 1 < end && has_controller(list + 1, path, controller)) {
			*ret = path + 1;
			return (size_t)(end - path - 1);
		}
		line = *end ? end + 1 : end;
	}
	return 0;
}

/* The files of one version of cgroups (cgroup-v1/memory.rst, cgroup-v2.rst of the kernel). */
struct cgroup_files {
	const char *controller, *root, *limit, *usage, *cache;
};

/* Read DIRECTORY/NAME, all of it. */
static bool read_whole(const char *directory, const char *name, struct text *ret)
{
	char path[PATH_MAX];
	int size = snprintf(path, sizeof(path), "%s/%s", directory, name);
	return size > 0 && (size_t)size < sizeof(path) && proc_read_path(path, ret) && ret->size;
}

static bool read_number(const char *directory, const char *name, uint64_t *ret)
{
	struct text text = { 0 };
	bool is_number = false; /* nor is "max" one */
	if (read_whole(directory, name, &text)) {
		char *end;
		*ret = strtoull(text.bytes, &end, 10);
		is_number = end != text.bytes;
	}
	text_deinit(&text);
	return is_number;
}

/* Files that the kernel can drop count as used. */
static uint64_t read_cache(const char *directory, const char *name)
{
	struct text text = { 0 };
	uint64_t cache = 0;
	if (read_whole(directory, "memory.stat", &text)) {
		const char *line = strstr(text.bytes, name);
		if (line)
			cache = strtoull(line + strlen(name), NULL, 10);
	}
	text_deinit(&text);
	return cache;
}

static void bound_by(struct room *room, const struct cgroup_files *files, const char *directory)
{
	uint64_t limit, usage;
	if (!read_number(directory, files->limit, &limit) ||
	    !read_number(directory, files->usage, &usage))
		return;
	uint64_t cache = read_cache(directory, files->cache);
	usage = usage > cache ? usage - cache : 0;
	uint64_t left = limit > usage ? limit - usage : 0;
	if (!room->free || left < room->free) {
		room->free = left ? left : 1;
		room->is_cgroup = true;
	}
}

/* Limits of a cgroup and of those around it. */
static void bound_by_groups(struct room *room, const char *root, const char *text,
			    const struct cgroup_files *files)
{
	char directory[PATH_MAX];
	const char *path;
	size_t size = cgroup_parse(text, files->controller, &path);
	if (!size || *path != '/' || size >= sizeof(directory))
		return;
	int length = snprintf(directory, sizeof(directory), "%s%s%.*s", root, files->root,
			      (int)size, path);
	if (length <= 0 || (size_t)length >= sizeof(directory))
		return;
	size_t top = strlen(root) + strlen(files->root);
	for (;;) {
		bound_by(room, files, directory);
		char *slash = strrchr(directory, '/');
		if (!slash || (size_t)(slash - directory) < top)
			return;
		*slash = '\0';
	}
}

void room_read(const char *root, int pid, struct room *ret)
{
	static const struct cgroup_files versions[] = {
		{ "", "/sys/fs/cgroup", "memory.max", "memory.current", "\ninactive_file " },
		{ "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
		  "memory.usage_in_bytes", "\ntotal_inactive_file " },
	};
	char proc[PATH_MAX], process[PATH_MAX];
	(void)snprintf(proc, sizeof(proc), "%s/proc", root);
	(void)snprintf(process, sizeof(process), "%s/proc/%d", root, pid);
	*ret = (struct room){ 0 };
	struct text text = { 0 };
	if (read_whole(proc, "meminfo", &text))
		ret->free = kilobytes_parse(text.bytes, "MemAvailable");
	text_deinit(&text);
	if (pid && read_whole(process, "status", &text)) {
		ret->anonymous = kilobytes_parse(text.bytes, "RssAnon") +
				 kilobytes_parse(text.bytes, "VmSwap");
	}
	text_deinit(&text);
	if (pid && read_whole(process, "cgroup", &text)) {
		for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
			bound_by_groups(ret, root, text.bytes, &versions[i]);
	}
	text_deinit(&text);
	/*
	 * An object takes 24 bytes at least, its event 32; a reference 8 bytes and its event 12. The
	 * most is a heap of objects with one reference each: 44 bytes of events for 24.
	 */
	ret->needed = ret->anonymous * 2 + BUFFER_MIN;
}

uint64_t room_largest(const struct room *room)
{
	/* A quarter of what is free stays free: the file goes through the page cache. */
	uint64_t free = room->free ? room->free / 4 * 3 : FREE_UNKNOWN;
	free = free < BUFFER_MAX ? free : BUFFER_MAX;
	return free > MEGABYTE ? free / MEGABYTE * MEGABYTE : MEGABYTE;
}

uint64_t room_first(const struct room *room)
{
	uint64_t largest = room_largest(room);
	uint64_t needed = room->needed / MEGABYTE * MEGABYTE;
	return needed < largest ? needed : largest;
}
