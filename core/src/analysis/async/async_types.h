/* SPDX-License-Identifier: MIT */
/* Sorts objects by the framework's types: which part does each play for async methods? */
#pragma once

#include "analysis/heap/type_kinds.h"
#include "runtime/type.h"

enum async_type {
	ASYNC_NOT_ASKED,
	ASYNC_OTHER,        /**< nothing that is known here */
	ASYNC_BOX,          /**< an async method: the box of its state machine */
	ASYNC_RUNTIME_TASK, /**< the task of a call of async methods that the runtime suspends */
	ASYNC_TASK,  /**< Task or Task<T>: a TaskCompletionSource's, or one with a delegate */
	ASYNC_DELAY, /**< Task.Delay */
	ASYNC_CANCELLATION, /**< Task.WaitAsync, SemaphoreSlim.WaitAsync with a limit */
	ASYNC_OF_SOURCE,    /**< ValueTask.AsTask, where the ValueTask is not made of a task */
	ASYNC_WHEN_ALL,
	ASYNC_WHEN_ANY,
	ASYNC_SEMAPHORE_NODE,    /**< SemaphoreSlim.WaitAsync */
	ASYNC_CONTINUATION,      /**< Task.ContinueWith */
	ASYNC_UNWRAP,            /**< Task.Run of an async method, Task.Unwrap */
	ASYNC_OTHER_TASK,        /**< another class that derives from Task */
	ASYNC_PERIODIC,          /**< PeriodicTimer */
	ASYNC_SOCKET,            /**< an operation of a Socket */
	ASYNC_CHANNEL_OPERATION, /**< a read or a write of a channel that waits (8, 9) */
	ASYNC_CHANNEL_READ,      /**< since 10: a read */
	ASYNC_CHANNEL_WRITE,     /**< since 10: a write */
	ASYNC_PIPE_READER,
	ASYNC_PIPE_WRITER,
	ASYNC_CHANNEL,
	ASYNC_CHANNEL_READER, /**< what programs read a channel with */
	ASYNC_CHANNEL_WRITER, /**< and write it with */
	ASYNC_READ_ITERATOR, /**< ReadAllAsync of a channel, GetConsumingEnumerable of a BlockingCollection */
	ASYNC_SEMAPHORE,
	ASYNC_WAIT_ONE,        /**< a thread is in Task.Wait */
	ASYNC_WAIT_ALL,        /**< a thread is in Task.WaitAll */
	ASYNC_LIST,            /**< several continuations of a task */
	ASYNC_COUNTDOWN,       /**< CountdownEvent */
	ASYNC_HANDLE,          /**< a class that derives from WaitHandle */
	ASYNC_SEND,            /**< the source of a task of SendAsync to a block of a dataflow */
	ASYNC_LEASE,           /**< what a ConcurrencyLimiter gives */
	ASYNC_LIMITER,         /**< a class that derives from RateLimiter */
	ASYNC_AGENT,           /**< MailboxProcessor of F# */
	ASYNC_AGENT_LOOP,      /**< a closure of FSharp.Core around the loop of one */
	ASYNC_GRAIN_CALL,      /**< a call of a grain that waits for its answer (Orleans) */
	ASYNC_GRAIN_MESSAGE,   /**< what it sends */
	ASYNC_ACTIVATION,      /**< a grain in memory */
	ASYNC_HTTP_POOL,       /**< the connections of an HttpClient to one server */
	ASYNC_HTTP_CONNECTION, /**< one of them, of HTTP/1.1 */
	ASYNC_HTTP_STREAM,     /**< a request of one of HTTP/2 */
	ASYNC_SOCKET_ITSELF,   /**< Socket */
	ASYNC_EXCEPTION,       /**< a class that derives from Exception */
	ASYNC_SUSPENDED, /**< a Continuation: an async method that the runtime has suspended */
};

/** Remembers the answer for each type.  Empty when zero-initialised. */
struct async_types {
	struct type_kinds kinds;   /**< enum async_type */
	struct type_kinds sources; /**< are they sources of ValueTasks? */
};

/**
 * The kind of the objects of @p type; ASYNC_OTHER also when memory is exhausted, which sets @p
 * failed.
 */
enum async_type async_type_of(struct async_types *types, struct runtime *runtime,
			      const struct type *type, bool *failed);
/** Is it an IValueTaskSource?  false also when memory is exhausted, which sets @p failed. */
bool async_type_is_source(struct async_types *types, struct runtime *runtime,
			  const struct type *type, bool *failed);
void async_types_deinit(struct async_types *types);

/** May async_graph_find() have a node for it? */
static inline bool async_type_is_method(enum async_type kind)
{
	return kind == ASYNC_BOX || kind == ASYNC_RUNTIME_TASK || kind == ASYNC_SUSPENDED;
}

/** Is it a Task? */
static inline bool async_type_is_task(enum async_type kind)
{
	return kind >= ASYNC_BOX && kind <= ASYNC_OTHER_TASK;
}
