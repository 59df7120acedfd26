/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

/** The place of a string in the table's bytes. */
struct string_place {
	size_t at;
	uint32_t size;
	uint32_t hash;
};

/**
 * Gives strings of any bytes numbers, 0, 1, ... in the order in which they come; equal strings get
 * one number.
 */
struct string_table {
	char *bytes;
	size_t bytes_count, bytes_capacity;
	struct string_place *places;
	size_t places_count, places_capacity; /**< places_count: strings */
	uint32_t *slots;                      /**< number + 1; 0: free */
	size_t slot_count;                    /**< 0 or a power of two */
};

/**
 * The number of a string.  A zero-initialised table is empty.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_UNSUPPORTED a string of 4 GiB
 */
HD_NODISCARD enum hd_status string_table_add(struct string_table *table, const char *bytes,
					     size_t size, uint32_t *ret, struct hd_error *err);
void string_table_deinit(struct string_table *table);

/** Bytes of string @p number, without a NUL; valid until the next string is added. */
static inline const char *string_table_at(const struct string_table *table, uint32_t number,
					  size_t *size)
{
	*size = table->places[number].size;
	return table->bytes + table->places[number].at;
}
