/* SPDX-License-Identifier: MIT */
/* Where an exception has its stack trace: the field differs by runtime. */
#pragma once

#include "framework/member.h"

/**
 * The array with the frames of an exception, of which @p fields are known: _stackTrace, and in a program that was
 * compiled ahead of time the return addresses (doc/nativeaot.md 5.3).  0: there is none.
 */
uint64_t exception_trace_in_list(struct heap *heap, const struct object *object,
				 const struct field_list *fields);
/** The same of an exception whose base class System.Exception is @p base. */
uint64_t exception_trace_of(struct members *members, const struct object *object,
			    const struct type *base);
