/* SPDX-License-Identifier: MIT */
/* Asks which methods timers that are set, and work items of the pool, call that have an object. */
#pragma once

#include "hangs/waits.h"

struct job;

/** A question about these methods. */
struct item_question {
	uint64_t object; /**< those are asked that lead to it over a few objects */
	/** May the method of the program, a MethodDesc, do it? */
	bool (*may)(void *arg, uint64_t method_desc);
	void *arg;
};

/**
 * May one of them do what is asked?  So it may where its method is not known, is the framework's, or begins an async
 * method: these call others.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status item_calls_ask(const struct waits *waits,
					   const struct item_question *question, struct job *job,
					   bool *ret, struct hd_error *err);
