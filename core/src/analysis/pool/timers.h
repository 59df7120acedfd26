/* SPDX-License-Identifier: MIT */
/* Timers that are set: System.Threading.Timer and what is built on it. */
#pragma once

#include "framework/member.h"

/** A TimerQueueTimer in a list of a TimerQueue. */
struct set_timer {
	uint64_t address;
	uint64_t state; /**< the object that the callback gets, or 0 */
	int64_t due_at; /**< milliseconds of the system's clock since its start (CLOCK_MONOTONIC) */
	uint32_t due;   /**< milliseconds after it was set */
	uint32_t period; /**< milliseconds; UINT32_MAX: it fires only once */
};

struct set_timers {
	struct set_timer *rows;
	size_t rows_count, rows_capacity;
	/**
	 * The latest moment that a timer or the thread pool has noted, on the clock of due_at: the
	 * process was stopped then or later; INT64_MIN: not known.
	 */
	int64_t latest;
	bool is_known;  /**< false: the queues of timers were not found, none was ever set */
	bool is_broken; /**< a list could not be read to its end */
};

/**
 * Read all timers that are set.  A timer that was cancelled or has fired for the last time is in no
 * list.
 *
 * @param[out] ret To be given to set_timers_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the timers.
 */
HD_NODISCARD enum hd_status set_timers_read(struct heap *heap, struct members *members,
					    struct job *job, struct set_timers *ret,
					    struct hd_error *err);
void set_timers_deinit(struct set_timers *timers);
