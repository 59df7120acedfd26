/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/**
 * A structure with struct_size as a caller has it whose header is newer: one more member, which this
 * library does not know.
 */
#define NEWER(type)            \
	struct {               \
		type known;    \
		uint64_t more; \
	}

/** Such a structure: all that @p from has, and @p value for the other member. */
#define NEWER_OF(from, value)                    \
	{                                        \
		.known = (from), .more = (value) \
	}

/** To be called before a NEWER() is handed over. */
#define NEWER_SIZE(newer) ((newer).known.struct_size = sizeof(newer))
