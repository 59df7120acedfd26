/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

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

enum code_heap_kind {
	CODE_HEAP_LOADER, /**< of methods that are loaded from an assembly */
	CODE_HEAP_HOST,   /**< of dynamic methods */
	CODE_HEAP_STUBS,  /**< stubs of a loader heap, not a heap of its own */
};

/** Memory for compiled code. */
struct code_heap {
	uint64_t start, end; /**< of its addresses */
	uint64_t used;       /**< where the code ends */
	uint64_t allocator;  /**< the address of its LoaderAllocator; 0: not known */
	uint64_t manager;    /**< the JIT manager that has it */
	enum code_heap_kind kind;
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
 * Find the loader heaps and code heaps of all contexts, by their shape (doc/memory.md 3).  Those of another runtime
 * are not known: none is found, and the result is partial.
 *
 * @param[out] ret To be given to loader_heaps_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status loader_heaps_read(struct runtime *runtime, struct job *job,
					      struct loader_heaps *ret, struct hd_error *err);
void loader_heaps_deinit(struct loader_heaps *heaps);

/** The LoaderAllocator at @p address, or NULL. */
const struct loader_allocator *loader_allocator_at(const struct loader_heaps *heaps,
						   uint64_t address);
/** "LoaderCodeHeap", "HostCodeHeap", "Stubs". */
const char *code_heap_name(enum code_heap_kind kind);

struct text;
/** Append whose it is: "global", or the first module of what can be unloaded. */
void loader_allocator_name(const struct loader_allocator *allocator, struct text *text);
