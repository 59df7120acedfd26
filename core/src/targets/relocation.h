/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_RELOCATION_H
#define HEAPDUMP_SRC_TARGET_RELOCATION_H

#include "targets/target.h"

/** The RELATIVE relocations of modules, each module's read once.  Several threads may use it. */
struct relocation_cache;

/** NULL when memory is exhausted. */
struct relocation_cache *relocation_cache_create(void);
/** NULL is allowed. */
void relocation_cache_destroy(struct relocation_cache *cache);

#endif
