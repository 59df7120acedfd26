/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/gc.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/descriptor.h"
#include "targets/target.h"
#include "util/findings.h"

#define GENERATION_COUNT    5u
#define GENERATION_SIZE_MIN 64u
#define GENERATION_SIZE_MAX 4096u

/* Is the byte in the core itself, and not only in the file of the program, as it was before it ran? */
static bool is_in_core(const struct target *target, uint64_t address)
{
	const struct target_range *range = target_range_at(&target->map, address);
	return target->kind != TARGET_CORE || target->map.range_count == 0 ||
	       (range && address - range->start < range->captured);
}

/*
 * In 8 the word begins as 1, in data of the file that createdump --withheap leaves out; later releases have it in
 * zero-filled data.
 */
static void check_moving(struct runtime *runtime)
{
	struct gc_vars *gc = &runtime->gc;
	if (!gc->structures_invalid || is_in_core(runtime->target, gc->structures_invalid_at))
		return;
	gc->structures_invalid = 0;
	findings_add(
		&runtime->target->findings, FINDING_MISSING_SYMBOLS, "take a full dump",
		"the dump does not say whether a garbage collection was moving objects: if one "
		"was, verifyheap may call damage what it had moved");
}

static enum hd_status read_variables(struct runtime *runtime, struct hd_error *err)
{
	uint64_t address = aot_of(runtime)->globals.gc_vars;
	uint8_t bytes[GC_VARS_SIZE];
	if (!memory_read(runtime->memory, address, bytes, sizeof(bytes)) ||
	    !gc_vars_have_shape(runtime->memory, bytes) || bytes[0] != GC_VARS_MAJOR) {
		return fail(
			err, HD_ERR_FAULT, address,
			"the variables of the GC (at 0x%" PRIx64
			") cannot be read, are not set yet, or have another layout: no managed heap",
			address);
	}
	runtime->gc.address = address;
	runtime->gc.heap_type = 1;
	gc_vars_take(bytes, &runtime->gc);
	TRY(gc_vars_read(runtime->target, bytes, &runtime->gc, err));
	check_moving(runtime);
	return HD_OK;
}

/* The offset of a field that may be missing; -1: it is. */
static int32_t offset_of(const struct descriptor *descriptor, const char *type, const char *field)
{
	int64_t offset = -1;
	return descriptor_offset(descriptor, type, field, &offset) ? (int32_t)offset : -1;
}

static uint64_t variable_of(const struct descriptor *descriptor, const char *name)
{
	uint64_t address = 0;
	return descriptor_global(descriptor, name, &address) ? address : 0;
}

static enum hd_status read_heaps(const struct runtime *runtime, const struct descriptor *descriptor,
				 struct gc_vars *gc, struct hd_error *err)
{
	int32_t count = 0;
	uint64_t heaps = variable_of(descriptor, "Heaps");
	gc->heap_offsets[GC_HEAP_ALLOC_ALLOCATED] =
		offset_of(descriptor, "GCHeap", "AllocAllocated");
	gc->heap_offsets[GC_HEAP_EPHEMERAL_SEGMENT] =
		offset_of(descriptor, "GCHeap", "EphemeralHeapSegment");
	gc->heap_offsets[GC_HEAP_FINALIZE_QUEUE] = offset_of(descriptor, "GCHeap", "FinalizeQueue");
	gc->heap_offsets[GC_HEAP_FAILURE] = offset_of(descriptor, "GCHeap", "OomData");
	gc->heap_offsets[GC_HEAP_GENERATION_TABLE] =
		offset_of(descriptor, "GCHeap", "GenerationTable");
	if (gc->heap_offsets[GC_HEAP_GENERATION_TABLE] < 0 ||
	    !memory_i32(runtime->memory, variable_of(descriptor, "NumHeaps"), &count) ||
	    !memory_u64(runtime->memory, heaps, &gc->heaps) || count < 1 ||
	    (uint32_t)count > GC_HEAPS_MAX) {
		return fail(err, HD_ERR_FAULT, heaps,
			    "the GC's list of heaps (at 0x%" PRIx64
			    ") cannot be read: take a dump that is not cut short",
			    heaps);
	}
	gc->heap_count = (uint32_t)count;
	return HD_OK;
}

/* The layout of a generation; false: it is not there, or impossible. */
static bool read_generations(const struct descriptor *descriptor, struct gc_vars *gc)
{
	static const char *const fields[] = {
		[GC_GENERATION_CONTEXT] = "AllocationContext",
		[GC_GENERATION_START_SEGMENT] = "StartSegment",
		[GC_GENERATION_ALLOCATION_START] = "AllocationStart",
	};
	uint64_t count = 0;
	int32_t size = offset_of(descriptor, "Generation", "!");
	if (!descriptor_global(descriptor, "TotalGenerationCount", &count) ||
	    count != GENERATION_COUNT || size < (int32_t)GENERATION_SIZE_MIN ||
	    size > (int32_t)GENERATION_SIZE_MAX)
		return false;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		int32_t offset = offset_of(descriptor, "Generation", fields[i]);
		bool may_miss = i == GC_GENERATION_ALLOCATION_START;
		/* An allocation context begins with two words. */
		if ((offset < 0 && !may_miss) || offset + 16 > size)
			return false;
		gc->generation_offsets[i] = offset;
	}
	gc->generation_size = (uint64_t)size;
	gc->generation_count = (uint32_t)count;
	gc->has_regions = gc->generation_offsets[GC_GENERATION_ALLOCATION_START] < 0;
	return true;
}

/* The descriptor of the GC names its variables (src/coreclr/gc/datadescriptor/ of 11). */
static enum hd_status read_described(struct runtime *runtime, const struct descriptor *descriptor,
				     struct hd_error *err)
{
	struct gc_vars *gc = &runtime->gc;
	const char *words = descriptor_text(descriptor, "GCIdentifiers");
	if (!words || !read_generations(descriptor, gc)) {
		return fail(err, HD_ERR_FAULT, 0,
			    "the descriptor of the GC is not in the target, or the GC is not "
			    "initialised yet: no managed heap");
	}
	gc->major = GC_VARS_MAJOR;
	gc->heap_type = 1;
	gc->generation_table = variable_of(descriptor, "GCHeapGenerationTable");
	gc->ephemeral_segment = variable_of(descriptor, "GCHeapEphemeralHeapSegment");
	gc->alloc_allocated = variable_of(descriptor, "GCHeapAllocAllocated");
	gc->finalize_queue = variable_of(descriptor, "GCHeapFinalizeQueue");
	gc->handle_table_map = variable_of(descriptor, "HandleTableMap");
	gc->structures_invalid_at = variable_of(descriptor, "StructureInvalidCount");
	gc->heap_count = 1;
	for (size_t i = 0; i < sizeof(gc->heap_offsets) / sizeof(*gc->heap_offsets); i++)
		gc->heap_offsets[i] = -1;
	(void)memory_i32(runtime->memory, gc->structures_invalid_at, &gc->structures_invalid);
	(void)memory_i32(runtime->memory, variable_of(descriptor, "CurrentGCState"), &gc->gc_state);
	gc->is_server = strstr(words, "server") != NULL;
	return gc->is_server ? read_heaps(runtime, descriptor, gc, err) : HD_OK;
}

enum hd_status aot_read_gc(struct runtime *runtime, struct hd_error *err)
{
	const struct descriptor *descriptor = aot_of(runtime)->descriptor;
	return descriptor ? read_described(runtime, descriptor, err) : read_variables(runtime, err);
}
