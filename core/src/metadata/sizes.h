/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/**
 * Bytes of the header of a stream of tables, in front of the numbers of rows (ECMA-335 II.24.2.6).
 */
#define SIZES_HEADER 24u
/**
 * How many tables metadata can have (II.22): the runtime has room for this many numbers of rows.
 */
#define SIZES_TABLES 45u

/** The sizes of all parts of a module's metadata. */
struct metadata_sizes {
	uint8_t header
		[SIZES_HEADER]; /**< versions, widths, which tables exist and which are sorted */
	uint32_t rows[SIZES_TABLES]; /**< 0: the table does not exist */
	uint32_t strings, blobs,
		user_strings; /**< bytes of the heaps #Strings, #Blob and #US; 0 = none */
};

/**
 * Read the sizes of the metadata root ("BSJB") at @p root, of @p size bytes.
 *
 * @return false when there is none, or when it has tables that are unknown, or not sorted as
 * compilers do it (#-)
 */
bool metadata_sizes_read(struct memory *memory, uint64_t root, uint32_t size,
			 struct metadata_sizes *ret);
