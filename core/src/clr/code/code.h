/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_CODE_H
#define HEAPDUMP_SRC_CLR_CODE_H

#include "clr/clr.h"

/** The managed code around an address. */
struct code_info {
	uint64_t method_desc;
	uint64_t start;       /**< of the method's code */
	uint64_t function;    /**< of the function or funclet that holds the address */
	uint64_t unwind_info; /**< of that function: address of its UNWIND_INFO */
	uint64_t image_base;  /**< what RVAs of unwind data are relative to */
	uint64_t gc_info;     /**< of the method */
	unsigned int gc_info_version;
	bool is_funclet;     /**< a handler of the method: function is not start */
	bool is_precompiled; /**< ReadyToRun */
};

/**
 * The managed method that has the instruction at @p code: compiled by the JIT or ReadyToRun; stubs
 * are none.  Cost: some twenty reads, none when it was asked for a short time ago; a table per
 * ReadyToRun image is made once.  One thread at a time.
 *
 * What lies behind the end of a function belongs to none.  Of ReadyToRun code that never ran, the
 * method may be another one that stands before it: only an offset below the GCInfo's code length is
 * the method's own.  The cold part of an image with hot and cold code is not known.
 *
 * @param[out] ret Untouched on failure.
 * @return false when it is none, or the tables that say so cannot be read
 */
bool clr_code_at(struct clr *clr, uint64_t code, struct code_info *ret);

/** Does the runtime say that it keeps managed code around @p code, whether its bytes are there or not? */
bool clr_has_code_at(struct clr *clr, uint64_t code);

/**
 * Read what clr_code_at() may read for any code of the target: the sections
 * of code, and the tables of the JIT's; of code up to 256 MB.
 */
void clr_code_touch(struct clr *clr);

/**
 * Did clr_code_at() run out of memory since the last call of this?  What it then called no method
 * may be one.
 */
bool clr_code_failed(struct clr *clr);

/**
 * Is the funclet that @p code tells of the filter of one of its method's exception clauses
 * (IJitManager::IsFilterFunclet)?
 *
 * @return false when the clauses do not tell: of ReadyToRun code, or they cannot be read
 */
bool clr_clauses_tell_filter(const struct clr *clr, const struct code_info *code, bool *ret);

/** Free what clr_code_at() has kept (clr_destroy() does). */
struct code_cache;
void code_cache_destroy(struct code_cache *cache);

/**
 * Append the name of a method as SOS's clrstack prints it, "Ns.Type.Method(Int32, T)"; "" is
 * never appended: what has no name becomes <unknown method 7f..>.
 */
struct text;
void clr_method_signature(struct clr *clr, uint64_t method_desc, struct text *text);

#endif
