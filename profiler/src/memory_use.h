/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/** Bytes of this process that are resident now; 0: nobody knows.  Takes a few microseconds. */
uint64_t memory_resident(void);

/**
 * Bytes that the process may have: the least limit of its memory cgroup and of those above it (memory.max and
 * memory.high, or memory.limit_in_bytes), or the memory of the machine.
 */
uint64_t memory_limit(void);

/** How often the kernel has held the process's group back at memory.high (cgroups of version 2); false: not known. */
bool memory_high_events(uint64_t *ret);

/**
 * Percent of the last 10 seconds in which a task of the group waited for memory (memory.pressure), or one of the
 * machine (/proc/pressure/memory); false: not known.
 */
bool memory_pressure(uint64_t *ret);

/**
 * Find the path of a process's cgroup in the text of a cgroup file of /proc.
 *
 * @param controller "memory" of version 1, "" for version 2
 * @return false: it has none that can be seen
 */
bool memory_group_of(const char *groups, const char *controller, char path[PATH_MAX]);

/**
 * Bytes that the process may still have: of its limit, and of what the processes of its cgroup, of those above it and of
 * the machine have left.
 */
uint64_t memory_left(void);

/** Is that too little for a walk whose events the runtime keeps until they are read? */
bool memory_is_short(void);

/**
 * Bytes that the large arrays of a snapshot may take in memory, so that the kernel does not end the program for it: a
 * quarter of what the process may still have, at most 1 GB.
 */
uint64_t memory_share(void);
