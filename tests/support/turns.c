/* SPDX-License-Identifier: MIT */
#include "support/turns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

bool turns_all(void)
{
	const char *value = getenv("HEAPDUMP_TEST_ALL");
	return value && *value && *value != '0';
}

uint64_t turns_seed(void)
{
	static bool is_known;
	static uint64_t seed;
	if (!is_known) {
		const char *value = getenv("HEAPDUMP_TEST_SEED");
		struct timespec now;
		(void)clock_gettime(CLOCK_REALTIME, &now);
		seed = value && *value ? strtoull(value, NULL, 10)
				       : (uint64_t)(now.tv_sec ^ now.tv_nsec) % 1000000;
		is_known = true;
		(void)printf("HEAPDUMP_TEST_SEED=%" PRIu64 "\n", seed);
		(void)fflush(stdout);
	}
	return seed;
}

bool is_turn(uint64_t i, unsigned int share)
{
	return share <= 1 || turns_all() || i % share == turns_seed() % share;
}

uint64_t first_turn(unsigned int share)
{
	return share <= 1 || turns_all() ? 0 : turns_seed() % share;
}

unsigned int turn_step(unsigned int share)
{
	return turns_all() ? 1 : share;
}
