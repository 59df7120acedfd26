/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The state that every runtime has.  Only the files of runtime include this (scripts/check_layers.py
 * checks this).
 */

#include "gc/layouts/gc_vars.h"
#include "runtime/runtime_ops.h"

struct code_cache;
struct runtime_type_table;

/** The managed threads. */
struct runtime_threads {
	struct runtime_thread *rows; /**< all of the ThreadStore's list */
	size_t count;
	uint32_t *order; /**< by id, then index; NULL: not sorted */
	uint32_t *
		os_order; /**< by OS id, then those with a stack first, then index; NULL: likewise */
	uint64_t finalizer; /**< address of the thread that runs finalizers, 0 = not known */
	uint64_t gc;        /**< address of the thread that has suspended all others for a GC, 0 =
			     * none */
	bool is_whole;      /**< the list was read to its end, and nothing contradicts it */
	bool knows_modes, knows_exceptions; /**< their is_cooperative, exception */
	int64_t pending; /**< number of threads that are being started, -1 = not known */
};

/** The MethodTables that others ask for by what they are; 0: not known. */
struct runtime_tables {
	uint64_t free; /**< of the blocks between objects; without it the heap cannot be walked */
	uint64_t object, object_array, exception;
};

/** The runtime in a target; the struct of each begins with it. */
struct runtime {
	const struct runtime_ops *ops;
	struct target *target; /**< borrowed */
	struct memory *memory; /**< of the target */
	char version[64];      /**< "10.0.12" when it can be found out, else "10.0"; "" = unknown */
	char build_id[64];     /**< of its file, in hex; "" = unknown */
	const char *path;      /**< of its file; borrowed from the target; NULL: not known */
	bool is_single_file;   /**< that is the program itself */
	struct gc_vars gc;
	bool has_cross_references; /**< its GC has handles of cross references */
	struct runtime_tables tables;
	/** Address of the allocation context {pointer, limit} that all threads share, 0 = none. */
	uint64_t alloc_context;
	struct alloc_layout alloc_layout;
	uint64_t crash_record; /**< see runtime_crash_record() */
	struct runtime_threads threads;
	struct runtime_type_table *types; /**< made by runtime_open(); see runtime/type.h */
	struct code_cache *code;          /**< see runtime/code.h; NULL until the first look-up */
};

/** Make it possible to look for a thread by its ids; runtime_open() does. */
HD_NODISCARD enum hd_status runtime_threads_sort(struct runtime *runtime, struct hd_error *err);
/** Free what every runtime has; the runtime itself, and what only it has, is for runtime_ops.close. */
void runtime_base_deinit(struct runtime *runtime);
