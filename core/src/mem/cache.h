/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/** Size of a chunk and of the whole cache; a chunk's number gives its slot, without hashing. */
#define CACHE_CHUNK ((size_t)16 << 10)
#define CACHE_SIZE  ((size_t)64 << 20)

/**
 * Make a cache in front of a slow memory (a debugger's callback: doc/debuggers.md 1.1).  Never parallel; gives no runs.
 *
 * @param slow Owned by the cache, also when this fails.
 * @return NULL when memory is exhausted; @p slow is then destroyed.
 */
struct memory *memory_cache(struct memory *slow);
