/* SPDX-License-Identifier: MIT */
/* Stacks that share their outermost frames, merged into trees. */
#pragma once

#include "analysis/graph/hash_index.h"
#include "analysis/threads/frame_repeats.h"
#include "stack/stack.h"

struct async_graph;

/** No node, no path. */
#define STACK_TREE_NONE UINT32_MAX

enum stack_step_kind {
	STEP_METHOD,   /**< a managed frame */
	STEP_REPEATED, /**< frames that only repeat those that come next: see frame_repeats() */
	STEP_ASYNC,    /**< an async method that runs on no stack */
};

/** Two frames are the same one in a tree if this is equal, and the frames around them are. */
struct stack_step {
	uint8_t kind;             /**< enum stack_step_kind */
	bool is_funclet, is_dead; /**< STEP_METHOD: as in struct stack_frame */
	uint8_t wait; /**< STEP_ASYNC: enum async_wait; what it waits for, or what is between it and the next */
	uint8_t root; /**< STEP_ASYNC, of an outermost one: enum async_root; who goes on after it */
	uint8_t period;        /**< STEP_REPEATED: methods that repeat */
	int32_t state;         /**< STEP_ASYNC: the await that it is at */
	uint64_t method;       /**< STEP_METHOD: its MethodDesc */
	uint32_t async_method; /**< STEP_ASYNC: its row of the graph's methods */
};

struct stack_tree_node {
	struct stack_step step;
	uint32_t parent; /**< the frame that called it; STACK_TREE_NONE: it is an outermost one */
	uint32_t depth;  /**< frames further out */
	uint32_t first_path; /**< the first path that ends here, or STACK_TREE_NONE */
	uint32_t last_path;
	uint32_t children; /**< different frames that it called */
	uint32_t count;    /**< paths that have it */
	uint32_t
		methods; /**< STEP_REPEATED: where its methods begin in stack_tree.methods, innermost first */
	uint32_t fewest, most; /**< STEP_REPEATED: how many frames it is in the place of */
	uint64_t
		place; /**< STEP_METHOD: an address in the instruction that it is at; 0: several lines */
};

/** One stack, or a chain of async methods. */
struct stack_tree_path {
	uint32_t node; /**< where it ends: its innermost frame */
	uint32_t next; /**< the next path that ends there, or STACK_TREE_NONE */
	uint32_t id;   /**< of the caller */
};

/** Are two places in the code of a method on the same line? */
struct stack_tree_lines {
	bool (*is_same)(void *arg, uint64_t method, uint64_t a, uint64_t b); /**< NULL: no */
	void *arg;
};

/** A tree; parents have lower indices.  Empty when zero-initialised. */
struct stack_tree {
	struct stack_tree_node *rows;
	size_t rows_count, rows_capacity;
	struct stack_tree_path *paths;
	size_t paths_count, paths_capacity;
	uint64_t *methods; /**< MethodDescs of frames that repeat */
	size_t methods_count, methods_capacity;
	uint32_t roots; /**< different outermost frames */
	struct hash_index index;
	struct stack_tree_lines lines;
	struct stack_tree_node next; /**< that is looked for */
};

/**
 * Add the managed frames of @p stack, so that what frame_repeats() finds is one step.  A stack
 * without managed frames is not added.
 *
 * @param id Of the path.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM also when the tree needs more memory than @p job may take
 * Cost: linear in the frames.
 */
HD_NODISCARD enum hd_status stack_tree_add(struct stack_tree *tree,
					   const struct thread_stack *stack, uint32_t id,
					   const struct job *job, struct hd_error *err);

/** Most methods of one chain that are added: the outermost ones. */
#define STACK_TREE_ASYNC_MAX 200u

/**
 * Add the async methods from the box in row @p root of @p graph towards the innermost that it
 * awaits, at most STACK_TREE_ASYNC_MAX.
 *
 * @param id Of the path.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM in the same way
 */
HD_NODISCARD enum hd_status stack_tree_add_chain(struct stack_tree *tree,
						 const struct async_graph *graph, uint32_t root,
						 uint32_t id, const struct job *job,
						 struct hd_error *err);

/** In what order a tree is shown. */
struct stack_tree_order {
	uint32_t *
		rows; /**< the children of each node next to each other, those with the fewest paths first */
	uint32_t *
		begin; /**< by node: where its children begin in rows; those of no node come last */
	uint32_t root_begin;
	size_t count; /**< of nodes */
};

/**
 * Sort the tree.
 *
 * @param[out] ret To be given to stack_tree_order_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status stack_tree_sort(const struct stack_tree *tree,
					    struct stack_tree_order *ret, struct hd_error *err);
void stack_tree_order_deinit(struct stack_tree_order *order);
void stack_tree_deinit(struct stack_tree *tree);
