/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/threads/frame_roots.h"
#include "command/call.h"
#include "command/threads/variable_text.h"

/** How stacks are written. */
struct stack_text {
	struct call *call;
	bool roots;                   /**< below each frame */
	bool full;                    /**< fold nothing */
	bool no_lines;                /**< frames without the lines of their source */
	uint64_t limit;               /**< frames of each thread */
	struct frame_details details; /**< below each frame */
	uint64_t symbols_left;        /**< bytes of native symbol tables that may still be read */
	struct text method;           /**< of the frame that is being written */
	struct root_objects objects;  /**< its heap is that of the call */
};

/** "threads": each with its frames and, if asked for, roots of no frame. */
extern const struct schema stack_schema;

/**
 * Write one thread: a row of the table that is begun, of stack_schema.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status stack_text_write(struct stack_text *text,
					     const struct thread_stack *stack);
/** Text: the line above a thread, and why its stack is not complete if it is not. */
void stack_text_heading(struct call *call, const struct thread_stack *stack);
void stack_text_deinit(struct stack_text *text);
