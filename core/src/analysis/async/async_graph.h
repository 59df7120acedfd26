/* SPDX-License-Identifier: MIT */
/* All async methods that are not done, and what each waits for. */
#ifndef HEAPDUMP_SRC_ANALYSIS_ASYNC_GRAPH_H
#define HEAPDUMP_SRC_ANALYSIS_ASYNC_GRAPH_H

#include "analysis/async/async_links.h"
#include "analysis/async/async_types.h"

struct job;

/** What a method waits for that is not another async method, or what is between the two. */
enum async_wait {
	AWAIT_NOTHING,  /**< another async method directly */
	AWAIT_SOURCE,   /**< a TaskCompletionSource */
	AWAIT_TASK,     /**< a task with a delegate: Task.Run, TaskFactory.StartNew */
	AWAIT_UNWRAP,   /**< Task.Run of an async method */
	AWAIT_CONTINUE, /**< Task.ContinueWith */
	AWAIT_LIMITED,  /**< Task.WaitAsync */
	AWAIT_DELAY,    /**< Task.Delay */
	AWAIT_ALL,      /**< Task.WhenAll */
	AWAIT_ANY,      /**< Task.WhenAny */
	AWAIT_SEMAPHORE,
	AWAIT_READ,     /**< of a channel */
	AWAIT_WRITE,    /**< of a channel */
	AWAIT_PERIODIC, /**< PeriodicTimer */
	AWAIT_SOCKET,
	AWAIT_PIPE_READ,
	AWAIT_PIPE_WRITE,
	AWAIT_OTHER_TASK,      /**< of a class that is not known here */
	AWAIT_SOURCE_OF_VALUE, /**< another source of ValueTasks, or a custom awaiter */
	AWAIT_THREAD, /**< a thread: what it awaited is complete, or it awaits nothing (Task.Yield) */
	AWAIT_RUNS,   /**< it runs, or was never begun */
	AWAIT_YIELD, /**< an async iterator that nobody asks for its next element */
	AWAIT_CYCLE, /**< itself, over others: they can never go on */
	AWAIT_DONE,  /**< it is done */
	AWAIT_KINDS
};

/** "Task.Delay", "channel read", ...; static. */
const char *async_wait_name(enum async_wait wait);

/** Who goes on when the task of a box is complete. */
enum async_root {
	ROOT_NOBODY,  /**< nobody waits: async void, or a task that was forgotten or is kept */
	ROOT_THREAD,  /**< a thread is blocked: Task.Wait, Result */
	ROOT_TASK,    /**< a task that is not an async method: WhenAll, WhenAny, ContinueWith */
	ROOT_SEVERAL, /**< several */
	ROOT_OTHER,   /**< something else */
};

/** "nobody", "a thread", ...; static. */
const char *async_root_name(enum async_root root);

/** No box. */
#define ASYNC_NO_BOX UINT32_MAX

/** An async method: a box on the heap (see async_box.h). */
struct async_node {
	uint64_t address;
	const struct type *type, *machine;
	uint64_t size;   /**< bytes of the box */
	uint64_t fields; /**< address of the state machine's first field */
	uint64_t object; /**< what it waits for if that is not a box: 0: not known, or none */
	uint32_t next;   /**< the box that it awaits, or ASYNC_NO_BOX */
	uint32_t end;    /**< the innermost box of its chain: its own, or one that it awaits */
	uint32_t depth;  /**< methods from its own to that one: 1 or more */
	int32_t state;
	enum async_wait wait; /**< what it waits for, or what is between it and next */
	enum async_root root; /**< who goes on after it, if no other box awaits it */
	bool is_awaited;      /**< by another box */
	bool is_limited; /**< Task.WaitAsync is on the way to what it waits for: it may end before that */
};

/** Boxes in ascending order of address. */
struct async_graph {
	struct heap *heap;
	struct members *members;
	struct async_types types;
	struct async_links links;
	struct async_node *rows;
	size_t rows_count, rows_capacity;
	uint64_t objects; /**< that were walked */
	bool failed;      /**< memory was exhausted */
};

/**
 * Walk the heap for boxes, and find what each awaits.
 *
 * @param with_done Also methods that are done.
 * @param[out] ret To be given to async_graph_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the objects of the heap.
 */
HD_NODISCARD enum hd_status async_graph_create(struct heap *heap, struct members *members,
					       bool with_done, struct job *job,
					       struct async_graph *ret, struct hd_error *err);
void async_graph_deinit(struct async_graph *graph);

/** The row of the box at @p address, or ASYNC_NO_BOX. */
uint32_t async_graph_find(const struct async_graph *graph, uint64_t address);

#endif
