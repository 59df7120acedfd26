/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/gcdump/gcdump.h"
#include "mem/memory.h"
#include "util/fail.h"

/*
 * Version 1 of FastSerialization (doc/formats.md 1; TraceEvent's FastSerialization.cs), with labels
 * of 4 bytes: a cursor over bytes in memory.  Every read is checked; the message of a failure is
 * one line with the offset.
 */

enum fast_tag {
	FAST_NULL = 1,
	FAST_OBJECT_REFERENCE,
	FAST_FORWARD_REFERENCE,
	FAST_BEGIN_OBJECT,
	FAST_BEGIN_PRIVATE_OBJECT,
	FAST_END_OBJECT,
	FAST_FORWARD_DEFINITION,
	FAST_BYTE,
	FAST_INT16,
	FAST_INT32,
	FAST_INT64,
	FAST_SKIP_REGION,
	FAST_STRING,
	FAST_BLOB,
};

struct fast_reader {
	const uint8_t *bytes;
	uint64_t size, at;
	const char *path;
	struct hd_error *err;
	bool *ran_out; /**< set when something should have been after the end of the bytes; NULL:
		        * not needed */
};

/** An object's type. */
struct fast_type {
	int32_t version, min_reader;
	struct gcdump_text name;
};

/** An object that is being read. */
struct fast_object {
	bool is_null;
	struct fast_type type;
	uint64_t resume; /**< where reading goes on if the object is somewhere else; 0: after the
			  * object */
};

/** HD_ERR_FORMAT: "PATH: offset 0x..: what". */
enum hd_status fast_fail(const struct fast_reader *reader, uint64_t at, const char *format, ...)
	HD_PRINTF(3, 4);

static inline uint64_t fast_left(const struct fast_reader *reader)
{
	return reader->size - reader->at;
}

HD_NODISCARD enum hd_status fast_byte(struct fast_reader *reader, uint8_t *ret);
HD_NODISCARD enum hd_status fast_i32(struct fast_reader *reader, int32_t *ret);
HD_NODISCARD enum hd_status fast_i64(struct fast_reader *reader, int64_t *ret);
HD_NODISCARD enum hd_status fast_float(struct fast_reader *reader, float *ret);
HD_NODISCARD enum hd_status fast_skip(struct fast_reader *reader, uint64_t size);
HD_NODISCARD enum hd_status fast_text(struct fast_reader *reader, struct gcdump_text *ret);

/**
 * The number of elements that follow, each of at least @p each bytes; it is checked that so many
 * bytes are left.
 *
 * @param is_wide The number has 8 bytes.
 */
HD_NODISCARD enum hd_status fast_count(struct fast_reader *reader, bool is_wide, uint64_t each,
				       const char *what, uint32_t *ret);

/** Offset of forward reference @p index, from the table that the end of the file refers to. */
HD_NODISCARD enum hd_status fast_forward(const struct fast_reader *reader, int32_t index,
					 uint64_t *ret);

/** Begin an object, wherever it is; next comes its first field, if it is not null. */
HD_NODISCARD enum hd_status fast_begin(struct fast_reader *reader, struct fast_object *ret);

/** End it: skips tagged items. */
HD_NODISCARD enum hd_status fast_end(struct fast_reader *reader, const struct fast_object *object);

/** Begin an object of class @p name that readers of version @p version can read. */
HD_NODISCARD enum hd_status fast_begin_as(struct fast_reader *reader, const char *name,
					  int32_t version, struct fast_object *ret);

/** Does a text consist of these ASCII characters? */
bool fast_text_is(const struct gcdump_text *text, const char *string);
