/* SPDX-License-Identifier: MIT */
/* Things that many wait for at once, and that nobody is known to give: semaphores, channels, sources of tasks. */
#pragma once

#include "hangs/waits.h"

/** Fewer that wait for one thing are not worth a verdict, but for what one alone never waits for. */
#define WAIT_THING_MIN 5u
/** Most things that are looked at: those with the most that wait for them. */
#define WAIT_THINGS_MAX 64u

/** Kinds of things beside those of enum async_wait: nobody waits for them in a program that is idle. */
enum thing_kind {
	THING_BARRIER = 64,
	THING_COUNTDOWN,
	THING_DELAY, /**< Task.Delay without a limit */
	THING_AGENT, /**< a MailboxProcessor of F# whose loop has ended: wait_agents.h */
	/* wait_alone.h: */
	THING_EVENT,  /**< ManualResetEventSlim */
	THING_PULSE,  /**< the object of a Monitor.Wait */
	THING_START,  /**< a task that was never started */
	THING_RENTAL, /**< a pool of objects that nobody gives back: wait_rentals.h */
};

/** The items of a block of a dataflow go on, or not. */
enum block_end {
	BLOCK_GOES_ON,     /**< somebody takes them, or that is not known */
	BLOCK_REFUSED,     /**< no link takes the next one: all have filters */
	BLOCK_HAS_NO_LINK, /**< only who asks for it takes the next one */
};

struct job;

/** wait_releasers_find(), of AWAIT_WRITE; is_behind also of AWAIT_COMPLETION. */
struct thing_stage {
	/** So many others are full, too, as who reads them waits for this one in the end. */
	uint32_t queues_behind;
	bool is_behind;         /**< so is this one, behind another */
	bool is_read_by_waiter; /**< who reads from it waits for room in it, directly or over others */
};

struct wait_thing {
	/**
	 * SemaphoreSlim, channel, BlockingCollection, Barrier, CountdownEvent, block of a dataflow, RateLimiter,
	 * HttpConnectionPool, or the task of a TaskCompletionSource.
	 */
	uint64_t address;
	/** AWAIT_SEMAPHORE, _READ, _WRITE, _COMPLETION, _SEND, _LIMITER, _HTTP, _HTTP2 or _SOURCE of enum async_wait; or enum thing_kind. */
	uint8_t kind;
	uint32_t
		first; /**< a node that waits for it: an async method, if one does; of THING_AGENT unused */
	uint64_t threads, methods; /**< so many wait for it */
	/**
	 * Whoever waits for these in turn (wait_demand.h), if the program is quiet (wait_quiet.h); else 0.  THING_AGENT: calls
	 * that wait for a reply, and messages in its queue.
	 */
	uint64_t calls, items;
	uint64_t left;      /**< AWAIT_COMPLETION: so many items are in the channel */
	bool is_nested;     /**< wait_connections_find(): requests of this same process have them */
	bool is_start;      /**< the start of a host waits for it */
	bool is_collection; /**< AWAIT_WRITE: a BlockingCollection, and not a channel */
	uint64_t
		holders; /**< wait_things_find_holders(): so many wait for it again and have a place in it */
	uint32_t holder; /**< a row of waits->async: one of them */
	/**
	 * wait_things_find_holders(): they have all places of the semaphore, so many;
	 * wait_pools_find(): all items of the channel, so many; wait_limiters_find(): permits;
	 * wait_connections_find(): connections; wait_rentals_find(): objects of the pool; 0: not so.
	 */
	uint64_t pool_items;
	/** wait_limiters_find(), wait_connections_find(), wait_rentals_find(): so many nobody has who could give them back. */
	uint64_t lost;
	uint64_t
		block; /**< AWAIT_SEND, wait_blocks_find(): the block whose items do not go on; 0: not known */
	uint8_t block_end; /**< enum block_end, of that one */
	struct thing_stage stage;
	bool may_change; /**< somebody was found who may release it, or read, write or complete it */
	bool is_alone;   /**< wait_alone_find(): nobody has it but those who wait for it */
};

