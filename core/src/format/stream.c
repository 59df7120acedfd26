/* SPDX-License-Identifier: MIT */
#include "format/stream.h"

#include "util/alloc.h"
#include "util/text.h"

enum hd_status stream_begin(struct stream *stream, struct job *job, format_write_fn write,
			    void *arg, struct hd_error *err)
{
	*stream = (struct stream){ .write = write, .arg = arg, .job = job, .err = err };
	stream->buffer = mem_alloc(1, STREAM_SIZE);
	return stream->buffer ? HD_OK : fail_nomem(err);
}

enum hd_status stream_end(struct stream *stream, enum hd_status status)
{
	if (status == HD_OK) {
		stream_flush(stream);
		status = stream->status;
	}
	mem_free(stream->buffer);
	stream->buffer = NULL;
	return status;
}

void stream_flush(struct stream *stream)
{
	bool is_good = stream->status == HD_OK;
	if (is_good && stream->size)
		is_good = stream->write(stream->arg, stream->buffer, stream->size);
	if (is_good)
		is_good = job_step(stream->job, 0, stream->units);
	if (!is_good && stream->status == HD_OK)
		stream->status = fail_cancelled(stream->err);
	stream->size = 0;
	stream->units = 0;
}

void stream_bytes(struct stream *stream, const char *bytes, size_t size)
{
	while (size) {
		if (stream->size == STREAM_SIZE)
			stream_flush(stream);
		size_t room = STREAM_SIZE - stream->size;
		size_t now = size < room ? size : room;
		memcpy(stream->buffer + stream->size, bytes, now);
		stream->size += now;
		bytes += now;
		size -= now;
	}
}

static bool is_plain_in_json(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Characters that nobody sees are harmless in JSON, but not where the file itself is shown. */
static void put_json_character(struct stream *stream, const char *bytes, size_t length)
{
	unsigned char c = (unsigned char)*bytes;
	if (!length) {
		stream_puts(stream, "\\ufffd");
	} else if (c == '"' || c == '\\') {
		stream_char(stream, '\\');
		stream_char(stream, (char)c);
	} else if (utf8_is_invisible(bytes, length)) {
		char escape[ESCAPED_JSON_SIZE];
		escape_write_json(bytes, length, escape);
		stream_puts(stream, escape);
	} else {
		stream_bytes(stream, bytes, length);
	}
}

void stream_json_escape(struct stream *stream, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size;) {
		size_t run = 0;
		while (i + run < size && is_plain_in_json((unsigned char)bytes[i + run]))
			run++;
		stream_bytes(stream, bytes + i, run);
		i += run;
		if (i == size)
			break;
		size_t length = utf8_length(bytes + i, size - i);
		put_json_character(stream, bytes + i, length);
		i += length ? length : 1;
	}
}

void stream_json_string(struct stream *stream, const char *bytes, size_t size)
{
	stream_char(stream, '"');
	stream_json_escape(stream, bytes, size);
	stream_char(stream, '"');
}
