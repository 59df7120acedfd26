/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_LIMITS_H
#define HEAPDUMP_CLI_LIMITS_H

#include "worker.h"

/* How much address space a worker may have: by max-mem, the files that it has mapped, and its threads. */

/** Measure what a worker begins with; nothing is limited yet. */
void limits_begin(struct worker *worker);

/** Set the limit for a command whose words name @p names. */
void limits_set(struct cli *cli, struct worker *worker, const struct hd_command_names *names);

/** Let the worker map the file @p fd, too, which was opened for it as @p as (an enum hd_open_as). */
void limits_count(const struct cli *cli, struct worker *worker, int as, int fd);

#endif
