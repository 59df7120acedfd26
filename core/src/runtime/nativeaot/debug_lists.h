/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/debug_header.h"

struct target;
struct target_module;

/**
 * Find the two lists of the debug header in the zero-filled data of @p module, where the header itself is not in the target
 * (createdump --withheap): by the texts that their rows refer to, which the program's file has.
 *
 * Cost: linear in the image.
 * @return false: they are not there, or memory is exhausted
 */
bool debug_lists_find(const struct target *target, const struct target_module *module,
		      struct debug_header *ret);
