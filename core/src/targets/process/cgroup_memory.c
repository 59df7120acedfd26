/* SPDX-License-Identifier: MIT */
/* Reads what a cgroup tells of its memory, in both versions (doc/memory.md 8.3). */
#include "targets/process/cgroup_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/process/cgroup_place.h"
#include "targets/process/proc.h"
#include "util/alloc.h"

/* The part of a minute for which a task waits, in hundredths of a per cent. */
#define PRESSURE_MIN 100u

/* Where a number is: a file, and a word in it, "" for a file with one number; NULL: nowhere. */
struct source {
	const char *file, *key;
};

static const struct {
	struct source versions[2]; /* as in cgroup_versions */
} sources[CGROUP_NUMBERS] = {
	[CGROUP_CURRENT] = { { { "memory.usage_in_bytes", "" }, { "memory.current", "" } } },
	[CGROUP_PEAK] = { { { "memory.max_usage_in_bytes", "" }, { "memory.peak", "" } } },
	[CGROUP_SWAP] = { { { "memory.stat", "total_swap" }, { "memory.swap.current", "" } } },
	[CGROUP_ANON] = { { { "memory.stat", "total_rss" }, { "memory.stat", "anon" } } },
	[CGROUP_FILE] = { { { "memory.stat", "total_cache" }, { "memory.stat", "file" } } },
	[CGROUP_SHMEM] = { { { "memory.stat", "total_shmem" }, { "memory.stat", "shmem" } } },
	[CGROUP_KERNEL] = { { { "memory.kmem.usage_in_bytes", "" }, { "memory.stat", "kernel" } } },
	[CGROUP_DROPPABLE] = { { { "memory.stat", "total_inactive_file" },
				 { "memory.stat", "inactive_file" } } },
	[CGROUP_HIGH] = { { { NULL, NULL }, { "memory.events", "high" } } },
	[CGROUP_MAX] = { { { "memory.failcnt", "" }, { "memory.events", "max" } } },
	[CGROUP_OOM] = { { { NULL, NULL }, { "memory.events", "oom" } } },
	[CGROUP_KILLED] = { { { "memory.oom_control", "oom_kill" },
			      { "memory.events", "oom_kill" } } },
};

bool cgroup_number(const struct cgroup_memory *group, enum cgroup_number number, uint64_t *ret)
{
	if (!(group->known & 1u << number))
		return false;
	*ret = group->numbers[number];
	return true;
}

static void read_numbers(const struct cgroup_place *place, struct cgroup_memory *group)
{
	size_t version = (size_t)(place->version - cgroup_versions);
	const char *last = NULL;
	struct text text = { 0 };
	for (unsigned int i = 0; i < CGROUP_NUMBERS; i++) {
		const struct source *source = &sources[i].versions[version];
		if (!source->file)
			continue;
		if (!last || strcmp(last, source->file) != 0) {
			text_deinit(&text);
			text = (struct text){ 0 };
			(void)cgroup_read(place, source->file, &text);
			last = source->file;
		}
		if (text.size && cgroup_number_of(text.bytes, source->key, &group->numbers[i]))
			group->known |= 1u << i;
	}
	text_deinit(&text);
}

/* "0.12", with two digits after the point, in hundredths. */
static bool parse_hundredths(const char *text, uint32_t *ret)
{
	char *end;
	if (*text < '0' || *text > '9')
		return false;
	unsigned long whole = strtoul(text, &end, 10);
	if (whole > 100 || *end != '.' || strspn(end + 1, "0123456789") != 2)
		return false;
	*ret = (uint32_t)(whole * 100 + strtoul(end + 1, NULL, 10));
	return true;
}

bool cgroup_pressure_parse(const char *text, const char *word, struct cgroup_pressure *ret)
{
	static const char *const names[] = { " avg10=", " avg60=", " avg300=" };
	struct cgroup_pressure pressure = { .is_known = true };
	size_t size = strlen(word);
	const char *line = text;
	while (line && (strncmp(line, word, size) != 0 || line[size] != ' ')) {
		const char *newline = strchr(line, '\n');
		line = newline ? newline + 1 : NULL;
	}
	if (!line)
		return false;
	const char *at = line;
	for (size_t i = 0; i < 3; i++) {
		at = strstr(at, names[i]);
		if (!at || !parse_hundredths(at + strlen(names[i]), &pressure.average[i]))
			return false;
	}
	at = strstr(at, " total=");
	if (!at)
		return false;
	pressure.total = strtoull(at + strlen(" total="), NULL, 10);
	*ret = pressure;
	return true;
}

