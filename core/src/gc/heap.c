/* SPDX-License-Identifier: MIT */
#include "gc/heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gc/layouts/gc_vars.h"
#include "gc/segments.h"
#include "mem/memory.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/sort.h"

/* In how many places at most bytes of a segment are searched for. */
#define CAPTURE_TRIES 1024u

static const char *const generation_names[GENERATION_COUNT] = {
	[GENERATION_0] = "0",
	[GENERATION_1] = "1",
	[GENERATION_2] = "2",
	[GENERATION_LOH] = "loh",
	[GENERATION_POH] = "poh",
	[GENERATION_NONGC] = "nongc",
	[GENERATION_EPHEMERAL] = "ephemeral",
};

const char *generation_name(enum generation generation)
{
	return (unsigned int)generation < GENERATION_COUNT ? generation_names[generation] : "?";
}

static enum hd_status add_context(struct heap *heap, size_t *capacity,
				  const struct context *context, struct hd_error *err)
{
	if (context->pointer == 0)
		return HD_OK;
	if (heap->context_count == *capacity) {
		size_t grown = grown_capacity(*capacity, sizeof(*heap->contexts));
		struct context *contexts =
			mem_realloc(heap->contexts, grown, sizeof(*heap->contexts));
		TRY_MEMORY(contexts, err);
		heap->contexts = contexts;
		*capacity = grown;
	}
	heap->contexts[heap->context_count++] = *context;
	return HD_OK;
}

/* {pointer, limit} at @p address, if it can be read. */
static enum hd_status read_heap_context(struct heap *heap, size_t *capacity, uint64_t address,
					enum context_owner owner, struct hd_error *err)
{
	struct context context = { .owner = (uint8_t)owner };
	if (!runtime_alloc_context(heap->runtime, address, &context.pointer, &context.limit))
		return HD_OK;
	/* While a GC runs, generations have {begin, begin}: empty, and no gap. */
	if (owner == CONTEXT_HEAP && context.pointer == context.limit)
		return HD_OK;
	return add_context(heap, capacity, &context, err);
}

ORDER_BY2(compare_contexts, struct context, pointer, limit)

/* Keep only the first of equal ones (an owner that is on two lists). */
static void sort_contexts(struct heap *heap)
{
	if (heap->context_count == 0)
		return;
	qsort(heap->contexts, heap->context_count, sizeof(*heap->contexts), compare_contexts);
	size_t kept = 1;
	for (size_t i = 1; i < heap->context_count; i++) {
		if (compare_contexts(&heap->contexts[i], &heap->contexts[kept - 1]) != 0)
			heap->contexts[kept++] = heap->contexts[i];
	}
	heap->context_count = kept;
}

static enum hd_status read_contexts(struct heap *heap, struct hd_error *err)
{
	const struct runtime *runtime = heap->runtime;
	const struct gc_vars *gc = heap_gc(heap);
	size_t capacity = 0;
	for (size_t i = 0; i < runtime_thread_count(runtime); i++) {
		const struct runtime_thread *thread = runtime_thread_at(runtime, i);
		const struct context context = { .pointer = thread->alloc_pointer,
						 .limit = thread->alloc_limit,
						 .owner = CONTEXT_THREAD,
						 .thread = thread->address };
		TRY(add_context(heap, &capacity, &context, err));
	}
	/*
	 * While a GC moves objects, the heaps' contexts are where it plans to put the survivors: in
	 * the middle of other objects.
	 */
	for (uint32_t i = 0; !heap->gc_in_progress && i < heap->heap_count; i++) {
		uint64_t table = generation_table(heap, i);
		if (table == 0)
			continue;
		for (uint32_t g = 0; g < gc->generation_count; g++) {
			uint64_t at = table + g * gc->generation_size +
				      (uint64_t)gc->generation_offsets[GC_GENERATION_CONTEXT];
			TRY(read_heap_context(heap, &capacity, at, CONTEXT_HEAP, err));
		}
	}
	uint64_t shared = runtime_global_alloc_context(runtime);
	if (shared)
		TRY(read_heap_context(heap, &capacity, shared, CONTEXT_GLOBAL, err));
	sort_contexts(heap);
	return HD_OK;
}

static enum hd_status read_heaps(struct heap *heap, struct hd_error *err)
{
	const struct gc_vars *gc = heap_gc(heap);
	heap->heap_count = gc->is_server ? gc->heap_count : 1;
	heap->heap_addresses = mem_calloc(heap->heap_count, sizeof(*heap->heap_addresses));
	TRY_MEMORY(heap->heap_addresses, err);
	for (uint32_t i = 0; gc->is_server && i < heap->heap_count; i++) {
		uint64_t *address = &heap->heap_addresses[i];
		if (memory_u64(heap->memory, gc->heaps + 8 * (uint64_t)i, address) && *address)
			continue;
		*address = 0;
		findings_add(heap_findings(heap), FINDING_GC_HEAP, NULL,
			     "the GC's heap %u cannot be read: its objects are not known", i);
	}
	return HD_OK;
}

