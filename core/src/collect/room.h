/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How large the buffer for a process's heap events has to be, and how large it may be. */
struct room {
	uint64_t anonymous; /**< bytes of its anonymous memory, with what is swapped out: the heap
			     * is part of it */
	uint64_t needed;    /**< estimated bytes */
	uint64_t free;      /**< bytes that it can allocate without harm; 0: not known */
	bool is_cgroup;     /**< the limit comes from its cgroup */
};

/**
 * Look at a process; what cannot be read counts as unknown.
 *
 * @param[in] root Where /proc and /sys are: "" except in tests.
 */
void room_read(const char *root, int pid, struct room *ret);

/** The first buffer to ask for, bytes. */
uint64_t room_first(const struct room *room);

/** The largest one, bytes. */
uint64_t room_largest(const struct room *room);

/** How many seconds a snapshot of the process may take, on a slow machine. */
uint64_t room_seconds(const struct room *room);
