/* SPDX-License-Identifier: MIT */
/* Who has a ReaderWriterLockSlim for reading, and who waits to write. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

struct job;

/** Threads of locks that somebody waits for. */
struct wait_readers {
	struct wait_rows readers; /**< those that read, by the lock's number */
	struct wait_rows writers; /**< those that wait to write, by the lock's address */
	/** The lists of all threads were read: who is in none, and is counted, has ended. */
	bool are_all_read;
};

/**
 * Find them: a lock stores who writes, but of those that read only their number.  Each thread has a
 * list of the locks that it reads, in a thread static variable (doc/coreclr.md 12.11).
 *
 * @param[out] ret To be given to wait_readers_deinit(), also on failure; empty before.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in threads and their lists, when somebody waits for such a lock.
 */
HD_NODISCARD enum hd_status wait_readers_find(const struct waits *waits, struct job *job,
					      struct wait_readers *ret, struct hd_error *err);
void wait_readers_deinit(struct wait_readers *readers);

/**
 * Add to waits->several all threads that must leave the lock that @p wait waits for, and set its
 * unknown_readers and are_readers_gone; nothing when it waits for something else, or a thread writes.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wait_add_readers(const struct wait_readers *readers,
					     struct waits *waits, struct thread_wait *wait,
					     struct hd_error *err);

/** How many read the ReaderWriterLockSlim @p lock; 0 also when somebody writes, or that cannot be read. */
uint64_t wait_lock_readers(const struct waits *waits, const struct object *lock);

/**
 * Does nothing keep the thread out of the ReaderWriterLockSlim any more?  It was woken and has not run
 * since.  False also when it waits for something else, or the lock cannot be read.
 */
bool wait_lock_is_open(const struct waits *waits, const struct thread_wait *wait);
