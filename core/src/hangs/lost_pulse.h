/* SPDX-License-Identifier: MIT */
/* Threads that wait in Monitor.Wait of one object for different conditions, and nobody who still pulses. */
#pragma once

#include "hangs/waits.h"

struct job;

struct lost_pulse {
	uint64_t object;                 /**< whose monitor it is */
	uint64_t threads;                /**< so many wait there */
	const struct thread_wait *many;  /**< the first in the method in which the most wait */
	const struct thread_wait *other; /**< the first in another method */
	uint64_t many_method;  /**< the MethodDesc of that method; it may wait by another one */
	uint64_t other_method; /**< likewise */
	uint64_t alike, other_alike; /**< so many wait in these methods */
};

/** Most of them that are kept. */
#define LOST_PULSES_MAX 8u

struct lost_pulses {
	struct lost_pulse rows[LOST_PULSES_MAX];
	size_t rows_count;
};

/**
 * Find monitors that nobody holds, and in whose Monitor.Wait threads wait without a limit of time, from several methods of one
 * class, whose code calls Monitor.Pulse and never PulseAll, itself or, where they all wait by one method of another class that asks a delegate, by such: it may have woken one who waits for something else.  None of which
 * another thread or async method, which does not wait for these, is in a method whose code pulses or calls one of that class that does, or of which a timer or
 * a work item has the object.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in threads and async methods; if there is such a monitor, in the code of its class's module and of the methods of
 * the program that run or wait, too.
 */
HD_NODISCARD enum hd_status lost_pulses_find(const struct waits *waits, struct job *job,
					     struct lost_pulses *ret, struct hd_error *err);
