/* SPDX-License-Identifier: MIT */
#include "graph/id_index.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/alloc.h"
#include "util/sort.h"

/* How many look-ups wait for memory at the same time. */
#define LOOKUP_BATCH 32u

static uint32_t bit_length(uint64_t value)
{
	return value ? 64u - (uint32_t)__builtin_clzll(value) : 0;
}

/* The highest id in the slice that begins at @p start. */
static uint64_t slice_last(const struct id_index *index, uint64_t start)
{
	uint64_t last = start + (((uint64_t)1 << index->slice_shift) - 1);
	return last < start ? UINT64_MAX : last;
}

/* Lay out one slice that holds ids[begin .. end): as many buckets as ids, rounded down. */
static uint64_t slice_plan(struct id_slice *slice, const uint64_t *ids, uint32_t begin,
			   uint32_t end, uint64_t first_bucket)
{
	slice->first = (uint32_t)first_bucket;
	if (begin == end) {
		slice->shift = 63;
		return 1;
	}
	uint64_t span = ids[end - 1] - slice->start;
	uint64_t count = end - begin;
	slice->shift = 0;
	if (bit_length(span) > bit_length(count))
		slice->shift = bit_length(span) - bit_length(count);
	while ((span >> slice->shift) >= count && slice->shift < 63)
		slice->shift++;
	/*
	 * The last bucket also gets ids of the slice that are greater than its last one: see
	 * bucket_in_slice().
	 */
	return (span >> slice->shift) + 1;
}

/* Each id above the last one of its slice would be after the slice's buckets. */
static uint32_t bucket_in_slice(const struct id_index *index, uint64_t id)
{
	uint64_t slice = (id - index->min) >> index->slice_shift;
	uint64_t bucket = index->slices[slice].first +
			  ((id - index->slices[slice].start) >> index->slices[slice].shift);
	uint32_t last = index->slices[slice + 1].first - 1;
	return bucket < last ? (uint32_t)bucket : last;
}

static void fill_buckets(struct id_index *index, const uint64_t *ids)
{
	uint32_t rank = 0;
	for (uint32_t slice = 0; slice < index->slice_count; slice++) {
		uint32_t first = index->slices[slice].first, last = index->slices[slice + 1].first;
		uint64_t start = index->slices[slice].start;
		uint32_t shift = index->slices[slice].shift;
		uint64_t end = slice_last(index, start);
		uint32_t next = first;
		for (; rank < index->count && ids[rank] <= end; rank++) {
			uint32_t bucket = first + (uint32_t)((ids[rank] - start) >> shift);
			while (next <= bucket)
				index->buckets[next++] = rank;
		}
		while (next < last)
			index->buckets[next++] = rank;
	}
	index->buckets[index->bucket_count] = index->count;
}

/* First and last rank of each slice, one pass; the number of buckets of all. */
static uint64_t plan_slices(struct id_index *index, const uint64_t *ids)
{
	uint64_t buckets = 0;
	uint32_t rank = 0;
	for (uint32_t slice = 0; slice < index->slice_count; slice++) {
		uint64_t start = index->min + ((uint64_t)slice << index->slice_shift);
		uint64_t last = slice_last(index, start);
		uint32_t begin = rank;
		while (rank < index->count && ids[rank] <= last)
			rank++;
		index->slices[slice].start = start;
		buckets += slice_plan(&index->slices[slice], ids, begin, rank, buckets);
	}
	index->slices[index->slice_count].first = (uint32_t)buckets;
	return buckets;
}

void id_index_init_bare(struct id_index *index, const uint64_t *ids, uint32_t count)
{
	*index = (struct id_index){ .count = count };
	if (count) {
		index->min = ids[0];
		index->max = ids[count - 1];
	}
}

