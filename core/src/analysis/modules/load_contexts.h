/* SPDX-License-Identifier: MIT */
/* The AssemblyLoadContexts of a process, and which of them loaded an assembly. */
#pragma once

#include "gc/walk.h"
#include "runtime/coreclr/modules/module_facts.h"
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

/** How much is known of the context that has loaded a module. */
enum module_context {
	MODULE_CONTEXT_UNKNOWN,
	MODULE_CONTEXT_NONE, /**< it has no object yet: the default one, before the program asks */
	MODULE_CONTEXT_FOUND,
};

/**
 * The context that has loaded the module of @p facts, without a pass over the heap.  The binder and the object
 * have to refer to each other.
 *
 * @param[out] ret Filled when it is found; its name is to be given to mem_free().
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status load_context_of_module(struct heap *heap,
						   const struct module_facts *facts,
						   enum module_context *ret_known,
						   struct load_context *ret, struct hd_error *err);

/**
 * The context whose binder is @p binder (doc/coreclr.md 9.5).
 *
 * @return NULL: none has it, or more than one, of which all but one are garbage
 */
const struct load_context *load_context_of(const struct load_contexts *contexts, uint64_t binder);
