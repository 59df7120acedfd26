/* SPDX-License-Identifier: MIT */
#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/page_file.h"

#define HUGE_PAGE ((size_t)2 << 20)

#ifdef HD_FAULT_INJECTION
#include <malloc.h>
#include <stdatomic.h>

static _Atomic uint64_t fail_at;
static _Atomic uint64_t calls;

void alloc_fail_at(uint64_t nth)
{
	calls = 0;
	fail_at = nth;
}

uint64_t alloc_calls(void)
{
	return calls;
}

static bool call_is_refused(void)
{
	uint64_t call = ++calls;
	return fail_at && call >= fail_at;
}

static _Atomic uint64_t live_bytes, peak_bytes;

uint64_t alloc_live(void)
{
	return live_bytes;
}

uint64_t alloc_peak(void)
{
	return peak_bytes;
}

void alloc_peak_reset(void)
{
	peak_bytes = live_bytes;
}

static void count_taken(uint64_t bytes)
{
	uint64_t now = atomic_fetch_add(&live_bytes, bytes) + bytes;
	uint64_t peak = atomic_load(&peak_bytes);
	while (now > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, now))
		;
}

static void count_given_back(uint64_t bytes)
{
	live_bytes -= bytes;
}

static uint64_t size_of_piece(void *ptr)
{
	return ptr ? malloc_usable_size(ptr) : 0;
}
#else
static bool call_is_refused(void)
{
	return false;
}

static void count_taken(uint64_t bytes)
{
	(void)bytes;
}

static void count_given_back(uint64_t bytes)
{
	(void)bytes;
}

static uint64_t size_of_piece(void *ptr)
{
	(void)ptr;
	return 0;
}
#endif

void *mem_alloc(size_t count, size_t size)
{
	return mem_realloc(NULL, count, size);
}

void *mem_calloc(size_t count, size_t size)
{
	size_t bytes;
	if (call_is_refused() || __builtin_mul_overflow(count, size, &bytes))
		return NULL;
	void *ptr = calloc(count ? count : 1, size);
	count_taken(size_of_piece(ptr));
	return ptr;
}

void *mem_realloc(void *old, size_t count, size_t size)
{
	size_t bytes;
	if (call_is_refused() || __builtin_mul_overflow(count, size, &bytes))
		return NULL;
	uint64_t before = size_of_piece(old);
	void *ptr = realloc(old, bytes ? bytes : 1);
	if (ptr) {
		/* It may have been copied: both were there at once. */
		count_taken(size_of_piece(ptr));
		count_given_back(before);
	}
	return ptr;
}

