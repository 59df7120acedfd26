/* SPDX-License-Identifier: MIT */
#pragma once

#include "faults/io_faults.h"
#include "support/command_run.h"

/** A command line about a target: run once well, then once with each fault. */
struct fault_case {
	const char *target; /**< of hd_session_defer(); NULL: nothing is open */
	const char *line; /**< "OUT" in it is a file in a folder of its own, for what is written */
	const char *settings[4][2]; /**< set before, up to the first NULL */
	unsigned int most;          /**< calls of a kind that are tried each way, evenly spread */
	unsigned int share, turn;   /**< try each @c share-th way, from way @c turn on; 0: all */
	/**
	 * How many of the first @p size bytes of a line are the same each time, -1: the line is not;
	 * NULL: all are.
	 */
	int (*stable)(const char *line, int size);
	const char *unknown; /**< what stands for what is missing; NULL: nothing does */
	bool (*is_ignored)(
		const struct io_fault *fault); /**< faults that change nothing; or NULL */
};

/** Make and remove the folder of "OUT". */
void fault_set_up(void);
void fault_tear_down(void);

/**
 * Run @p one without and with faults; every breach of what is promised fails the test.  Half of the ways are tried, in
 * a build with sanitizers a quarter; the seed says which (support/turns.h).
 */
void fault_check(const struct fault_case *one);

/** Print how many faults of each kind went wrong since the last call. */
void fault_report(const char *what);
