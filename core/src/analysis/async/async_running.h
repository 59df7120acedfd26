/* SPDX-License-Identifier: MIT */
/* Async methods of the runtime that threads run now (doc/coreclr.md 21.5). */
#pragma once

#include "analysis/async/async_graph.h"

/**
 * Find the methods of calls that run, by the records that threads have of them and by their stacks, and add
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
