/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/** The managed code around an address. */
struct code_info {
	uint64_t method_desc;
	uint64_t start;       /**< address of the method's code */
	uint64_t function;    /**< start of the function or funclet that holds the address */
	uint64_t unwind_info; /**< address of that function's UNWIND_INFO */
	uint64_t image_base;  /**< what RVAs of unwind data are relative to */
	uint64_t gc_info;     /**< address of the method's GCInfo */
	unsigned int gc_info_version;
	bool is_funclet;         /**< the function is a handler of the method, so function is not
			      * start */
	bool is_precompiled;     /**< ReadyToRun */
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
/** runtime_ops.code_at of CoreCLR: by the range section map, code headers and images. */
bool coreclr_code_at(struct runtime *runtime, uint64_t code, struct code_info *ret);

/**
 * Does the runtime say that it keeps managed code around @p code, even if the bytes are not in the
 * target?
 */
bool runtime_has_code_at(struct runtime *runtime, uint64_t code);

/**
 * Read an address of code that lies at @p address: in memory of the JIT, or in the data of a ReadyToRun
 * image.  Where only the image's file has that data, the address is for the image's preferred base, and is
 * moved to where the image was loaded (doc/coreclr.md 21.3).
 *
 * @return false when the target lacks the bytes; *@p ret is untouched
 */
bool runtime_code_pointer(struct runtime *runtime, uint64_t address, uint64_t *ret);

/**
 * Read what runtime_code_at() may read for any code of the target: the sections of code, and the tables
 * of JIT code; for at most 256 MB of code.
 */
void runtime_code_touch(struct runtime *runtime);

/**
 * Did runtime_code_at() run out of memory since the last call of this function?  If so, code for which
 * it found no method may have one.
 */
bool runtime_code_failed(struct runtime *runtime);

/**
 * Is the funclet of @p code the filter of one of its method's exception clauses
 * (IJitManager::IsFilterFunclet)?
 *
 * @return false when the clauses do not tell: it is ReadyToRun code, or they cannot be read
 */
bool coreclr_clauses_tell_filter(const struct runtime *runtime, const struct code_info *code,
				 bool *ret);

/**
 * The part of type @p type of the ReadyToRun image with header @p header; *@p ret_rva is relative to
 * the image.
 */
bool coreclr_r2r_section(const struct runtime *runtime, uint64_t header, uint32_t type,
			 uint32_t *ret_rva, uint32_t *ret_size);

/** Free what runtime_code_at() has kept (runtime_destroy() does). */
struct code_cache;
void code_cache_destroy(struct code_cache *cache);

/**
 * Append the name of a method as SOS's clrstack prints it, "Ns.Type.Method(Int32, T)".  A method
 * without a name becomes <unknown method 7f..>, never "".
 */
struct text;
void runtime_method_signature(struct runtime *runtime, uint64_t method_desc, struct text *text);
