/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "util/alloc.h"

/*
 * The rule for all readers, as a fuzz target sees it: time and memory are at most linear in the
 * input's bytes.  For an input of n bytes one call may
 *
 *	have LINEAR_MEMORY_FLOOR + LINEAR_MEMORY_FACTOR * n bytes of util/alloc at once,
 *	take LINEAR_TIME_FLOOR + LINEAR_TIME_FACTOR * n nanoseconds of this thread's time.
 *
 * The factors are what the worst rows of sound files need (a reference of two bytes in a .gcdump, an
 * object of eight in a text log), doubled; the floors are for tables whose size does not depend on
 * the input, and for sanitizers.  What is quadratic passes them even so: 64 kB squared are 4 * 10^9
 * steps.  A packed file counts as what it may be unpacked to: max-mem.
 */
#define LINEAR_MEMORY_FLOOR  ((uint64_t)32 << 20)
#define LINEAR_MEMORY_FACTOR 128u
#define LINEAR_TIME_FLOOR    1000000000u
#define LINEAR_TIME_FACTOR   10000u

struct linear {
	uint64_t size;   /**< of the input */
	uint64_t before; /**< bytes that were allocated when it began */
	uint64_t begin;  /**< nanoseconds */
};

static inline uint64_t linear_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** Begin to measure a call about @p size bytes of input. */
static inline struct linear linear_begin(uint64_t size)
{
	alloc_peak_reset();
	return (struct linear){ .size = size, .before = alloc_live(), .begin = linear_now() };
}

/** End it; @p what names the call.  Aborts when it took more than it may. */
static inline void linear_end(const struct linear *linear, const char *what)
{
	uint64_t time = linear_now() - linear->begin;
	uint64_t bytes = alloc_peak() - linear->before;
	uint64_t most_time = LINEAR_TIME_FLOOR + LINEAR_TIME_FACTOR * linear->size;
	uint64_t most_bytes = LINEAR_MEMORY_FLOOR + LINEAR_MEMORY_FACTOR * linear->size;
	if (time <= most_time && bytes <= most_bytes)
		return;
	(void)fprintf(stderr, "%s: %g s and %g MB for an input of %g kB: more than linear\n", what,
		      (double)time / 1e9, (double)bytes / 1e6, (double)linear->size / 1e3);
	abort();
}