/** Does its own state prove that nobody gives it?  Else it is probable only. */
bool wait_thing_is_sure(const struct wait_thing *thing);

/** The object that lets them wait: of full blocks of a dataflow the last one, else the thing itself. */
static inline uint64_t wait_thing_cause(const struct wait_thing *thing)
{
	return thing->block ? thing->block : thing->address;
}

/** Ascending by address. */
struct wait_things {
	struct wait_thing rows[WAIT_THINGS_MAX];
	size_t rows_count;
};

/**
 * Find what WAIT_THING_MIN nodes or more wait for, where such a wait is not the usual state of an
 * idle program: a semaphore with a highest count, which is not free (of these, as many as that count are enough, too).  One node is enough for a full channel
 * or BlockingCollection, the Completion of a channel that has items, a Barrier and a CountdownEvent.  An empty channel, a TaskCompletionSource, and a semaphore without a highest
 * count may be what idle workers wait for; of these, async methods count only if a thread or a
 * request of a server waits for them in turn; but a TaskCompletionSource that is awaited by a method
 * of the program counts always.
 *
 * One node is also enough for a RateLimiter, a block of a dataflow, and a pool of HTTP connections; of these may_change is
 * set, as only their own state can tell that nobody gives what the node waits for (wait_limiters.h, wait_blocks.h,
 * wait_connections.h).
 *
 * In a quiet program, one node is enough if WAIT_THING_MIN calls or items in queues wait for it in turn, or the start of
 * a host does; then a Task.Delay without a limit counts, too.
 *
 * @param ends wait_ends()
 * @param[out] ret may_change is set if one of those who wait knows who has the thing; else see
 * wait_releasers_find().
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in nodes, but for sorting.
 */
HD_NODISCARD enum hd_status wait_things_find(const struct waits *waits, const uint32_t *ends,
					     struct job *job, struct wait_things *ret,
					     struct hd_error *err);

/** Is it a method of the web server, such as one that answers the requests of a connection? */
bool wait_is_of_server(struct async_graph *graph, const struct async_node *node);

/**
 * Is there no room in the BlockingCollection that a thread waits for (WAIT_COLLECTION)?  Then all that wait for it want
 * to add something.
 */
bool wait_wants_room(const struct waits *waits, const struct thread_wait *wait);

/** Does the node @p node itself wait for a thing?  Its row, or NULL. */
const struct wait_thing *wait_thing_of(const struct waits *waits, const struct wait_things *things,
				       uint32_t node);

/**
 * Set holders and holder of all things that are semaphores: calls of an async method that are past their own wait
 * for a semaphore, as other calls in the same method are in that wait, and await one that waits for it again.  Each
 * probably has a place in it, and gives none back.  Where they are as many as there are places (two or more), and no
 * other call of these methods is past its wait, pool_items is set, too.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in async methods.
 */
HD_NODISCARD enum hd_status wait_things_find_holders(const struct waits *waits, struct job *job,
						     struct wait_things *things,
						     struct hd_error *err);

/**
 * Set may_change, and for full queues queues_behind, is_behind and is_read_by_waiter, of things of which somebody may take care: a thread, an async method, a timer or a work
 * item of the pool that refers to it, itself or over a few objects; another call of a method that waits
 * for it, which is further; a method of a class with a static variable that leads to it; a handler of an event of the framework
 * (wait_handlers.h).  Who waits for
 * the thing himself does not count, nor who sleeps without end.
 *
 * Others may be there: what is only reached over a static variable of another class, and what is still to
 * come (a request, a socket).  So nobody found means probably nobody.
 *
 * @param ends wait_ends()
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in nodes, roots, timers and work items; nothing without a thing of which it is not known.
 */
HD_NODISCARD enum hd_status wait_releasers_find(const struct waits *waits, const uint32_t *ends,
						struct job *job, struct wait_things *things,
						struct hd_error *err);

/**
 * Set queues_behind, is_behind and is_read_by_waiter; may_change must have been set.  wait_releasers_find() calls it.
 *
 * @param read_after By row, the bits of the rows from which somebody reads who waits for this one.
 */
void wait_stages_find(struct wait_things *things, const uint64_t *read_after);
