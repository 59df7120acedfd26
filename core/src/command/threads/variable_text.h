/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "stack/stack.h"

/** The parts that are written below a managed frame besides its roots. */
struct frame_details {
	bool parameters, locals, registers;
};

/**
 * Write the arguments, locals and registers of a managed frame: tables and a record in its row.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status frame_details_write(struct call *call,
						const struct frame_details *details,
						const struct thread_stack *stack,
						const struct stack_frame *frame);
