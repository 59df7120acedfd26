/* SPDX-License-Identifier: MIT */
#include "targets/process/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/process/cgroup_place.h"
#include "targets/process/proc.h"

/* Where there is no limit, version 1 has the largest number of bytes in whole pages. */
#define LIMIT_MAX (UINT64_C(1) << 62)

const struct cgroup_version cgroup_versions[2] = {
	{ 1,
	  "memory",
	  "/sys/fs/cgroup/memory",
	  "memory.usage_in_bytes",
	  "total_inactive_file",
	  { "memory.limit_in_bytes", NULL } },
	{ 2,
	  "",
	  "/sys/fs/cgroup",
	  "memory.current",
	  "inactive_file",
	  { "memory.max", "memory.high" } },
};

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

bool cgroup_place_find(const char *root, const char *text, const struct cgroup_version *version,
		       struct cgroup_place *ret)
{
	const char *path;
	size_t size = cgroup_parse(text, version->controller, &path);
	if (!size || *path != '/' || size >= sizeof(ret->folder))
		return false;
	int length = snprintf(ret->folder, sizeof(ret->folder), "%s%s%.*s", root, version->folder,
			      (int)size, path);
	ret->version = version;
	ret->top = strlen(root) + strlen(version->folder);
	/* The kernel shows a cgroup that lies outside of a namespace's own with "/..". */
	return length > 0 && (size_t)length < sizeof(ret->folder) &&
	       !strstr(ret->folder + ret->top, "/..");
}

bool cgroup_place_up(struct cgroup_place *place)
{
	char *slash = strrchr(place->folder, '/');
	if (!slash || (size_t)(slash - place->folder) < place->top)
		return false;
	*slash = '\0';
	return true;
}

bool cgroup_read(const struct cgroup_place *place, const char *name, struct text *ret)
{
	char path[PATH_MAX];
	int size = snprintf(path, sizeof(path), "%s/%s", place->folder, name);
	return size > 0 && (size_t)size < sizeof(path) && proc_read_path(path, ret) && ret->size;
}

bool cgroup_number_of(const char *text, const char *key, uint64_t *ret)
{
	size_t size = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, size) != 0 || (size && line[size] != ' '))
			continue;
		const char *at = line + size + (size != 0);
		if (*at < '0' || *at > '9') /* "max" is not a number */
			return false;
		*ret = strtoull(at, NULL, 10);
		return true;
	}
	return false;
}

bool cgroup_read_number(const struct cgroup_place *place, const char *name, uint64_t *ret)
{
	HD_CLEANUP(text) struct text text = { 0 };
	bool is_number = cgroup_read(place, name, &text) && cgroup_number_of(text.bytes, "", ret);
	return is_number;
}

/* The smaller one: above memory.high nothing fails, but everything becomes slow. */
bool cgroup_read_limit(const struct cgroup_place *place, uint64_t *ret)
{
	const char *const *files = place->version->limits;
	bool is_limited = false;
	for (size_t i = 0; i < 2 && files[i]; i++) {
		uint64_t limit;
		if (!cgroup_read_number(place, files[i], &limit) || limit >= LIMIT_MAX)
			continue;
		*ret = is_limited && *ret < limit ? *ret : limit;
		is_limited = true;
	}
	return is_limited;
}

bool cgroup_read_names(const char *root, int pid, struct text *ret)
{
	char path[PATH_MAX];
	int size = snprintf(path, sizeof(path), "%s/proc/%d/cgroup", root, pid);
	return size > 0 && (size_t)size < sizeof(path) && proc_read_path(path, ret) && ret->size;
}

bool cgroup_read_left(const struct cgroup_place *place, uint64_t *ret_limit, uint64_t *ret)
{
	uint64_t limit, usage, cache = 0;
	HD_CLEANUP(text) struct text text = { 0 };
	if (!cgroup_read_limit(place, &limit) ||
	    !cgroup_read_number(place, place->version->usage, &usage))
		return false;
	/* The kernel's number includes file pages that it can drop. */
	if (cgroup_read(place, "memory.stat", &text))
		(void)cgroup_number_of(text.bytes, place->version->cache, &cache);
	usage = usage > cache ? usage - cache : 0;
	*ret = limit > usage ? limit - usage : 0;
	*ret_limit = limit;
	return true;
}

static uint64_t bound_by(uint64_t free, const struct cgroup_place *place)
{
	uint64_t limit, left;
	if (!cgroup_read_left(place, &limit, &left))
		return free;
	left = left ? left : 1;
	return left < free ? left : free;
}

uint64_t cgroup_free(const char *root, int pid)
{
	HD_CLEANUP(text) struct text text = { 0 };
	uint64_t free = UINT64_MAX;
	if (cgroup_read_names(root, pid, &text)) {
		for (size_t i = 0; i < sizeof(cgroup_versions) / sizeof(cgroup_versions[0]); i++) {
			struct cgroup_place place;
			if (!cgroup_place_find(root, text.bytes, &cgroup_versions[i], &place))
				continue;
			do {
				free = bound_by(free, &place);
			} while (cgroup_place_up(&place));
		}
	}
	return free;
}
