/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/guard.h"

/*
 * All memory is allocated here, so that tests can make any allocation fail.
 *
 * "mem" is for small things.  "pages" is for arrays that have one element per object or reference:
 * for PAGES_MIN bytes or more it maps fresh zero pages (huge ones if the kernel has them), and
 * pages that are never used cost nothing; the caller remembers the size.
 */

/** malloc() of @p count * @p size bytes; NULL when that overflows or memory is exhausted. */
void *mem_alloc(size_t count, size_t size);
/** The same, zeroed. */
void *mem_calloc(size_t count, size_t size);
/** realloc() to @p count * @p size bytes; on NULL, @p old is still valid. */
void *mem_realloc(void *old, size_t count, size_t size);
/** Copy of @p size bytes, with a NUL after them. */
char *mem_strndup(const char *text, size_t size);
void mem_free(void *ptr);

/** In front of a pointer: what it points to is freed when its scope ends, as HD_CLEANUP does. */
#define HD_FREE __attribute__((cleanup(mem_free_at)))

/** For HD_FREE: free what the pointer at @p place points to. */
static inline void mem_free_at(void *place)
{
	mem_free(*(void **)place);
}

#define PAGES_MIN ((size_t)1 << 22)

/** Zeroed array of @p count elements of @p size bytes; NULL as for mem_alloc(). */
void *pages_alloc(size_t count, size_t size);
/** Grow or shrink to @p count elements; new elements are zero.  On NULL, @p old is still valid. */
void *pages_resize(void *old, size_t old_count, size_t count, size_t size);
/** Free them; @p count and @p size are those of the allocation.  NULL is allowed. */
void pages_free(void *ptr, size_t count, size_t size);

/**
 * Free the memory of elements [@p begin, @p begin + @p count) out of @p all: afterwards they are
 * zero, or unchanged.
 */
void pages_discard(void *ptr, size_t all, size_t begin, size_t count, size_t size);

/** Set all elements to zero; in large arrays, memory that was never used stays unused. */
void pages_clear(void *ptr, size_t count, size_t size);

/** The next larger capacity: 1.5 times @p capacity, at least 8; 0 when that overflows. */
size_t grown_capacity(size_t capacity, size_t size);

/**
 * Append to a growable array of pages: FIELD, FIELD_count, FIELD_capacity in *OWNER.  Evaluates to
 * false when memory is exhausted.
 */
#define PAGES_RESERVE(owner, field)                                       \
	((owner)->field##_count < (owner)->field##_capacity ||            \
	 pages_grow((void **)&(owner)->field, &(owner)->field##_capacity, \
		    sizeof(*(owner)->field)))

/** Grow *@p array to grown_capacity(). */
bool pages_grow(void **array, size_t *capacity, size_t size);

#ifdef HD_FAULT_INJECTION
/** Make the @p nth allocation from now (1 = the next), and all later ones, fail; 0 = none. */
void alloc_fail_at(uint64_t nth);
/** How many allocations were requested since alloc_fail_at(). */
uint64_t alloc_calls(void);
/** How many bytes are allocated now. */
uint64_t alloc_live(void);
/** The most bytes that were allocated at the same time, since alloc_peak_reset() or the start. */
uint64_t alloc_peak(void);
void alloc_peak_reset(void);
#endif
