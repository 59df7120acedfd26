/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/**
 * Make a memory in which every byte comes from the first of @p count parts that has it.
 *
 * @param parts Owned by the chain, also when this fails.  At least 1, at most 4.
 * @return NULL when memory is exhausted; the parts are then destroyed.
 */
struct memory *memory_chain(struct memory *const *parts, size_t count);
