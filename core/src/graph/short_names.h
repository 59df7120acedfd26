/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The names in a dump file that may lack what only the file of a module tells: types without their
 * outer class, statics without the class that declares them.  An answer that has one of them lacks
 * something because the module was not read.
 */
struct short_names {
	uint64_t *hashes; /**< pages; ascending after short_names_sort() */
	size_t hashes_count, hashes_capacity;
};

void short_names_deinit(struct short_names *names);

/** Add a name; false: memory is exhausted. */
bool short_names_add(struct short_names *names, const char *name, size_t size);

/** To be called after the last was added. */
void short_names_sort(struct short_names *names);

/** Is that one of the names?  Another text is taken for one once in 2^64 times. */
bool short_names_has(const struct short_names *names, const char *name, size_t size);
