/* SPDX-License-Identifier: MIT */
#include "memory_use.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read_text.h"

/* Between these is what a snapshot may take. */
#define SHARE_LEAST (UINT64_C(4) << 20)
#define SHARE_MOST  (UINT64_C(1) << 30)

/* The runtime's buffer for a walk over the diagnostics socket, and what is made of it, may take so many times the heap. */
#define SHORT_FACTOR 4

/* Where the two versions of cgroups are. */
struct hierarchy {
	const char *controller; /* in the lines of /proc/self/cgroup */
	const char *root;       /* where it is mounted */
	const char *files[2];   /* limits of a group */
	const char *usage;      /* what its processes and their files take */
	const char *cached;     /* in memory.stat: what of this can be given back at once */
};

static const struct hierarchy hierarchies[] = {
	{ "",
	  "/sys/fs/cgroup",
	  { "memory.max", "memory.high" },
	  "memory.current",
	  "\ninactive_file " },
	{ "memory",
	  "/sys/fs/cgroup/memory",
	  { "memory.limit_in_bytes", NULL },
	  "memory.usage_in_bytes",
	  "\ntotal_inactive_file " },
};

/* A number at the begin of a text; 0: it is another word ("max"). */
static uint64_t number_of(const char *text)
{
	return *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

uint64_t memory_resident(void)
{
	char text[128];
	const char *second =
		read_text("/proc/self/statm", text, sizeof(text)) ? strchr(text, ' ') : NULL;
	long page = sysconf(_SC_PAGESIZE);
	return second && page > 0 ? number_of(second + 1) * (uint64_t)page : 0;
}

/* Is @p controller one of the names, separated by commas, in the @p size bytes of a list? */
static bool has_controller(const char *list, size_t size, const char *controller)
{
	size_t length = strlen(controller);
	for (size_t at = 0; at <= size;) {
		const char *comma = memchr(list + at, ',', size - at);
		size_t end = comma ? (size_t)(comma - list) : size;
		if (end - at == length && memcmp(list + at, controller, length) == 0)
			return true;
		at = end + 1;
	}
	return false;
}

bool memory_group_of(const char *groups, const char *controller, char path[PATH_MAX])
{
	/* "ID:CONTROLLERS:PATH"; the last line may be cut off. */
	for (const char *line = groups, *end; (end = strchr(line, '\n')); line = end + 1) {
		const char *list = memchr(line, ':', (size_t)(end - line));
		const char *colon = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
		if (!colon || colon[1] != '/' ||
		    !has_controller(list + 1, (size_t)(colon - list - 1), controller))
			continue;
		size_t size = (size_t)(end - colon - 1);
		if (size >= PATH_MAX)
			return false;
		memcpy(path, colon + 1, size);
		path[size] = '\0';
		/* The kernel shows a group outside of the namespace so: it cannot be seen here. */
		return !strstr(path, "/..");
	}
	return false;
}

/* The path of the process's group in a hierarchy; false: it has none. */
static bool find_group(const struct hierarchy *hierarchy, char path[PATH_MAX])
{
	char groups[8192];
	return read_text("/proc/self/cgroup", groups, sizeof(groups)) &&
	       memory_group_of(groups, hierarchy->controller, path);
}

/* Read a file of a group. */
static bool read_file_of(const struct hierarchy *hierarchy, const char *group, const char *name,
			 char *text, size_t size)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s%s/%s", hierarchy->root, group, name);
	return length > 0 && (size_t)length < sizeof(path) && read_text(path, text, size);
}

/* Read a file of the process's group of cgroups version 2. */
static bool read_group_file(const char *name, char *text, size_t size)
{
	char group[PATH_MAX];
	return find_group(&hierarchies[0], group) &&
	       read_file_of(&hierarchies[0], group, name, text, size);
}

