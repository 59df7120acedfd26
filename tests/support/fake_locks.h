/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_types.h"

/*
 * The locks and waits of .NET 11 on a fake heap: everything that doc/coreclr.md 12.15 names.
 *
 *	struct fake_locks locks = fake_locks_create(2);
 *	uint64_t event = fake_event(&locks, FAKE_AUTO_RESET);
 *	fake_wait(&locks, 1, false, (const uint64_t[]){ event, 0 });
 *	... fake_types_attach(locks.types), fake_heap(locks.fake) ...
 *	fake_locks_destroy(&locks);
 */
#define FAKE_LOCK_THREADS 8u

struct fake_locks {
	const char *missing; /**< a field that has another name; NULL: all are there */
	struct fake_clr *fake;
	struct fake_types *types;
	uint64_t thread_type, info_type, waitable_type, owner_type, event_type, safe_type,
		lock_type, condition_type, waiter_type, waitables_type;
	uint64_t threads[FAKE_LOCK_THREADS]; /**< Thread objects, by the order of the threads */
	uint64_t infos[FAKE_LOCK_THREADS];   /**< their ThreadWaitInfo */
};

/* WaitableObject._type */
#define FAKE_MANUAL_RESET 0u
#define FAKE_AUTO_RESET   1u
#define FAKE_SEMAPHORE    2u
#define FAKE_MUTEX        3u

/* Where a Thread object has its join event; a ThreadWaitInfo its array, count and state. */
#define FAKE_THREAD_INFO     8u
#define FAKE_THREAD_JOIN     16u
#define FAKE_INFO_OBJECTS    8u
#define FAKE_INFO_COUNT      16u
#define FAKE_INFO_STATE      20u
#define FAKE_INFO_ALL        21u
#define FAKE_WAITABLE_OWNER  8u
#define FAKE_WAITABLE_COUNT  20u
#define FAKE_WAITABLE_LIMIT  24u
#define FAKE_LOCK_EVENT      8u
#define FAKE_LOCK_HOLDER     16u
#define FAKE_LOCK_STATE      20u
#define FAKE_LOCK_RECURSION  24u
#define FAKE_CONDITION_EVENT 8u
#define FAKE_CONDITION_HEAD  16u
#define FAKE_WAITER_NEXT     8u
#define FAKE_WAITER_EVENT    16u

/** A runtime of .NET 11 with so many threads, none of which waits; ids count from 1. */
struct fake_locks fake_locks_create(unsigned int threads);
/** The same of a release that has another name for the field @p missing. */
struct fake_locks fake_locks_without(unsigned int threads, const char *missing);
void fake_locks_destroy(struct fake_locks *locks);

/** A WaitHandle (of the type AutoResetEvent) with its SafeWaitHandle and WaitableObject of that type. */
uint64_t fake_event(struct fake_locks *locks, uint32_t type);
/** The WaitableObject of fake_event(). */
uint64_t fake_waitable(struct fake_locks *locks, uint64_t event);
/** Thread number @p thread waits for these WaitHandles; 0 ends the list. */
void fake_wait(struct fake_locks *locks, unsigned int thread, bool is_all, const uint64_t *events);

/** A Lock: @p holder is a managed id (0: nobody), @p event an event, a Condition or 0. */
uint64_t fake_lock(struct fake_locks *locks, uint32_t holder, uint32_t waiters, uint64_t event);
/** A Condition with an event for those who enter (or 0), and the events of those who wait; 0 ends them. */
uint64_t fake_condition(struct fake_locks *locks, uint64_t event, const uint64_t *waiters);
/** An object whose monitor is @p lock; returns its address. */
uint64_t fake_locked(struct fake_locks *locks, uint64_t lock);
/** The sync block of fake_locked(). */
uint64_t fake_block(const struct fake_locks *locks, uint64_t object);
