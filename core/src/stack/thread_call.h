/* SPDX-License-Identifier: MIT */
/* The system call that a thread is in. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct target;

/**
 * Does the thread with that id in the system wait without a limit of time, as its registers say?  False also where
 * that cannot be seen.
 */
bool thread_waits_without_end(const struct target *target, uint64_t os_id);
