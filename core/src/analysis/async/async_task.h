/* SPDX-License-Identifier: MIT */
/* Tasks that are not of async methods, and that no async method waits for. */
#pragma once

#include "analysis/async/async_graph.h"

/**
 * Does an async method go on after @p task, directly or after tasks that continue with each other
 * (ContinueWith, WhenAll, Unwrap)?  Cost: constant: more than a few tasks are not followed.
 */
bool async_task_leads_to_method(struct async_graph *graph, const struct object *task);
