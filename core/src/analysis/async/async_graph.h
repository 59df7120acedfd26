/* SPDX-License-Identifier: MIT */
/* All async methods that are not done, and what each waits for. */
#pragma once

#include "analysis/async/async_box.h"
#include "analysis/async/async_links.h"
#include "analysis/async/async_methods.h"
#include "analysis/async/async_types.h"
#include "runtime/coreclr/code/source.h"

/**
 * The kind of thing that a method waits for if it is not another async method, or of the thing
 * between the two.
 */
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
	AWAIT_READ,       /**< of a channel */
	AWAIT_WRITE,      /**< of a channel */
	AWAIT_COMPLETION, /**< ChannelReader.Completion: until a channel was completed and read empty */
	AWAIT_HTTP,       /**< HttpClient: a connection to a server, of HTTP/1.1 */
	AWAIT_HTTP2,      /**< HttpClient: a stream of a connection of HTTP/2 */
	AWAIT_SEND,       /**< SendAsync to a block of a dataflow */
	AWAIT_LIMITER,  /**< a RateLimiter: a lease of some of its permits */
	AWAIT_PERIODIC, /**< PeriodicTimer */
	AWAIT_SOCKET,
	AWAIT_PIPE_READ,
	AWAIT_PIPE_WRITE,
	AWAIT_OTHER_TASK,      /**< of a class that is not known here */
	AWAIT_GRAIN,           /**< the answer of a grain of Orleans */
	AWAIT_SOURCE_OF_VALUE, /**< another source of ValueTasks */
	AWAIT_AWAITER,         /**< an awaiter, or what has it, of a class that is not known here */
	AWAIT_THREAD, /**< a thread: what it awaited is complete, or it awaits nothing (Task.Yield) */
	AWAIT_RUNS,   /**< it runs, or was never begun */
	AWAIT_YIELD,   /**< an async iterator that nobody asks for its next element */
	AWAIT_CYCLE,   /**< itself, over others: they can never go on */
	AWAIT_DONE,    /**< it is done */
	AWAIT_UNKNOWN, /**< not known, or it runs: the fields of its state machine have no names */
	AWAIT_KINDS
};

/** "Task.Delay", "channel read", ...; static. */
const char *async_wait_name(enum async_wait wait);

/** Who goes on when the task of a method node is complete. */
enum async_root {
	ROOT_NOBODY,  /**< nobody waits: async void, or a task that was forgotten or is kept */
	ROOT_THREAD,  /**< a thread is blocked: Task.Wait, Result */
	ROOT_TASK,    /**< a task that is not an async method: WhenAll, WhenAny, ContinueWith */
	ROOT_SEVERAL, /**< several */
	ROOT_OTHER,   /**< something else */
};

/** "nobody", "a thread", ...; static. */
const char *async_root_name(enum async_root root);

/** No method node. */
#define ASYNC_NO_NODE UINT32_MAX
/** No thread. */
#define ASYNC_NO_THREAD UINT32_MAX

/**
 * A method node: an async method that is not done.  Its object is the box of the compiler's state
 * machine (see async_box.h), or a Continuation in which the runtime has suspended it (see
 * inspect/suspended.h).
 */
struct async_node {
	/**
	 * The box's address.  In a call that the runtime suspends, the outermost method has the
	 * address of the task; a method that runs and that others await has that of a record on its
	 * thread's stack.
	 */
	uint64_t address;
	const struct type *type;    /**< of the object at address, or of its task */
	const struct type *machine; /**< of the state machine, or of the Continuation */
	uint64_t size;              /**< bytes of the object at address */
	uint64_t task;   /**< the task of the call: address, or that of its outermost method */
	uint64_t holder; /**< the object that has its arguments and locals; 0: none, as it runs */
	uint64_t fields; /**< address of the first of these */
	uint64_t place;  /**< is_runtime: an address in its code, where it is; 0: not known */
	uint64_t object; /**< what it waits for if that is not a method: 0: not known, or none */
	uint32_t method; /**< its row of the graph's methods */
	uint32_t
		thread; /**< is_runtime: runtime_thread_index() of the one that runs it, or ASYNC_NO_THREAD */
	uint32_t next;  /**< the node that it awaits, or ASYNC_NO_NODE */
	uint32_t outer; /**< a node that awaits it; ASYNC_NO_NODE: nobody does */
	uint32_t end;   /**< the innermost node of its chain: its own, or one that it awaits */
	uint32_t depth; /**< methods from its own to that one: 1 or more */
	int32_t state;
	enum async_wait wait; /**< what it waits for, or what is between it and next */
	enum async_root root; /**< who goes on after it, if no other node awaits it */
	bool is_limited; /**< Task.WaitAsync is on the way to what it waits for: it may end before that */
	bool is_runtime; /**< the runtime suspends it: there is no state machine */
};

