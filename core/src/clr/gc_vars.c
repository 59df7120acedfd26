/* SPDX-License-Identifier: MIT */
#include "clr/gc_vars.h"

#include <inttypes.h>

#include "clr/internal.h"
#include "mem/memory.h"
#include "targets/target.h"
#include "targets/target_modules.h"

/* Bytes of GcDacVars that all of major version 2 have (gc/gcinterface.dac.h). */
#define VARS_SIZE 264u

#define VARS_MAJOR       2u
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

bool dac_entry(const struct clr *clr, uint64_t index, uint64_t *ret)
{
	return index < clr->globals.dac_count &&
	       target_module_pointer(clr->target, clr->module, clr->globals.dac_table + 8 * index,
				     ret) &&
	       *ret != 0;
}

bool dac_pointer(const struct clr *clr, uint64_t index, uint64_t *ret)
{
	uint64_t variable = 0;
	return dac_entry(clr, index, &variable) && memory_u64(clr->memory, variable, ret);
}

/* Do @p bytes at @p address look like GcDacVars?  In a target exactly one place does. */
static bool has_shape(const struct clr *clr, const uint8_t *bytes)
{
	uint64_t size = load_u64(bytes + VARS_GENERATION_SIZE);
	uint32_t max_generation = 0;
	return bytes[0] >= 1 && bytes[0] < 16 &&
	       load_u64(bytes + VARS_GENERATION_COUNT) == GENERATION_COUNT && size >= 64 &&
	       size <= 4096 && size % 8 == 0 &&
	       memory_u32(clr->memory, load_u64(bytes + VARS_MAX_GENERATION), &max_generation) &&
	       max_generation == MAX_GENERATION;
}

/* The entry of g_dacTable that leads to them: the entries are read from @p memory. */
static bool find_gc_vars_in(const struct clr *clr, struct memory *memory, uint8_t *bytes,
			    uint64_t *ret_address, size_t *ret_index)
{
	for (size_t i = 0; i < clr->globals.dac_count; i++) {
		uint64_t variable = 0, address = 0;
		if (!dac_entry(clr, i, &variable) || !memory_u64(memory, variable, &address) ||
		    address == 0 || address % 8 != 0 ||
		    !memory_read(memory, address, bytes, VARS_SIZE) || !has_shape(clr, bytes))
			continue;
		*ret_address = address;
		*ret_index = i;
		return true;
	}
	return false;
}

/* Not from the runtime's file if the core has them: other entries lead to what only the file has. */
static bool find_gc_vars(const struct clr *clr, uint8_t *bytes, uint64_t *ret_address,
			 size_t *ret_index)
{
	struct memory *own = clr->target->own;
	return (own && find_gc_vars_in(clr, own, bytes, ret_address, ret_index)) ||
	       find_gc_vars_in(clr, clr->memory, bytes, ret_address, ret_index);
}

