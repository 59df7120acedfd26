/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/**
 * An object[] in which the runtime keeps its own references: a bucket of a PinnedHeapHandleTable.
 */
struct handle_array {
	uint64_t address;
	uint32_t length;
	bool is_literals; /**< it belongs to the global string literal map: it holds interned
			   * strings */
};

struct handle_arrays {
	struct handle_array *rows;
	size_t rows_count, rows_capacity;
};

/**
 * Find the arrays that variables of the runtime's library lead to (doc/coreclr.md 10.5): those for
 * interned strings and, in 8 and 9, for the objects of assemblies and modules.  The result is empty
 * if no array can be proven to be one of these.
 *
 * @param[out] ret To be given to handle_arrays_deinit().
 * @return false when memory is exhausted
 */
bool handle_arrays_read(const struct runtime *runtime, struct handle_arrays *ret);
void handle_arrays_deinit(struct handle_arrays *arrays);
/** The one at that address, or NULL. */
const struct handle_array *handle_array_at(const struct handle_arrays *arrays, uint64_t address);
