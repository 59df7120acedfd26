/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/** The folder of the running test in which /proc and /sys are. */
extern char system_root[32];

/* For the suite: .set_up = system_make, .tear_down = system_remove. */
void system_make(void);
void system_remove(void);

/** Write a file below the root; folders are made. */
void system_put(const char *name, const char *content);
/** The same for a file of a cgroup with a number of bytes. */
void system_put_number(const char *group, const char *name, uint64_t bytes);
