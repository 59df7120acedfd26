/* SPDX-License-Identifier: MIT */
/* Requests of an ASP.NET Core server that all wait at the same place of the program. */
#pragma once

#include "hangs/waits.h"

struct job;

/** Fewer may be long polls, for which a request that is still to come has news. */
#define STUCK_REQUESTS_MIN 50u

struct stuck_requests {
	uint64_t count; /**< so many wait there; 0: there is no such place */
	uint64_t all;   /**< requests that are in a method of the program */
	uint32_t own;   /**< a node of waits->async: the method of the program */
	uint32_t end;   /**< a node: the innermost method of that request */
};

/**
 * Find the method of the program in which the most requests wait for a TaskCompletionSource without a limit of
 * time: STUCK_REQUESTS_MIN or more, and three quarters of all requests, while the program is quiet (wait_quiet.h): in
 * another one, a timer, a socket or a thread may bring what they wait for, as to batches and long polls.  A request that
 * waits for a socket, a delay or a channel has its own way to go on, and one at a semaphore its turn.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in async methods, but for sorting.
 */
HD_NODISCARD enum hd_status stuck_requests_find(const struct waits *waits, struct job *job,
						struct stuck_requests *ret, struct hd_error *err);
