/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct memory;

/** The bytes of a table in NativeFormat, read once (doc/nativeaot.md 4.1). */
struct native_blob {
	uint8_t *bytes; /**< owned */
	size_t size, capacity;
	uint64_t address; /**< of its first byte in the target */
	bool is_cut;      /**< the target has only the first size bytes */
};

/**
 * Read @p size bytes at @p address, as far as the target has them, and no more than NATIVE_BLOB_MAX.
 *
 * @param[out] ret To be given to native_blob_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status native_blob_read(struct memory *memory, uint64_t address, uint64_t size,
					     struct native_blob *ret, struct hd_error *err);
void native_blob_deinit(struct native_blob *blob);

/** Most bytes of a table. */
#define NATIVE_BLOB_MAX ((uint64_t)256 << 20)

/** A place in a blob.  After a failed read, is_bad stays set, and all further numbers are 0. */
struct native_cursor {
	const struct native_blob *blob;
	size_t at;
	bool is_bad;
};

/** The place at @p offset. */
struct native_cursor native_cursor_at(const struct native_blob *blob, uint64_t offset);
/** How many bytes are left. */
static inline size_t native_left(const struct native_cursor *cursor)
{
	return cursor->is_bad ? 0 : cursor->blob->size - cursor->at;
}
uint8_t native_u8(struct native_cursor *cursor);
uint32_t native_u32(struct native_cursor *cursor);
/** A number of 1 to 5 bytes: the zeros and ones at its low end say how many. */
uint32_t native_unsigned(struct native_cursor *cursor);
/** The same with a sign. */
int32_t native_signed(struct native_cursor *cursor);
/** The address that the next 4 bytes lead to, which are relative to where they lie. */
uint64_t native_relative(struct native_cursor *cursor);
/** The next @p size bytes; NULL: there are fewer. */
const uint8_t *native_skip(struct native_cursor *cursor, size_t size);

/** The entries of a hash table, one after the other. */
struct native_hash {
	struct native_cursor bucket; /**< in the current bucket */
	size_t base;                 /**< offsets of buckets are relative to it */
	size_t end;                  /**< of the current bucket */
	uint32_t next, buckets;      /**< the bucket after it; how many there are */
	unsigned int width;          /**< bytes of an offset */
};

/** Begin with the first entry of the table that is all of @p blob; false: its head is damaged. */
bool native_hash_begin(const struct native_blob *blob, struct native_hash *ret);
/** The next entry; false: there are no more, or the rest is damaged.  Cost of all: linear in the blob. */
bool native_hash_next(struct native_hash *hash, struct native_cursor *ret);
