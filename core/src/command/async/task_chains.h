/* SPDX-License-Identifier: MIT */
/* dumpasync -tasks: the tasks that are in none of its chains. */
#pragma once

#include "analysis/async/async_graph.h"
#include "command/call.h"

/** Which of them are wanted. */
struct task_choice {
	bool with_done;       /**< also those that are complete */
	uint64_t mt, address; /**< only this type, only this task; 0: any */
	const char *type;     /**< only those whose type or method contains it; NULL: any */
	uint64_t limit;
};

/**
 * Write the table "tasks".
 *
 * @param[out] ret_count Tasks that are wanted, also those above the limit.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the objects of the heap.
 */
HD_NODISCARD enum hd_status write_task_chains(struct call *call, struct async_graph *graph,
					      const struct task_choice *choice,
					      uint64_t *ret_count);
