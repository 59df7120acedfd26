/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code.h"

/** Where a variable is (ICorDebugInfo::VarLocType), or that it is nowhere. */
enum home_kind {
	HOME_REGISTER,
	HOME_REGISTER_ADDRESS, /**< the register holds its address */
	HOME_FLOAT_REGISTER,
	HOME_STACK,          /**< at a register and an offset */
	HOME_STACK_ADDRESS,  /**< its address is there */
	HOME_REGISTERS,      /**< in two of them */
	HOME_REGISTER_STACK, /**< one half in each */
	HOME_STACK_REGISTER,
	HOME_STACK_TWICE,
	HOME_OTHER, /**< a place that this processor does not have */
	HOME_NONE,  /**< nothing is said about it */
};

struct variable_home {
	uint8_t kind;   /**< enum home_kind */
	uint8_t number; /**< its register (a number of struct arch), or that of its address */
	int32_t offset; /**< on the stack, relative to the register */
};

/**
 * Where the variables of a method are while the instruction at @p place runs (doc/coreclr.md
 * 12.13).
 *
 * @param code What runtime_code_at() gave for @p place.
 * @param place An address inside the instruction: of a call, its return address - 1.
 * @param[in,out] budget Bytes that may be read, of which those that were are taken off.
 * @param[out] rows By number: the arguments (this is the first), then the locals.  HOME_NONE where
 * nothing is said.
 * @return false when the runtime does not tell, or its data is damaged: all rows are HOME_NONE
 */
bool runtime_variable_homes(struct runtime *runtime, const struct code_info *code, uint64_t place,
			    uint64_t *budget, struct variable_home *rows, size_t count);