char *mem_strndup(const char *text, size_t size)
{
	char *copy = mem_alloc(size + 1, 1);
	if (!copy)
		return NULL;
	if (size)
		memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

void mem_free(void *ptr)
{
	count_given_back(size_of_piece(ptr));
	free(ptr);
}

static size_t round_up_page(size_t bytes)
{
	return (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

/* Map @p bytes (a multiple of HUGE_PAGE) of memory at a multiple of HUGE_PAGE. */
static void *map_memory(size_t bytes)
{
	char *raw = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (raw == MAP_FAILED)
		return NULL;
	size_t before = (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE) % HUGE_PAGE;
	if (before)
		(void)munmap(raw, before);
	if (HUGE_PAGE - before)
		(void)munmap(raw + before + bytes, HUGE_PAGE - before);
	(void)madvise(raw + before, bytes, MADV_HUGEPAGE);
	return raw + before;
}

/* Map @p bytes (a multiple of HUGE_PAGE). */
static void *map_pages(size_t bytes)
{
	void *ptr = NULL;
	if (bytes + HUGE_PAGE < bytes)
		return NULL;
	if (page_file_wants(bytes)) {
		ptr = page_file_map(bytes);
	} else {
		ptr = map_memory(bytes);
		if (!ptr)
			page_file_forget(bytes);
	}
	if (ptr)
		count_taken(bytes);
	return ptr;
}

static void unmap_pages(void *ptr, size_t bytes)
{
	if (page_file_has(ptr)) {
		page_file_unmap(ptr, bytes);
	} else {
		(void)munmap(ptr, bytes);
		page_file_forget(bytes);
	}
	count_given_back(bytes);
}

/* Move a mapping to where it can be larger: its pages are not copied.  NULL: this cannot be done. */
static void *grow_pages(void *old, size_t had, size_t bytes)
{
	size_t more = bytes - had;
	if (bytes + HUGE_PAGE < bytes || page_file_has(old) || page_file_wants(more))
		return NULL;
	void *place = map_memory(bytes);
	void *ptr =
		place ? mremap(old, had, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) : MAP_FAILED;
	if (ptr == MAP_FAILED) {
		/* Another thread may own the pages by now that were to make way. */
		page_file_forget(more);
		return NULL;
	}
	count_taken(more);
	return ptr;
}

void *pages_alloc(size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
		return NULL;
	if (bytes < PAGES_MIN)
		return mem_calloc(count, size);
	return call_is_refused() ? NULL : map_pages(round_up_page(bytes));
}

void *pages_resize(void *old, size_t old_count, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
		return NULL;
	size_t old_bytes = old_count * size;
	size_t keep = round_up_page(bytes), had = round_up_page(old_bytes);
	if (old_bytes >= PAGES_MIN && bytes >= PAGES_MIN && keep <= had) {
		if (call_is_refused())
			return NULL;
		if (had > keep)
			unmap_pages((char *)old + keep, had - keep);
		/*
		 * The bytes that stay mapped after the new end become zero again, for the next
		 * growth.
		 */
		if (bytes < old_bytes) {
			memset((char *)old + bytes, 0,
			       (keep < old_bytes ? keep : old_bytes) - bytes);
		}
		return old;
	}
	if (old_bytes >= PAGES_MIN && keep > had && !call_is_refused()) {
		void *moved = grow_pages(old, had, keep);
		if (moved)
			return moved;
	}
	void *ptr = pages_alloc(count, size);
	if (!ptr)
		return NULL;
	if (old)
		memcpy(ptr, old, old_bytes < bytes ? old_bytes : bytes);
	pages_free(old, old_count, size);
	return ptr;
}

void pages_free(void *ptr, size_t count, size_t size)
{
	if (ptr && count * size >= PAGES_MIN) {
		unmap_pages(ptr, round_up_page(count * size));
	} else {
		mem_free(ptr);
	}
}

void pages_discard(void *ptr, size_t all, size_t begin, size_t count, size_t size)
{
	if (all * size < PAGES_MIN || page_file_has(ptr))
		return;
	size_t from = round_up_page(begin * size);
	size_t to = (begin + count) * size & ~(HUGE_PAGE - 1);
	if (from < to)
		(void)madvise((char *)ptr + from, to - from, MADV_DONTNEED);
}

void pages_clear(void *ptr, size_t count, size_t size)
{
	size_t bytes = count * size;
	/* The mapping reaches to the end of a huge page, so whole pages can be freed. */
	if (bytes < PAGES_MIN || page_file_has(ptr) ||
	    madvise(ptr, round_up_page(bytes), MADV_DONTNEED))
		memset(ptr, 0, bytes);
}

size_t grown_capacity(size_t capacity, size_t size)
{
	size_t more = capacity < 8 ? 8 : capacity + capacity / 2;
	return more > SIZE_MAX / 4 / size ? 0 : more;
}

bool pages_grow(void **array, size_t *capacity, size_t size)
{
	size_t more = grown_capacity(*capacity, size);
	void *ptr = more ? pages_resize(*array, *capacity, more, size) : NULL;
	if (!ptr)
		return false;
	*array = ptr;
	*capacity = more;
	return true;
}
