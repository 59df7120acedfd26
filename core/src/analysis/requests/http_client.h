/* SPDX-License-Identifier: MIT */
/* Requests of System.Net.Http.HttpClient, and where they are. */
#pragma once

#include "analysis/heap/type_kinds.h"
#include "framework/member.h"

/** Where a request is. */
enum http_state {
	HTTP_OUTSIDE,  /**< no connection and no pool has it: it is over, or was not sent */
	HTTP_QUEUED,   /**< it waits until a connection is free or made */
	HTTP_IN_FLIGHT /**< a connection has it: the answer is not complete */
};

/** A System.Net.Http.HttpRequestMessage. */
struct http_request {
	struct object object;
	uint64_t response;   /**< HttpResponseMessage that refers to it, or 0 */
	uint64_t status;     /**< its status code */
	uint64_t connection; /**< HttpConnection or Http2Connection that has it, or 0 */
	uint64_t pool;       /**< HttpConnectionPool of that, or in whose queue it is, or 0 */
	/** When HttpClient set the timer of its time-out: milliseconds, as set_timers; INT64_MIN: not known */
	int64_t begun;
	enum http_state state;
};

/** Numbers of a pool. */
enum http_pool_number {
	HTTP_POOL_PORT,
	HTTP_POOL_CONNECTIONS, /**< of HTTP/1.1, as the pool counts them */
	HTTP_POOL_MAX,         /**< of those; INT32_MAX: no limit */
	HTTP_POOL_PENDING,     /**< of those, which are being made */
	HTTP_POOL_CONNECTIONS_2,
	HTTP_POOL_NUMBERS
};

/** A System.Net.Http.HttpConnectionPool: the connections to one server. */
struct http_pool {
	uint64_t address;
	uint64_t host; /**< string, or 0 */
	uint64_t numbers[HTTP_POOL_NUMBERS];
	uint32_t known;     /**< bit i: numbers[i] was read */
	uint64_t queued;    /**< requests in its queue for HTTP/1.1 that still wait */
	uint64_t queued_2;  /**< the same for HTTP/2 */
	uint64_t in_flight; /**< requests that its connections have */
};

/** A fact about a request that another object tells. */
struct http_fact {
	uint64_t request, object, value;
	uint8_t kind;
};

struct http_client {
	struct http_request *rows; /**< by address */
	size_t rows_count, rows_capacity;
	struct http_pool *pools; /**< by address */
	size_t pools_count, pools_capacity;
	struct http_fact *facts; /**< while it is made */
	size_t facts_count, facts_capacity;
	bool is_broken; /**< a queue cannot be read to its end */
};

/**
 * Find the requests on the heap (fields: doc/requests.md 1).
 *
 * @param[out] ret To be given to http_client_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: a walk over the heap.
 */
HD_NODISCARD enum hd_status http_client_read(struct heap *heap, struct members *members,
					     struct job *job, struct http_client *ret,
					     struct hd_error *err);
void http_client_deinit(struct http_client *client);

/** The pool at @p address, or NULL. */
struct http_pool *http_pool_at(struct http_client *client, uint64_t address);
