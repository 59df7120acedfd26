/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A test that would take long runs only a part of what it could run, and always the same part: that of seed 1.  The
 * environment variable HEAPDUMP_TEST_SEED=N chooses another part, HEAPDUMP_TEST_ALL=1 runs everything.  Only
 * scripts/campaign.sh sets them.
 */

/** Has all been asked for? */
bool turns_all(void);
/** The number that the parts depend on; 1 unless the environment names another. */
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
