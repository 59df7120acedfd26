/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "hangs/wait_groups.h"

struct failed_tries;
struct verdicts;

/**
 * Append "5 of 6 threads wait in Simulation.RunCell (Barrier, 5 of 6 have come)".
 *
 * @param tries what has failed, of all methods
 */
void append_group(struct text *text, const struct waits *waits, const struct wait_group *group,
		  const struct failed_tries *tries);

/**
 * Write the table "groups".
 *
 * @param told so many of them are in the text already; groups->rows_count: all
 */
void write_groups(struct call *call, const struct verdicts *verdicts,
		  const struct wait_groups *groups, size_t told);

/** Write the table "running": threads that do not wait, where the processor is busy. */
void write_running(struct call *call, const struct waits *waits);
