/* SPDX-License-Identifier: MIT */
#include "level.h"

#define LOWER         10u   /* a measure has sunk when it is so many percent below its threshold */
#define RETRY_FIRST   5000u /* milliseconds */
#define RETRY_LONGEST 300000u

bool level_has_risen(struct level *level, uint64_t value, uint64_t now)
{
	if (value > level->threshold) {
		bool is_again = level->retry && now >= level->retry;
		if (level->is_above && !is_again)
			return false;
		level->is_above = level->is_due = true;
		level->retry = 0;
		return true;
	}
	if (value <= level->threshold - level->threshold / (100 / LOWER))
		*level = (struct level){ .threshold = level->threshold };
	return false;
}

void level_taken(struct level *level, bool is_taken, uint64_t now)
{
	if (level->is_due && !is_taken) {
		uint64_t longer = level->retry_delay ? level->retry_delay * 2 : RETRY_FIRST;
		level->retry_delay = longer < RETRY_LONGEST ? longer : RETRY_LONGEST;
		level->retry = now + level->retry_delay;
	}
	level->is_due = false;
}
