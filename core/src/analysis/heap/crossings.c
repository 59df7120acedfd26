/* SPDX-License-Identifier: MIT */
/* References from one generation into another. */
#include "analysis/heap/crossings.h"

#include <stdlib.h>

#include "gc/references.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/sort.h"

bool generation_is_young(uint8_t generation)
{
	return generation == GENERATION_0 || generation == GENERATION_1;
}

/* May any reference of an object of this generation count? */
static bool is_source(const struct crossing_finder *finder, uint8_t from)
{
	for (unsigned int to = 0; to < GENERATION_EPHEMERAL; to++) {
		if (finder->test(from, (uint8_t)to))
			return true;
	}
	return false;
}

/* Mark what is referred to; counts it the first time. */
static void mark_referred(struct crossing_finder *finder, const struct heap *heap,
			  const struct segment *segment, const struct object *object)
{
	uint64_t *bitmap = finder->marks->bitmaps[segment - heap->segments];
	uint64_t bit = (object->address - segment->begin) / 8;
	uint64_t mask = (uint64_t)1 << bit % 64;
	if (!bitmap || __atomic_fetch_or(&bitmap[bit / 64], mask, __ATOMIC_RELAXED) & mask)
		return;
	finder->count++;
	finder->size += object->size;
}

/*
 * The row for a reference of walker->object, whose own rows begin at @p first; NULL: memory is
 * exhausted.
 */
static struct crossing *find_crossing(struct crossing_finder *finder, const struct walker *walker,
				      size_t first, uint8_t from, uint8_t to)
{
	for (size_t i = first; !finder->is_single && i < finder->rows_count; i++) {
		if (finder->rows[i].to_generation == to)
			return &finder->rows[i];
	}
	if (!PAGES_RESERVE(finder, rows))
		return NULL;
	finder->rows[finder->rows_count] = (struct crossing){ .from = walker->object.address,
							      .from_generation = from,
							      .to_generation = to };
	return &finder->rows[finder->rows_count++];
}

static bool add_reference(struct crossing_finder *finder, struct walker *walker, size_t first,
			  uint8_t from, uint64_t value)
{
	const struct heap *heap = walker->heap;
	const struct segment *segment = walker->segment;
	struct object object;
	if (value < segment->begin || value >= segment->end)
		segment = heap_segment_at(heap, value);
	if (!segment || value % 8)
		return true;
	uint8_t to = (uint8_t)segment_generation_at(segment, value);
	if (!finder->test(from, to) ||
	    object_decode(&finder->targets, walker->cache, heap->runtime, value, segment->end,
			  &object) != DECODE_OBJECT ||
	    object.type->is_free)
		return true;
	struct crossing *row = find_crossing(finder, walker, first, from, to);
	if (!row)
		return false;
	if (!row->count++)
		row->to = value;
	row->size += object.size;
	if (finder->marks)
		mark_referred(finder, heap, segment, &object);
	return true;
}

static bool add_object_crossings(struct crossing_finder *finder, struct walker *walker,
				 uint8_t from)
{
	struct references references;
	struct reference reference;
	size_t first = finder->rows_count;
	references_begin(&references, &walker->window, &walker->object);
	while (references_next(&references, &reference)) {
		/* The reference to the LoaderAllocator is not in a slot. */
		if (reference.slot && !add_reference(finder, walker, first, from, reference.value))
			return false;
	}
	return true;
}

static enum hd_status find_in_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct crossing_finder *finder = arg;
	const struct segment *segment = walker->segment;
	bool is_split = segment->generation == GENERATION_EPHEMERAL;
	uint8_t generation = segment->generation;
	if (!is_split && !is_source(finder, generation))
		return HD_OK;
	for (;;) {
		enum walk_result result = walker_next(walker);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&finder->gaps, walker->heap, &walker->damage);
			continue;
		}
		const struct object *object = &walker->object;
		if (!object->type->has_pointers)
			continue;
		if (is_split)
			generation = (uint8_t)segment_generation_at(segment, object->address);
		TRY_MEMORY(add_object_crossings(finder, walker, generation), err);
	}
}

ORDER_BY2(compare_crossings, struct crossing, from, to)

