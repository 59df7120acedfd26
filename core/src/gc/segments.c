/* SPDX-License-Identifier: MIT */
#include "gc/segments.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "gc/layouts/gc_vars.h"
#include "gc/layouts/heap_segment.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/sort.h"

/* State while one heap is read. */
struct segments_reader {
	struct heap *heap;
	uint32_t index;
	size_t capacity;
	size_t visits;            /* of segments, good or bad, by all heaps */
	uint64_t table;           /* generations */
	uint64_t ephemeral;       /* ephemeral_heap_segment */
	uint64_t alloc_allocated; /* its end, */
	uint64_t end_slot;        /* and where that stands */
};

/* Keep a problem, and a finding that says the same; if memory is exhausted, it is lost. */
__attribute__((format(printf, 3, 4))) static void report(struct heap *heap,
							 const struct heap_problem *problem,
							 const char *format, ...)
{
	if (heap->problem_count == HEAP_PROBLEMS_MAX)
		return;
	if (!heap->problems)
		heap->problems = mem_calloc(HEAP_PROBLEMS_MAX, sizeof(*heap->problems));
	if (!heap->problems)
		return;
	heap->problems[heap->problem_count++] = *problem;
	char line[400];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	findings_add(heap_findings(heap), FINDING_SEGMENT_LIST, NULL, "%s", line);
}

/*
 * Address of the variable of heap @p index: a global for a workstation GC, or inside the gc_heap of
 * a server GC.
 */
static uint64_t heap_variable(const struct heap *heap, uint32_t index, uint64_t workstation,
			      enum gc_heap_field field)
{
	const struct gc_vars *gc = heap_gc(heap);
	if (!gc->is_server)
		return workstation;
	int32_t offset = gc->heap_offsets[field];
	uint64_t address = heap->heap_addresses[index];
	return offset < 0 || address == 0 ? 0 : address + (uint64_t)offset;
}

uint64_t generation_table(const struct heap *heap, uint32_t index)
{
	return heap_variable(heap, index, heap_gc(heap)->generation_table,
			     GC_HEAP_GENERATION_TABLE);
}

/* Address of a field of generation @p number. */
static uint64_t generation_slot(const struct segments_reader *reader, uint32_t number,
				enum gc_generation_field field)
{
	const struct gc_vars *gc = heap_gc(reader->heap);
	return reader->table + number * gc->generation_size +
	       (uint64_t)gc->generation_offsets[field];
}

static bool generation_field(const struct segments_reader *reader, uint32_t number,
			     enum gc_generation_field field, uint64_t *ret)
{
	return heap_gc(reader->heap)->generation_offsets[field] >= 0 &&
	       memory_u64(reader->heap->memory, generation_slot(reader, number, field), ret);
}

/*
 * Where gen 1 and gen 0 begin inside the ephemeral segment; if the bounds are impossible,
 * everything is gen 2.
 */
static void split_ephemeral(const struct segments_reader *reader, struct segment *segment)
{
	uint64_t gen0 = 0, gen1 = 0;
	segment->generation = GENERATION_EPHEMERAL;
	segment->gen0_begin = segment->gen1_begin = segment->end;
	bool is_read = generation_field(reader, 0, GC_GENERATION_ALLOCATION_START, &gen0) &&
		       generation_field(reader, 1, GC_GENERATION_ALLOCATION_START, &gen1);
	if (is_read && segment->begin <= gen1 && gen1 <= gen0 && gen0 <= segment->end) {
		segment->gen0_begin = gen0;
		segment->gen1_begin = gen1;
		return;
	}
	bool is_gen0 = segment->begin <= gen1 && gen1 <= segment->end;
	const struct heap_problem problem = {
		.kind = "bounds",
		.slot = generation_slot(reader, is_gen0 ? 0 : 1, GC_GENERATION_ALLOCATION_START),
		.word = is_gen0 ? gen0 : gen1,
		.heap = reader->index,
		.generation = is_gen0 ? GENERATION_0 : GENERATION_1,
	};
	report(reader->heap, &problem,
	       "generations 0 and 1 of heap %u begin at 0x%" PRIx64 " and 0x%" PRIx64
	       ", which is not in their segment (0x%" PRIx64 " to 0x%" PRIx64
	       "): its objects count as generation 2",
	       reader->index, gen0, gen1, segment->begin, segment->end);
}

/* The address of an impossible bound of a segment, or 0 when all are possible. */
static uint64_t bad_bound(const struct segment *segment, uint64_t *ret_word)
{
	uint64_t begin = segment->begin, end = segment->end;
	*ret_word = begin;
	if (begin == 0 || begin % 8 != 0 || begin > segment->reserved)
		return segment->address + HEAP_SEGMENT_MEM;
	*ret_word = end;
	return begin > end || end > segment->reserved || end % 8 != 0 ? segment->end_slot : 0;
}

