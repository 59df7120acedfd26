/* SPDX-License-Identifier: MIT */
/* Things that nobody has but those who wait for them. */
#pragma once

#include "hangs/wait_things.h"

struct wait_graph;

/**
 * Set is_alone of things to which no root leads but over those who wait for them without a limit, or wait for these in turn;
 * and add those for which fewer wait than wait_things_find() asks for, if a thread that should end waits for them, directly or not, or
 * a request of a server: SemaphoreSlim, channel, BlockingCollection, ManualResetEventSlim, Barrier, CountdownEvent, the object of a
 * Monitor.Wait, a task of a TaskCompletionSource, and one that was never started.
 *
 * Who has none of these cannot release, write, set, or complete it, so this is certain.  It is nothing that a weak reference leads to
 * the thing itself, but somebody that it leads to an object which has the thing; and somebody is what is dead and has a finalizer of the
 * program.
 * The main thread that waits on purpose is left out (wait_parked.h).  Several such things may be alone together: those that only lead to each other.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in nodes; where such a thing is waited for, a few times in the objects of the heap and their references.
 */
HD_NODISCARD enum hd_status wait_alone_find(const struct waits *waits, struct wait_graph *graph,
					    struct job *job, struct wait_things *things,
					    struct hd_error *err);

/**
 * The event or semaphore of its own for which a task, a collection, a countdown or a barrier lets a thread wait: a token that ends the
 * wait refers to that one only.  0: the frames of the wait have none.
 */
uint64_t wait_event_of_frames(const struct waits *waits, const struct thread_wait *wait);