static enum hd_status read_server(struct clr *clr, const uint8_t *bytes, struct hd_error *err)
{
	struct gc_vars *gc = &clr->gc;
	int32_t count = 0;
	uint64_t variable = load_u64(bytes + VARS_HEAPS);
	if (!memory_i32(clr->memory, load_u64(bytes + VARS_HEAP_COUNT), &count) ||
	    !memory_u64(clr->memory, variable, &gc->heaps) ||
	    !memory_read(clr->memory, load_u64(bytes + VARS_HEAP_OFFSETS), gc->heap_offsets,
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

static enum hd_status read_offsets(struct clr *clr, const uint8_t *bytes, struct hd_error *err)
{
	struct gc_vars *gc = &clr->gc;
	if (!memory_read(clr->memory, load_u64(bytes + VARS_GENERATION_OFFSETS),
			 gc->generation_offsets, sizeof(gc->generation_offsets))) {
		return fail(err, HD_ERR_FAULT, load_u64(bytes + VARS_GENERATION_OFFSETS),
			    "the layout of the GC's generations at 0x%" PRIx64
			    " is not in the target: %s",
			    load_u64(bytes + VARS_GENERATION_OFFSETS),
			    target_advice(clr->target, load_u64(bytes + VARS_GENERATION_OFFSETS),
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

static enum hd_status gc_vars_not_found(const struct clr *clr, struct hd_error *err)
{
	uint64_t value = 0;
	if (clr->globals.dac_count == 0 || !dac_entry(clr, 0, &value)) {
		return fail(err, HD_ERR_FAULT, clr->globals.dac_table,
			    "the runtime's g_dacTable at 0x%" PRIx64 " of %s is not in the target: "
			    "%s",
			    clr->globals.dac_table, clr->module->path,
			    target_advice(clr->target, clr->globals.dac_table,
					  "give the folder with that file by --sysroot"));
	}
	return fail(err, HD_ERR_UNSUPPORTED, clr->globals.dac_table,
		    "the GC is not initialised yet, or not known (no GcDacVars of version 2 among "
		    "the %" PRIu64 " globals of the runtime): no managed heap",
		    clr->globals.dac_count);
}

/*
 * Variables that the GC changes must come from the process: the program's file has their initial
 * values, with which m_GcStructuresInvalidCnt (gcscan.cpp) is not 0 and there are no segments.
 */
static enum hd_status check_captured(const struct clr *clr, struct hd_error *err)
{
	uint64_t at = clr->gc.structures_invalid_at;
	uint8_t byte;
	if (!clr->target->own || memory_u8(clr->target->own, at, &byte) ||
	    !memory_u8(clr->memory, at, &byte))
		return HD_OK;
	return fail(err, HD_ERR_FAULT, at,
		    "the GC's variables (at 0x%" PRIx64 ", of %s) are not in the core, only in the "
		    "file, as they are before the program runs: no managed heap; take a full dump "
		    "(createdump --full)",
		    at, clr->module->path);
}

enum hd_status gc_vars_read(struct clr *clr, size_t *ret_index, struct hd_error *err)
{
	struct gc_vars *gc = &clr->gc;
	uint8_t bytes[VARS_SIZE];
	size_t index = 0;
	if (!find_gc_vars(clr, bytes, &gc->address, &index))
		return gc_vars_not_found(clr, err);
	gc->major = bytes[0];
	gc->minor = bytes[1];
	if (gc->major != VARS_MAJOR) {
		return fail(err, HD_ERR_UNSUPPORTED, gc->address,
			    "the GC's variables have layout %u.%u; %u is read", gc->major,
			    gc->minor, VARS_MAJOR);
	}
	gc->heap_type = 1;
	uint64_t heap_type = 0;
	if (index > 0 && dac_entry(clr, index - 1, &heap_type))
		(void)memory_u32(clr->memory, heap_type, &gc->heap_type);
	if (gc->heap_type == 0) {
		return fail(err, HD_ERR_UNSUPPORTED, heap_type,
			    "the GC is not initialised yet: no managed heap");
	}
	gc->generation_size = load_u64(bytes + VARS_GENERATION_SIZE);
	gc->generation_count = (uint32_t)load_u64(bytes + VARS_GENERATION_COUNT);
	gc->generation_table = load_u64(bytes + VARS_GENERATION_TABLE);
	gc->ephemeral_segment = load_u64(bytes + VARS_EPHEMERAL_SEGMENT);
	gc->alloc_allocated = load_u64(bytes + VARS_ALLOC_ALLOCATED);
	gc->finalize_queue = load_u64(bytes + VARS_FINALIZE_QUEUE);
	gc->handle_table_map = load_u64(bytes + VARS_HANDLE_TABLE_MAP);
	gc->structures_invalid_at = load_u64(bytes + VARS_STRUCTURES_INVALID);
	TRY(check_captured(clr, err));
	(void)memory_i32(clr->memory, gc->structures_invalid_at, &gc->structures_invalid);
	(void)memory_i32(clr->memory, load_u64(bytes + VARS_GC_STATE), &gc->gc_state);
	gc->is_server = load_u64(bytes + VARS_HEAP_COUNT) != 0;
	gc->heap_count = 1;
	for (size_t i = 0; i < sizeof(gc->heap_offsets) / sizeof(gc->heap_offsets[0]); i++)
		gc->heap_offsets[i] = -1;
	TRY(read_offsets(clr, bytes, err));
	if (gc->is_server)
		TRY(read_server(clr, bytes, err));
	*ret_index = index;
	return HD_OK;
}
