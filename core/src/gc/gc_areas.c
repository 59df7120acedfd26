/* SPDX-License-Identifier: MIT */
/* The GC's tables and free regions, by their header and the records of regions (doc/memory.md 2). */
#include "gc/gc_areas.h"

#include "gc/layouts/gc_tables.h"
#include "gc/layouts/gc_vars.h"
#include "gc/layouts/heap_segment.h"
#include "gc/segments.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

#define REGION_SIZE ((uint64_t)1 << HEAP_REGION_SHIFT)

/* Most old headers that are followed. */
#define TABLE_HEADERS_MAX 16u

static enum hd_status add_area(const struct heap *heap, struct gc_areas *areas,
			       const struct gc_area *area, struct hd_error *err)
{
	if (area->start >= area->end || area->end > heap->space.user_end)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(areas, rows), err);
	areas->rows[areas->rows_count++] = *area;
	return HD_OK;
}

/* Do the tables lie where the header's other fields say? */
static bool are_tables_sound(const struct heap *heap, const struct gc_tables *tables, uint64_t at)
{
	uint64_t range = tables->highest - tables->lowest;
	return tables->lowest < tables->highest && tables->highest <= heap->space.user_end &&
	       at < heap->space.user_end && tables->size < heap->space.user_end - at &&
	       tables->bricks == at + GC_TABLES_HEADER + range / GC_BYTES_PER_CARD &&
	       tables->bundles == tables->bricks + range / GC_BYTES_PER_BRICK &&
	       tables->bundles < at + tables->size &&
	       (!tables->marks || (tables->marks > tables->bundles &&
				   tables->marks == at + tables->size - range / GC_BYTES_PER_MARK));
}

/*
 * The tables, each directly after the one before; the records of regions end where the marks begin.
 * Without concurrent collections there is neither a mark array nor a write watch table.
 */
static enum hd_status add_table_areas(const struct heap *heap, const struct gc_tables *tables,
				      uint64_t at, struct gc_areas *areas, struct hd_error *err)
{
	uint64_t range = tables->highest - tables->lowest;
	bool has_regions = runtime_has_regions(heap->runtime);
	uint64_t marks = tables->marks ? tables->marks : at + tables->size;
	const struct {
		const char *name;
		uint64_t size;
	} parts[] = {
		{ "card table", GC_TABLES_HEADER + range / GC_BYTES_PER_CARD },
		{ "brick table", range / GC_BYTES_PER_BRICK },
		{ "card bundle table", range / GC_BYTES_PER_BUNDLE },
		{ "write watch table", tables->marks ? range / GC_BYTES_PER_WATCH : 0 },
		{ "map of regions", has_regions ? range >> HEAP_REGION_SHIFT : 0 },
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct gc_area area = { at, at + parts[i].size, GC_AREA_TABLE,
					      parts[i].name };
		TRY(add_area(heap, areas, &area, err));
		at += parts[i].size;
	}
	const struct gc_area records = { at, marks, GC_AREA_TABLE,
					 has_regions ? "records of regions" : "map of segments" };
	TRY(add_area(heap, areas, &records, err));
	if (!tables->marks)
		return HD_OK;
	const struct gc_area array = { marks, marks + range / GC_BYTES_PER_MARK, GC_AREA_TABLE,
				       "mark array" };
	return add_area(heap, areas, &array, err);
}

static uint64_t region_index(const struct gc_tables *tables, uint64_t mem)
{
	return (mem - tables->lowest) >> HEAP_REGION_SHIFT;
}

static bool is_in_range(const struct gc_tables *tables, const struct segment *segment)
{
	return segment->begin >= tables->lowest && segment->begin < tables->highest;
}

/*
 * The records of regions are an array: two that are known tell the size of an element, and where
 * the array begins.
 */
