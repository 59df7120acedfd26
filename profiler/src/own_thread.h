/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_PROFILER_OWN_THREAD_H
#define HEAPDUMP_PROFILER_OWN_THREAD_H

/**
 * Start a thread of the profiler's own, which nobody joins: it takes none of the program's signals.
 *
 * @return errno, or 0
 */
int own_thread_start(void *(*run)(void *arg), void *arg);

#endif
