/* SPDX-License-Identifier: MIT */
/* Who probably has a semaphore that somebody waits for. */
#pragma once

#include "hangs/waits.h"

/** How a node refers to a semaphore. */
enum holder_kind {
	HOLDER_OWN,   /**< by itself, or by what it was given */
	HOLDER_CLASS, /**< by a field of its "this", which all methods of the class can use */
	HOLDER_WAITS, /**< in any way, but it leads to a wait for this very semaphore */
	HOLDER_KINDS
};

/** A semaphore that is used like a lock, as far as its fields tell, and is not free. */
struct held_semaphore {
	uint64_t address;
	bool is_mutex; /**< its highest count is 1; else it has none: it may be a signal */
	/** By enum holder_kind: the node that refers to it, and does not wait for it itself; or WAIT_NOBODY. */
	uint32_t holders[HOLDER_KINDS];
	bool are_several[HOLDER_KINDS]; /**< which then is not known */
};

/** Ascending by address. */
struct held_semaphores {
	struct held_semaphore *rows;
	size_t rows_count, rows_capacity;
};

/**
 * Find them.  Nothing stores who has a semaphore: a thread whose frames refer to it outside of its
 * own wait, or an async method whose state machine does and that has passed an await, may have it.
 *
 * @param[out] ret To be given to held_semaphores_deinit(), also on failure; empty before.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in roots and async methods, when somebody waits for a semaphore.
 */
HD_NODISCARD enum hd_status held_semaphores_find(const struct waits *waits, struct job *job,
						 struct held_semaphores *ret, struct hd_error *err);
void held_semaphores_deinit(struct held_semaphores *semaphores);

/** The innermost method of the chain that @p node is in or, if it is a thread, waits for; ASYNC_NO_NODE: none. */
uint32_t wait_chain_end(const struct waits *waits, uint32_t node);

/** The node that probably has the semaphore at @p address, or WAIT_NOBODY: none, or one of several. */
uint32_t held_semaphore_holder(const struct held_semaphores *semaphores, uint64_t address);
