/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * Start a thread of the profiler's own, which nobody joins: it takes none of the program's signals.
 *
 * @return errno, or 0
 */
int own_thread_start(void *(*run)(void *arg), void *arg);
