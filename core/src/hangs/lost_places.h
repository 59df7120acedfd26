/* SPDX-License-Identifier: MIT */
/*
 * Semaphores without a free place, of which the code and all calls in flight say that nobody has one, or only calls that try
 * something again and again.
 */
#pragma once

#include "hangs/waits.h"

struct wait_graph;

/** Most that are looked at. */
#define LOST_PLACES_MAX 16u

/** Bytes of a name: that of semaphore_code.h. */
#define LOST_NAME_SIZE 192u

struct lost_place {
	uint64_t semaphore;
	uint64_t places;           /**< that it has; 0: nothing tells */
	uint64_t threads, methods; /**< so many wait for it */
	uint32_t first;            /**< a node that does: an async method, if one does */
	uint64_t
		calls; /**< of methods that take places, or give them back: none has passed the wait */
	char field[LOST_NAME_SIZE];                            /**< where it is */
	char enters[LOST_NAME_SIZE], releases[LOST_NAME_SIZE]; /**< semaphore_code */
	/** Calls that have a place, all of which wait for a time between tries of what fails; 0: nobody has one. */
	uint64_t holders;
	uint32_t holder; /**< a row of waits->async: one of them, */
	uint32_t trier;  /**< and the method that tries, in it or in another one */
	uint32_t tries;  /**< each has counted so many at least */
	bool is_dropped; /**< another verdict says more */
};

struct lost_places {
	struct lost_place rows[LOST_PLACES_MAX];
	size_t rows_count;
};

/**
 * Find semaphores that only fields of the program lead to, besides those who wait for them, where the code takes and gives
 * back places in pairs (semaphore_code.h), and no call of it which could give one back has passed its wait, but for those that wait
 * for a time and have a variable which counts tries; nor is there an object that would do so in Dispose.
 *
 * @param graph Opened where such a semaphore is waited for.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in nodes; for each semaphore, in the references of the heap and the code of the program.
 */
HD_NODISCARD enum hd_status lost_places_find(const struct waits *waits, struct wait_graph *graph,
					     struct job *job, struct lost_places *ret,
					     struct hd_error *err);

/** The row of a semaphore, or NULL. */
struct lost_place *lost_place_of(struct lost_places *places, uint64_t semaphore);
