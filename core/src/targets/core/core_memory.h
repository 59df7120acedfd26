/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/mapped_file.h"
#include "mem/memory.h"

/** A range in the address space whose bytes are together in the core file. */
struct core_run {
	uint64_t start, end; /**< in the address space */
	uint64_t offset;     /**< offset of start in the file; the whole run is there */
};

/**
 * Make the memory of a core.  Parallel; everything is mapped.
 *
 * @param file Owned by the memory, also when this fails.
 * @param runs Ascending, not overlapping; owned as well (mem_free).
 * @return NULL when memory is exhausted.
 */
struct memory *core_memory_create(struct mapped_file *file, struct core_run *runs, size_t count);
