/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code.h"

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
