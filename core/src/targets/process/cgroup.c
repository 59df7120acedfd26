/* SPDX-License-Identifier: MIT */
#include "targets/process/cgroup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/process/proc.h"

/* Is @p controller one of the names, separated by commas, from @p list to @p end? */
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
	const char *controller, *root, *usage, *cache;
	const char *limits[2]; /* the second one may be NULL */
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
	bool is_number = false; /* "max" is not a number either */
	if (read_whole(directory, name, &text)) {
		char *end;
		*ret = strtoull(text.bytes, &end, 10);
		is_number = end != text.bytes;
	}
	text_deinit(&text);
	return is_number;
}

/* The kernel's number includes file pages that it can drop. */
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

/* The smaller one: above memory.high nothing fails, but everything becomes slow. */
static bool read_limit(const struct cgroup_files *files, const char *directory, uint64_t *ret)
{
	bool is_limited = false;
	for (size_t i = 0; i < 2 && files->limits[i]; i++) {
		uint64_t limit;
		if (!read_number(directory, files->limits[i], &limit))
			continue;
		*ret = is_limited && *ret < limit ? *ret : limit;
		is_limited = true;
	}
	return is_limited;
}

static uint64_t bound_by(uint64_t free, const struct cgroup_files *files, const char *directory)
{
	uint64_t limit, usage;
	if (!read_limit(files, directory, &limit) || !read_number(directory, files->usage, &usage))
		return free;
	uint64_t cache = read_cache(directory, files->cache);
	usage = usage > cache ? usage - cache : 0;
	uint64_t left = limit > usage ? limit - usage : 1;
	return left < free ? left : free;
}

/* What the limits of a cgroup and of those above it still allow. */
static uint64_t bound_by_groups(uint64_t free, const char *root, const char *text,
				const struct cgroup_files *files)
{
	char directory[PATH_MAX];
	const char *path;
	size_t size = cgroup_parse(text, files->controller, &path);
	if (!size || *path != '/' || size >= sizeof(directory))
		return free;
	int length = snprintf(directory, sizeof(directory), "%s%s%.*s", root, files->root,
			      (int)size, path);
	if (length <= 0 || (size_t)length >= sizeof(directory))
		return free;
	size_t top = strlen(root) + strlen(files->root);
	for (;;) {
		free = bound_by(free, files, directory);
		char *slash = strrchr(directory, '/');
		if (!slash || (size_t)(slash - directory) < top)
			return free;
		*slash = '\0';
	}
}

uint64_t cgroup_free(const char *root, int pid)
{
	static const struct cgroup_files versions[] = {
		{ "",
		  "/sys/fs/cgroup",
		  "memory.current",
		  "\ninactive_file ",
		  { "memory.max", "memory.high" } },
		{ "memory",
		  "/sys/fs/cgroup/memory",
		  "memory.usage_in_bytes",
		  "\ntotal_inactive_file ",
		  { "memory.limit_in_bytes", NULL } },
	};
	char process[PATH_MAX];
	(void)snprintf(process, sizeof(process), "%s/proc/%d", root, pid);
	struct text text = { 0 };
	uint64_t free = UINT64_MAX;
	if (read_whole(process, "cgroup", &text)) {
		for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
			free = bound_by_groups(free, root, text.bytes, &versions[i]);
	}
	text_deinit(&text);
	return free;
}
