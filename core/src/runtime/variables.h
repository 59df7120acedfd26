/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct type;

/** An argument or a local of a method. */
struct method_variable {
	char *name;              /**< owned; NULL: not known */
	char *type_name;         /**< owned; never NULL: "" where it is not known */
	const struct type *type; /**< NULL: not loaded, or not known; by reference: what the
				  * reference leads to */
	uint8_t element_type;    /**< enum element_type of what it holds; 0: not known */
	uint8_t target_type;     /**< of an ELEMENT_BYREF: of what it refers to */
	bool is_hidden;          /**< a local that the source does not have at this place */
};

/** All of a method: the arguments (this is the first), then the locals. */
struct method_variables {
	struct method_variable *rows;
	size_t count, argument_count;
	bool has_names;        /**< a PDB has the names of locals */
	const char *no_locals; /**< why it is not known which locals there are; static; or NULL */
};

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
	uint8_t number; /**< its register (a number of struct arch), or that of its address;
			 * HOME_FLOAT_REGISTER: its number among those,
			 * or ARCH_NONE */
	uint8_t second; /**< in two places: the other register, or that of the address */
	int32_t offset; /**< on the stack, relative to the register */
};
