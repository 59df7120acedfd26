/* SPDX-License-Identifier: MIT */
#include "analysis/heap/out_of_memory.h"

#include "analysis/heap/heap_range.h"
#include "gc/heap.h"

void out_of_memory_read(const struct heap *heap, struct out_of_memory *ret)
{
	struct out_of_memory have = { 0 };
	for (uint32_t i = 0; i < heap->heap_count; i++) {
		struct gc_failure failure;
		if (!gc_failure_read(heap->runtime, heap->heap_addresses[i], &failure)) {
			have.lost++;
		} else if (failure.reason != GC_FAILURE_NONE) {
			if (!have.failures || failure.collection > have.last.collection) {
				have.last = failure;
				have.index = i;
			}
			have.failures++;
		}
	}
	for (size_t i = 0; i < heap->segment_count; i++)
		have.committed += segment_committed_size(&heap->segments[i]);
	gc_limits_read(heap->runtime, &have.limits);
	*ret = have;
}

bool out_of_memory_at_limit(const struct out_of_memory *have, const struct gc_failure *failure)
{
	uint64_t limit = have->limits.is_known ? have->limits.heap : 0;
	return limit && (have->committed >= limit || limit - have->committed < failure->needed);
}
