/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/** Text that lives as long as its owner: chunks that only grow. */
struct arena;

/** NULL when memory is exhausted. */
struct arena *arena_create(void);
/** NULL is allowed. */
void arena_destroy(struct arena *arena);
/** @p size bytes, not zeroed, any alignment of char; NULL when memory is exhausted. */
char *arena_alloc(struct arena *arena, size_t size);
/** Move everything in @p from to @p to, and destroy @p from: pointers into both stay valid. */
void arena_merge(struct arena *to, struct arena *from);
