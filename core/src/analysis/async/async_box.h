/* SPDX-License-Identifier: MIT */
/* Boxes of async methods: where the method stands, and what it awaits. */
#pragma once

#include "framework/member.h"

/** The state of a method that runs, or was not begun; and of one that is done. */
#define ASYNC_RUNS (-1)
#define ASYNC_DONE (-2)
/** No field is named as the compilers of C# and F# do (NativeAOT without symbols): where the method stands is not known. */
#define ASYNC_UNKNOWN INT32_MAX

/** A box: the task of an async method, with the compiler's state machine inside. */
struct async_box {
	struct object object;
	const struct type *machine; /**< type of the state machine */
	uint64_t fields;            /**< address of its first field */
	int32_t state; /**< ASYNC_RUNS, ASYNC_DONE, ASYNC_UNKNOWN, or the number of an await, from 0 */
	/**
	 * The object that it awaits: a task, a source of a ValueTask, a custom awaiter; 0: nothing,
	 * or not known.
	 */
	uint64_t awaited;
};

/** Is @p type the type of such boxes?  Asks for its name: remember the answer for each type. */
bool async_is_box(struct runtime *runtime, const struct type *type);

/**
 * Read the box @p object.
 *
 * @return false when it is not a box, or its state machine cannot be read; @p ret is untouched
 */
bool async_box_read(struct heap *heap, struct members *members, const struct object *object,
		    struct async_box *ret);
