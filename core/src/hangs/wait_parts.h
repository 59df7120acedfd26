/* SPDX-License-Identifier: MIT */
/* The files of this folder share this. */
#pragma once

#include "hangs/waits.h"

/** Bytes of the name of a method that is looked at. */
#define WAIT_NAME_SIZE 512u

/** Set kind, call, wait_end and user_frame by the methods of the frames. */
void wait_classify(struct waits *waits, struct thread_wait *wait);

/**
 * Does the thread, which runs .NET code, stop soon for a collection?  So it does in code of the framework alone, and where
 * that takes locks, or calls and continues methods: it has no long loops there.
 */
bool wait_stops_soon(const struct waits *waits, const struct thread_wait *wait);

/** Set stored_owner, which nobody else does: a thread does not wait for itself; NULL is nobody. */
void wait_store_owner(struct thread_wait *wait, const struct runtime_thread *owner);

/** Set object and stored_owner, where roots of the frames and the fields of the object tell them. */
void wait_find_object(struct waits *waits, struct thread_wait *wait);

/** The thread that has the Mutex @p mutex, where the framework knows it; or NULL. */
const struct runtime_thread *wait_mutex_owner(const struct waits *waits,
					      const struct object *mutex);

/**
 * Set stored_owner of threads that wait for a handle which is set when a callback has ended: of a timer that was
 * disposed of, or a RegisteredWaitHandle that was unregistered.  Cost: linear in the roots of all stacks.
 */
HD_NODISCARD enum hd_status wait_find_callers(struct waits *waits, struct job *job,
					      struct hd_error *err);

/**
 * Find the threads that wait in Monitor.Enter or for a type initialiser, by the words that their
 * native frames have on the stack.
 */
HD_NODISCARD enum hd_status wait_find_by_words(struct waits *waits, struct job *job,
					       struct hd_error *err);

/**
 * Find the monitors of threads that wait in Monitor.Enter or Monitor.Wait by their Locks, where monitors have such:
 * frames of the wait refer to them.
 */
HD_NODISCARD enum hd_status wait_find_by_locks(struct waits *waits, struct hd_error *err);

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

/** Does the method wait in a Task.Delay without a limit?  Only a cancellation ends that. */
bool wait_delays_without_end(const struct waits *waits, const struct async_node *method);

/**
 * Has what the thread waits for happened?  The task is complete, the event is set, the semaphore or the
 * lock is free.  False also when that cannot be read, or the wait is of another kind.
 */
bool wait_is_over(const struct waits *waits, const struct thread_wait *wait);

/* Since .NET 11: whom the framework says that each thread waits for, without its stack (doc/coreclr.md 12.15). */

/** Read wait->info; of each thread, before its frames are looked at. */
void wait_info_of_thread(const struct waits *waits, struct thread_wait *wait);

/**
 * Find the threads that enter a monitor, wait in Monitor.Wait, or for the end of a thread: set pulse,
 * entered, owner and object, and the kind where the frames do not tell another one.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in threads, monitors, and those that wait for them, but for sorting.
 */
HD_NODISCARD enum hd_status wait_infos_match(struct waits *waits, struct hd_error *err);

/** The WaitHandle, of those on the heap, that has the WaitableObject at @p waitable; false: not known. */
bool wait_info_handle(const struct waits *waits, uint64_t waitable, struct object *ret);

/**
 * The first of some nodes on the way from @p node, over edges that are sure, at most 64 of them: @p node waits for it; or
 * WAIT_NOBODY.
 *
 * @param among By node: is it one of these?
 */
uint32_t wait_first_of(const struct waits *waits, const bool *among, uint32_t node);
