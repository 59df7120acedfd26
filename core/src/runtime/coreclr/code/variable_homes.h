/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code.h"
#include "runtime/variables.h"

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

/** Where a variable is while a part of the code runs. */
struct variable_range {
	uint32_t number;     /**< the arguments (this is the first), then the locals */
	uint32_t begin, end; /**< offsets in the method's code */
	struct variable_home home;
};

/** All of a method, in the order of their numbers, of one variable as the runtime lists them; reused for the next. */
struct variable_ranges {
	struct variable_range *rows;
	size_t rows_count, rows_capacity;
	bool failed; /**< memory is exhausted */
};
void variable_ranges_deinit(struct variable_ranges *ranges);

/**
 * Read where the variables of a method are, anywhere in its code; no range is empty.
 *
 * @param code What runtime_code_at() gave for it.
 * @param[in,out] budget Bytes that may be read, of which those that were are taken off.
 * @return false when the runtime does not tell, or its data is damaged, or memory is exhausted
 */
bool runtime_variable_ranges_read(struct runtime *runtime, const struct code_info *code,
				  uint64_t *budget, struct variable_ranges *ret);
