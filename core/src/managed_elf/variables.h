/* SPDX-License-Identifier: MIT */
/* Arguments and locals as entries in .debug_info, with their places in .debug_loc and .debug_ranges. */
#pragma once

#include "managed_elf/elf_types.h"
#include "managed_elf/making.h"
#include "metadata/pdb.h"
#include "runtime/coreclr/code/debug_info.h"
#include "runtime/coreclr/code/method_variables.h"
#include "runtime/coreclr/code/variable_homes.h"

/** A variable of the source that the compiler keeps in a field of `this`. */
struct kept_variable {
	char *name; /**< owned */
	uint32_t type_row;
	uint64_t offset; /**< from what `this` points to */
};

/** The work on all methods; the lists are those of the one that was read last. */
struct variable_making {
	struct making *making;
	struct elf_types types;
	struct text locations; /**< the section .debug_loc */
	uint64_t start;        /**< where the code of the method begins; 0: none was read */
	struct method_variables variables;
	struct variable_ranges ranges;
	struct pdb_scopes scopes;
	struct code_bounds bounds;
	uint32_t *type_rows; /**< of each variable its type */
	struct kept_variable *kept;
	size_t kept_count, kept_capacity;
	uint64_t budget; /**< bytes, rows and steps that may still be read or made */
};
void variable_making_deinit(struct variable_making *making);

/**
 * Read the variables of the method of @p function.
 *
 * @param[out] ret Has it some?
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status variables_read(struct variable_making *making,
					   const struct code_function *function, bool *ret);

/** Append the entries of the variables of the method that was read, as @p function, a part of it, has them. */
void variables_write(struct variable_making *making, const struct code_function *function,
		     struct text *info, struct text *ranges);
