/* SPDX-License-Identifier: MIT */
/* Methods that a ReadyToRun image has code for, also those that nobody has called (doc/coreclr.md 12.3). */
#pragma once

#include "runtime/coreclr/code/code_parts.h"

struct text;

/**
 * Which method each function of an image is, by the image's own table, which is read once: the row of MethodDef of its module at
 * the function that the method begins with, and 0 at all others, as at those of instances of generic methods.
 *
 * @return image->function_count rows, borrowed; NULL: the table is not there, or memory is exhausted
 * (runtime_code_failed())
 * Cost: the first time linear in the table.
 */
const uint32_t *r2r_method_rows(struct runtime *runtime, const struct code_section *section);

/** Append the name of a method by its row of MethodDef, as coreclr_method_signature() has it; without it, nothing. */
void method_row_signature(struct runtime *runtime, uint64_t module, uint32_t rid,
			  struct text *text);

/**
 * The method of ReadyToRun code that has no entry point yet, since nobody has called it; in its handlers it is not known.
 *
 * @param[out] ret_module,ret_rid The Module, and its row of MethodDef; untouched on failure.
 * @return false: @p code is not in such a method, or that is not known
 */
bool coreclr_uncalled_method(struct runtime *runtime, uint64_t code, uint64_t *ret_module,
			     uint32_t *ret_rid);

/** Does another method begin after the first function of @p method, and not after @p code, which is ReadyToRun code? */
bool r2r_method_is_left(struct runtime *runtime, const struct code_info *method, uint64_t code);
