/* SPDX-License-Identifier: MIT */
#pragma once

#include "inspect/value.h"
#include "runtime/coreclr/code/method_variables.h"
#include "runtime/coreclr/code/variable_homes.h"
#include "stack/stack.h"

/** The state of a variable's value. */
enum variable_state {
	VARIABLE_KNOWN,
	VARIABLE_NOWHERE, /**< the code does not keep it at this place, or nothing is said */
	VARIABLE_LOST,    /**< it was in a register that a call does not preserve */
	VARIABLE_FLOAT, /**< it is in a register for numbers with a fraction, which are not read */
	VARIABLE_PARTS, /**< a struct that lies in two places */
	VARIABLE_UNREADABLE, /**< the stack there is not in the target */
};

struct frame_variable {
	enum variable_state state;
	uint8_t home;     /**< enum home_kind */
	uint8_t base;     /**< number of the register that has it, or its address; ARCH_NONE */
	int32_t offset;   /**< on the stack */
	uint64_t address; /**< where it is; 0: in a register */
	struct value_out value;  /**< a struct in a register: FORM_MISSING, with bits */
	struct value_out target; /**< ELEMENT_BYREF: what it refers to; else FORM_MISSING */
	struct object object;    /**< of a reference; type NULL: none */
};

/** The variables of a frame: rows by the numbers of those of its method. */
struct frame_variables {
	struct method_variables method;
	struct frame_variable *rows;
	bool has_homes; /**< the runtime says where variables of the method are */
};

/**
 * The arguments and locals of a managed frame (doc/coreclr.md 12.13).
 *
 * @param registers Those of the frame; NULL: not known.
 * @param[out] ret To be given to frame_variables_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status frame_variables_read(struct heap *heap, const struct stack_frame *frame,
						 const struct frame_registers *registers,
						 struct frame_variables *ret, struct hd_error *err);
void frame_variables_deinit(struct frame_variables *variables);

/**
 * Read what frame_variables_read() and the lines of frames need of native memory, for the frames of
 * all threads.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status frame_variables_touch(struct runtime *runtime, struct job *job,
						  struct hd_error *err);

/** "local": a word for each state, for data. */
const char *variable_state_name(enum variable_state state);
