/* SPDX-License-Identifier: MIT */
/* System.Threading.Lock, and the framework's own record of what a thread waits for (doc/coreclr.md 12.15). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct heap;
struct members;
struct memory;

/** A Lock that is or may be a monitor's: its fields of .NET 11. */
struct managed_lock {
	bool is_held;
	uint32_t waiters; /**< threads that wait to enter it */
	/** How often its holder has entered it; 0: nobody holds it, or holder is not known. */
	uint32_t recursion;
	/** Managed id of the thread that holds it; 0: nobody, or one that enters or leaves it at this moment. */
	uint32_t holder;
	uint64_t event; /**< the AutoResetEvent that those wait for who want to enter it; 0: none */
	uint64_t condition; /**< the Condition with those who called Monitor.Wait; 0: none */
};

/** Read the Lock at @p address; false when it is none, or lacks one of the fields. */
bool managed_lock_read(struct members *members, uint64_t address, struct managed_lock *ret);

/**
 * The threads that called Monitor.Wait and wait there, first one first.
 *
 * @param condition managed_lock.condition
 * @param[in,out] cursor 0 to begin; then where the next call goes on.
 * @param[out] ret_event The AutoResetEvent that the thread waits for.
 * @return false after the last one, or when the list is broken, which *cursor tells: 0 after the last
 * one.  The caller counts, for a broken list may have a cycle.
 */
bool condition_waiter(struct members *members, uint64_t condition, uint64_t *cursor,
		      uint64_t *ret_event);

/** The framework's record of a thread's waits (ThreadWaitInfo). */
enum wait_info_state {
	WAIT_INFO_NONE,   /**< nothing: a release before 11, or a thread without a Thread object */
	WAIT_INFO_BROKEN, /**< there should be something, and it cannot be read */
	WAIT_INFO_RUNS,   /**< it does not wait for objects, or does not any more */
	WAIT_INFO_WAITS,  /**< it waits for what objects has; of Thread.Sleep that is nothing */
};

struct wait_info {
	uint8_t state; /**< enum wait_info_state */
	bool is_all;   /**< it waits until it has all of several */
	uint32_t count;
	uint64_t objects; /**< where the references to the WaitableObjects lie */
};

/** Read what the framework says of the thread whose Thread object is at @p thread (0: none). */
void wait_info_read(struct heap *heap, struct members *members, uint64_t thread,
		    struct wait_info *ret);

/** Number @p index of what it waits for; 0: not readable. */
uint64_t wait_info_object(struct memory *memory, const struct wait_info *info, uint32_t index);

/** WaitableObject._type */
enum waitable_type {
	WAITABLE_MANUAL_RESET,
	WAITABLE_AUTO_RESET,
	WAITABLE_SEMAPHORE,
	WAITABLE_MUTEX,
};

/** A handle of the framework as the framework sees it: an event, a semaphore, or a mutex. */
struct waitable {
	uint64_t address;
	int64_t signals, limit; /**< of a semaphore: how many are free, and the highest count */
	uint64_t owner;         /**< the Thread object of a mutex's owner; 0: none */
	uint8_t type;           /**< enum waitable_type */
};

/**
 * Read the WaitableObject of the WaitHandle at @p handle; false when it has none: a release before
 * 11, a named mutex, or a handle that was closed.
 */
bool waitable_of_handle(struct heap *heap, struct members *members, uint64_t handle,
			struct waitable *ret);
