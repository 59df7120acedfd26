/* SPDX-License-Identifier: MIT */
/* Threads that wait, as answers. */
#pragma once

#include "command/call.h"
#include "hangs/deadlocks.h"

/** Append "thread 7 (transfer-1)". */
void append_thread(struct text *text, struct heap *heap, const struct runtime_thread *thread);

/**
 * Append what @p wait is: "waits to enter the monitor of Ledger 7fbb2a...", "waits for thread 5 to
 * end".
 */
void append_wait(struct text *text, const struct waits *waits, const struct thread_wait *wait);

/** Append the async method that @p object is the task of, as async_graph_call_append() does. */
bool append_async_name(struct text *text, const struct waits *waits, const struct object *object);

/**
 * Append the whole sentence without a full stop: "thread 7 (transfer-1) waits to enter the monitor of
 * Ledger 7fbb2a..., which thread 5 (transfer-2) has".
 */
void append_blocked(struct text *text, const struct waits *waits, const struct thread_wait *wait);

/** The same for a node, which may be an async method. */
void append_blocked_node(struct text *text, const struct waits *waits, uint32_t node);

/**
 * Append the methods of the program that have called the one in which @p node waits: "Shop.Teller.Serve <- Shop.Program.Main";
 * nothing of an async method that is awaited by one which it waits for, too: both are members of one deadlock.
 */
void append_callers(struct text *text, const struct waits *waits, uint32_t node);

/** Append the method in which @p node waits, and its callers: "Shop.Bank.Transfer <- Shop.Teller.Serve"; nothing: they are not known. */
void append_place(struct text *text, const struct waits *waits, uint32_t node);

/** Append who is in the cycle: "2 threads and 1 async method". */
void append_members(struct text *text, const struct deadlock *deadlock);

/** Append who waits for it: "1 thread and 3 async chains"; nothing: nobody. */
void append_followers(struct text *text, const struct deadlock *deadlock);

/** Write all deadlocks: as data, the table "deadlocks"; as text, a sentence for each thread. */
void write_deadlocks(struct call *call, const struct waits *waits,
		     const struct deadlocks *deadlocks);

/** Append "2 threads and 1 async method"; nothing when there are none. */
void append_counts(struct text *text, uint64_t threads, uint64_t others, const char *noun);
