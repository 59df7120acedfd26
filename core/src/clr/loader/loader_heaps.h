/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_LOADER_HEAPS_H
#define HEAPDUMP_SRC_CLR_LOADER_HEAPS_H

#include "clr/clr.h"

struct module;

/** A LoaderAllocator: the global one, or that of what can be unloaded together. */
struct loader_allocator {
	uint64_t address;
	bool is_global;
	const struct module *module; /**< the first module that it has; NULL: none is known */
};

/** Memory of a heap. */
struct loader_block {
	uint64_t start, end;
};

/** A heap that a LoaderAllocator, or an object that it owns, has. */
struct loader_heap {
	uint64_t address;
	size_t allocator;    /**< index */
	const char *name;    /**< "LowFrequencyHeap"; static; "Unknown": not known */
	size_t block, count; /**< its blocks: the newest comes first */
};

/** Memory for compiled code. */
struct code_heap {
	uint64_t start, end; /**< of its addresses */
	uint64_t allocator;  /**< the address of its LoaderAllocator; 0: not known */
	bool is_stubs;       /**< stubs of a loader heap, no heap of its own */
};

struct loader_heaps {
	struct loader_allocator *allocators; /**< the global one first, others ascending */
	size_t allocators_count, allocators_capacity;
	struct loader_heap *heaps;
	size_t heaps_count, heaps_capacity;
	struct loader_block *blocks;
	size_t blocks_count, blocks_capacity;
	struct code_heap *codes; /**< ascending */
	size_t codes_count, codes_capacity;
	bool is_partial; /**< something could not be read */
};

/**
 * Find the loader heaps and code heaps of all contexts, by their shape (doc/memory.md 3).
 *
 * @param[out] ret To be given to loader_heaps_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status loader_heaps_read(struct clr *clr, struct job *job,
					      struct loader_heaps *ret, struct hd_error *err);
void loader_heaps_deinit(struct loader_heaps *heaps);

#endif
