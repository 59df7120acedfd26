/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/**
 * A walk over the exceptions of a thread that are in flight, innermost first.  The ExInfos of 9 and
 * later lie on its stack (exinfo.h), the ExceptionTrackers of 8 in memory of their own
 * (exceptionhandling.h).
 */
struct in_flight {
	const struct runtime *runtime;
	uint64_t thread;       /**< address of the Thread */
	uint64_t at;           /**< address of the current exception's record, 0: there are no
			        * more */
	uint64_t mark;         /**< an earlier record, to detect a ring (Brent's algorithm) */
	uint64_t steps, power; /**< steps since that mark; after how many steps the next mark is
			        * set */
	bool is_broken; /**< the list cannot be read further, leads back to itself, or leads to
			 * another thread's exceptions */
};

/** Is it known which exceptions of threads are in flight? */
bool in_flight_is_known(const struct runtime *runtime);
/**
 * Begin at the innermost exception of @p thread; there is none if the runtime's list is not known.
 */
void in_flight_begin(struct in_flight *flight, const struct runtime *runtime, uint64_t thread);
/** Go on to the exception that was in flight when the current one was thrown. */
void in_flight_next(struct in_flight *flight);
/** The handle of the current exception, 0: none; false when it cannot be read. */
bool in_flight_handle(const struct in_flight *flight, uint64_t *ret);
