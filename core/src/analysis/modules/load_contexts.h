/* SPDX-License-Identifier: MIT */
/* The AssemblyLoadContexts of a process, and which of them loaded an assembly. */
#pragma once

#include "gc/walk.h"
#include "util/job.h"

/** An AssemblyLoadContext object. */
struct load_context {
	uint64_t object;
	uint64_t binder; /**< the runtime's AssemblyBinder; 0: none, or not known */
	const struct type *type;
	char *name;          /**< owned; NULL: it has none, or it is not known */
	bool is_collectible; /**< may be unloaded */
	bool is_unloading;   /**< Unload() was called */
};

/** All of them, in the order of the heap. */
struct load_contexts {
	struct load_context *rows;
	size_t rows_count, rows_capacity;
	bool is_partial; /**< their fields are not known in this version of the framework */
};

/**
 * Find them.  Cost: a pass over the heap.
 *
 * @param[out] ret To be given to load_contexts_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status load_contexts_read(struct heap *heap, struct job *job,
					       struct load_contexts *ret, struct hd_error *err);
void load_contexts_deinit(struct load_contexts *contexts);

/**
 * The context whose binder is @p binder (doc/coreclr.md 9.5).
 *
 * @return NULL: none has it, or more than one, of which all but one are garbage
 */
const struct load_context *load_context_of(const struct load_contexts *contexts, uint64_t binder);
