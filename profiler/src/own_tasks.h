/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_PROFILER_OWN_TASKS_H
#define HEAPDUMP_PROFILER_OWN_TASKS_H

/** How many threads of this process have a name that begins so?  Takes some microseconds for each thread. */
unsigned own_tasks_count(const char *name);

#endif
