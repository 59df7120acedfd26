/* SPDX-License-Identifier: MIT */
/* From what an async method awaits to what it waits for. */
#pragma once

#include "analysis/async/async_graph.h"

struct text;

/**
 * Set wait, next and object of @p node, whose object is what it awaits.  All boxes and links of
 * @p graph are known.
 */
void async_wait_find(struct async_graph *graph, struct async_node *node);

/**
 * The kind of wait for the task of a TaskCompletionSource that is not complete: AWAIT_COMPLETION, where it is that of
 * a channel; AWAIT_SEND and AWAIT_LIMITER, where many wait for one thing and each has a source of its own; else
 * AWAIT_SOURCE.
 *
 * @param[out] ret_object That thing, or the task.
 */
enum async_wait async_source_wait(struct async_graph *graph, const struct object *task,
				  uint64_t *ret_object);

/**
 * Append what is known of the thing that @p node waits for: "0 of 5 free", "2 tasks left"; nothing
 * when there is no more to say.
 */
void async_wait_append(struct text *text, struct async_graph *graph, const struct async_node *node);

/** Who goes on after the box @p node, which no other box awaits. */
enum async_root async_root_of(struct async_graph *graph, const struct async_node *node);

/**
 * Find what each row of @p graph whose state is ASYNC_UNKNOWN awaits, by who goes on after the objects that it refers to
 * (doc/nativeaot.md 8), and store it as the object.  Boxes that are kept to be used again are dropped.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the references of these methods and the lists of who goes on after a task.
 */
HD_NODISCARD enum hd_status async_awaited_find(struct async_graph *graph, struct job *job,
					       struct hd_error *err);
