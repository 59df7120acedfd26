/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/** Most ExInfos of one thread that are read. */
#define EXCEPTIONS_MAX 65536u

/** An exception in flight (runtime/coreclr/threads/in_flight.h; doc/coreclr.md 12.7): innermost first. */
struct exception_record {
	uint64_t address;
	uint64_t object;
	uint64_t slot;    /**< address of the reference to object */
	uint64_t handler; /**< code of the handler that runs (funclet), 0: none, or not known */
	uint32_t clause;  /**< kind of that handler: 1 filter, 2 catch, 3 finally or fault */
	bool is_known;    /**< handler and clause are known */
};

/** A part of the stack whose frames the second pass has unwound: low < caller's SP <= high. */
struct unwound_range {
	uint64_t low;
	uint64_t high; /**< the highest end of this range and those below it */
};

struct exception_chain {
	struct exception_record *rows;
	size_t rows_count, rows_capacity;
	struct unwound_range *ranges; /**< ascending by low */
	size_t ranges_count, ranges_capacity;
	bool is_broken; /**< it cannot be read further, or it has a cycle */
};

void exception_chain_deinit(struct exception_chain *chain);

/** Was the frame whose caller has @p caller_sp unwound already? */
bool exception_is_unwound(const struct exception_chain *chain, uint64_t caller_sp);

/** The innermost exception above @p sp, or NULL. */
const struct exception_record *exception_above(const struct exception_chain *chain, uint64_t sp);
