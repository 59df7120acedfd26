/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The files of runtime/coreclr share this.  Other folders use runtime/runtime.h (scripts/check_layers.py checks this).
 */

#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/layouts/frames.h"
#include "runtime/runtime_base.h"

struct module_table;
struct type_lookup;
struct code_tables;

/** Values of the runtime's globals: addresses, 0 = not known. */
struct coreclr_globals {
	/* objects of the runtime */
	uint64_t app_domain, system_domain, thread_store, string_method_table;
	/**
	 * The types of the objects that suspended methods keep (11): their base class, and the
	 * EEClass that all others share.
	 */
	uint64_t continuation_method_table, continuation_class;
	uint64_t sync_table; /**< SyncTableEntry array */
	uint64_t sync_count; /**< index of its first entry that was never used, 0 = unknown */
	uint64_t dac_table, dac_count; /**< g_dacTable: addresses of globals */
	uint64_t fcall_table;          /**< see coreclr_fcall_method() */
};

/** How the first word of a Frame on a stack tells its kind; 0: not known. */
struct frame_words {
	/**
	 * First word of each kind of Frame.  All 0 in 8 and 9, where the first word is a vtable.
	 */
	uint64_t identifiers[FRAME_KINDS];
	/** The vtables in 8 and 9 of those kinds that their shape does not tell. */
	uint64_t vtables[FRAME_KINDS];
};

/** Its contract descriptor. */
struct coreclr_descriptor {
	uint64_t address; /**< of DotNetRuntimeContractDescriptor, 0 = none */
	bool is_read;
};

/** CoreCLR in a target. */
struct coreclr {
	struct runtime base;
	const struct target_module *module; /**< libcoreclr, or the single-file executable */
	unsigned int major;                 /**< 8, 9, 10, ...; 0 = unknown */
	struct layout layout;
	struct coreclr_descriptor descriptor;
	struct coreclr_globals globals;
	uint64_t
		name_extra; /**< bytes and steps of long names: runtime/coreclr/types/type_name.h */
	struct module_table *modules; /**< see runtime/coreclr/modules/module.h */
	struct type_lookup *
		lookup; /**< see runtime/coreclr/types/type_lookup.h; NULL until the first look-up */
	struct code_tables
		*code; /**< see runtime/coreclr/code/code.h; NULL until the first look-up */
	unsigned int gc_info_version; /**< version of GCInfo in JIT code: 2 (.NET 8), 3 (9), 4
				       * (10) */
	struct frame_words frames;
};

/** A CoreCLR of which nothing is known: no offset, no feature, no address. */
extern const struct coreclr coreclr_none;

/** Is it a CoreCLR? */
static inline bool coreclr_is(const struct runtime *runtime)
{
	return runtime->ops == &coreclr_ops;
}

/**
 * The CoreCLR that the runtime is.  Who has a const one changes only what is found out once, as a cache.  Another runtime
 * has coreclr_none: who reads it finds nothing, and nobody may change it.
 */
static inline struct coreclr *coreclr_of(const struct runtime *runtime)
{
	uintptr_t at = (uintptr_t)(coreclr_is(runtime) ? (const void *)runtime : &coreclr_none);
	return (struct coreclr *)at; /* NOLINT(performance-no-int-to-ptr) */
}

/** Where its layout has the words of allocation contexts. */
struct alloc_layout coreclr_alloc_layout(const struct runtime *runtime);

/** runtime_ops.open and close of CoreCLR. */
HD_NODISCARD enum hd_status coreclr_open(struct target *target, struct job *job,
					 struct runtime **ret, struct hd_error *err);
void coreclr_close(struct runtime *runtime);