/* Version 1 does not count it for each cgroup. */
static void read_pressure(const char *root, const struct cgroup_place *place,
			  struct cgroup_memory *group)
{
	HD_CLEANUP(text) struct text text = { 0 };
	char path[PATH_MAX];
	if (!cgroup_read(place, "memory.pressure", &text)) {
		int size = snprintf(path, sizeof(path), "%s/proc/pressure/memory", root);
		if (size > 0 && (size_t)size < sizeof(path) && proc_read_path(path, &text))
			group->is_machine = text.size != 0;
	}
	if (text.size) {
		(void)cgroup_pressure_parse(text.bytes, "some", &group->some);
		(void)cgroup_pressure_parse(text.bytes, "full", &group->full);
	}
}

/* The path of the cgroup itself, "/" for the uppermost one. */
static char *path_of(const struct cgroup_place *place)
{
	const char *path = place->folder + place->top;
	return *path ? mem_strndup(path, strlen(path)) : mem_strndup("/", 1);
}

/* Where the numbers were found the cgroup itself ends: what the levels below have is its own. */
static char *path_of_level(const struct cgroup_place *place, const struct cgroup_memory *group,
			   bool is_own)
{
	return is_own ? mem_strndup(group->path, strlen(group->path)) : path_of(place);
}

/* Note what the limits of a level say; false: memory is exhausted. */
static bool read_level(const struct cgroup_place *place, bool is_own, struct cgroup_memory *group)
{
	struct cgroup_bound *tight = &group->tight;
	uint64_t limit, left;
	if (cgroup_read_limit(place, &limit) && limit < group->limit) {
		mem_free(group->limit_path);
		group->limit = limit;
		group->limit_path = path_of_level(place, group, is_own);
		if (!group->limit_path)
			return false;
	}
	if (!cgroup_read_left(place, &limit, &left))
		return true;
	group->is_tight |= left <= limit / 10;
	if (tight->path && tight->left <= left)
		return true;
	mem_free(tight->path);
	*tight = (struct cgroup_bound){ path_of_level(place, group, is_own), limit, left };
	return tight->path != NULL;
}

/* In a container the folder may be that of a cgroup above, which is all that is mounted. */
static bool read_places(const char *root, struct cgroup_place *place, struct cgroup_memory *group)
{
	group->version = place->version->number;
	group->path = path_of(place);
	bool is_ok = group->path != NULL;
	do {
		bool is_own = !group->known;
		if (is_own) {
			read_numbers(place, group);
			if (group->known)
				read_pressure(root, place, group);
		}
		is_ok = is_ok && read_level(place, is_own, group);
	} while (cgroup_place_up(place));
	group->is_tight |= group->some.is_known && group->some.average[1] >= PRESSURE_MIN;
	return is_ok && group->known;
}

bool cgroup_memory_read(const char *root, int pid, struct cgroup_memory *ret)
{
	struct text text = { 0 };
	bool is_read = false;
	for (size_t i = 0; i < 2 && !is_read && cgroup_read_names(root, pid, &text); i++) {
		struct cgroup_memory group = { .limit = UINT64_MAX };
		struct cgroup_place place;
		if (cgroup_place_find(root, text.bytes, &cgroup_versions[i], &place))
			is_read = read_places(root, &place, &group);
		if (is_read) {
			*ret = group;
		} else {
			cgroup_memory_deinit(&group);
		}
		text_deinit(&text);
		text = (struct text){ 0 };
	}
	text_deinit(&text);
	return is_read;
}

void cgroup_memory_deinit(struct cgroup_memory *group)
{
	mem_free(group->path);
	mem_free(group->limit_path);
	mem_free(group->tight.path);
	*group = (struct cgroup_memory){ .limit = UINT64_MAX };
}
