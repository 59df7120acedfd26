/* SPDX-License-Identifier: MIT */
#include "analysis/heap/heap_range.h"

#include <inttypes.h>

#include "util/alloc.h"

uint64_t segment_committed_size(const struct segment *segment)
{
	uint64_t start = segment->begin & ~(uint64_t)0xfff;
	return segment->committed > start ? segment->committed - start : 0;
}

/* Could @p segment hold objects of the range? */
static bool range_wants_segment(const struct heap_range *range, const struct segment *segment,
				const struct range_choice *choice)
{
	if (choice->has_heap && segment->heap != choice->heap)
		return false;
	if (choice->has_segment && segment->address != choice->segment &&
	    (choice->segment < segment->begin || choice->segment >= segment->end))
		return false;
	if (range->end && segment->begin >= range->end)
		return false;
	if (segment->end <= range->begin)
		return range->begin == 0;
	if (!range->has_generation)
		return true;
	return segment->generation == range->generation ||
	       (segment->generation == GENERATION_EPHEMERAL && range->generation <= GENERATION_2);
}

/* If no segment is left because the named one does not exist, say so. */
static enum hd_status no_segment(const struct heap *heap, const struct range_choice *choice,
				 struct hd_error *err)
{
	if (choice->has_heap && choice->heap >= heap->heap_count) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "there is no heap %" PRIu64 ": this process has %" PRIu32
			    ", counted from 0",
			    choice->heap, heap->heap_count);
	}
	if (choice->has_segment) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "no segment %" PRIx64 ": eeheap -gc lists them", choice->segment);
	}
	return HD_OK;
}

enum hd_status heap_range_init(struct heap_range *ret, const struct heap *heap,
			       const struct range_choice *choice, struct hd_error *err)
{
	struct heap_range range = {
		.begin = choice->begin,
		.end = choice->end,
		.has_generation = choice->has_generation,
		.generation = choice->generation,
	};
	range.segments = mem_calloc(heap->segment_count + 1, sizeof(const struct segment *));
	TRY_MEMORY(range.segments, err);
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *each = &heap->segments[i];
		if (range_wants_segment(&range, each, choice))
			range.segments[range.count++] = each;
	}
	range.is_whole = !choice->has_heap && !choice->has_segment && !choice->has_generation &&
			 !choice->has_begin;
	enum hd_status status = range.count ? HD_OK : no_segment(heap, choice, err);
	if (status != HD_OK) {
		heap_range_deinit(&range);
		return status;
	}
	*ret = range;
	return HD_OK;
}

void heap_range_deinit(struct heap_range *range)
{
	mem_free(range->segments);
	range->segments = NULL;
}

void heap_range_walk(const struct heap_range *range, struct walker *walker,
		     const struct segment *segment)
{
	bool cut = range->end && range->end < segment->end;
	walker_begin(walker, segment, segment->begin, cut ? range->end : segment->end);
}

uint64_t heap_range_bytes(const struct heap_range *range)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < range->count; i++)
		bytes += range->segments[i]->end - range->segments[i]->begin;
	return bytes;
}
