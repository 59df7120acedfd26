/* SPDX-License-Identifier: MIT */
#include "support/turns.h"

#include <stdlib.h>

bool turns_all(void)
{
	const char *value = getenv("HEAPDUMP_TEST_ALL");
	return value && *value && *value != '0';
}

uint64_t turns_seed(void)
{
	const char *value = getenv("HEAPDUMP_TEST_SEED");
	return value && *value ? strtoull(value, NULL, 10) : 1;
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
