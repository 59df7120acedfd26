/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/target.h"

/** The range of addresses that contains one stack: writable mappings without a gap between them. */
struct span {
	uint64_t start, end; /**< 0, 0: none */
};

/** After a stack overflow, the innermost frame lies at most this far below its stack. */
#define GUARD_REACH ((uint64_t)64 << 10)

/**
 * The span around @p address.  If the target does not know its mappings (a debugger's memory), the
 * range that a stack of usual size may have.
 */
struct span span_at(const struct target *target, uint64_t address);

static inline bool span_has(const struct span *span, uint64_t address)
{
	return address >= span->start && address < span->end;
}

/** Can there be code at @p address: is it executable memory, or part of a file? */
bool span_is_code(const struct target *target, uint64_t address);