/* Make a segment from the target's structure; false when its bounds are impossible. */
static bool read_heap_segment(const struct segments_reader *reader, uint32_t generation,
			      const struct heap_segment *stored, struct segment *ret)
{
	ret->begin = stored->mem;
	ret->end = stored->allocated;
	ret->end_slot = ret->address + HEAP_SEGMENT_ALLOCATED;
	ret->committed = stored->committed;
	ret->reserved = stored->reserved;
	ret->flags = stored->flags;
	ret->background_allocated = stored->background_allocated;
	ret->heap = reader->index;
	ret->generation = (uint8_t)generation; /* numbered as enum generation is */
	if (ret->flags & HEAP_SEGMENT_READ_ONLY)
		ret->generation = GENERATION_NONGC;
	bool is_ephemeral = ret->address == reader->ephemeral;
	if (is_ephemeral) {
		ret->end = reader->alloc_allocated;
		ret->end_slot = reader->end_slot;
	}
	struct heap_problem problem = { .kind = "bounds",
					.segment = ret->address,
					.heap = reader->index,
					.generation = (uint8_t)generation };
	problem.slot = bad_bound(ret, &problem.word);
	if (problem.slot != 0) {
		report(reader->heap, &problem,
		       "the segment at 0x%" PRIx64 " (heap %u, generation %s) is out of bounds: "
		       "objects from 0x%" PRIx64 " to 0x%" PRIx64 ", reserved up to 0x%" PRIx64
		       "; it is not walked",
		       ret->address, reader->index, generation_name((enum generation)generation),
		       ret->begin, ret->end, ret->reserved);
		return false;
	}
	if (is_ephemeral && !runtime_has_regions(reader->heap->runtime) &&
	    ret->generation != GENERATION_NONGC)
		split_ephemeral(reader, ret);
	return true;
}

static enum hd_status add_heap_segment(struct segments_reader *reader,
				       const struct segment *segment, struct hd_error *err)
{
	struct heap *heap = reader->heap;
	if (heap->segment_count == reader->capacity) {
		size_t capacity = grown_capacity(reader->capacity, sizeof(*segment));
		struct segment *segments = mem_realloc(heap->segments, capacity, sizeof(*segment));
		TRY_MEMORY(segments, err);
		heap->segments = segments;
		reader->capacity = capacity;
	}
	heap->segments[heap->segment_count++] = *segment;
	return HD_OK;
}

static uint64_t next_segment(const struct segments_reader *reader, uint64_t address)
{
	uint64_t next = 0;
	(void)memory_u64(reader->heap->memory, address + HEAP_SEGMENT_NEXT, &next);
	return next;
}

/*
 * The list that begins at @p start has a cycle of @p length: find the link that leads back (Brent's
 * algorithm).
 */
static uint64_t closing_segment(const struct segments_reader *reader, uint64_t start, size_t length)
{
	uint64_t behind = start, ahead = start, last = 0;
	for (size_t i = 0; i < length; i++) {
		last = ahead;
		ahead = next_segment(reader, ahead);
	}
	for (size_t i = 0; i < SEGMENTS_MAX && behind != ahead; i++) {
		last = ahead;
		behind = next_segment(reader, behind);
		ahead = next_segment(reader, ahead);
	}
	return last;
}

/*
 * The word at @p link, in segment @p last or (0) in the generation, names an impossible next
 * segment.
 */
static void end_segment_list(const struct segments_reader *reader, uint32_t generation,
			     uint64_t last, uint64_t link, bool is_cycle)
{
	struct heap_problem problem = { .kind = is_cycle ? "cycle" : "unreadable",
					.segment = last,
					.slot = link,
					.heap = reader->index,
					.generation = (uint8_t)generation };
	(void)memory_u64(reader->heap->memory, link, &problem.word);
	report(reader->heap, &problem,
	       "the list of segments of heap %u, generation %s ends at 0x%" PRIx64
	       ", which %s: segments after it are not known",
	       reader->index, generation_name((enum generation)generation), problem.word,
	       is_cycle ? "leads back into the list" : "cannot be read");
}

