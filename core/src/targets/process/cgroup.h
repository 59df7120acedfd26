/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/**
 * Path of a controller's cgroup in the text of a cgroup file: "memory" of version 1, "" of version
 * 2.  @return its length, 0: none.
 */
size_t cgroup_parse(const char *text, const char *controller, const char **ret);

/**
 * Bytes that the limits of a process's cgroup, and of those above it, still allow, for both
 * versions (memory.max and memory.high; memory.limit_in_bytes).  File pages that the kernel can
 * drop count as free.  UINT64_MAX: no limit.
 *
 * @param[in] root Where /proc and /sys are: "" except in tests.
 */
uint64_t cgroup_free(const char *root, int pid);
