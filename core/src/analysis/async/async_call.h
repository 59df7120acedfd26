/* SPDX-License-Identifier: MIT */
/* The async method that a task is a call of. */
#pragma once

#include "framework/member.h"

struct async_graph;
struct text;

/**
 * Append the name of the method that @p object is the task of: of its state machine, or, if the runtime
 * suspends it, of the outermost of its Continuations.
 *
 * @return false, and nothing is appended, when it is not the task of an async method, or that is not known: it
 * runs, or has ended
 */
bool async_call_append(struct text *text, struct heap *heap, struct members *members,
		       const struct object *object);

/** The same; @p graph also knows the methods that run now. */
bool async_graph_call_append(struct text *text, struct async_graph *graph,
			     const struct object *object);
