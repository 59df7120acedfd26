/* SPDX-License-Identifier: MIT */
/*
 * Claims the memory of the runtime: of the GC its segments, tables and handle tables (doc/memory.md 2), and by context what it
 * loads and compiles (3).
 */
#include "gc/gc_areas.h"
#include "gc/handles.h"
#include "native/memory_parts.h"
#include "runtime/coreclr/loader/loader_heaps.h"
#include "util/text.h"

static enum hd_status claim_objects(struct memory_making *making, const struct segment *segment,
				    uint64_t start, struct hd_error *err)
{
	static const enum memory_kind kinds[GENERATION_COUNT] = {
		[GENERATION_0] = MEMORY_GEN0,         [GENERATION_1] = MEMORY_GEN1,
		[GENERATION_2] = MEMORY_GEN2,         [GENERATION_LOH] = MEMORY_LOH,
		[GENERATION_POH] = MEMORY_POH,        [GENERATION_NONGC] = MEMORY_NONGC,
		[GENERATION_EPHEMERAL] = MEMORY_GEN0,
	};
	if (segment->generation == GENERATION_EPHEMERAL) {
		TRY(memory_claim_kind(making, MEMORY_GEN2, start, segment->gen1_begin, err));
		TRY(memory_claim_kind(making, MEMORY_GEN1, segment->gen1_begin, segment->gen0_begin,
				      err));
		start = segment->gen0_begin;
	}
	return memory_claim_kind(making, kinds[segment->generation], start, segment->end, err);
}

static enum hd_status claim_segments(struct memory_making *making, struct hd_error *err)
{
	const struct heap *heap = making->heap;
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		/* The start of the page, before the first object, belongs to the segment, too. */
		uint64_t start = page_of(making->space->page_min, segment->begin);
		TRY(claim_objects(making, segment, start, err));
		TRY(memory_claim_kind(making, MEMORY_GC_UNUSED, segment->end, segment->committed,
				      err));
		TRY(memory_claim_kind(making, MEMORY_GC_RESERVED, segment->committed,
				      segment->reserved, err));
	}
	return HD_OK;
}

static enum hd_status claim_areas(struct memory_making *making, const struct gc_areas *areas,
				  struct hd_error *err)
{
	static const enum memory_kind kinds[] = {
		[GC_AREA_RANGE] = MEMORY_GC_REST,
		[GC_AREA_TABLE] = MEMORY_GC_TABLE,
		[GC_AREA_FREE_REGION] = MEMORY_GC_FREE_REGION,
	};
	for (size_t i = 0; i < areas->rows_count; i++) {
		const struct gc_area *area = &areas->rows[i];
		uint32_t row;
		if (area->kind == GC_AREA_RANGE && !making->gc_highest) {
			making->gc_lowest = area->start;
			making->gc_highest = area->end;
		}
		TRY(memory_row_of(making, kinds[area->kind], area->name, &row, err));
		TRY(memory_claim_for(making, row, area->start, area->end, err));
	}
	return HD_OK;
}

static enum hd_status claim_handles(struct memory_making *making, struct hd_error *err)
{
	HD_CLEANUP(handle_list) struct handle_list list = { 0 };
	TRY(handle_list_read(making->heap, making->job, &list, err));
	for (size_t i = 0; i < list.segments_count; i++) {
		TRY(memory_claim_kind(making, MEMORY_HANDLES, list.segments[i],
				      list.segments[i] + HANDLE_SEGMENT_SIZE, err));
	}
	return HD_OK;
}

enum hd_status memory_claim_gc(struct memory_making *making, struct hd_error *err)
{
	HD_CLEANUP(gc_areas) struct gc_areas areas = { 0 };
	TRY(claim_segments(making, err));
	TRY(gc_areas_read(making->heap, !making->is_outline, making->job, &areas, err));
	making->account->is_partial |= areas.is_partial;
	TRY(claim_areas(making, &areas, err));
	return making->is_outline ? HD_OK : claim_handles(making, err);
}

static enum hd_status context_row(struct memory_making *making, enum memory_kind kind,
				  const struct loader_allocator *allocator, const char *heap,
				  uint32_t *ret, struct hd_error *err)
{
	HD_CLEANUP(text) struct text name = { 0 };
	loader_allocator_name(allocator, &name);
	if (heap)
		text_printf(&name, ", %s", heap);
	text_append(&name, "", 1);
	TRY_MEMORY(!name.failed, err);
	return memory_row_of(making, kind, name.bytes, ret, err);
}

static enum hd_status claim_heaps(struct memory_making *making, const struct loader_heaps *heaps,
				  struct hd_error *err)
{
	for (size_t i = 0; i < heaps->heaps_count; i++) {
		const struct loader_heap *heap = &heaps->heaps[i];
		uint32_t row;
		TRY(context_row(making, MEMORY_LOADER_HEAP, &heaps->allocators[heap->allocator],
				heap->name, &row, err));
		for (size_t j = heap->block; j < heap->block + heap->count; j++) {
			TRY(memory_claim_for(making, row, heaps->blocks[j].start,
					     heaps->blocks[j].end, err));
		}
	}
	return HD_OK;
}

enum hd_status memory_claim_loader(struct memory_making *making, struct hd_error *err)
{
	HD_CLEANUP(loader_heaps) struct loader_heaps heaps = { 0 };
	TRY(loader_heaps_read(making->heap->runtime, making->job, &heaps, err));
	making->account->is_partial |= heaps.is_partial;
	TRY(claim_heaps(making, &heaps, err));
	for (size_t i = 0; i < heaps.codes_count; i++) {
		const struct code_heap *code = &heaps.codes[i];
		uint32_t row;
		if (code->kind == CODE_HEAP_STUBS) {
			TRY(memory_claim_kind(making, MEMORY_STUBS, code->start, code->end, err));
			continue;
		}
		TRY(context_row(making, MEMORY_CODE_HEAP,
				loader_allocator_at(&heaps, code->allocator), NULL, &row, err));
		TRY(memory_claim_for(making, row, code->start, code->end, err));
	}
	return HD_OK;
}
