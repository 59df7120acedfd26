/* SPDX-License-Identifier: MIT */
/* The files of this folder share this. */
#pragma once

#include "hangs/waits.h"

/** Bytes of the name of a method that is looked at. */
#define WAIT_NAME_SIZE 512u

/** Set kind, call, wait_end and user_frame by the methods of the frames. */
void wait_classify(struct waits *waits, struct thread_wait *wait);

/** Set object and owner, where roots of the frames and the fields of the object tell them. */
void wait_find_object(struct waits *waits, struct thread_wait *wait);

/** The thread that has the Mutex @p mutex, where the framework knows it; or NULL. */
const struct runtime_thread *wait_mutex_owner(const struct waits *waits,
					      const struct object *mutex);

/**
 * Find the threads that wait in Monitor.Enter or for a type initialiser, by the words that their
 * native frames have on the stack.
 */
HD_NODISCARD enum hd_status wait_find_by_words(struct waits *waits, struct job *job,
					       struct hd_error *err);

/** Make the edges of all nodes, and set the owners of those who wait for tasks. */
HD_NODISCARD enum hd_status wait_find_edges(struct waits *waits, struct job *job,
					    struct hd_error *err);
/** Fill in blamed_owner, which nobody else does; without edges it is the stored one. */
void wait_blame_owners(struct waits *waits);

/**
 * Does the thread sleep, in Thread.Sleep(Timeout.Infinite)?  As its system call has no limit of time; false also
 * where that cannot be seen.
 */
bool wait_sleeps_without_end(const struct waits *waits, const struct thread_wait *wait);