/** Exceptions that a graph keeps: the last ones, by address. */
#define ASYNC_EXCEPTIONS_MAX 4096u

/** Boxes in ascending order of address. */
struct async_graph {
	struct heap *heap;
	struct members *members;
	struct async_types types;
	struct async_links links;
	struct async_methods methods;
	struct async_node *rows;
	size_t rows_count, rows_capacity;
	uint64_t objects; /**< that were walked */
	uint64_t
		calls; /**< tasks of calls that the runtime suspends, also of those that have ended */
	uint64_t suspended; /**< Continuations of methods */
	/** Exceptions that the walk met, for whoever asks what fails: a walk of its own would take as long. */
	uint64_t exceptions;
	uint64_t *
		last_exceptions; /**< the last ASYNC_EXCEPTIONS_MAX of them, in no order; NULL: none */
	uint64_t unknown;        /**< rows whose method the target does not tell */
	uint64_t unknown_at;     /**< address of the bytes that would tell that of the first one */
	uint64_t unseen;         /**< rows with AWAIT_UNKNOWN */
	bool is_cut;             /**< a list of Continuations cannot be read to its end */
	bool failed;             /**< memory was exhausted */
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

/** async_type_of() with what the graph remembers. */
static inline enum async_type async_graph_type(struct async_graph *graph, const struct type *type)
{
	return async_type_of(&graph->types, graph->heap->runtime, type, &graph->failed);
}

/** Are its arguments and locals not the fields of a state machine that have names? */
static inline bool async_node_is_nameless(const struct async_node *node)
{
	return node->is_runtime || node->state == ASYNC_UNKNOWN;
}

/** Has the method passed an await?  Then it may have got something there. */
static inline bool async_node_has_passed(const struct async_node *node)
{
	return node->state >= 1 || node->wait == AWAIT_RUNS || node->wait == AWAIT_THREAD;
}

/** Does another node await it? */
static inline bool async_node_is_awaited(const struct async_node *node)
{
	return node->outer != ASYNC_NO_NODE;
}

/**
 * Who waits for the object of @p node: itself; or, if the framework's own method for that is one that the runtime
 * suspends (SemaphoreSlim.WaitAsync), and cannot end before, the method that calls it.
 */
const struct async_node *async_node_waiter(struct async_graph *graph,
					   const struct async_node *node);

/** Let its rows ascend by address. */
void async_graph_sort(struct async_graph *graph);

/** The node of the method with its box at @p address, or ASYNC_NO_NODE. */
uint32_t async_graph_find(const struct async_graph *graph, uint64_t address);

/** The name that users know the method of @p node by, "Shop.Checkout.Place"; borrowed from @p graph. */
const char *async_node_name(struct async_graph *graph, const struct async_node *node);

/** Whose method it is. */
enum code_owner async_node_owner(struct async_graph *graph, const struct async_node *node);

/**
 * The innermost method of the program, or else of a library that it brings, of the chain that begins with row @p row;
 * ASYNC_NO_NODE: there is none in the first 64 methods.
 */
uint32_t async_innermost_own(struct async_graph *graph, uint32_t row);

/** May one of the first 64 methods of that chain end before what it awaits: is there a limit of time, or a token? */
bool async_call_is_limited(const struct async_graph *graph, uint32_t row);

/** The name in metadata, with the type that has it: "Shop.Checkout+<Place>d__5" or "Shop.Checkout+Cart.Place". */
const char *async_node_code(struct async_graph *graph, const struct async_node *node);

/** The line of the await that @p node is at; false when there is no PDB, or it does not tell. */
bool async_node_line(const struct async_graph *graph, const struct async_node *node,
		     struct source_line *ret);

/**
 * The arguments and locals of a suspended method, as fields of its holder: of a state machine, as the compiler
 * named them; of a Continuation those that it has saved, without names where only the compiler knew them.
 *
 * @param[out] ret To be given to field_list_deinit(); untouched on failure.
 * @param[out] ret_base Address that their offsets are relative to.
 * @retval HD_OK
 * @retval HD_ERR_FAULT the fields of the state machine cannot be read
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status async_node_fields(struct async_graph *graph,
					      const struct async_node *node, struct field_list *ret,
					      uint64_t *ret_base, struct hd_error *err);

/**
 * The SynchronizationContext that a method which the runtime has suspended goes on in; 0: in none, or that is not
 * known.
 */
uint64_t async_node_context(struct async_graph *graph, const struct async_node *node);

/** Where the method of @p node has its "this", in its holder; 0: it is static, or that is not known. */
uint64_t async_node_this(struct async_graph *graph, const struct async_node *node);

/**
 * Does an async method go on after @p task, directly or after tasks that continue with each other
 * (ContinueWith, WhenAll, Unwrap)?  Cost: constant: more than a few tasks are not followed.
 */
bool async_task_leads_to_method(struct async_graph *graph, const struct object *task);
