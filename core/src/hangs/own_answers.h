/* SPDX-License-Identifier: MIT */
/* Threads that wait for an answer which they would bring themselves, further out on their stack. */
#pragma once

#include "hangs/waits.h"

struct job;
struct wait_graph;

struct own_answer {
	const struct thread_wait *thread;
	uint64_t source; /**< the task of the TaskCompletionSource that it waits for */
	uint64_t method; /**< the MethodDesc of the method on its stack that completes such ones */
	struct object holder; /**< over this object alone the source can be reached by others */
	bool is_inline; /**< between the two the thread completes a source, whose continuation it runs at once */
};

/** Most of them that are kept. */
#define OWN_ANSWERS_MAX 8u

struct own_answers {
	struct own_answer rows[OWN_ANSWERS_MAX];
	size_t rows_count;
};

/**
 * Find threads that wait without a limit of time for a task which ends in a TaskCompletionSource, where
 *
 * - a method further out on the same stack sets results of such sources, itself or by others of the program, and there or
 *   farther out is a loop of the program, which no library calls;
 * - all ways to the source lead over one object that the frames from there on, or the async method which runs there, refer to,
 *   when the thread is left out and all that wait for it: nobody sets it who does not have that object;
 * - no other thread and no async method that has that object within a few steps is in a method which sets results, itself or by
 *   others, or begins that loop; nor does a timer or a work item that has it call such a method.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in threads; where there is such a thread, in the code of the program, in async methods, and in the heap for each of a
 * few objects.
 */
HD_NODISCARD enum hd_status own_answers_find(const struct waits *waits, struct wait_graph *graph,
					     struct job *job, struct own_answers *ret,
					     struct hd_error *err);
