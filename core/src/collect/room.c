/* SPDX-License-Identifier: MIT */
#include "collect/room.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/process/cgroup.h"
#include "targets/process/proc.h"

#define MEGABYTE        ((uint64_t)1 << 20)
#define BUFFER_MIN      (64 * MEGABYTE)
#define BUFFER_MAX      (UINT64_C(0xffffffff) * MEGABYTE)
#define FREE_UNKNOWN    (1024 * MEGABYTE)
#define SECONDS_LEAST   60u
#define WALK_PER_SECOND (64 * MEGABYTE) /* of a slow machine */

void room_read(const char *root, int pid, struct room *ret)
{
	char proc[PATH_MAX], process[PATH_MAX];
	(void)snprintf(proc, sizeof(proc), "%s/proc/meminfo", root);
	(void)snprintf(process, sizeof(process), "%s/proc/%d/status", root, pid);
	*ret = (struct room){ 0 };
	struct text text = { 0 };
	if (proc_read_path(proc, &text) && text.bytes)
		ret->free = kilobytes_parse(text.bytes, "MemAvailable");
	text_deinit(&text);
	if (pid && proc_read_path(process, &text) && text.bytes) {
		ret->anonymous = kilobytes_parse(text.bytes, "RssAnon") +
				 kilobytes_parse(text.bytes, "VmSwap");
	}
	text_deinit(&text);
	uint64_t group = pid ? cgroup_free(root, pid) : UINT64_MAX;
	if (group != UINT64_MAX && (!ret->free || group < ret->free)) {
		ret->free = group;
		ret->is_cgroup = true;
	}
	/*
	 * An object takes at least 24 bytes and its event 32; a reference takes 8 bytes and its
	 * event 12.  The worst case is a heap of objects with one reference each: 44 bytes of
	 * events for 24 bytes.
	 */
	ret->needed = ret->anonymous * 2 + BUFFER_MIN;
}

uint64_t room_largest(const struct room *room)
{
	/* A quarter of the free memory stays free, because the file goes through the page cache. */
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

uint64_t room_seconds(const struct room *room)
{
	return SECONDS_LEAST + room->anonymous / WALK_PER_SECOND;
}
