/* SPDX-License-Identifier: MIT */
/*
 * Finds links that are known only from the other side: a semaphore has a list of its waiters, a
 * waiter has no semaphore.
 */
#pragma once

#include "framework/member.h"

/** The kind of the object at the other end. */
enum async_link_kind {
	LINK_SEMAPHORE,  /**< the SemaphoreSlim that has the TaskNode in its list */
	LINK_READ,       /**< the channel that has the operation among those that read */
	LINK_WRITE,      /**< the channel that has it among those that write */
	LINK_COMPLETION, /**< the channel whose ChannelReader.Completion the task is */
	LINK_HTTP, /**< the HttpConnectionPool in whose queue for HTTP/1.1 the waiter of the task is */
	LINK_HTTP2,           /**< the same for HTTP/2 */
	LINK_HTTP_CONNECTION, /**< the HttpConnectionPool of a connection that has a request */
	LINK_HTTP_STREAM,     /**< the HttpConnectionPool of a stream of HTTP/2 that is in use */
	LINK_LOCAL,  /**< no object: a number for the address and port that the socket has itself */
	LINK_REMOTE, /**< the same for those of the other end */
	LINK_SEND,   /**< the block of a dataflow that SendAsync made the task for */
	LINK_LEASE,  /**< the ConcurrencyLimiter that the lease, not disposed of, has permits of */
	LINK_AGENT, /**< the MailboxProcessor (F#) that the object is a part of the running loop of */
	LINK_QUEUE, /**< itself: a MailboxProcessor that was started, whose loop does not wait for a message */
	LINK_CALL,   /**< the message that the source of an answer belongs to (Orleans) */
	LINK_QUEUED, /**< the message that a grain works on, while this one waits in its queue */
	LINK_EVENT, /**< the CountdownEvent or WaitHandle that has the event, or the handle, or since
			 * 11 the WaitableObject */
	LINK_BOX,   /**< the async method whose task continues with an UnwrapPromise, or whose state
		    * machine is an object */
};

struct async_link {
	uint64_t from, to;
	enum async_link_kind kind;
};

/** Empty when zero-initialised, but for limit. */
struct async_links {
	struct async_link *rows;
	size_t rows_count, rows_capacity;
	size_t limit;   /**< more links than objects on the heap: lists that share elements */
	bool is_broken; /**< a list could not be read to its end */
};

HD_NODISCARD enum hd_status async_link_add(struct async_links *links, struct async_link link,
					   struct hd_error *err);

/**
 * Add the waiters of the SemaphoreSlim @p semaphore (SemaphoreSlim.cs).
 *
 * @retval HD_OK also when its list is broken
 * @retval HD_ERR_NOMEM
 * Cost: linear in them.
 */
HD_NODISCARD enum hd_status async_links_of_semaphore(struct async_links *links,
						     struct members *members,
						     const struct object *semaphore,
						     struct hd_error *err);

/** The same for a channel, and link its Completion (AsyncOperation.cs, BoundedChannel.cs and others of System.Threading.Channels). */
HD_NODISCARD enum hd_status async_links_of_channel(struct async_links *links, struct heap *heap,
						   struct members *members,
						   const struct object *channel,
						   struct hd_error *err);

/** Sort them, before async_link_find(). */
void async_links_sort(struct async_links *links);

/** The link from @p from, or NULL. */
const struct async_link *async_link_find(const struct async_links *links, uint64_t from);
void async_links_deinit(struct async_links *links);
