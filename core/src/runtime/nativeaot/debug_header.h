/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/internal.h"

/** DotNetRuntimeDebugHeader of .NET 8, 9 and 10 (doc/nativeaot.md 1.1). */
struct debug_header {
	uint16_t major, minor;
	uint64_t types, globals; /**< addresses of its two lists */
};

/** The release whose debug header has that major version; 0: not known. */
unsigned int debug_header_release(uint16_t major);
/** The major version of that release's header. */
uint16_t debug_header_major(unsigned int release);

/**
 * Read the header at @p address.
 *
 * @return false: it cannot be read, or it is none, or it is not filled yet
 */
bool debug_header_read(struct memory *memory, uint64_t address, struct debug_header *ret);

/** Take offsets and addresses from its lists; those that cannot be read stay as they are. */
void debug_header_take(struct memory *memory, const struct debug_header *header,
		       struct aot_layout *layout, struct aot_globals *globals, uint64_t *ret_free);
