/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "runtime/coreclr/layout.h"
#include "util/text.h"

/*
 * A whole core, as a file's bytes: a small runtime with types, statics, threads, stacks,
 * handles, a finalizer queue and a heap.  runtime_open() finds it, and every command has something to
 * show.  It is the same at each call.
 */

/** Bytes that belong together: a structure of the runtime, a segment, a stack, the headers. */
struct fake_piece_place {
	uint64_t address; /**< 0: it is not in memory */
	uint64_t offset;  /**< in the file */
	uint64_t size;
};

struct fake_core {
	struct text bytes;
	struct fake_piece_place *pieces; /**< in the order of the file */
	size_t count;
	uint64_t object, array, string; /**< some objects */
	uint64_t type;                  /**< MethodTable of object */
	uint64_t module;                /**< the Module of all types */
	uint64_t code;                  /**< an address in a method */
};

/** A core of .NET 10, without a contract descriptor. */
struct fake_core fake_core_make(void);

struct fake_core_options {
	unsigned int release;        /**< from 11 on with a contract descriptor */
	const struct layout *layout; /**< NULL: that of the release */
	const char *const *without;  /**< what the descriptor lacks: fake_descriptor_make() */
	const struct arch *arch;     /**< NULL: x86-64 */
};

/** A core of another release. */
struct fake_core fake_core_of(const struct fake_core_options *options);
void fake_core_free(struct fake_core *core);
