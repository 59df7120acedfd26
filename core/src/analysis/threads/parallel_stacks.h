/* SPDX-License-Identifier: MIT */
/* The stacks of all threads, and the chains of async methods that are not done, each merged into trees. */
#pragma once

#include "analysis/async/async_graph.h"
#include "analysis/threads/equal_methods.h"
#include "analysis/threads/stack_tree.h"

struct parallel_stacks {
	struct heap *heap;
	struct stack_tree threads;  /**< a path's id is its runtime_thread_index() */
	struct stack_tree chains;   /**< a path's id is the row of its outermost box in async */
	struct equal_methods equal; /**< dynamic methods of the stacks */
	struct members *members;
	struct async_graph async; /**< without boxes, if only threads are wanted */
	uint32_t *
		runners; /**< by row of async: index of the thread that runs it; STACK_TREE_NONE: none, or not known */
	bool *is_partial;   /**< by thread: could its stack not be walked to its end? */
	uint64_t frameless; /**< threads that have a stack, but no managed frames */
	uint64_t partial;   /**< stacks that could not be walked to their ends */
};

/**
 * Walk all stacks, and the heap for async methods, and merge them.  Of dynamic methods that are called the same, the
 * first one is in the place of all.
 *
 * @param with_async Also async methods; else the heap is not walked.
 * @param lines See struct stack_tree_lines; its arg is borrowed until parallel_stacks_deinit().
 * @param[out] ret To be given to parallel_stacks_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the frames and the objects of the heap.
 */
HD_NODISCARD enum hd_status parallel_stacks_create(struct heap *heap, bool with_async,
						   const struct stack_tree_lines *lines,
						   struct job *job, struct parallel_stacks *ret,
						   struct hd_error *err);
void parallel_stacks_deinit(struct parallel_stacks *stacks);
