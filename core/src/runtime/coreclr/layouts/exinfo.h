/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/** The parts of an ExInfo (doc/coreclr.md 12.7; exinfo.h, exstatecommon.h). */
struct exinfo {
	uint64_t slot;      /**< address of the reference to the exception */
	uint64_t object;    /**< the exception */
	uint64_t handler;   /**< code of the handler that runs, 0: none */
	uint32_t clause;    /**< kind of that handler: 1 filter, 2 catch, 3 finally or fault */
	uint64_t low, high; /**< bounds of the stack that was unwound; high 0: none */
	uint8_t pass;
	bool is_unwinding; /**< the second pass has begun */
};

/** The largest numbers of a clause and of a pass. */
#define EXINFO_CLAUSE_LAST 3u
#define EXINFO_PASS_LAST   2u

/**
 * Where the reference to the exception is that the record at @p address is about: what its handle
 * refers to, or in 11 a word of its own.
 *
 * @param[out] ret 0: it has none
 * @return false when that is not known, or cannot be read
 */
bool exinfo_thrown(const struct runtime *runtime, uint64_t address, uint64_t *ret);

/** Read the ExInfo at @p address; false when its numbers are not known, or it cannot be read. */
bool exinfo_read(const struct runtime *runtime, uint64_t address, struct exinfo *ret);

/** Does this runtime's ExInfo have the parts by which handlers can be distinguished? */
bool exinfo_has_parts(const struct runtime *runtime);
/** Are the offsets those of exactly this build, and not only of its release? */
bool exinfo_is_certain(const struct runtime *runtime);