/* Does the target have any byte of the objects of @p segment? */
static bool has_bytes(const struct heap *heap, const struct segment *segment)
{
	uint64_t at = segment->begin;
	for (unsigned int i = 0; i < CAPTURE_TRIES && at < segment->end; i++) {
		uint8_t byte;
		if (memory_u8(heap->memory, at, &byte))
			return true;
		uint64_t page = page_after(heap->space.page_min, at);
		at = page ? memory_next(heap->memory, page) : UINT64_MAX;
	}
	return false;
}

/*
 * A mini dump has some pages of the heap because other things needed them, such as the exception in
 * flight.
 */
static bool has_ends(const struct heap *heap, const struct segment *segment)
{
	uint8_t byte;
	return memory_u8(heap->memory, segment->begin, &byte) &&
	       memory_u8(heap->memory, segment->end - 1, &byte);
}

/* A mini dump has the list of segments, but not all of their bytes.  An empty heap is complete. */
static bool is_captured(const struct heap *heap)
{
	const struct target *target = heap_target(heap);
	bool is_mini = target->kind == TARGET_CORE && target->core.content == CONTENT_MINI;
	bool is_empty = false, has = false, lacks = false;
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		if (segment->generation == GENERATION_NONGC)
			continue;
		if (segment->begin == segment->end) {
			is_empty = true;
		} else if (segment->begin < segment->end) {
			bool is_here = is_mini ? has_ends(heap, segment) : has_bytes(heap, segment);
			has |= is_here;
			lacks |= !is_here;
		}
		if (has && !is_mini)
			return true;
	}
	return (has || is_empty) && !lacks;
}

enum hd_status heap_open(struct runtime *runtime, struct heap **ret, struct hd_error *err)
{
	struct heap *heap = mem_calloc(1, sizeof(*heap));
	TRY_MEMORY(heap, err);
	heap->runtime = runtime;
	heap->memory = runtime_memory(runtime);
	heap->space = runtime_arch(runtime)->space;
	heap->gc_in_progress = runtime_gc_is_moving(runtime);
	enum hd_status status = read_heaps(heap, err);
	if (status == HD_OK)
		status = segments_read(heap, err);
	if (status == HD_OK)
		status = read_contexts(heap, err);
	if (status != HD_OK) {
		heap_destroy(heap);
		return status;
	}
	heap->is_walkable = is_captured(heap);
	*ret = heap;
	return HD_OK;
}

void heap_report_missing(struct heap *heap, uint64_t bytes, uint64_t places)
{
	struct target *target = heap_target(heap);
	findings_add_counted(&target->findings, FINDING_HEAP_BYTES_MISSING, bytes,
			     target->core.is_truncated
				     ? target_advice(target, 0, NULL)
				     : "write the core again with all of the heap (createdump "
				       "--withheap or --full, gcore)",
			     "%" PRIu64 " bytes of the heap are not in the file, in %" PRIu64
			     " places: objects there are not counted",
			     bytes, places);
}

void heap_report_gaps(struct heap *heap, uint64_t count)
{
	findings_add_counted(heap_findings(heap), FINDING_UNWALKABLE, count, NULL,
			     "%" PRIu64
			     " stretch%s of the heap cannot be walked: objects there are "
			     "not counted",
			     count, count == 1 ? "" : "es");
}

void heap_destroy(struct heap *heap)
{
	if (!heap)
		return;
	mem_free(heap->heap_addresses);
	mem_free(heap->segments);
	mem_free(heap->contexts);
	mem_free(heap->problems);
	mem_free(heap);
}

const struct segment *heap_segment_at(const struct heap *heap, uint64_t address)
{
	/* The last one that begins at or before the address; empty ones come before it. */
	size_t low = ROWS_ABOVE(heap->segments, heap->segment_count, begin, address);
	const struct segment *segment = low ? &heap->segments[low - 1] : NULL;
	return segment && address < segment->end ? segment : NULL;
}

enum generation segment_generation_at(const struct segment *segment, uint64_t address)
{
	if (segment->generation != GENERATION_EPHEMERAL)
		return (enum generation)segment->generation;
	if (address >= segment->gen0_begin)
		return GENERATION_0;
	return address >= segment->gen1_begin ? GENERATION_1 : GENERATION_2;
}

bool context_is_sound(const struct heap *heap, const struct context *context)
{
	if (context->pointer > context->limit || context->pointer % 8 != 0 ||
	    context->limit % 8 != 0)
		return false;
	const struct segment *segment = heap_segment_at(heap, context->pointer);
	/* A context may end where its segment ends: then its reserve is after the end. */
	if (segment)
		return context->limit <= segment->end;
	/* An empty one may be exactly at the end while a GC runs. */
	segment = heap_segment_at(heap, context->pointer - 8);
	return context->pointer == context->limit && segment && segment->end == context->pointer;
}

const struct context *heap_context_at(const struct heap *heap, uint64_t address)
{
	size_t low = ROWS_FROM(heap->contexts, heap->context_count, pointer, address);
	for (; low < heap->context_count && heap->contexts[low].pointer == address; low++) {
		if (context_is_sound(heap, &heap->contexts[low]))
			return &heap->contexts[low];
	}
	return NULL;
}
