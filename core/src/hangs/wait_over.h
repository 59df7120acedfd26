/* SPDX-License-Identifier: MIT */
/* Threads that were woken, and have not run since. */
#pragma once

#include "hangs/waits.h"

/**
 * Has what the thread waits for happened?  The task is complete, the event is set, the semaphore or the
 * lock is free.  False also when that cannot be read, or the wait is of another kind.
 */
bool wait_is_over(const struct waits *waits, const struct thread_wait *wait);
