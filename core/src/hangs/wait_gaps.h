/* SPDX-License-Identifier: MIT */
/* Counts the threads and locks that cannot be read: then nobody knows that nothing hangs. */
#pragma once

#include "hangs/waits.h"

enum wait_gap {
	GAP_NO_THREADS, /**< no thread with a stack was found */
	GAP_SOME_THREADS, /**< the list of threads ends too early, or does not fit the process (info) */
	GAP_NO_MONITORS, /**< the table of sync blocks was not found */
	GAP_MONITORS,    /**< the monitors of some objects */
	GAP_RECORDS,     /**< since 11: what the framework says of some threads */
	GAP_NAMES,       /**< the methods that some threads are in have no names */
	GAP_STACKS,      /**< some stacks: what these threads do is not known either */
	GAP_LOCKS, /**< since 11: some threads wait for a monitor, and for which is not known */
	GAP_ASYNC, /**< async calls of which the method, or what they wait for, is not known */
	GAP_FACTS, /**< fields of the framework that were looked for: it has them by other names */
	WAIT_GAPS
};

struct wait_gaps {
	uint64_t
		counts[WAIT_GAPS]; /**< of threads, objects or fields; 1 for what is there or not */
	bool is_any;
};

/** When all is computed that the answer needs: it asks what was looked for, too (framework/absent.h). */
void wait_gaps_find(const struct waits *waits, struct wait_gaps *ret);
