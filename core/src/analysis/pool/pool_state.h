/* SPDX-License-Identifier: MIT */
/* The thread pool: its numbers, and what is queued. */
#pragma once

#include "analysis/pool/queue_items.h"

/** The numbers that the pool keeps (PortableThreadPool.cs). */
enum pool_number {
	POOL_MIN, /**< threads that are made at once */
	POOL_MAX,
	POOL_EXISTING, /**< workers that there are */
	POOL_WORKING,  /**< workers that run a work item */
	POOL_GOAL,     /**< workers that the pool wants now */
	POOL_BLOCKED, /**< workers in a wait that tells the pool: Task.Wait and others, not locks */
	POOL_ADDED,   /**< threads that were added because of these */
	POOL_CPU,     /**< percent of the processors that was last seen */
	POOL_REQUESTED,    /**< workers that were asked for */
	POOL_LAST_DEQUEUE, /**< when an item was last taken, in milliseconds of the system's clock */
	POOL_NUMBERS
};

struct pool_state {
	uint64_t address;             /**< of the PortableThreadPool; 0: it was never used */
	int64_t values[POOL_NUMBERS]; /**< meaningless where the bit in known is 0 */
	uint32_t known;               /**< a bit for each enum pool_number */
};

static inline bool pool_knows(const struct pool_state *pool, enum pool_number number)
{
	return pool->known >> number & 1;
}

/** Read the numbers; what this version of the runtime does not have is not known. */
void pool_state_read(struct members *members, struct pool_state *ret);

/** A queue of the pool. */
enum pool_queue {
	POOL_QUEUE_HIGH,  /**< is emptied before all others */
	POOL_QUEUE_LOCAL, /**< what work items of one worker have queued */
	POOL_QUEUE_GLOBAL,
	POOL_QUEUE_ASSIGNED, /**< a part of the global one, on machines with many processors */
	POOL_QUEUE_LOW,
	POOL_QUEUES
};

/** "high", "local", "global", "assigned", "low". */
const char *pool_queue_name(enum pool_queue queue);

/** The queues of the pool. */
struct pool_queues {
	struct queue_items queues[POOL_QUEUES];
	bool is_known; /**< false: the queue of the pool was not found */
};

/**
 * Read all queues.
 *
 * @param[out] ret To be given to pool_queues_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status pool_queues_read(const struct queue_reader *reader,
					     struct pool_queues *ret, struct hd_error *err);
void pool_queues_deinit(struct pool_queues *queues);
