/* SPDX-License-Identifier: MIT */
/* Whether an object leads to another one over a few fields. */
#pragma once

#include "hangs/waits.h"

/** Objects that are looked at, the nearest first; larger ones, arrays and tasks are not followed. */
#define REACH_OBJECTS_MAX 256u

struct reach_way {
	uint64_t address;
	unsigned int levels; /* that are left from there */
	struct object from;  /* its field leads there */
};

/** Look for an object; what is private is room for one look. */
struct wait_reach {
	const struct waits *waits;
	/** Is it what is looked for? */
	bool (*is_wanted)(const struct wait_reach *reach, const struct object *object);
	uint64_t wanted; /**< for is_wanted, */
	void *arg;       /**< as this is */
	uint64_t found;  /**< out: where it is */
	struct object
		from; /**< out: the object whose field leads to it; type NULL: it is the first one itself */
	struct reach_way ways[REACH_OBJECTS_MAX]; /**< private */
};

/** Follow the references of the object at @p address, over @p levels objects at most.  Is there one that is wanted? */
bool wait_reaches(struct wait_reach *reach, uint64_t address, unsigned int levels);

/** is_wanted: the object at @p wanted. */
bool reach_is_object(const struct wait_reach *reach, const struct object *object);
/** is_wanted: a TaskCompletionSource with the task at @p wanted. */
bool reach_is_source(const struct wait_reach *reach, const struct object *object);
