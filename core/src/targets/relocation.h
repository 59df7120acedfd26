/* SPDX-License-Identifier: MIT */
#pragma once

/** The RELATIVE relocations of modules, each module's read once.  Several threads may use it. */

/** NULL when memory is exhausted. */
struct relocation_cache *relocation_cache_create(void);
/** NULL is allowed. */
void relocation_cache_destroy(struct relocation_cache *cache);
