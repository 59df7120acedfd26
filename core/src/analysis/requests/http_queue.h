/* SPDX-License-Identifier: MIT */
/* Requests of HttpClient that wait in a pool until a connection is free or made (fields: doc/requests.md 1). */
#pragma once

#include "framework/member.h"
#include "inspect/value.h"

/** The least bytes that an element of a queue has on the heap. */
#define HTTP_SLOT_SIZE_MIN 16u

/** A ring of {Request, Waiter}. */
struct http_queue {
	struct array_info items;
	uint64_t head, size;
};

/** A request in a queue. */
struct http_queued {
	struct member request; /**< HttpRequestMessage */
	struct member waiter;  /**< HttpConnectionWaiter, a TaskCompletionSource */
};

/** Reads the queues of several pools. */
struct http_queues {
	struct heap *heap;
	struct members *members;
	uint64_t slots_left; /**< elements that may still be looked at: queues may share an array */
	bool is_broken;      /**< a queue cannot be read to its end */
};

/**
 * Read the queue of the HttpConnectionPool @p pool, for HTTP/2 or HTTP/1.1.
 *
 * @return false: it was never used, or cannot be read, which sets is_broken.
 */
bool http_queue_read(struct http_queues *queues, const struct object *pool, bool is_2,
		     struct http_queue *ret);

/** The request at place @p index, which is less than size. */
struct http_queued http_queue_at(const struct http_queues *queues, const struct http_queue *queue,
				 uint64_t index);