/* Follow the list of @p generation: to its end, or to what breaks it. */
static enum hd_status read_segment_list(struct segments_reader *reader, uint32_t generation,
					struct hd_error *err)
{
	struct heap *heap = reader->heap;
	uint64_t start = 0, mark = 0; /* mark: an earlier segment, to detect a cycle (Brent's
				       * algorithm) */
	size_t steps = 0, power = 1;
	if (!generation_field(reader, generation, GC_GENERATION_START_SEGMENT, &start)) {
		findings_add(heap_findings(heap), FINDING_GC_HEAP, NULL,
			     "generation %s of heap %u is not in the target: its objects are not "
			     "known",
			     generation_name((enum generation)generation), reader->index);
		return HD_OK;
	}
	struct segment segment = { .address = start,
				   .link_slot = generation_slot(reader, generation,
								GC_GENERATION_START_SEGMENT) };
	while (segment.address != 0) {
		uint8_t bytes[HEAP_SEGMENT_SIZE];
		if (segment.address == mark) {
			uint64_t last = closing_segment(reader, start, steps + 1);
			end_segment_list(reader, generation, last, last + HEAP_SEGMENT_NEXT, true);
			return HD_OK;
		}
		if (reader->visits++ >= SEGMENTS_MAX ||
		    !memory_read(heap->memory, segment.address, bytes, sizeof(bytes))) {
			end_segment_list(reader, generation, segment.previous, segment.link_slot,
					 false);
			return HD_OK;
		}
		struct heap_segment stored = heap_segment_from(bytes);
		if (read_heap_segment(reader, generation, &stored, &segment))
			TRY(add_heap_segment(reader, &segment, err));
		if (++steps == power) {
			power *= 2;
			steps = 0;
			mark = segment.address;
		}
		segment = (struct segment){ .address = stored.next,
					    .link_slot = segment.address + HEAP_SEGMENT_NEXT,
					    .previous = segment.address };
	}
	return HD_OK;
}

static enum hd_status read_heap(struct segments_reader *reader, struct hd_error *err)
{
	const struct heap *heap = reader->heap;
	const struct gc_vars *gc = heap_gc(heap);
	uint32_t index = reader->index;
	reader->table = generation_table(heap, index);
	reader->ephemeral = reader->alloc_allocated = reader->end_slot = 0;
	uint64_t ephemeral =
		heap_variable(heap, index, gc->ephemeral_segment, GC_HEAP_EPHEMERAL_SEGMENT);
	uint64_t allocated =
		heap_variable(heap, index, gc->alloc_allocated, GC_HEAP_ALLOC_ALLOCATED);
	reader->end_slot = allocated;
	if (reader->table == 0)
		return HD_OK;
	if (!memory_u64(heap->memory, ephemeral, &reader->ephemeral) ||
	    !memory_u64(heap->memory, allocated, &reader->alloc_allocated)) {
		findings_add(heap_findings(heap), FINDING_GC_HEAP, NULL,
			     "the allocation end of heap %u is not in the target: its youngest "
			     "objects are not known",
			     index);
		reader->ephemeral = 0;
	}
	/* With segments, generations 0 and 1 lie in the ephemeral one, on the list of gen 2. */
	for (uint32_t g = gc->has_regions ? 0 : 2; g < gc->generation_count; g++)
		TRY(read_segment_list(reader, g, err));
	return HD_OK;
}

ORDER_BY3(compare_heap_segments, struct segment, begin, end, address)

/* @p segment cannot be where @p last is: it is on two lists, or they overlap. */
static void report_overlap(struct heap *heap, const struct segment *last,
			   const struct segment *segment)
{
	bool is_same = last->address == segment->address;
	const struct heap_problem problem = { .kind = is_same ? "two-lists" : "overlap",
					      .segment = segment->previous,
					      .slot = segment->link_slot,
					      .word = segment->address,
					      .heap = segment->heap,
					      .generation = segment->generation };
	if (is_same) {
		report(heap, &problem,
		       "the segment at 0x%" PRIx64 " is on two lists: heap %u, generation %s and "
		       "heap %u, generation %s",
		       segment->address, last->heap,
		       generation_name((enum generation)last->generation), segment->heap,
		       generation_name((enum generation)segment->generation));
	} else {
		report(heap, &problem,
		       "the segment at 0x%" PRIx64 " (0x%" PRIx64 " to 0x%" PRIx64
		       ") overlaps the one at 0x%" PRIx64 " (0x%" PRIx64 " to 0x%" PRIx64
		       "): it is not walked",
		       segment->address, segment->begin, segment->end, last->address, last->begin,
		       last->end);
	}
}

/* After sorting, keep the first of segments that are repeated or overlap. */
static void drop_overlaps(struct heap *heap)
{
	size_t kept = 0;
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		const struct segment *last = kept ? &heap->segments[kept - 1] : NULL;
		/* The walk along a cycle met some segments twice; this was already reported. */
		bool is_again = last && last->address == segment->address &&
				last->heap == segment->heap &&
				last->generation == segment->generation;
		bool is_bad =
			last && (last->address == segment->address || segment->begin < last->end);
		if (is_bad && !is_again)
			report_overlap(heap, last, segment);
		if (!is_bad)
			heap->segments[kept++] = *segment;
	}
	heap->segment_count = kept;
}

enum hd_status segments_read(struct heap *heap, struct hd_error *err)
{
	struct segments_reader reader = { .heap = heap };
	for (; reader.index < heap->heap_count; reader.index++)
		TRY(read_heap(&reader, err));
	if (heap->segment_count == 0)
		return HD_OK;
	qsort(heap->segments, heap->segment_count, sizeof(*heap->segments), compare_heap_segments);
	drop_overlaps(heap);
	return HD_OK;
}
