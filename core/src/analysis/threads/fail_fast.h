/* SPDX-License-Identifier: MIT */
/* The message that a program gave to Environment.FailFast. */
#pragma once

#include "gc/heap.h"
#include "util/fail.h"
#include "util/text.h"

struct job;

struct fail_fast {
	bool is_there;        /**< the thread is in that method */
	bool has_message;     /**< a string was found that it was given */
	struct text message;  /**< as UTF-8 */
	uint64_t method_desc; /**< the method that called it; 0: not known */
};

/** Longest message that is read, in characters. */
#define FAIL_FAST_MESSAGE_MAX 4000u

/**
 * Look for it on the stack of a thread.  The method's code does not keep its arguments, but the words of
 * its frames refer to the message: the innermost string there is taken.
 *
 * @param os_id the thread's id in the system
 * @param[out] ret To be given to fail_fast_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: the frames of that thread, and 4 KB of its stack at most.
 */
HD_NODISCARD enum hd_status fail_fast_find(struct heap *heap, uint64_t os_id, struct job *job,
					   struct fail_fast *ret, struct hd_error *err);
void fail_fast_deinit(struct fail_fast *found);
