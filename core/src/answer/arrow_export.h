/* SPDX-License-Identifier: MIT */
/*
 * Columns in the structures of the Arrow C data interface
 * (doc/columns.md 2).
 */
#pragma once

#include <heapdump/arrow.h>

#include "answer/columns.h"

/** A key and its value, for the metadata of a schema; a key that is NULL ends a list. */
struct arrow_metadata {
	const char *key, *value;
};

/**
 * The type of a column, or of the struct of all of them.
 *
 * @param format Of static storage.
 * @param children It has room for so many, which the caller fills in; until then they count as released.
 * @param[out] ret To be released by its release(); untouched on failure.
 * @return false when memory is exhausted
 */
bool arrow_schema_make(const char *format, const char *name, const struct arrow_metadata *metadata,
		       size_t children, struct ArrowSchema *ret);

/** How Arrow calls a type. */
const char *arrow_format(enum column_type type);

/**
 * A batch of the rows of a chunk, whose columns are settled as @p types say.
 *
 * @param chunk Gives its arrays away on success, and is destroyed; on failure it is as before, but for the form of flags.
 * @param[out] ret To be released by its release(); untouched on failure.
 * @return false when memory is exhausted
 */
bool arrow_batch_make(struct chunk *chunk, const enum column_type *types, struct ArrowArray *ret);
