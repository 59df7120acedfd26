/* SPDX-License-Identifier: MIT */
/* The fields of System.Threading.Lock, which differ by release. */
#pragma once

#include "framework/member.h"

struct lock_fields {
	struct member holder, state, recursion;
	struct member event; /**< what waits for it; since 11 a Condition may be in its place */
	unsigned int waiters_shift; /**< the number of waiters begins at this bit of the state */
};

/** Read them; false: one is missing. */
bool lock_fields_read(struct members *members, const struct object *lock, struct lock_fields *ret);
