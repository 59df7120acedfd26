/* SPDX-License-Identifier: MIT */
/* Nodes of async methods that the runtime suspends itself (doc/coreclr.md 21). */
#pragma once

#include "analysis/async/async_graph.h"

/** Is it the type of the tasks of such calls, by its full name? */
bool async_is_runtime_task(const char *name, size_t size);

/**
 * The first Continuation of the call that @p task is of; 0: it has none, because it runs or has ended.
 *
 * @return false when this framework does not tell; *@p ret is 0 then
 */
bool async_task_head(struct members *members, const struct object *task, uint64_t *ret);

/**
 * Add the methods of one call: those that the Continuations of @p task are of, the innermost first.  A
 * method is added once, also when several tasks lead to it.
 *
 * @param task An ASYNC_RUNTIME_TASK.
 * @param with_done Also when it has ended: then it is one node, whose method nobody knows any more.
 * @param taken The Continuations that have nodes; empty at first.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status async_suspended_add(struct async_graph *graph,
						const struct object *task, bool with_done,
						struct hash_index *taken, struct hd_error *err);

/**
 * Add the methods from the Continuation at @p first outwards, the innermost of which awaits @p awaited.
 *
 * @param task That of their call.
 * @retval HD_OK also when there is no such Continuation, or it has a node
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status async_suspended_add_from(struct async_graph *graph,
						     const struct object *task, uint64_t first,
						     uint64_t awaited, struct hash_index *taken,
						     struct hd_error *err);

/**
 * Find the methods of calls that threads run now (doc/coreclr.md 21.5), by the records that threads have of them and by their stacks, and add
 * the suspended methods that await them.
 *
 * @param graph Its rows ascend by address, and do so afterwards, too.
 * @param taken See async_suspended_add().
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status async_running_add(struct async_graph *graph, struct hash_index *taken,
					      struct job *job, struct hd_error *err);
