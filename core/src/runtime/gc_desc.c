/* SPDX-License-Identifier: MIT */
#include "runtime/gc_desc.h"

#include "mem/memory.h"
#include "util/alloc.h"

/* Bytes of an object that a series or run never covers: its header word and its MethodTable. */
#define OBJECT_HEAD_SIZE 8

/*
 * The slots of a series end where the object ends, which is 8 bytes (the header) less than its
 * size.
 */
static bool series_fits(const struct type *type, const struct gc_series *series)
{
	uint64_t size = (uint64_t)series->size + type->base_size;
	if (series->offset < OBJECT_HEAD_SIZE || series->offset > type->base_size ||
	    series->offset % 8)
		return false;
	/*
	 * For an object without components; components make the slots and the object grow equally.
	 */
	return series->size <= 0 && size <= type->base_size && size % 8 == 0 &&
	       series->offset + size <= type->base_size - OBJECT_HEAD_SIZE;
}

static enum hd_status read_series(struct memory *memory, struct type *type, uint64_t count,
				  uint64_t *budget)
{
	uint64_t bytes = count * sizeof(struct gc_series);
	uint64_t lowest = type->method_table - 8 - bytes;
	if (count > type->base_size / 16 + 1 || count > GC_DESC_SERIES_MAX || bytes > *budget ||
	    lowest > type->method_table)
		return HD_OK;
	struct gc_series *series = mem_alloc(count, sizeof(*series));
	if (!series)
		return HD_ERR_NOMEM;
	bool sound = memory_read(memory, lowest, series, bytes);
	uint64_t covered = 0;
	for (uint64_t i = 0; sound && i < count; i++) {
		covered += (uint64_t)series[i].size + type->base_size;
		sound = series_fits(type, &series[i]);
	}
	/* No slot is in two series: with components, every series would contain all of them. */
	sound = sound && covered <= type->base_size && (count == 1 || !type->component_size);
	if (!sound) {
		mem_free(series);
		return HD_OK;
	}
	/* The first series is the highest in memory. */
	for (uint64_t i = 0; i < count / 2; i++) {
		struct gc_series other = series[i];
		series[i] = series[count - 1 - i];
		series[count - 1 - i] = other;
	}
	*budget -= bytes;
	type->desc.series = series;
	type->desc.series_count = (uint32_t)count;
	type->has_bad_desc = false;
	return HD_OK;
}

/* All runs together cover one component exactly, and it has pointers. */
static bool runs_fit(const struct type *type, const struct gc_run *runs, uint64_t count)
{
	uint64_t covered = 0, pointers = 0;
	for (uint64_t i = 0; i < count; i++) {
		pointers += runs[i].pointers;
		covered += (uint64_t)runs[i].pointers * 8 + runs[i].skip;
	}
	return pointers && covered == type->component_size;
}

static enum hd_status read_runs(struct memory *memory, struct type *type, uint64_t count,
				uint64_t *budget)
{
	uint64_t bytes = count * sizeof(struct gc_run), offset;
	uint64_t lowest = type->method_table - 16 - bytes;
	if (!type->component_size || count > type->component_size / 8u + 1u || bytes > *budget ||
	    lowest > type->method_table || !memory_u64(memory, type->method_table - 16, &offset) ||
	    offset < OBJECT_HEAD_SIZE || offset % 8 ||
	    offset > (uint64_t)type->base_size + type->component_size)
		return HD_OK;
	struct gc_run *runs = mem_alloc(count, sizeof(*runs));
	if (!runs)
		return HD_ERR_NOMEM;
	bool read = memory_read(memory, lowest, runs, bytes);
	for (uint64_t i = 0; read && i < count / 2; i++) {
		struct gc_run other = runs[i];
		runs[i] = runs[count - 1 - i];
		runs[count - 1 - i] = other;
	}
	if (!read || !runs_fit(type, runs, count)) {
		mem_free(runs);
		return HD_OK;
	}
	*budget -= bytes;
	type->desc.runs = runs;
	type->desc.run_count = (uint32_t)count;
	type->desc.runs_offset = offset;
	type->has_bad_desc = false;
	return HD_OK;
}

enum hd_status gc_desc_read(struct memory *memory, struct type *type, uint64_t *budget)
{
	uint64_t count;
	type->has_bad_desc = type->has_pointers;
	if (!type->has_pointers || type->method_table < 24 ||
	    !memory_u64(memory, type->method_table - 8, &count) || count == 0)
		return HD_OK;
	if (count >> 63)
		return read_runs(memory, type, 0 - count, budget);
	return read_series(memory, type, count, budget);
}

void gc_desc_deinit(struct type *type)
{
	mem_free(type->desc.series);
	mem_free(type->desc.runs);
	type->desc.series = NULL;
	type->desc.runs = NULL;
	type->desc.series_count = type->desc.run_count = 0;
}
