/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code.h"

/** In place of an offset: the variable is not saved. */
#define SAVED_NOWHERE UINT32_MAX

/**
 * Where the Continuation of a suspended async method has its variables (doc/coreclr.md 21.4).
 *
 * @param code What runtime_code_at() gave for @p place.
 * @param place The await: DiagnosticIP of the Continuation's ResumeInfo.
 * @param[in,out] budget Bytes that may be read, of which those that were are taken off.
 * @param[out] rows By number, the arguments (this is the first), then the locals: offsets from the
 * Continuation's address; or SAVED_NOWHERE.
 * @return false when the runtime does not tell, as for precompiled code, or its data is damaged: all rows are
 * SAVED_NOWHERE
 */
bool runtime_saved_variables(struct runtime *runtime, const struct code_info *code, uint64_t place,
			     uint64_t *budget, uint32_t *rows, size_t count);

/** Where it has the generic context, the MethodTable or MethodDesc of an instantiation; or SAVED_NOWHERE. */
uint32_t runtime_saved_generic_context(struct runtime *runtime, const struct code_info *code,
				       uint64_t place, uint64_t *budget);
