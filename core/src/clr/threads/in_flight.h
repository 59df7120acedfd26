/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_IN_FLIGHT_H
#define HEAPDUMP_SRC_CLR_IN_FLIGHT_H

#include "clr/clr.h"

/**
 * A walk along the exceptions of a thread that are in flight, innermost first: the ExInfos of 9 and
 * later lie on its stack (exinfo.h), the ExceptionTrackers of 8 in memory of their own
 * (exceptionhandling.h).
 */
struct in_flight {
	const struct clr *clr;
	uint64_t thread;       /**< address of the Thread */
	uint64_t at;           /**< of the current one's record, 0: there are no more */
	uint64_t mark;         /**< a record met before (Brent), to see a ring */
	uint64_t steps, power; /**< since that mark; at how many the next is set */
	bool is_broken; /**< the list cannot be read on, leads back, or to another thread's */
};

/** Begin at the innermost one of @p thread; there is none where the runtime's list is not known. */
void in_flight_begin(struct in_flight *flight, const struct clr *clr, uint64_t thread);
/** Go on to the one that was in flight before the current one was thrown. */
void in_flight_next(struct in_flight *flight);

#endif
