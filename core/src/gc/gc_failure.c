/* SPDX-License-Identifier: MIT */
#include "gc/gc_failure.h"

#include "gc/layouts/gc_vars.h"
#include "mem/memory.h"

/* oom_data of GcDacVars: the structure of a workstation GC. */
#define VARS_FAILURE 136u

/* oom_history (gc/gcinterface.dac.h): the same in 8, 9 and 10. */
enum {
	OOM_REASON = 0,
	OOM_ALLOCATION = 8,
	OOM_COLLECTION = 32,
	OOM_REQUEST = 40,
	OOM_SIZE = 48,
	OOM_AVAILABLE = 56,
	OOM_IS_LARGE = 64,
	OOM_BYTES = 72,
};

bool gc_failure_read(const struct runtime *runtime, uint64_t heap, struct gc_failure *ret)
{
	uint8_t bytes[OOM_BYTES];
	int32_t offset = runtime_gc(runtime)->heap_offsets[GC_HEAP_FAILURE];
	uint64_t address = 0;
	if (!runtime_gc(runtime)->is_server) {
		(void)memory_u64(runtime_memory(runtime),
				 runtime_gc(runtime)->address + VARS_FAILURE, &address);
	} else if (heap && offset > 0) {
		address = heap + (uint64_t)offset;
	}
	if (!address || !memory_read(runtime_memory(runtime), address, bytes, sizeof(bytes)))
		return false;
	uint32_t reason = load_u32(bytes + OOM_REASON);
	*ret = (struct gc_failure){
		.reason = reason,
		.request = load_u32(bytes + OOM_REQUEST),
		.needed = load_u64(bytes + OOM_ALLOCATION),
		.has_allocation = reason != GC_FAILURE_BUDGET && reason != GC_FAILURE_LOW_MEMORY,
		.collection = load_u64(bytes + OOM_COLLECTION),
		.size = load_u64(bytes + OOM_SIZE),
		.available = load_u64(bytes + OOM_AVAILABLE),
		.is_large = load_u32(bytes + OOM_IS_LARGE) != 0,
	};
	return true;
}

const char *gc_failure_reason_name(uint32_t reason)
{
	static const char *const names[GC_FAILURE_REASONS] = {
		[GC_FAILURE_NONE] = "none",
		[GC_FAILURE_BUDGET] = "budget",
		[GC_FAILURE_CANT_COMMIT] = "cant_commit",
		[GC_FAILURE_CANT_RESERVE] = "cant_reserve",
		[GC_FAILURE_LOH] = "loh",
		[GC_FAILURE_LOW_MEMORY] = "low_memory",
		[GC_FAILURE_UNPRODUCTIVE_GC] = "unproductive_full_gc",
	};
	return reason < GC_FAILURE_REASONS ? names[reason] : NULL;
}
