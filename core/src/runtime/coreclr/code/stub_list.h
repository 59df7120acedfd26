/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code_parts.h"
#include "runtime/coreclr/code/function_list.h"

/**
 * Append the places of stubs, a row for each: stubs of a heap that the map of code has, and code of the runtime that
 * is in none of @p sections, such as stubs that count calls.  Cost: linear in the mappings of the target.
 *
 * @param[in,out] sections All of the map of code; sorted afterwards.
 * @return false when memory is exhausted
 */
bool code_stubs_list(struct runtime *runtime, struct code_section *sections, size_t count,
		     struct code_functions *functions);
