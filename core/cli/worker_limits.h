/* SPDX-License-Identifier: MIT */
#pragma once

#include "worker.h"

/*
 * How much address space a worker may have: this depends on max-mem, on the files that it has
 * mapped, and on its threads.
 */

/** Measure how much a worker has at its start; this sets no limit yet. */
void worker_limits_begin(struct worker *worker);

/** Set the limit for a command whose words name @p names. */
void worker_limits_set(struct cli *cli, struct worker *worker,
		       const struct hd_command_names *names);

/**
 * Let the worker also map the file @p fd, which was opened for it as @p as (an enum hd_open_as).
 */
void worker_limits_count(const struct cli *cli, struct worker *worker, int as, int fd);
