/* SPDX-License-Identifier: MIT */
/*
 * Names the code that an object will run: a delegate, a task, a work item, the box of an async
 * method.
 */
#pragma once

#include "framework/member.h"

struct text;

/**
 * Append the method that @p object calls: of a delegate its method, of a task or a work item that of
 * its delegate, of an async method's box that method; of anything else the name of its type.
 *
 * @param[out] ret_target The object that the method is called on, or the state that it gets; 0: none.
 * @return false when nothing is known, not even the type
 */
bool callback_append(struct text *text, struct heap *heap, struct members *members,
		     const struct object *object, uint64_t *ret_target);

/** The MethodDesc of the delegate that @p object calls in the end; 0: it calls an async method, or that is not known. */
uint64_t callback_method(struct heap *heap, struct members *members, const struct object *object);
