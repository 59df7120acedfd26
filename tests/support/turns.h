/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_TESTS_TURNS_H
#define HEAPDUMP_TESTS_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Of a long test only a part is run each time, and another one the next time.  HEAPDUMP_TEST_ALL=1 (scripts/test.sh
 * --all) runs all of it.  What begins again each time is printed as HEAPDUMP_TEST_SEED=N: set it to have the same part.
 */

/** Has all been asked for? */
bool turns_all(void);
/** The number that the parts depend on; printed when it is first asked for. */
uint64_t turns_seed(void);
/** Is it the turn of @p i, when one of @p share has it? */
bool is_turn(uint64_t i, unsigned int share);
/** Below @p share: the first of them.  0 when all has been asked for. */
uint64_t first_turn(unsigned int share);
/** @p share, or 1 when all has been asked for: from one turn to the next. */
unsigned int turn_step(unsigned int share);

/** One of how many, in a build with sanitizers (@p sanitized) and in others (@p plain): there all takes much longer. */
static inline unsigned int share_of(unsigned int plain, unsigned int sanitized)
{
#ifdef __SANITIZE_ADDRESS__
	(void)plain;
	return sanitized;
#else
	(void)sanitized;
	return plain;
#endif
}

#endif
