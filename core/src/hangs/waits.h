/* SPDX-License-Identifier: MIT */
/*
 * Finds what each managed thread waits for, and who has it.
 *
 * waits_create() fills struct waits in this order.  A later step sees what an earlier one has set, and changes it
 * only where this says so.
 *
 * 1. monitors_read() reads the monitors that somebody uses, and async_graph_create() the async methods.
 * 2. For each thread: wait_info_of_thread() reads exposed and info (since 11: what the framework says of it), and
 *    wait_classify() looks at the methods of its frames: kind, wait_end, user_frame, call, is_nameless.
 *    wait_ask_whether_all() changes WAIT_SOME_HANDLES to the one of the two that it is, where that is known.
 * 3. find_suspension() sets the kind of the thread that collects, and whom it waits for.
 * 4. The queues of Monitor.Wait set pulse.
 * 5. wait_infos_match() (since 11) finds monitors, pulses and ends of threads in info: entered, pulse, object, and the
 *    kind where frames leave it open.
 * 6. For each thread: wait_find_object() finds the object in the roots of its frames, and reads there who has it.
 *    wait_find_callers() then finds who runs the callback after which a handle is set.
 * 7. wait_find_by_words() (before 11) finds monitors and type initialisers in the words of native frames, for
 *    those of which nothing is known yet: entered, initializer, object, kind.
 * 8. wait_is_over() sets is_over: such a thread has no edge.
 * 9. wait_find_edges() makes the edges and the lists of those that wait for several, and sets unknown_readers.
 *    These are looked for before: who runs tasks and who completes them (wait_tasks), who may have a semaphore
 *    (wait_holders), or a database (wait_databases), who reads a lock (wait_readers), which thread a method returns to (wait_contexts, wait_schedulers).
 *    wait_choose_edges() then chooses one edge of several.
 * 10. wait_blame_owners() sets blamed_owner.
 *
 * Each owner is written in one place: stored_owner, as memory says it, in wait_store_owner(), which steps 3 and
 * 5 to 7 call; blamed_owner, as the edges say it, in step 10.
 *
 * A new kind of wait is a row in each table of wait_kind.c; who has its object is a case of find_owner() in
 * wait_object.c, whether it is over one of wait_is_over().  Whatever judges all of this is a verdict
 * (verdicts.h), and reads the rows only.
 */
#pragma once

#include "framework/member.h"
#include "framework/owns.h"
#include "hangs/monitors.h"
#include "hangs/wait_kind.h"
#include "inspect/managed_lock.h"
#include "stack/stack.h"

struct async_graph;
struct async_node;

/** No frame. */
#define WAIT_NO_FRAME SIZE_MAX

/** One thread that has a stack. */
struct thread_wait {
	const struct runtime_thread *thread;
	struct thread_stack stack; /**< with roots */
	enum wait_kind kind;
	struct object object; /**< what it waits for; type NULL: not known */
	/** The thread that memory says has what it waits for; NULL: nothing says so, or it is itself. */
	const struct runtime_thread *stored_owner;
	/** The thread that must act before this one can go on, as the edges say; NULL: not known. */
	const struct runtime_thread *blamed_owner;
	/** WAIT_INITIALIZER: the type that the owner initialises; or NULL. */
	const struct type *initializer;
	/** WAIT_CALL: the MethodDesc of the native function; 0: not known. */
	uint64_t call;
	/**
	 * Where its frames of the wait end, and the innermost of the program after that, or else of a library that it
	 * brings; or WAIT_NO_FRAME.
	 */
	size_t wait_end, user_frame;
	/** The monitor in whose queue of Monitor.Wait it is, and the one that it enters; NULL: none. */
	const struct monitor *pulse, *entered;
	/** Since 11: its Thread object (0: none), and what the framework says that it waits for. */
	uint64_t exposed;
	struct wait_info info;
	bool is_nameless; /**< the name of its innermost method cannot be read */
	bool is_over; /**< what it waits for has happened: it only has not run since (wait_is_over()) */
	/** So many read the ReaderWriterLockSlim that are not known: their threads may have ended. */
	uint32_t unknown_readers;
	bool are_readers_gone; /**< these have ended: all other threads are known not to be among them */
};

/** No node. */
#define WAIT_NOBODY UINT32_MAX

/**
 * Who must go on before a thread or an async method can.  Nodes are the rows of struct waits, and
 * after them those of its async methods.
 */
struct wait_edge {
	uint32_t to;      /**< or WAIT_NOBODY: nothing, or not known */
	bool is_probable; /**< nothing stores who has a semaphore: it is the only one that may have it;
			   * or the wait has a limit of time or may be cancelled (Task.WaitAsync) */
	/** An async method returns to this thread: it counts only if the thread can never go on. */
	bool returns_to_thread;
	bool is_of_scheduler; /**< returns_to_thread: the thread runs its TaskScheduler, and not its context */
};

