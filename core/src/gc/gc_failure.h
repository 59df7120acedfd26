/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/** Why the GC could not give memory (oom_reason, gc/gcinterface.dac.h). */
enum gc_failure_reason {
	GC_FAILURE_NONE,
	GC_FAILURE_BUDGET,
	GC_FAILURE_CANT_COMMIT,
	GC_FAILURE_CANT_RESERVE,
	GC_FAILURE_LOH,
	GC_FAILURE_LOW_MEMORY,
	GC_FAILURE_UNPRODUCTIVE_GC,
	GC_FAILURE_REASONS
};

/** Which request to the system failed, if one did (failure_get_memory). */
enum gc_request {
	GC_REQUEST_NONE,
	GC_REQUEST_RESERVE_SEGMENT,
	GC_REQUEST_COMMIT_SEGMENT,
	GC_REQUEST_COMMIT_EPHEMERAL,
	GC_REQUEST_GROW_TABLE,
	GC_REQUEST_COMMIT_TABLE,
	GC_REQUESTS
};

/** The last allocation of a heap that failed (oom_history; doc/coreclr.md 4). */
struct gc_failure {
	uint32_t reason;     /**< enum gc_failure_reason; other numbers are of later releases */
	uint32_t request;    /**< enum gc_request, likewise */
	uint64_t needed;     /**< bytes for which there was no room */
	bool has_allocation; /**< the program asked for just these */
	uint64_t collection; /**< number of the collection */
	uint64_t size;       /**< bytes of the request */
	uint64_t available;  /**< MB of commit space when the collection began; 0: not noted */
	bool is_large;       /**< for the large object heap */
};

/**
 * Read that of the heap whose gc_heap is at @p heap (server GC), else 0.
 *
 * @param[out] ret reason GC_FAILURE_NONE: no allocation of that heap has failed.
 * @return false: where it lies is not known, or it cannot be read
 */
bool gc_failure_read(const struct runtime *runtime, uint64_t heap, struct gc_failure *ret);

/** "budget", ..., or NULL: it is not known. */
const char *gc_failure_reason_name(uint32_t reason);
