/* SPDX-License-Identifier: MIT */
#include "gc/layouts/gc_vars.h"

#include <inttypes.h>

#include "mem/memory.h"
#include "targets/target.h"

/* Version 2 (gc/gcinterface.dac.h). */
#define GENERATION_COUNT 5u
#define MAX_GENERATION   2u

/* Offsets in GcDacVars: identical in .NET 8, 9 and 10 (doc/coreclr.md 4). */
enum {
	VARS_GENERATION_SIZE = 8,
	VARS_GENERATION_COUNT = 16,
	VARS_GENERATION_TABLE = 48,
	VARS_MAX_GENERATION = 56,
	VARS_GC_STATE = 72,
	VARS_EPHEMERAL_SEGMENT = 80,
	VARS_ALLOC_ALLOCATED = 120,
	VARS_FINALIZE_QUEUE = 144,
	VARS_HEAP_COUNT = 176,
	VARS_HEAPS = 184,
	VARS_STRUCTURES_INVALID = 192,
	VARS_HANDLE_TABLE_MAP = 232,
	VARS_HEAP_OFFSETS = 240,
	VARS_GENERATION_OFFSETS = 248,
};

bool gc_vars_have_shape(struct memory *memory, const uint8_t bytes[GC_VARS_SIZE])
{
	uint64_t size = load_u64(bytes + VARS_GENERATION_SIZE);
	uint32_t max_generation = 0;
	return bytes[0] >= 1 && bytes[0] < 16 &&
	       load_u64(bytes + VARS_GENERATION_COUNT) == GENERATION_COUNT && size >= 64 &&
	       size <= 4096 && size % 8 == 0 &&
	       memory_u32(memory, load_u64(bytes + VARS_MAX_GENERATION), &max_generation) &&
	       max_generation == MAX_GENERATION;
}

void gc_vars_take(const uint8_t bytes[GC_VARS_SIZE], struct gc_vars *gc)
{
	gc->major = bytes[0];
	gc->minor = bytes[1];
	gc->generation_size = load_u64(bytes + VARS_GENERATION_SIZE);
	gc->generation_count = (uint32_t)load_u64(bytes + VARS_GENERATION_COUNT);
	gc->generation_table = load_u64(bytes + VARS_GENERATION_TABLE);
	gc->ephemeral_segment = load_u64(bytes + VARS_EPHEMERAL_SEGMENT);
	gc->alloc_allocated = load_u64(bytes + VARS_ALLOC_ALLOCATED);
	gc->finalize_queue = load_u64(bytes + VARS_FINALIZE_QUEUE);
	gc->handle_table_map = load_u64(bytes + VARS_HANDLE_TABLE_MAP);
	gc->structures_invalid_at = load_u64(bytes + VARS_STRUCTURES_INVALID);
	gc->is_server = load_u64(bytes + VARS_HEAP_COUNT) != 0;
	gc->heap_count = 1;
	for (size_t i = 0; i < sizeof(gc->heap_offsets) / sizeof(gc->heap_offsets[0]); i++)
		gc->heap_offsets[i] = -1;
}

static enum hd_status read_server(const struct target *target, const uint8_t *bytes,
				  struct gc_vars *gc, struct hd_error *err)
{
	int32_t count = 0;
	uint64_t variable = load_u64(bytes + VARS_HEAPS);
	if (!memory_i32(target->memory, load_u64(bytes + VARS_HEAP_COUNT), &count) ||
	    !memory_u64(target->memory, variable, &gc->heaps) ||
	    !memory_read(target->memory, load_u64(bytes + VARS_HEAP_OFFSETS), gc->heap_offsets,
			 sizeof(gc->heap_offsets))) {
		return fail(err, HD_ERR_FAULT, gc->address,
			    "the GC's list of heaps (g_heaps at 0x%" PRIx64
			    ") is not in the target: take a dump that is not cut short",
			    variable);
	}
	if (count < 1 || (uint32_t)count > GC_HEAPS_MAX) {
		return fail(err, HD_ERR_UNSUPPORTED, gc->address,
			    "the GC says that it has %d heaps: it is not initialised yet, or its "
			    "variables are damaged",
			    count);
	}
	gc->heap_count = (uint32_t)count;
	return HD_OK;
}

static enum hd_status read_offsets(const struct target *target, const uint8_t *bytes,
				   struct gc_vars *gc, struct hd_error *err)
{
	if (!memory_read(target->memory, load_u64(bytes + VARS_GENERATION_OFFSETS),
			 gc->generation_offsets, sizeof(gc->generation_offsets))) {
		return fail(err, HD_ERR_FAULT, load_u64(bytes + VARS_GENERATION_OFFSETS),
			    "the layout of the GC's generations at 0x%" PRIx64
			    " is not in the target: %s",
			    load_u64(bytes + VARS_GENERATION_OFFSETS),
			    target_advice(target, load_u64(bytes + VARS_GENERATION_OFFSETS),
					  "put the program's libcoreclr.so (and libclrgc.so) "
					  "below --sysroot"));
	}
	for (size_t i = 0; i < 3; i++) {
		int64_t offset = gc->generation_offsets[i];
		bool may_miss = i == GC_GENERATION_ALLOCATION_START;
		if ((offset < 0 && !may_miss) || offset + 8 > (int64_t)gc->generation_size) {
			return fail(err, HD_ERR_UNSUPPORTED, gc->address,
				    "the GC's generations have a layout that is not known "
				    "(offset %" PRId64 " in %" PRIu64 " bytes)",
				    offset, gc->generation_size);
		}
	}
	gc->has_regions = gc->generation_offsets[GC_GENERATION_ALLOCATION_START] < 0;
	return HD_OK;
}

enum hd_status gc_vars_read(const struct target *target, const uint8_t bytes[GC_VARS_SIZE],
			    struct gc_vars *gc, struct hd_error *err)
{
	(void)memory_i32(target->memory, gc->structures_invalid_at, &gc->structures_invalid);
	(void)memory_i32(target->memory, load_u64(bytes + VARS_GC_STATE), &gc->gc_state);
	TRY(read_offsets(target, bytes, gc, err));
	return gc->is_server ? read_server(target, bytes, gc, err) : HD_OK;
}
