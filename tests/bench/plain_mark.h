/* SPDX-License-Identifier: MIT */
#pragma once

#include "roots/root_set.h"

/**
 * Mark all that the strong roots of a mapped heap reach, as plainly as it can be written: a bit per
 * 8 bytes, a stack of addresses, one thread.
 *
 * @return objects that were marked
 */
uint64_t plain_mark(const struct heap *heap, const struct root_set *roots);