bool memory_high_events(uint64_t *ret)
{
	static const char mark[] = "\nhigh ";
	char text[1024];
	const char *at =
		read_group_file("memory.events", text, sizeof(text)) ? strstr(text, mark) : NULL;
	if (at)
		*ret = strtoull(at + sizeof(mark) - 1, NULL, 10);
	return at != NULL;
}

bool memory_pressure(uint64_t *ret)
{
	static const char mark[] = "some avg10=";
	char text[1024];
	if (!read_group_file("memory.pressure", text, sizeof(text)) &&
	    !read_text("/proc/pressure/memory", text, sizeof(text)))
		return false;
	const char *at = strstr(text, mark);
	if (at)
		*ret = strtoull(at + sizeof(mark) - 1, NULL, 10);
	return at != NULL;
}

/* The limit of a group; UINT64_MAX: it has none. */
static uint64_t limit_of(const struct hierarchy *hierarchy, const char *group)
{
	uint64_t least = UINT64_MAX;
	for (size_t i = 0; i < 2 && hierarchy->files[i]; i++) {
		char text[32];
		uint64_t limit =
			read_file_of(hierarchy, group, hierarchy->files[i], text, sizeof(text))
				? number_of(text)
				: 0;
		if (limit && limit < least)
			least = limit;
	}
	return least;
}

/*
 * The bytes that all processes of a group together have left of its limit; UINT64_MAX: not known.
 */
static uint64_t left_of(const struct hierarchy *hierarchy, const char *group)
{
	char text[32], stat[8192];
	const uint64_t limit = limit_of(hierarchy, group);
	if (limit == UINT64_MAX ||
	    !read_file_of(hierarchy, group, hierarchy->usage, text, sizeof(text)))
		return UINT64_MAX;
	const char *cached = read_file_of(hierarchy, group, "memory.stat", stat, sizeof(stat))
				     ? strstr(stat, hierarchy->cached)
				     : NULL;
	const uint64_t usage = number_of(text),
		       free = cached ? number_of(cached + strlen(hierarchy->cached)) : 0;
	const uint64_t taken = usage > free ? usage - free : 0;
	return limit > taken ? limit - taken : 0;
}

/* The least of a measure for the process's groups and those above them. */
static uint64_t least_of(uint64_t (*measure)(const struct hierarchy *hierarchy, const char *group))
{
	uint64_t least = UINT64_MAX;
	for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
		char group[PATH_MAX];
		char *slash = find_group(&hierarchies[i], group) ? group : NULL;
		while (slash) {
			uint64_t value = measure(&hierarchies[i], group);
			least = value < least ? value : least;
			slash = strrchr(group, '/');
			if (slash)
				*slash = '\0';
		}
	}
	return least;
}

uint64_t memory_limit(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t least = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
	const uint64_t limit = least_of(limit_of);
	return limit < least ? limit : least;
}

/* The bytes that the machine can still give; UINT64_MAX: nobody knows. */
static uint64_t memory_available(void)
{
	static const char mark[] = "\nMemAvailable:";
	char text[1024];
	const char *at = read_text("/proc/meminfo", text, sizeof(text)) ? strstr(text, mark) : NULL;
	return at ? strtoull(at + sizeof(mark) - 1, NULL, 10) << 10 : UINT64_MAX;
}

uint64_t memory_left(void)
{
	uint64_t limit = memory_limit(), resident = memory_resident();
	uint64_t left = limit > resident ? limit - resident : 0, available = memory_available();
	/* Other processes of the group count, too. */
	uint64_t group = least_of(left_of);
	left = left < available ? left : available;
	return left < group ? left : group;
}

bool memory_is_short(void)
{
	return memory_left() / SHORT_FACTOR < memory_resident();
}

uint64_t memory_share(void)
{
	uint64_t share = memory_left() / 4;
	share = share < SHARE_MOST ? share : SHARE_MOST;
	return share > SHARE_LEAST ? share : SHARE_LEAST;
}
