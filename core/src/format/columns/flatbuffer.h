/* SPDX-License-Identifier: MIT */
/* FlatBuffers, as messages of Arrow are: doc/formats.md 12.1. */
#pragma once

#include "util/text.h"

/** A field of a table, with its value. */
struct flat_field {
	unsigned int slot; /**< its number in the table */
	unsigned int size; /**< bytes: 1, 2, 4 or 8; 0: it refers to what flat_link() says */
	uint64_t value;
};

/** Most fields of a table that are written. */
#define FLAT_FIELDS 8u

/** Begin a buffer, whose root flat_link() sets at place 0. */
void flat_begin(struct text *to);

/**
 * Append a table.
 *
 * @param[in] fields Those with larger sizes come first.
 * @param[out] ret_places Where each field is; NULL: nobody asks.
 * @return where the table is
 */
size_t flat_table(struct text *to, const struct flat_field *fields, size_t count,
		  size_t *ret_places);

/** Let the field at @p place refer to what is at @p target, further on. */
void flat_link(struct text *to, size_t place, size_t target);

/** Append a string, to which the field at @p place refers. */
void flat_string(struct text *to, size_t place, const char *string);

/** Append a list of tables, to which a field refers; returns the place of its first reference, of 4 bytes each. */
size_t flat_list(struct text *to, size_t place, size_t count);

/** Append a list of pairs of 64-bit numbers, to which a field refers. */
void flat_pairs(struct text *to, size_t place, const int64_t (*pairs)[2], size_t count);
