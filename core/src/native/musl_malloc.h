/* SPDX-License-Identifier: MIT */
#pragma once

#include "native/malloc_arenas.h"

/** A walk through the memory of musl's malloc, from 1.2.1 on (mallocng; doc/memory.md 5.3). */
struct musl_walk {
	struct memory *memory;
	struct job *job;
	malloc_found *found;
	void *arg;
	uint64_t budget;              /**< bytes of its records that may be read; less what was */
	struct malloc_class *classes; /**< MALLOC_CLASSES of them, to which the pieces are added */
	uint64_t mapped_count, mapped_bytes; /**< large pieces that it mapped on their own */
	bool is_damaged;                     /**< the list of its records ends in something else */
};

/**
 * Its context in the data of the C library, [@p start, @p start + @p size), by its shape.
 *
 * @return its address, or 0
 */
uint64_t musl_malloc_find(struct memory *memory, uint64_t start, const uint8_t *bytes, size_t size);

/**
 * Walk all groups of pieces that the context at @p context knows.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status musl_malloc_walk(struct musl_walk *walk, uint64_t context,
					     struct hd_error *err);
