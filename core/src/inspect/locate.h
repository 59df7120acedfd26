/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

/** The kind of place that an address is in. */
enum place {
	PLACE_OUTSIDE, /**< no segment of the heap */
	PLACE_OBJECT,  /**< an object starts there */
	PLACE_INSIDE,  /**< inside an object */
	PLACE_BETWEEN, /**< in an allocation context or after the last object: there is no object
		        * yet */
	PLACE_SKIPPED, /**< in a part that a walk skips because of damage */
};

struct location {
	enum place place;
	const struct segment *segment; /**< NULL: outside */
	struct damage damage;          /**< PLACE_SKIPPED: the damage that the walk met */
	struct object object;          /**< at or around the address; type NULL: none */
	struct object before, next;    /**< the last object before, the first object after;
				        * likewise */
};

/**
 * Find out what lies at and around @p address.  Walks its segment from the beginning up to there.
 *
 * @param job May be NULL.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status object_locate(struct heap *heap, uint64_t address, struct job *job,
					  struct location *ret, struct hd_error *err);
