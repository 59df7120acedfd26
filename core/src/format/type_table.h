/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/**
 * A hash table (section, type id) -> index, with open addressing and a random seed, so that no file
 * can make it slow.
 */
struct type_table {
	struct type_entry {
		uint64_t id;
		uint32_t section;
		uint32_t index; /**< index + 1; 0 = free */
	} * entries;
	size_t capacity, count;
	uint64_t seed;
};

void type_table_deinit(struct type_table *table);

/**
 * Index of a key; if the key is new, @p fresh, which is then stored as its index.
 *
 * @return UINT32_MAX when memory is exhausted.
 */
uint32_t type_table_add(struct type_table *table, uint32_t section, uint64_t id, uint32_t fresh);

/** Index of a key; UINT32_MAX when it is not there. */
uint32_t type_table_find(const struct type_table *table, uint32_t section, uint64_t id);

/** Makes a key of a name. */
uint64_t type_table_hash(const char *name, size_t size);
