/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_ALLOC_H
#define HEAPDUMP_SRC_UTIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * All allocation goes through here, so that tests can fail any of it.
 *
 * "mem" is for small things.  "pages" is for the arrays that have one element per object or
 * reference: from PAGES_MIN bytes on it maps fresh zero pages (huge ones where the kernel has
 * them), whose untouched part costs nothing; the caller remembers the size.
 */

/** malloc() of @p count * @p size bytes; NULL when that overflows or memory is exhausted. */
void *mem_alloc(size_t count, size_t size);
/** Same, zeroed. */
void *mem_calloc(size_t count, size_t size);
/** realloc() to @p count * @p size bytes; on NULL @p old still stands. */
void *mem_realloc(void *old, size_t count, size_t size);
/** Copy of @p size bytes and a NUL behind them. */
char *mem_strndup(const char *text, size_t size);
void mem_free(void *ptr);

#define PAGES_MIN ((size_t)1 << 22)

/** Zeroed array of @p count elements of @p size bytes; NULL as for mem_alloc(). */
void *pages_alloc(size_t count, size_t size);
/** Grow or shrink to @p count elements; what is new is zero.  On NULL @p old still stands. */
void *pages_resize(void *old, size_t old_count, size_t count, size_t size);
/** Give back; @p count and @p size as allocated.  NULL is allowed. */
void pages_free(void *ptr, size_t count, size_t size);

/**
 * Give back what [@p begin, @p begin + @p count) of @p all elements takes: afterwards it is zero, or
 * what it was.
 */
void pages_discard(void *ptr, size_t all, size_t begin, size_t count, size_t size);

/** Make all elements zero where they are; of large arrays, untouched memory stays untouched. */
void pages_clear(void *ptr, size_t count, size_t size);

/** Grow @p capacity for one more element: 1.5 times, at least 8; 0 when that overflows. */
size_t grown_capacity(size_t capacity, size_t size);

/**
 * Append to a growable array of pages: FIELD, FIELD_count, FIELD_capacity in *OWNER.  Evaluates to
 * false when memory is exhausted.
 */
#define PAGES_RESERVE(owner, field)                                       \
	((owner)->field##_count < (owner)->field##_capacity ||            \
	 pages_grow((void **)&(owner)->field, &(owner)->field##_capacity, \
		    sizeof(*(owner)->field)))

/** Grow *@p array by the rule of grown_capacity(). */
bool pages_grow(void **array, size_t *capacity, size_t size);

#ifdef HD_FAULT_INJECTION
/** Fail the @p nth allocation from now on (1 = the next), and all after it; 0 = none. */
void alloc_fail_at(uint64_t nth);
/** Allocations asked for since alloc_fail_at(). */
uint64_t alloc_calls(void);
/** Bytes that are allocated now. */
uint64_t alloc_live(void);
/** The most bytes that were at once since alloc_peak_reset(), or the beginning. */
uint64_t alloc_peak(void);
void alloc_peak_reset(void);
#endif

#endif