enum hd_status id_index_init(struct id_index *index, const uint64_t *ids, uint32_t count,
			     struct hd_error *err)
{
	id_index_init_bare(index, ids, count);
	if (!count)
		return HD_OK;
	uint32_t bits = bit_length(index->max - index->min);
	index->slice_shift = bits > ID_SLICE_BITS ? bits - ID_SLICE_BITS : 0;
	index->slice_count = (uint32_t)((index->max - index->min) >> index->slice_shift) + 1;
	index->slices = mem_calloc((size_t)index->slice_count + 1, sizeof(*index->slices));
	TRY_MEMORY(index->slices, err);
	uint64_t buckets = plan_slices(index, ids);
	if (buckets > UINT32_MAX - 1) {
		id_index_deinit(index);
		return fail(err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	}
	index->bucket_count = (uint32_t)buckets;
	index->buckets = pages_alloc(buckets + 1, sizeof(*index->buckets));
	if (!index->buckets) {
		id_index_deinit(index);
		return fail_nomem(err);
	}
	fill_buckets(index, ids);
	return HD_OK;
}

void id_index_deinit(struct id_index *index)
{
	mem_free(index->slices);
	pages_free(index->buckets, (size_t)index->bucket_count + 1, sizeof(*index->buckets));
	*index = (struct id_index){ 0 };
}

/* The first rank in ids[low .. high) whose id is at least @p id. */
static uint32_t search(const uint64_t *ids, uint32_t low, uint32_t high, uint64_t id)
{
	return low + (uint32_t)lower_bound_u64(ids + low, high - low, id);
}

uint32_t id_index_lower_bound(const struct id_index *index, const uint64_t *ids, uint64_t id)
{
	if (!index->count || id <= index->min)
		return 0;
	if (id > index->max)
		return index->count;
	if (!index->slices)
		return search(ids, 0, index->count, id);
	uint32_t bucket = bucket_in_slice(index, id);
	return search(ids, index->buckets[bucket], index->buckets[bucket + 1], id);
}

uint32_t id_index_find(const struct id_index *index, const uint64_t *ids, uint64_t id)
{
	uint32_t rank = id_index_lower_bound(index, ids, id);
	return rank < index->count && ids[rank] == id ? rank : UINT32_MAX;
}

/*
 * Ranks of at most LOOKUP_BATCH ids, in three passes; each one prefetches the memory that the next
 * needs.
 */
static void find_batch(const struct id_index *index, const uint64_t *ids, const uint64_t *wanted,
		       uint32_t *ret, size_t count)
{
	uint32_t at[LOOKUP_BATCH];
	for (size_t i = 0; i < count; i++) {
		bool inside = wanted[i] >= index->min && wanted[i] <= index->max;
		at[i] = inside ? bucket_in_slice(index, wanted[i]) : UINT32_MAX;
		if (inside)
			__builtin_prefetch(&index->buckets[at[i]]);
	}
	for (size_t i = 0; i < count; i++) {
		if (at[i] != UINT32_MAX)
			__builtin_prefetch(&ids[index->buckets[at[i]]]);
	}
	for (size_t i = 0; i < count; i++) {
		ret[i] = UINT32_MAX;
		if (at[i] == UINT32_MAX)
			continue;
		uint32_t rank =
			search(ids, index->buckets[at[i]], index->buckets[at[i] + 1], wanted[i]);
		if (rank < index->count && ids[rank] == wanted[i])
			ret[i] = rank;
	}
}

void id_index_find_all(const struct id_index *index, const uint64_t *ids, const uint64_t *wanted,
		       uint32_t *ret, size_t count)
{
	if (!index->count) {
		memset(ret, 0xff, count * sizeof(*ret));
		return;
	}
	for (size_t i = 0; !index->slices && i < count; i++)
		ret[i] = id_index_find(index, ids, wanted[i]);
	for (size_t done = 0; index->slices && done < count; done += LOOKUP_BATCH) {
		size_t size = count - done < LOOKUP_BATCH ? count - done : LOOKUP_BATCH;
		find_batch(index, ids, wanted + done, ret + done, size);
	}
}
