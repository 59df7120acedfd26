/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table turned into columns: chunks of rows, in each of which the values of a column lie next to each other, as
 * Arrow and Parquet have them.
 */
#pragma once

#include <heapdump/answer.h>

#include "util/fail.h"
#include "util/text.h"

/** The type of the values of a column, as formats in columns know it. */
enum column_type {
	COLUMN_NULL, /**< it has no value */
	COLUMN_BOOL,
	COLUMN_SIGNED,   /**< 64 bits */
	COLUMN_UNSIGNED, /**< 64 bits */
	COLUMN_REAL,     /**< double */
	COLUMN_TEXT,     /**< UTF-8 */
};

/** Facts about all values of a column that were seen so far. */
struct column_facts {
	uint32_t kinds;   /**< bit i: some have the enum hd_kind i; without HD_KIND_NULL */
	bool is_negative; /**< a whole number is */
	bool is_large;    /**< one is beyond INT64_MAX */
	bool is_inexact;  /**< one is not the same as a double */
};

/** The type that holds all values of a column of @p kind, an enum hd_kind. */
enum column_type column_type_of(uint32_t kind, const struct column_facts *facts);

/** The values of one column in a chunk. */
struct chunk_column {
	uint32_t kind; /**< enum hd_kind */
	/** Numbers, bits of reals, 0 or 1; HD_KIND_ANY: of a text, where it ends in @c text. */
	uint64_t *words;
	int32_t *ends;     /**< of texts: 0, then where each one ends in @c text */
	uint8_t *kinds;    /**< HD_KIND_ANY: the enum hd_kind of each value */
	uint8_t *validity; /**< bit i: row i has a value; NULL: all have */
	struct text text;
	uint32_t null_count;
};

/** Some rows. */
struct chunk {
	struct chunk *next; /**< for lists */
	uint32_t rows, capacity;
	uint32_t count; /**< of columns */
	struct chunk_column columns[];
};

/** The texts of a column in a chunk take at most that many bytes, unless a single one does. */
#define CHUNK_TEXT_MAX ((size_t)64 << 20)

/** An empty chunk; NULL when memory is exhausted. */
struct chunk *chunk_create(const uint32_t *kinds, uint32_t count);
/** NULL is allowed. */
void chunk_destroy(struct chunk *chunk);

/** Is there room for the texts of that row? */
bool chunk_has_room(const struct chunk *chunk, const struct hd_value *values);

/**
 * Append a row.
 *
 * @param[in] values One for each column; @p facts likewise, which learn them.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_UNSUPPORTED a text takes 2 GB or more
 */
HD_NODISCARD enum hd_status chunk_append(struct chunk *chunk, const struct hd_value *values,
					 struct column_facts *facts, struct hd_error *err);

/** The bytes that the chunk holds. */
uint64_t chunk_size(const struct chunk *chunk);

/**
 * Give a column of HD_KIND_ANY the form of @p type, which holds all its values: words, or ends and text.
 * Others have it already.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_UNSUPPORTED its texts take 2 GB or more
 */
HD_NODISCARD enum hd_status chunk_settle(struct chunk *chunk, uint32_t column,
					 enum column_type type, struct hd_error *err);
