/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/gc_failure.h"
#include "gc/gc_limits.h"

struct heap;

/** Allocations for which the GC had no memory, and how near its limit the heap is now. */
struct out_of_memory {
	uint32_t failures;       /**< heaps that note one */
	uint32_t lost;           /**< heaps whose note cannot be read */
	uint32_t index;          /**< the heap of the latest one */
	struct gc_failure last;  /**< the latest one; reason GC_FAILURE_NONE: there is none */
	struct gc_limits limits; /**< of the heap */
	uint64_t committed;      /**< what the GC has committed for its heap, in bytes */
};

/** Read what the heaps note. */
void out_of_memory_read(const struct heap *heap, struct out_of_memory *ret);

/** Is less left up to the limit of the heap than @p failure needed?  False also where no limit is known. */
bool out_of_memory_at_limit(const struct out_of_memory *have, const struct gc_failure *failure);
