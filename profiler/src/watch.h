/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "level.h"
#include "when.h"

/** The watch looks at this from time to time. */
struct watch {
	const struct when *when;
	uint64_t next;         /**< when the next snapshot of a schedule is due (watch_now()) */
	struct level rss;      /**< resident bytes */
	uint64_t limit_until;  /**< watch_now() until which the limit of that counts */
	struct level heap;     /**< bytes of the heap after a collection */
	struct level growth;   /**< full collections in a row that have left more */
	unsigned heap_rises;   /**< of gc_watch_rises(), how many have been seen */
	struct level pressure; /**< percent of the time that tasks wait for memory */
	struct level high;     /**< 1 while the kernel holds the group back, else 0 */
	uint64_t high_events;  /**< how often it has done that */
	uint64_t high_until;   /**< watch_now() until which it counts as holding back */
};

/** Milliseconds of a clock that never goes back. */
uint64_t watch_now(void);

/** Begin: a schedule counts from now.  @p when must live as long. */
void watch_init(struct watch *watch, const struct when *when);

/** Milliseconds to wait before the next look; -1: nothing needs one. */
int watch_timeout(const struct watch *watch);

/** Look: the reason of a snapshot that is due ("every", "rss", "heap", "growth", "pressure", "high"), or NULL. */
const char *watch_look(struct watch *watch);

/**
 * The snapshot has been taken, or not.  One that failed is tried again while its measure is above the threshold: after
 * 5 seconds, then after twice as long each time, at most 5 minutes.
 */
void watch_taken(struct watch *watch, bool is_taken);
