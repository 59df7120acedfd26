/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

struct address_space;

/** The limits of the GC's heap, as the GC itself has them. */
struct gc_limits {
	bool is_known; /**< machine and heap were found */
	/** Bytes of memory that the GC takes the machine to have, or its cgroup if that has a limit. */
	uint64_t machine;
	/** Bytes that the heap may commit, by a setting or by the cgroup's limit; 0: as many as it wants. */
	uint64_t heap;
	bool has_adaptation; /**< it is known whether the GC adapts the number of its heaps (DATAS) */
	bool is_adaptive;    /**< it does */
};

/** Size of the variables that gc_limits_parse() looks at. */
#define GC_LIMITS_SIZE 64u

/** Find the GC's variables by their shape (doc/memory.md 8.2); what is not found is not known. */
void gc_limits_read(const struct runtime *runtime, struct gc_limits *ret);

/**
 * Do GC_LIMITS_SIZE bytes have the shape of the variables?
 *
 * @param[out] ret Gets is_known, machine and heap; untouched if they have not.
 */
bool gc_limits_parse(const struct address_space *space, const uint8_t *bytes,
		     struct gc_limits *ret);
