/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * The size classes of glibc's malloc are its bins (malloc/malloc.c, bin_index(); doc/memory.md 5.2): up to 1008 bytes
 * each size has its own, then each has a range. Sizes are those of pieces: what was asked for and 8 bytes more,
 * rounded up to 16.
 */
#define MALLOC_CLASSES 127u

/** How many pieces there are in a size class, and their bytes. */
struct malloc_class {
	uint64_t used_pieces, used_bytes; /**< those in caches too */
	uint64_t free_pieces, free_bytes; /**< without the top of an arena */
};

/** The class of a piece of @p size bytes. */
unsigned int malloc_class_of(uint64_t size);

/** The smallest size of class @p index; that of MALLOC_CLASSES ends the last class: there is none larger. */
uint64_t malloc_class_start(unsigned int index);

/** Count a piece. @param classes MALLOC_CLASSES of them. */
void malloc_class_add(struct malloc_class *classes, uint64_t size, bool is_used);
