/* SPDX-License-Identifier: MIT */
/* Everybody who waits, in groups: by the method of the program, and by the way of waiting. */
#pragma once

#include "hangs/wait_callers.h"
#include "hangs/waits.h"

/** By whom or by what a wait can end, ascending: who looks for a hang looks at the first ones first. */
enum wait_urgency {
	/** Code of the program only: it leaves a lock, gives a place of a semaphore back, completes a source, makes room. */
	WAIT_FOR_PROGRAM,
	WAIT_FOR_OTHERS, /**< something else: a socket, a process, a limit of time, a thread that runs */
	WAIT_FOR_WORK, /**< usual when there is nothing to do: a delay, an empty channel */
	WAIT_FOR_ITSELF, /**< a socket whose other end is in this process: what that one waits for tells more */
	WAIT_OF_OTHERS, /**< the same in a library, and whatever the framework's own threads wait for */
	WAIT_URGENCIES
};

/** Most groups that are kept: the first ones of their order. */
#define WAIT_GROUPS_MAX 8u

struct wait_group {
	uint32_t node; /**< the first of them: a thread, or the outermost method of an async call */
	/** The node of waits->async that has the program's method; a thread: ASYNC_NO_NODE. */
	uint32_t own;
	/**
	 * The node in whose method all of these calls end: one that the program's method called, of a library;
	 * ASYNC_NO_NODE: they end in the program's method, or in several.
	 */
	uint32_t inner;
	struct wait_callers callers; /**< of the program's method, the same of all of them */
	uint64_t count;
	uint64_t object;           /**< all wait for this one; 0: for several, or it is not known */
	enum wait_urgency urgency; /**< the first of theirs */
	bool is_for_known; /**< they wait for tasks of others, which have groups of their own */
	/** The node for which all of them wait, as it has that object, or probably has it; WAIT_NOBODY: not known. */
	uint32_t holder;
};

/** In the order of their urgency; of equal ones first those that do not wait for others which are known, and the largest. */
struct wait_groups {
	struct wait_group rows[WAIT_GROUPS_MAX];
	size_t rows_count;
	uint64_t threads, calls; /**< so many wait, in all groups */
	uint64_t others;         /**< groups that were not kept */
};

/**
 * Group the threads that wait and are not idle, those that sleep included; and the async calls that
 * wait in a method of the program.  Who can go on waits no longer; a call that is in methods of the
 * framework only does not count, as servers have one for each connection.
 *
 * @param waits with async methods
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in threads and async methods, but for sorting.
 */
HD_NODISCARD enum hd_status wait_groups_find(const struct waits *waits, struct wait_groups *ret,
					     struct hd_error *err);

/** How many of them a headline has: the first, and the second if that waits for the program, too, and not for others. */
size_t wait_groups_told(const struct wait_groups *groups);
