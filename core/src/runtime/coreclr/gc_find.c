/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "mem/memory.h"
#include "runtime/coreclr/find.h"
#include "runtime/coreclr/internal.h"
#include "targets/target.h"
#include "targets/target_modules.h"

bool dac_entry(const struct runtime *runtime, uint64_t index, uint64_t *ret)
{
	return index < coreclr_of(runtime)->globals.dac_count &&
	       target_module_pointer(runtime->target, coreclr_of(runtime)->module,
				     coreclr_of(runtime)->globals.dac_table + 8 * index, ret) &&
	       *ret != 0;
}

bool dac_pointer(const struct runtime *runtime, uint64_t index, uint64_t *ret)
{
	uint64_t variable = 0;
	return dac_entry(runtime, index, &variable) && memory_u64(runtime->memory, variable, ret);
}

/* The entry of g_dacTable that leads to them: the entries are read from @p memory. */
static bool find_gc_vars_in(const struct runtime *runtime, struct memory *memory, uint8_t *bytes,
			    uint64_t *ret_address, size_t *ret_index)
{
	for (size_t i = 0; i < coreclr_of(runtime)->globals.dac_count; i++) {
		uint64_t variable = 0, address = 0;
		if (!dac_entry(runtime, i, &variable) || !memory_u64(memory, variable, &address) ||
		    address == 0 || address % 8 != 0 ||
		    !memory_read(memory, address, bytes, GC_VARS_SIZE) ||
		    !gc_vars_have_shape(runtime->memory, bytes))
			continue;
		*ret_address = address;
		*ret_index = i;
		return true;
	}
	return false;
}

/* Not from the runtime's file if the core has them: other entries lead to what only the file has. */
static bool find_gc_vars(const struct runtime *runtime, uint8_t *bytes, uint64_t *ret_address,
			 size_t *ret_index)
{
	struct memory *own = runtime->target->own;
	return (own && find_gc_vars_in(runtime, own, bytes, ret_address, ret_index)) ||
	       find_gc_vars_in(runtime, runtime->memory, bytes, ret_address, ret_index);
}

static enum hd_status gc_vars_not_found(const struct runtime *runtime, struct hd_error *err)
{
	uint64_t value = 0;
	if (coreclr_of(runtime)->globals.dac_count == 0 || !dac_entry(runtime, 0, &value)) {
		return fail(err, HD_ERR_FAULT, coreclr_of(runtime)->globals.dac_table,
			    "the runtime's g_dacTable at 0x%" PRIx64 " of %s is not in the target: "
			    "%s",
			    coreclr_of(runtime)->globals.dac_table,
			    coreclr_of(runtime)->module->path,
			    target_advice_written(runtime->target,
						  coreclr_of(runtime)->globals.dac_table));
	}
	return fail(err, HD_ERR_UNSUPPORTED, coreclr_of(runtime)->globals.dac_table,
		    "the GC is not initialised yet, or not known (no GcDacVars of version 2 among "
		    "the %" PRIu64 " globals of the runtime): no managed heap",
		    coreclr_of(runtime)->globals.dac_count);
}

/*
 * Variables that the GC changes must come from the process: the program's file has their initial
 * values, with which m_GcStructuresInvalidCnt (gcscan.cpp) is not 0 and there are no segments.
 */
static enum hd_status check_captured(const struct runtime *runtime, struct hd_error *err)
{
	uint64_t at = runtime->gc.structures_invalid_at;
	uint8_t byte;
	if (!runtime->target->own || memory_u8(runtime->target->own, at, &byte) ||
	    !memory_u8(runtime->memory, at, &byte))
		return HD_OK;
	return fail(err, HD_ERR_FAULT, at,
		    "the GC's variables (at 0x%" PRIx64 ", of %s) are not in the core, only in the "
		    "file, as they are before the program runs: no managed heap; take a full dump "
		    "(createdump --full)",
		    at, coreclr_of(runtime)->module->path);
}

enum hd_status gc_find(struct runtime *runtime, size_t *ret_index, struct hd_error *err)
{
	struct gc_vars *gc = &runtime->gc;
	uint8_t bytes[GC_VARS_SIZE];
	size_t index = 0;
	if (!find_gc_vars(runtime, bytes, &gc->address, &index))
		return gc_vars_not_found(runtime, err);
	gc_vars_take(bytes, gc);
	if (gc->major != GC_VARS_MAJOR) {
		return fail(err, HD_ERR_UNSUPPORTED, gc->address,
			    "the GC's variables have layout %u.%u; %u is read", gc->major,
			    gc->minor, GC_VARS_MAJOR);
	}
	gc->heap_type = 1;
	uint64_t heap_type = 0;
	if (index > 0 && dac_entry(runtime, index - 1, &heap_type))
		(void)memory_u32(runtime->memory, heap_type, &gc->heap_type);
	if (gc->heap_type == 0) {
		return fail(err, HD_ERR_UNSUPPORTED, heap_type,
			    "the GC is not initialised yet: no managed heap");
	}
	TRY(check_captured(runtime, err));
	TRY(gc_vars_read(runtime->target, bytes, gc, err));
	*ret_index = index;
	return HD_OK;
}

enum hd_status coreclr_read_gc(struct runtime *runtime, struct hd_error *err)
{
	size_t unused;
	return gc_find(runtime, &unused, err);
}
