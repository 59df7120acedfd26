/* SPDX-License-Identifier: MIT */
/* Which methods of the program have caught exceptions, and now sleep before they try again? */
#pragma once

#include "hangs/waits.h"

struct job;

/** Fewer exceptions of a method are no sign that it tries again and again. */
#define FAILED_TRIES_MIN 2u
/** Most pairs of a method and a type of exceptions that are counted; those that are met later are left out. */
#define FAILED_TRIES_MAX 256u

/** Exceptions of one type that one method has caught, or that have ended it, and that no collection has freed since. */
struct failed_try {
	char *method;            /**< as users know it: "Shop.Depot.Pull"; owned */
	const struct type *type; /**< of the exceptions */
	uint64_t exception;      /**< the last of them, by address */
	uint64_t count;
};

/** Empty when zero-initialised. */
struct failed_tries {
	struct failed_try rows[FAILED_TRIES_MAX];
	size_t count;
};

/**
 * Count the exceptions of the heap by who has caught them: the outermost method of their stacks that is not of the
 * framework; of a library, the nearest one of the program.  Exceptions that went on into the framework do not count, as
 * nobody there tries again.  Nothing is read where no thread and no call waits for a time.
 *
 * @param[out] ret To be given to failed_tries_deinit(), also on failure; empty before.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the exceptions that the walk for async methods has kept, and in their frames.
 */
HD_NODISCARD enum hd_status failed_tries_find(const struct waits *waits, struct job *job,
					      struct failed_tries *ret, struct hd_error *err);
void failed_tries_deinit(struct failed_tries *tries);

/**
 * The most exceptions of one type that the methods of the program have caught in which @p node waits for a time: on the stack
 * of a thread, or in the chain of an async method.  NULL: there are fewer than FAILED_TRIES_MIN, or it waits for something else.
 */
const struct failed_try *failed_tries_of(const struct failed_tries *tries,
					 const struct waits *waits, uint32_t node);

/** Most nodes that failed_tries_wanted() finds. */
#define TRIERS_MAX 4u

/** A node whose tries have failed, and for which others wait. */
struct trier {
	const struct failed_try *failed;
	uint32_t node;
	uint64_t waiters; /**< threads but a main one, and async calls but its own */
};

/**
 * Find nodes that try again and again, each of another method, and for which others wait.  Cost: linear in nodes; of more than a
 * few thousand that others wait for, the first ones are looked at.
 *
 * @param ends wait_ends()
 * @param[out] ret TRIERS_MAX of them.
 * @param[out] ret_count So many are filled.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status failed_tries_wanted(const struct failed_tries *tries,
						const struct waits *waits, const uint32_t *ends,
						struct trier *ret, size_t *ret_count,
						struct hd_error *err);