static bool find_records(const struct heap *heap, const struct gc_tables *tables,
			 uint64_t *ret_base, uint64_t *ret_stride)
{
	const struct segment *first = NULL;
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		if (!is_in_range(tables, segment))
			continue;
		if (!first) {
			first = segment;
			continue;
		}
		uint64_t count =
			region_index(tables, segment->begin) - region_index(tables, first->begin);
		uint64_t bytes = segment->address - first->address;
		if (!count || segment->address <= first->address || bytes % count ||
		    bytes / count < HEAP_SEGMENT_SIZE || bytes / count > GC_REGION_RECORD_MAX)
			continue;
		*ret_stride = bytes / count;
		*ret_base = first->address - region_index(tables, first->begin) * *ret_stride;
		return *ret_base <= first->address;
	}
	return false;
}

static bool is_listed_region(const struct heap *heap, uint64_t mem)
{
	size_t at = ROWS_FROM(heap->segments, heap->segment_count, begin, mem);
	return at < heap->segment_count && heap->segments[at].begin == mem;
}

/* The regions of the array that no generation has. */
static enum hd_status add_free_regions(const struct heap *heap, const struct gc_tables *tables,
				       struct job *job, struct gc_areas *areas,
				       struct hd_error *err)
{
	uint64_t base, stride, count = (tables->highest - tables->lowest) >> HEAP_REGION_SHIFT;
	if (!find_records(heap, tables, &base, &stride))
		return HD_OK;
	if (count > SEGMENTS_MAX)
		count = SEGMENTS_MAX;
	for (uint64_t i = 0; i < count; i++) {
		uint8_t bytes[HEAP_SEGMENT_SIZE];
		uint64_t start = tables->lowest + i * REGION_SIZE;
		if (i % JOB_STRIDE == 0 && !job_step(job, 0, 0))
			return fail_cancelled(err);
		if (!memory_read(heap->memory, base + i * stride, bytes, sizeof(bytes)))
			continue;
		struct heap_segment stored = heap_segment_from(bytes);
		if (page_of(heap->space.page_min, stored.mem) != start ||
		    stored.committed <= start || stored.committed % heap->space.page_min ||
		    stored.committed > tables->highest || is_listed_region(heap, stored.mem))
			continue;
		const struct gc_area area = { start, stored.committed, GC_AREA_FREE_REGION, NULL };
		TRY(add_area(heap, areas, &area, err));
	}
	return HD_OK;
}

static enum hd_status read_areas(const struct heap *heap, bool has_regions, struct job *job,
				 struct gc_areas *areas, struct hd_error *err)
{
	uint64_t at = 0;
	areas->is_partial = true;
	if (!memory_u64(heap->memory, heap_gc(heap)->address + GC_VARS_TABLES, &at) ||
	    !memory_u64(heap->memory, at, &at))
		return HD_OK;
	for (unsigned int i = 0; at && i < TABLE_HEADERS_MAX; i++) {
		uint8_t bytes[GC_TABLES_HEADER];
		if (!memory_read(heap->memory, at, bytes, sizeof(bytes)))
			return HD_OK;
		struct gc_tables tables = gc_tables_from(bytes);
		if (!are_tables_sound(heap, &tables, at))
			return HD_OK;
		TRY(add_table_areas(heap, &tables, at, areas, err));
		const struct gc_area range = { tables.lowest, tables.highest, GC_AREA_RANGE, NULL };
		TRY(add_area(heap, areas, &range, err));
		if (!i && has_regions && runtime_has_regions(heap->runtime))
			TRY(add_free_regions(heap, &tables, job, areas, err));
		at = tables.next;
	}
	areas->is_partial = false;
	return HD_OK;
}

enum hd_status gc_areas_read(const struct heap *heap, bool has_regions, struct job *job,
			     struct gc_areas *ret, struct hd_error *err)
{
	struct gc_areas areas = { 0 };
	enum hd_status status = read_areas(heap, has_regions, job, &areas, err);
	if (status != HD_OK) {
		gc_areas_deinit(&areas);
		return status;
	}
	*ret = areas;
	return HD_OK;
}

void gc_areas_deinit(struct gc_areas *areas)
{
	pages_free(areas->rows, areas->rows_capacity, sizeof(*areas->rows));
	*areas = (struct gc_areas){ 0 };
}
