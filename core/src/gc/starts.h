/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

/**
 * Where every object of the heap starts: one bit per 8 bytes of each segment (1/64 of the heap),
 * and for each block of 512 bits the number of starts before it, so that rank is O(1).
 */
struct starts;

/**
 * Walk the heap once.  @p with_free: Free blocks count as objects.
 *
 * @param[out] ret To be given to starts_destroy().
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status starts_create(struct heap *heap, bool with_free, struct job *job,
					  struct starts **ret, struct hd_error *err);
void starts_destroy(struct starts *starts);

/*
 * starts_create() in parts, for a walk that does more: starts_alloc(); per segment starts_marks(),
 * starts_mark() for its objects and starts_close(), by several threads at once; starts_finish().
 */
struct starts_marks {
	uint64_t *words;
	uint64_t begin;
};

HD_NODISCARD enum hd_status starts_alloc(const struct heap *heap, const struct job *job,
					 struct starts **ret, struct hd_error *err);
/** The bitmap of segment number @p segment of the heap, without marks. */
struct starts_marks starts_marks(struct starts *starts, size_t segment);
/** Mark that an object starts at @p address in the segment. */
static inline void starts_mark(const struct starts_marks *marks, uint64_t address)
{
	uint64_t bit = (address - marks->begin) / 8;
	marks->words[bit / 64] |= (uint64_t)1 << bit % 64;
}
/** End the marks of that segment; returns how many it has. */
uint64_t starts_close(struct starts *starts, size_t segment);
void starts_finish(struct starts *starts);

uint64_t starts_count(const struct starts *starts);
/** Bytes of memory that it uses. */
uint64_t starts_bytes(const struct starts *starts);
/** Does an object start at @p address? */
bool starts_has(const struct starts *starts, uint64_t address);
/** Number of objects before @p address, in all segments, in order. */
uint64_t starts_rank(const struct starts *starts, uint64_t address);
/** Number of objects before segment number @p segment of the heap, which may be segment_count. */
uint64_t starts_segment_rank(const struct starts *starts, size_t segment);
/** Address of the object with that rank, which must be less than starts_count(). */
uint64_t starts_address(const struct starts *starts, uint64_t rank);
/**
 * Addresses of @p count objects, beginning with that rank, which must exist; much faster than one
 * by one.
 */
void starts_addresses(const struct starts *starts, uint64_t rank, uint64_t *ret, size_t count);
/**
 * Ranks of the objects that start at @p count addresses at once, several times as fast, because
 * cache misses overlap.  UINT32_MAX: no object starts there, or its rank does not fit.
 */
void starts_rank_all(const struct starts *starts, const uint64_t *addresses, uint32_t *ret,
		     size_t count);
/** Address of the last object that starts at or before @p address in its segment, or 0. */
uint64_t starts_at_or_before(const struct starts *starts, uint64_t address);
/** Address of the first object that starts at or after @p address in its segment, or 0. */
uint64_t starts_at_or_after(const struct starts *starts, uint64_t address);
