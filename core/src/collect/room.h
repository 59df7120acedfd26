/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COLLECT_ROOM_H
#define HEAPDUMP_SRC_COLLECT_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How large a buffer a process needs for its heap's events, and how large it may be. */
struct room {
	uint64_t anonymous; /**< bytes of its own memory, swapped ones too: its heap is in there */
	uint64_t needed;    /**< bytes, at a guess */
	uint64_t free;      /**< bytes that it can take without harm; 0: not known */
	bool is_cgroup;     /**< a limit of its cgroup is what bounds it */
};

/**
 * Look at a process; what cannot be read counts as unknown.
 *
 * @param[in] root Where /proc and /sys are: "", but in tests.
 */
void room_read(const char *root, int pid, struct room *ret);

/** The first buffer to ask for, bytes. */
uint64_t room_first(const struct room *room);

/** The largest one, bytes. */
uint64_t room_largest(const struct room *room);

#endif
