/* SPDX-License-Identifier: MIT */
/* The objects in the queues of the thread pool. */
#pragma once

#include "framework/member.h"
#include "inspect/value.h"

/** Addresses of objects, in the order of a queue. */
struct queue_items {
	uint64_t *rows;
	size_t rows_count, rows_capacity;
	bool is_broken; /**< a queue could not be read to its end, or its parts contradict each other */
};

void queue_items_deinit(struct queue_items *items);

/** Reading a queue needs this. */
struct queue_reader {
	struct heap *heap;
	struct members *members;
	struct job *job; /**< may be NULL */
};

/**
 * Append the objects of the System.Collections.Concurrent.ConcurrentQueue<object> at @p queue
 * (ConcurrentQueueSegment.cs of the framework); null: nothing is appended.
 *
 * @retval HD_OK also when it is broken
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the slots of its segments.
 */
HD_NODISCARD enum hd_status concurrent_queue_append(struct queue_items *items,
						    const struct queue_reader *reader,
						    uint64_t queue, struct hd_error *err);

/** The same for a ThreadPoolWorkQueue+WorkStealingQueue. */
HD_NODISCARD enum hd_status stealing_queue_append(struct queue_items *items,
						  const struct queue_reader *reader, uint64_t queue,
						  struct hd_error *err);
