/* SPDX-License-Identifier: MIT */
/* Why a process hangs, as far as its memory tells. */
#pragma once

#include "analysis/pool/pool_state.h"
#include "hangs/busy_readers.h"
#include "hangs/deadlocks.h"
#include "hangs/failed_tries.h"
#include "hangs/host_start.h"
#include "hangs/lost_places.h"
#include "hangs/lost_pulse.h"
#include "hangs/own_answers.h"
#include "hangs/stuck_requests.h"
#include "hangs/wait_owners.h"
#include "hangs/wait_rows.h"
#include "hangs/wait_things.h"

enum verdict_kind {
	VERDICT_DEADLOCK,  /**< threads wait for each other */
	VERDICT_ORPHAN,    /**< threads wait for a lock whose holder has ended, or is idle */
	VERDICT_CIRCLE,    /**< async methods await each other */
	VERDICT_START,     /**< the start of a host waits for what only starts after it */
	VERDICT_READERS,   /**< all readers of a channel wait, and items are in it */
	VERDICT_STARVED,   /**< all workers of the thread pool wait, and work is queued */
	VERDICT_ONE_OWNER, /**< many threads wait for one, which waits itself for something else */
	VERDICT_ANSWER, /**< a thread waits for what it would bring itself, further out on its stack */
	VERDICT_PLACES, /**< threads or methods wait for a semaphore of which nobody has a place */
	VERDICT_RETRY,  /**< many wait for one that tries something again and again */
	VERDICT_ONE_OBJECT, /**< many wait for one object, and nobody is known who releases it */
	VERDICT_REQUESTS,   /**< requests of a server wait in one method, and nothing limits it */
	VERDICT_PULSE,  /**< threads wait in Monitor.Wait, and the last Pulse woke the wrong one */
	VERDICT_OUTPUT, /**< threads wait for a process to end, and nobody reads its output */
	VERDICT_FINALIZER,  /**< the finalizer thread waits, and finalizers are due */
	VERDICT_COLLECTION, /**< a garbage collection waits for a thread that does not stop */
};

/** Workers of a starved pool, and what they do. */
struct starved_pool {
	uint64_t queued;   /**< work items */
	uint64_t alike;    /**< workers_alike() of the worker that is told */
	uint64_t sleeping; /**< workers that sleep */
	uint64_t on_tasks; /**< workers that wait for tasks (sync over async) */
};

struct verdict {
	enum verdict_kind kind;
	bool is_probable;                /**< something that it needs is not stored anywhere */
	const struct deadlock *deadlock; /**< VERDICT_DEADLOCK */
	const uint32_t *members;         /**< VERDICT_DEADLOCK: the nodes of that */
	struct wait_thing thing;         /**< VERDICT_ONE_OBJECT */
	uint64_t lock;                   /**< VERDICT_ORPHAN: its object, of verdicts.orphans */
	struct stuck_requests requests;  /**< VERDICT_REQUESTS */
	const struct host_start *start;  /**< VERDICT_START */
	const struct lost_pulse *pulse;  /**< VERDICT_PULSE */
	const struct lost_place *place;  /**< VERDICT_PLACES; VERDICT_RETRY, where it has places */
	const struct failed_try
		*failed; /**< VERDICT_RETRY: what has failed again and again; or NULL */
	const struct own_answer *answer; /**< VERDICT_ANSWER */
	const struct busy_channel *busy; /**< VERDICT_READERS */
	/**
	 * VERDICT_ONE_OWNER, VERDICT_FINALIZER: the thread; VERDICT_ORPHAN: the first that waits and tells the holder; VERDICT_OUTPUT: the first that waits; VERDICT_STARVED: a worker that waits;
	 * VERDICT_COLLECTION: one that does not stop.
	 */
	const struct thread_wait *thread;
	const struct thread_wait *collector; /**< VERDICT_COLLECTION: who collects */
	/**
	 * Threads, async methods, workers, threads that wait for the one, those that wait for the
	 * object, finalizers that are due, or threads that do not stop.
	 */
	uint64_t count;
	struct starved_pool starved; /**< VERDICT_STARVED */
	uint32_t method; /**< VERDICT_CIRCLE: the node in waits->async of one of the methods */
	uint32_t trier;  /**< VERDICT_RETRY without a place: the node that tries */
};

/** Fewer threads that wait for one are not worth a verdict. */
#define ONE_OWNER_MIN 3u

struct verdicts {
	struct waits *waits;
	struct deadlocks deadlocks;
	/** Locks that nobody will leave, each with the rows of waits that wait for it. */
	struct wait_rows orphans;
	struct pool_state pool;
	struct busy_channels busy;
	struct own_answers answers;
	struct lost_pulses pulses;
	struct lost_places places;
	struct failed_tries failed;
	struct wait_owners owners; /**< of the things of VERDICT_ONE_OBJECT */
	struct host_start start;   /**< of a host that still starts, if there is one */
	uint64_t chains;           /**< of async methods */
	uint64_t queued;           /**< work items of the pool */
	/**
	 * Most threads wait for this thing, among those that somebody may still release; its
	 * address is 0: nothing.
	 */
	struct wait_thing undecided;
	struct verdict *rows;
	size_t rows_count, rows_capacity;
};

/**
 * Find what hangs, the most certain first.
 *
 * @param async The async methods of the heap, borrowed as long as @p ret lives; NULL: they are read.
 * @param[out] ret To be given to verdicts_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status verdicts_find(struct heap *heap, struct async_graph *async,
					  struct job *job, struct verdicts *ret,
					  struct hd_error *err);
void verdicts_deinit(struct verdicts *verdicts);

/** Workers of the pool that wait in the same method as @p one (wait_method()); 0: its is not known. */
uint64_t workers_alike(const struct waits *waits, const struct thread_wait *one);
