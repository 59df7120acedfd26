/* SPDX-License-Identifier: MIT */
/* Locks whose holder will never leave them: it has ended, or it is idle in the thread pool. */
#pragma once

#include "hangs/waits.h"

enum lock_holder {
	HOLDER_OTHER, /**< a thread that may leave it, nobody, or that is not known */
	HOLDER_ENDED, /**< a thread that has ended */
	HOLDER_IDLE, /**< a thread of the runtime that has nothing to do, and nothing on its stack; or several */
};

/**
 * Who holds the lock that a thread waits for: a monitor, a Lock, or a ReaderWriterLockSlim that somebody
 * writes; or that others read, and the thread itself waits to write.  HOLDER_ENDED only where all threads are
 * known, for else the holder may be one that is not.  Of several that read, HOLDER_IDLE only where all are known,
 * and each is an idle worker of the thread pool: such a lock was probably entered before an await and left after it,
 * on another thread.
 *
 * Cost: for a writer linear in those that read.
 *
 * @param[out] ret_lock The object of the lock; set when it is not HOLDER_OTHER.
 */
enum lock_holder wait_lock_holder(const struct waits *waits, const struct thread_wait *wait,
				  uint64_t *ret_lock);
