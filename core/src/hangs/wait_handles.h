/* SPDX-License-Identifier: MIT */
/*
 * Finds things that a thread waits for and that are in no root of its frames: several handles, a
 * struct, an event's owner.
 */
#pragma once

#include "hangs/waits.h"

/** WaitHandle.WaitAny and WaitAll take no more. */
#define WAIT_HANDLES_MAX 64u

/** The objects that one wait is for, in the order in which the program gave them. */
struct wait_handles {
	struct object rows[WAIT_HANDLES_MAX];
	size_t rows_count;
};

/**
 * The WaitHandles of a thread that waits in WaitAny or WaitAll; the SafeWaitHandle of one that is
 * not on the heap any more.  None: they are not known.
 */
void wait_handles_read(const struct waits *waits, const struct thread_wait *wait,
		       struct wait_handles *ret);

/**
 * Add to waits->several whom a thread needs that waits in WaitAny or WaitAll: the owners of mutexes among
 * the handles.  Of WaitAll each known one counts; of WaitAny all must be known, or another handle may end
 * the wait.  Threads are given in ascending order.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wait_add_handles(struct waits *waits, const struct thread_wait *wait,
					     struct hd_error *err);

/**
 * Find out whether a thread in WaitHandle.WaitMultiple waits for any or for all: by what the framework
 * says, and before 11 by an argument of that method, where the code keeps it.
 *
 * @retval HD_OK also when it is not known: the kind stays the same
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status wait_ask_whether_all(struct heap *heap, struct stack_walker *walker,
						 struct thread_wait *wait, struct job *job,
						 struct hd_error *err);

/**
 * The WaitHandle or CountdownEvent that has an object to which frames of the wait refer: optimised
 * code does not keep the first.  Only with async methods, which a walk over the heap found.
 */
bool wait_find_by_event(const struct waits *waits, const struct thread_wait *wait,
			struct object *ret);

/** A SpinLock that a thread wants: it is a struct inside an object. */
struct wait_spin_lock {
	struct object holder;
	uint64_t address;  /**< of the SpinLock */
	bool has_owner_id; /**< it was made with owner tracking */
	const struct runtime_thread *owner;
};

/** False: it is not in an object of the heap, or not known. */
bool wait_find_spin_lock(const struct waits *waits, const struct thread_wait *wait,
			 struct wait_spin_lock *ret);
