/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "util/text.h"

/**
 * The differences between the two versions of cgroups (cgroup-v1/memory.rst, cgroup-v2.rst of the
 * kernel).
 */
struct cgroup_version {
	uint32_t number; /**< 1 or 2 */
	const char *controller, *folder;
	const char *usage, *cache; /**< a file; a word in memory.stat */
	const char *limits[2];     /**< files; the second one may be NULL */
};

/** A cgroup, or one above it: a folder of the kernel's. */
struct cgroup_place {
	const struct cgroup_version *version;
	char folder[PATH_MAX];
	size_t top; /**< how long the path of the uppermost cgroup is */
};

/** The versions; the first one counts memory where both are there. */
extern const struct cgroup_version cgroup_versions[2];

/**
 * The folder of the cgroup that @p text, a cgroup file of /proc, names; false: there is none, or it
 * lies above what is visible here.
 */
bool cgroup_place_find(const char *root, const char *text, const struct cgroup_version *version,
		       struct cgroup_place *ret);
/** Go to the cgroup above; false: this was the uppermost one. */
bool cgroup_place_up(struct cgroup_place *place);

/** Append the file NAME of the folder; false: it cannot be read, or is empty. */
bool cgroup_read(const struct cgroup_place *place, const char *name, struct text *ret);
/** Read a number; false also for "max". */
bool cgroup_read_number(const struct cgroup_place *place, const char *name, uint64_t *ret);
/** The number after the word @p key, which begins a line of @p text; false: there is none. */
bool cgroup_number_of(const char *text, const char *key, uint64_t *ret);
/** The least of the limits; false: there is none. */
bool cgroup_read_limit(const struct cgroup_place *place, uint64_t *ret);
/**
 * The least of the limits, and the bytes that it still allows: file pages that the kernel can drop count as free.
 * @return false: there is no limit, or the use is not known
 */
bool cgroup_read_left(const struct cgroup_place *place, uint64_t *ret_limit, uint64_t *ret);

/** Append /proc/PID/cgroup below @p root; false: it cannot be read. */
bool cgroup_read_names(const char *root, int pid, struct text *ret);
