/* SPDX-License-Identifier: MIT */
/* The stack of the thread that ended a process. */
#pragma once

#include "gc/heap.h"
#include "util/fail.h"
#include "util/text.h"

struct crash_stack {
	uint64_t method_desc;  /**< the innermost method of the program; 0: not known */
	bool is_fail_fast;     /**< it is in Environment.FailFast */
	bool has_message;      /**< a string was found that this was given */
	struct text message;   /**< as UTF-8 */
	uint64_t fail_fast_by; /**< the method that called it; 0: not known */
};

/** Longest message that is read, in characters. */
#define FAIL_FAST_MESSAGE_MAX 4000u

/**
 * Look at the stack of a thread.  The code of Environment.FailFast does not keep its arguments, but the words
 * of its frames refer to the message: the innermost string there is taken.
 *
 * @param os_id the thread's id in the system
 * @param[out] ret To be given to crash_stack_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: the frames of that thread, and 4 KB of its stack at most.
 */
HD_NODISCARD enum hd_status crash_stack_read(struct heap *heap, uint64_t os_id, struct job *job,
					     struct crash_stack *ret, struct hd_error *err);
void crash_stack_deinit(struct crash_stack *found);
