/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "format/format.h"

#define STREAM_SIZE ((size_t)256 << 10)

/**
 * Buffered text that is written to a file.  After a failure everything else is dropped, and
 * stream_end() returns the failure.
 */
struct stream {
	format_write_fn write;
	void *arg;
	struct job *job;
	struct hd_error *err;
	char *buffer;
	size_t size;
	uint64_t units; /**< done since the last report to the job */
	enum hd_status status;
};

/** @retval HD_OK @retval HD_ERR_NOMEM; in both cases stream_end() has to be called. */
HD_NODISCARD enum hd_status stream_begin(struct stream *stream, struct job *job,
					 format_write_fn write, void *arg, struct hd_error *err);

/** Write what is left unless @p status is a failure, free the buffer, and return the first failure. */
HD_NODISCARD enum hd_status stream_end(struct stream *stream, enum hd_status status);

/** Write out the buffer, count the units, and check for cancellation. */
void stream_flush(struct stream *stream);

/** Write any number of bytes. */
void stream_bytes(struct stream *stream, const char *bytes, size_t size);

static inline void stream_puts(struct stream *stream, const char *string)
{
	stream_bytes(stream, string, strlen(string));
}

/**
 * Write @p bytes as they must be between the quotes of a JSON string; what is not UTF-8 becomes
 * U+FFFD.
 */
void stream_json_escape(struct stream *stream, const char *bytes, size_t size);
/** The same with the quotes. */
void stream_json_string(struct stream *stream, const char *bytes, size_t size);

/** Make room for @p size bytes, at most STREAM_SIZE, in the buffer. */
static inline char *stream_room(struct stream *stream, size_t size)
{
	if (stream->size + size > STREAM_SIZE)
		stream_flush(stream);
	return stream->buffer + stream->size;
}

static inline void stream_char(struct stream *stream, char c)
{
	*stream_room(stream, 1) = c;
	stream->size++;
}

/** Decimal. */
static inline void stream_number(struct stream *stream, uint64_t value)
{
	char digits[20], *room = stream_room(stream, sizeof(digits));
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	memcpy(room, digits + at, sizeof(digits) - at);
	stream->size += sizeof(digits) - at;
}
