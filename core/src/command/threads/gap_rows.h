/* SPDX-License-Identifier: MIT */
/* Writes the threads and locks that cannot be read, as rows of an answer. */
#pragma once

#include "command/call.h"
#include "hangs/wait_gaps.h"

/** The line over it, where waits are listed. */
#define GAPS_OF_WAITS \
	"Not all threads and locks can be read, so who waits for whom may not be seen.\n"

/**
 * Write the table "gaps".  Text shows it under the line @p head, which ends with a newline; JSON has it
 * empty when nothing is missing.
 */
void write_gap_rows(struct call *call, const struct wait_gaps *gaps, const char *head);
