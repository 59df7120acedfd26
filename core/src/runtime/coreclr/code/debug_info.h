/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code.h"

/** In place of an offset in IL: the instructions come from none. */
#define CODE_BOUND_NOTHING UINT32_MAX

/** Where the instructions of a piece of IL begin. */
struct code_bound {
	uint32_t native; /**< offset in the method's code */
	uint32_t il;     /**< offset in its IL, or CODE_BOUND_NOTHING */
	bool is_exact;   /**< the IL begins here: it is neither the prologue nor an epilogue */
};

/** All of a method, ascending by native; reused for the next. */
struct code_bounds {
	struct code_bound *rows;
	size_t rows_count, rows_capacity;
	bool failed; /**< memory is exhausted */
};
void code_bounds_deinit(struct code_bounds *bounds);

/**
 * Read the bounds of a method (doc/coreclr.md 12.13).
 *
 * @param code What runtime_code_at() gave for it.
 * @param[in,out] budget Bytes that may be read, of which those that were are taken off.
 * @return false when the runtime does not tell, or its data is damaged, or memory is exhausted
 */
bool runtime_bounds_read(struct runtime *runtime, const struct code_info *code, uint64_t *budget,
			 struct code_bounds *ret);

/**
 * The IL that the instruction at @p place was compiled from (doc/coreclr.md 12.13).
 *
 * @param code What runtime_code_at() gave for @p place.
 * @param place An address inside the instruction: of a call, its return address - 1.
 * @param[in,out] budget Bytes that may be read, of which those that were are taken off.
 * @param[out] ret Offset in the method's IL; untouched on failure.
 * @return false when the runtime does not tell, or no IL belongs to the instruction
 */
bool runtime_il_at(struct runtime *runtime, const struct code_info *code, uint64_t place,
		   uint64_t *budget, uint32_t *ret);