/* All rows in order of address, and what the workers have counted, in finders[0]. */
static bool merge_finders(struct crossing_finder *finders, unsigned int count)
{
	struct crossing_finder *sum = &finders[0];
	for (unsigned int i = 1; i < count; i++) {
		const struct crossing_finder *other = &finders[i];
		for (size_t j = 0; j < other->rows_count; j++) {
			if (!PAGES_RESERVE(sum, rows))
				return false;
			sum->rows[sum->rows_count++] = other->rows[j];
		}
		gaps_merge(&sum->gaps, &other->gaps);
		sum->count += other->count;
		sum->size += other->size;
	}
	if (sum->rows_count)
		qsort(sum->rows, sum->rows_count, sizeof(*sum->rows), compare_crossings);
	return true;
}

void crossing_finder_deinit(struct crossing_finder *finder)
{
	window_deinit(&finder->targets);
	pages_free(finder->rows, finder->rows_capacity, sizeof(*finder->rows));
	finder->rows = NULL;
	finder->rows_count = finder->rows_capacity = 0;
}

enum hd_status find_crossings(struct heap *heap, struct job *job, struct crossing_finder *ret,
			      struct hd_error *err)
{
	unsigned int workers = job_workers(job);
	HD_FREE struct crossing_finder *finders = mem_calloc(workers, sizeof(*finders));
	HD_FREE void **args = mem_calloc(workers, sizeof(void *));
	enum hd_status status = finders && args ? HD_OK : fail_nomem(err);
	for (unsigned int i = 0; status == HD_OK && i < workers; i++) {
		finders[i] = *ret;
		finders[i].targets.memory = heap->memory;
		args[i] = &finders[i];
	}
	if (status == HD_OK) {
		status = heap_walk(heap,
				   &(const struct heap_tour){ .what = "Scanning heap",
							      .visit = find_in_segment,
							      .args = args },
				   job, err);
		job_end(job);
		if (status == HD_OK && !merge_finders(finders, workers))
			status = fail_nomem(err);
		if (status == HD_OK) {
			*ret = finders[0];
			finders[0] = (struct crossing_finder){ .targets = ret->targets };
			ret->targets = (struct window){ 0 };
		}
	}
	for (unsigned int i = 0; finders && args && i < workers; i++)
		crossing_finder_deinit(&finders[i]);
	return status;
}

bool crossing_is_like(const struct crossing *row, const struct crossing *other)
{
	return row->from_generation == other->from_generation &&
	       row->to_generation == other->to_generation;
}

enum hd_status crossings_count(struct type_counts *counts, struct heap *heap,
			       const struct crossing_finder *found, const struct crossing *like,
			       struct job *job, struct hd_error *err)
{
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	uint64_t last = 0;
	for (size_t i = 0; i < found->rows_count; i++) {
		const struct crossing *row = &found->rows[i];
		struct object object;
		if (row->from == last || (like && !crossing_is_like(row, like)))
			continue;
		last = row->from;
		bool is_object = object_read(heap, &window, row->from, &object);
		if (is_object && !type_counts_add(counts, &object))
			return fail_nomem(err);
		TRY(job_check(job, 1, err));
	}
	return HD_OK;
}

size_t crossings_from(const struct crossing_finder *found, uint64_t address)
{
	size_t low = 0, high = found->rows_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (found->rows[middle].from < address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < found->rows_count && found->rows[low].from == address ? low
									   : found->rows_count;
}

void marks_deinit(struct marks *marks)
{
	for (size_t i = 0; marks->bitmaps && i < marks->heap->segment_count; i++) {
		const struct segment *segment = &marks->heap->segments[i];
		bitmap_free(marks->bitmaps[i], (segment->end - segment->begin) / 8);
	}
	mem_free(marks->bitmaps);
	marks->bitmaps = NULL;
}

enum hd_status marks_init(struct marks *marks, struct job *job, struct hd_error *err)
{
	const struct heap *heap = marks->heap;
	uint64_t bytes = 0;
	marks->bitmaps = mem_calloc(heap->segment_count + 1, sizeof(*marks->bitmaps));
	TRY_MEMORY(marks->bitmaps, err);
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		uint64_t size = segment->end - segment->begin;
		if (!generation_is_young(segment->generation) &&
		    segment->generation != GENERATION_EPHEMERAL)
			continue;
		bytes += size / 64;
		TRY(job_check_memory(job, bytes, err));
		marks->bitmaps[i] = bitmap_alloc(size / 8);
		TRY_MEMORY(marks->bitmaps[i], err);
	}
	return HD_OK;
}
