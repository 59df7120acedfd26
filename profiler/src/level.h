/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** A measure that leads to a snapshot when it rises above its threshold. */
struct level {
	uint64_t threshold;   /**< 0: it is not looked at */
	bool is_above;        /**< it was above it, and has not sunk well below it since */
	bool is_due;          /**< it has led to a snapshot that level_taken() was not told of */
	uint64_t retry;       /**< when a snapshot that failed is tried again; 0: never */
	uint64_t retry_delay; /**< milliseconds from the last failure to the next try */
};

/**
 * Has the measure risen above its threshold, or is it still there and it is time to try again? It must sink 10 % below
 * the threshold before it can rise again.
 *
 * @param now milliseconds, from whenever
 */
bool level_has_risen(struct level *level, uint64_t value, uint64_t now);

/** The snapshot to which it led, if it led to one, has been taken or not. */
void level_taken(struct level *level, bool is_taken, uint64_t now);
