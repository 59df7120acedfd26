/* SPDX-License-Identifier: MIT */
/* Words of a stack, or of any range, that are addresses of objects. */
#pragma once

#include "gc/starts.h"
#include "stack/stack.h"

/** A word, or a register, with the address where an object starts. */
struct stack_object {
	uint64_t slot;        /**< address of the word; 0: it is a register */
	uint8_t base;         /**< number of the register */
	struct object object; /**< never a Free block */
};

/** They are found one by one; the members are private, but for missing. */
struct stack_objects {
	struct heap *heap;
	struct starts *starts;
	struct window objects; /**< bytes of the heap */
	struct window words;   /**< bytes of the range */
	uint64_t at, end;      /**< the range: what is left of it */
	uint64_t missing;      /**< bytes at its end, not looked at: the target lacks the first */
	const struct thread_stack *stack; /**< NULL: the range counts */
	uint64_t *keys;  /**< of its roots: the slot, or the number of a register; ascending */
	uint32_t *order; /**< the root of each */
	uint32_t next;
};

/**
 * Find out where objects start.
 *
 * @param[out] ret To be given to stack_objects_close(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status stack_objects_open(struct heap *heap, struct job *job,
					       struct stack_objects *ret, struct hd_error *err);
void stack_objects_close(struct stack_objects *objects);

/**
 * Begin with the registers and words of @p stack, which was walked with options.conservative;
 * borrowed until the next begin or stack_objects_close().
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status stack_objects_begin(struct stack_objects *objects,
						const struct thread_stack *stack,
						struct hd_error *err);
/** Begin with the words of [@p begin, @p end). */
void stack_objects_begin_range(struct stack_objects *objects, uint64_t begin, uint64_t end);

/**
 * The next one: registers first, then words by their address, each once.
 *
 * @param[out] ret object.type NULL: there is none.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status stack_objects_next(struct stack_objects *objects, struct job *job,
					       struct stack_object *ret, struct hd_error *err);
