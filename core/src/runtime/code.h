/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/** The managed code around an address. */
struct code_info {
	uint64_t method_desc;
	uint64_t start;       /**< address of the method's code */
	uint64_t function;    /**< start of the function or funclet that holds the address */
	uint64_t unwind_info; /**< address of that function's UNWIND_INFO, or of its LSDA */
	uint64_t image_base;  /**< what RVAs of unwind data are relative to */
	uint64_t gc_info;     /**< address of the method's GCInfo */
	unsigned int gc_info_version;
	bool is_funclet;         /**< the function is a handler of the method, so function is not
			      * start */
	bool is_precompiled;     /**< ReadyToRun */
	bool has_cfi;            /**< .eh_frame says how to leave the function, as of native code */
	uint64_t module;         /**< ReadyToRun: the Module whose image holds the code */
	uint32_t function_index; /**< ReadyToRun: number of the method's first RUNTIME_FUNCTION */
};

/**
 * The managed method that contains the instruction at @p code, compiled by the JIT or ReadyToRun;
 * stubs are not methods.  Cost: some twenty reads, or none when it was asked for recently; a table
 * for each ReadyToRun image is made once.  One thread at a time.
 *
 * Code after the end of a function belongs to no method.  For ReadyToRun code that never ran, the
 * answer may be the method before it: only an offset below the GCInfo's code length belongs to the
 * method.  The cold part of an image with hot and cold code is not recognised.
 *
 * @param[out] ret Untouched on failure.
 * @return false when it is not managed code, or when the tables that tell this cannot be read
 */
bool runtime_code_at(struct runtime *runtime, uint64_t code, struct code_info *ret);
/**
 * The same, with functions that have no unwind data: unwind_info is 0 then.
 */
bool runtime_function_at(struct runtime *runtime, uint64_t code, struct code_info *ret);

/**
 * Did runtime_code_at() run out of memory since the last call of this function?  If so, code for which
 * it found no method may have one.
 */
bool runtime_code_failed(struct runtime *runtime);

/** Let runtime_code_failed() say so: for runtime_ops.code_at. */
void runtime_code_fail(struct runtime *runtime);

/** Free what runtime_code_at() has kept (runtime_destroy() does). */
struct code_cache;
void code_cache_destroy(struct code_cache *cache);

/**
 * Append the name of a method as SOS's clrstack prints it, "Ns.Type.Method(Int32, T)".  A method
 * without a name becomes <unknown method 7f..>, never "".
 */
struct text;
void runtime_method_signature(struct runtime *runtime, uint64_t method_desc, struct text *text);