/**
 * A node that waits for several others: Task.WhenAll, WhenAny, WaitAll and WaitAny, and all that read
 * a lock.
 */
struct wait_several {
	uint32_t node;
	bool is_any; /**< it goes on after the first of them; else after the last one */
	/** In parts: those that are known; if is_any, all of them. */
	size_t begin, count;
};

/** Nodes that wait for several others, ascending by node. */
struct wait_several_list {
	struct wait_several *rows;
	size_t rows_count, rows_capacity;
	struct wait_edge *parts;
	size_t parts_count, parts_capacity;
};

/** All of them, in the order of the runtime's list of threads. */
struct waits {
	struct heap *heap;
	struct members *members;
	struct monitors monitors;
	struct async_graph *async; /**< the async methods that are not done; NULL: not asked for */
	bool has_own_async;        /**< it is not borrowed */
	struct thread_wait *rows;
	size_t count;
	/** By node, of several the one that counts (wait_several.h); NULL: not asked for. */
	struct wait_edge *edges;
	struct wait_several_list several; /**< nodes that wait for several others */
	uint32_t *by_thread;  /**< by runtime_thread_index(): the row, UINT32_MAX: none */
	uint64_t partial;     /**< stacks that could not be walked to their ends */
	uint64_t not_matched; /**< waiters of monitors of which no thread was found */
	/** Since 11: threads whose join events, which all have, cannot be read. */
	uint64_t unread_joins;
};

/**
 * Find out what the threads wait for: by the methods on their stacks, the objects that these frames
 * refer to, the runtime's monitors, and the words of stacks in front of Monitor.Enter (doc/coreclr.md 12.11);
 * since 11 by what the framework says of each (12.15).
 * Cost: linear in frames, roots, sync blocks and the objects of the heap.
 *
 * @param[out] ret To be given to waits_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status waits_create(struct heap *heap, struct job *job, struct waits **ret,
					 struct hd_error *err);
/** The same with the async methods of the heap, borrowed, that somebody else has read. */
HD_NODISCARD enum hd_status waits_create_with(struct heap *heap, struct async_graph *async,
					      struct job *job, struct waits **ret,
					      struct hd_error *err);
/**
 * The same without async methods and edges, and so without a walk over the heap; the owner of who
 * waits for a task is not known then.
 */
HD_NODISCARD enum hd_status waits_create_threads(struct heap *heap, struct job *job,
						 struct waits **ret, struct hd_error *err);
/** NULL is allowed. */
void waits_destroy(struct waits *waits);

/** The row of a thread, or NULL. */
const struct thread_wait *wait_of_thread(const struct waits *waits,
					 const struct runtime_thread *thread);

/** How many nodes there are. */
size_t wait_nodes(const struct waits *waits);
/** The thread that a node is, or NULL. */
const struct thread_wait *wait_node_thread(const struct waits *waits, uint32_t node);
/** The async method that it is, or NULL. */
const struct async_node *wait_node_method(const struct waits *waits, uint32_t node);
/** wait_ends(): it waits in a cycle, or for one. */
#define WAIT_IN_CYCLE (WAIT_NOBODY - 1)
/**
 * Set for each node the last one of its way along the edges, itself if it waits for no node; or WAIT_IN_CYCLE.
 * Cost: linear in nodes.
 *
 * @param[out] ends wait_nodes() of them.
 */
void wait_ends(const struct waits *waits, uint32_t *ends);
/**
 * Set for each node whether an edge on its way is only probable; false in a cycle, and on the way to
 * one.  Cost: linear in nodes.
 *
 * @param ends wait_ends()
 * @param[out] are_probable wait_nodes() of them.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wait_ways(const struct waits *waits, const uint32_t *ends,
				      bool *are_probable, struct hd_error *err);
/** The several nodes that it waits for, or NULL: it waits for one or none. */
const struct wait_several *wait_node_several(const struct waits *waits, uint32_t node);

/**
 * The MethodDesc of the method in which a thread waits: the program's; of native code, what was
 * called; else the framework's that called those of the wait, or the innermost of an idle thread.
 * 0: not known.
 */
uint64_t wait_method(const struct thread_wait *wait);

/** Who has a ReaderWriterLockSlim to write, and who reads it and may write later; NULL: nobody. */
const struct runtime_thread *wait_lock_writer(const struct waits *waits, const struct object *lock);
const struct runtime_thread *wait_lock_upgrader(const struct waits *waits,
						const struct object *lock);

/** A frame of @p wait outside of its own wait whose roots hold @p object; or WAIT_NO_FRAME. */
size_t wait_frame_with(const struct thread_wait *wait, uint64_t object);
