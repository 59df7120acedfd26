/* SPDX-License-Identifier: MIT */
/* Visits the objects that threads and async methods refer to: what they have at hand. */
#pragma once

#include "hangs/waits.h"

struct job;

/** One of them. */
struct wait_reference {
	uint32_t node;
	uint64_t value; /**< an object's address */
	bool is_this; /**< the "this" of an async method, whose fields belong to all methods of the class */
};

/** Called for each; another status than HD_OK ends the visit. */
typedef enum hd_status wait_reference_visit(void *arg, const struct wait_reference *reference,
					    struct hd_error *err);

/**
 * Visit what frames of threads outside of their own waits refer to, and the variables of async methods that have passed an await.
 * Threads come first.  Idle threads are left out, and what only points into an object, or may be no reference.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * @return or what @p visit returned
 * Cost: linear in roots, and in the fields of async methods.
 */
HD_NODISCARD enum hd_status wait_references_visit(const struct waits *waits,
						  wait_reference_visit *visit, void *arg,
						  struct job *job, struct hd_error *err);
