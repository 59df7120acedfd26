/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_STACK_SPAN_H
#define HEAPDUMP_SRC_STACK_SPAN_H

#include "targets/target.h"

/** A stretch of addresses that one stack lies in: writable mappings without a gap between them. */
struct span {
	uint64_t start, end; /**< 0, 0: none */
};

/** After a stack overflow the innermost frame lies at most so far below its stack. */
#define GUARD_REACH ((uint64_t)64 << 10)

/**
 * The span around @p address.  Where the target does not know its mappings (a debugger's memory):
 * what a stack of usual size may take.
 */
struct span span_at(const struct target *target, uint64_t address);

static inline bool span_has(const struct span *span, uint64_t address)
{
	return address >= span->start && address < span->end;
}

/** May code stand at @p address: executable memory, or that of a file? */
bool span_is_code(const struct target *target, uint64_t address);

/** Does a call instruction end at @p address?  true where its bytes are not in the target. */
bool span_follows_call(struct memory *memory, uint64_t address);

#endif
