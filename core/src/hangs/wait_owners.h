/* SPDX-License-Identifier: MIT */
/* Names the fields of the program that have the things for which many wait. */
#pragma once

#include "gc/heap.h"

struct job;

/** Things that are looked for at once. */
#define WAIT_OWNERS_MAX 16u
/** Longer names are left out. */
#define WAIT_OWNER_SIZE 192u

struct wait_owner {
	uint64_t object;
	char field[WAIT_OWNER_SIZE]; /**< "Shop.Feed._events"; "": not known, or none */
};

struct wait_owners {
	struct wait_owner rows[WAIT_OWNERS_MAX];
	size_t count;
};

/**
 * Find a field of a class that is not of the framework, or a static one, for each object of @p owners: the first in order of address
 * of who has it.  Fields of what the compiler makes for lambdas and async methods do not count.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: a walk of the heap that reads the references of objects of the program.
 */
HD_NODISCARD enum hd_status wait_owners_find(struct heap *heap, struct wait_owners *owners,
					     struct job *job, struct hd_error *err);

/** The field that has @p object; NULL: not known. */
const char *wait_owner_field(const struct wait_owners *owners, uint64_t object);
