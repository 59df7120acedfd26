/* SPDX-License-Identifier: MIT */
/* Blocks of NetTrace version 6 (doc/formats.md 5; perfview's NetTraceFormat.md). */
#include <string.h>

#include "format/nettrace/nettrace_stream.h"

/* Options of a metadata row. */
enum {
	OPTION_OPCODE = 1,
	OPTION_KEYWORDS = 3,
	OPTION_MESSAGE = 4,
	OPTION_DESCRIPTION = 5,
	OPTION_KEY_VALUE = 6,
	OPTION_GUID = 7,
	OPTION_LEVEL = 8,
	OPTION_VERSION = 9
};

/* Entries of a thread's row. */
enum {
	THREAD_NAME = 1,
	THREAD_PROCESS = 2,
	THREAD_OS_ID = 3,
	THREAD_KEY_VALUE = 4
};

/* Flags of a sequence point. */
enum {
	FORGET_THREADS = 1,
	FORGET_METADATA = 2
};

struct string6 {
	const char *bytes;
	size_t size;
};

static struct string6 string6(struct nt_bytes *at)
{
	uint64_t size = nt_var(at);
	const uint8_t *bytes = nt_take(at, size);
	return (struct string6){ .bytes = (const char *)bytes, .size = bytes ? (size_t)size : 0 };
}

/* The next part at @p at, with the length in its u16 size. */
static struct nt_bytes sized(struct nt_bytes *at)
{
	uint16_t size = nt_u16(at);
	const uint8_t *bytes = nt_take(at, size);
	return bytes ? nt_bytes(bytes, size) : (struct nt_bytes){ .is_short = true };
}

static void trace_block(struct nt_about *about, struct nt_bytes at)
{
	for (unsigned int i = 0; i < 8; i++)
		about->time[i] = nt_u16(&at);
	about->sync_time = nt_u64(&at);
	about->frequency = nt_u64(&at);
	about->pointer_size = nt_u32(&at);
	uint32_t count = nt_u32(&at);
	about->has_trace = !at.is_short;
	for (uint32_t i = 0; i < count && nt_left(&at); i++) {
		struct string6 key = string6(&at), value = string6(&at);
		if (!key.bytes || key.size != 9 || memcmp(key.bytes, "ProcessId", 9) != 0)
			continue;
		uint32_t pid = 0;
		for (size_t k = 0; k < value.size && value.bytes[k] >= '0' && value.bytes[k] <= '9';
		     k++)
			pid = pid * 10 + (uint32_t)(value.bytes[k] - '0');
		about->pid = pid;
	}
}

/* The version among the options of a metadata row; absent means 0. */
static uint32_t version_option(struct nt_bytes at)
{
	uint32_t version = 0;
	while (nt_left(&at)) {
		switch (nt_u8(&at)) {
		case OPTION_OPCODE:
		case OPTION_LEVEL:
			(void)nt_u8(&at);
			break;
		case OPTION_KEYWORDS:
			(void)nt_u64(&at);
			break;
		case OPTION_KEY_VALUE:
			(void)string6(&at);
			(void)string6(&at);
			break;
		case OPTION_MESSAGE:
		case OPTION_DESCRIPTION:
			(void)string6(&at);
			break;
		case OPTION_GUID:
			(void)nt_take(&at, 16);
			break;
		case OPTION_VERSION:
			version = nt_u8(&at);
			break;
		default: /* of unknown size */
			return version;
		}
	}
	return version;
}

static enum hd_status metadata_block(struct nt_stream *stream, struct nt_bytes at)
{
	(void)sized(&at); /* header */
	while (nt_left(&at)) {
		struct nt_bytes row = sized(&at);
		uint64_t id = nt_var(&row);
		struct string6 provider = string6(&row);
		struct nt_metadata metadata = { .event = (uint32_t)nt_var(&row) };
		(void)string6(&row); /* name */
		uint16_t fields = nt_u16(&row);
		for (uint16_t i = 0; i < fields && nt_left(&row); i++)
			(void)sized(&row);
		struct nt_bytes options = sized(&row);
		if (row.is_short) {
			stream->outcome.damaged++;
			continue;
		}
		metadata.version = version_option(options);
		metadata.provider = nt_provider_utf8(provider.bytes, provider.size);
		TRY(nt_define(&stream->metadata, id, &metadata, stream->err));
	}
	return HD_OK;
}

static enum hd_status thread_block(struct nt_stream *stream, struct nt_bytes at)
{
	while (nt_left(&at)) {
		struct nt_bytes row = sized(&at);
		uint64_t index = nt_var(&row);
		if (row.is_short) {
			stream->outcome.damaged++;
			continue;
		}
		struct nt_thread *thread = nt_thread(&stream->threads, index, stream->about.pid);
		TRY_MEMORY(thread, stream->err);
		/* A new row: an index may be used again. */
		*thread = (struct nt_thread){ .id = index,
					      .pid = stream->about.pid,
					      .era = stream->threads.era };
		while (nt_left(&row)) {
			uint8_t kind = nt_u8(&row);
			if (kind == THREAD_PROCESS) {
				thread->pid = (uint32_t)nt_var(&row);
			} else if (kind == THREAD_OS_ID) {
				(void)nt_var(&row);
			} else if (kind == THREAD_NAME || kind == THREAD_KEY_VALUE) {
				(void)string6(&row);
				if (kind == THREAD_KEY_VALUE)
					(void)string6(&row);
			} else {
				break;
			}
		}
	}
	return HD_OK;
}

/* Read "thread, sequence number" up to the end, or @p count of them. */
static enum hd_status sequence_numbers(struct nt_stream *stream, struct nt_bytes at, uint64_t count)
{
	for (uint64_t i = 0; i < count && nt_left(&at); i++) {
		uint64_t thread = nt_var(&at);
		uint32_t sequence = (uint32_t)nt_var(&at);
		if (!at.is_short)
			TRY(nt_thread_at(stream, thread, sequence));
	}
	return HD_OK;
}

static enum hd_status sequence_point_v6(struct nt_stream *stream, struct nt_bytes at)
{
	(void)nt_u64(&at); /* time */
	uint32_t flags = nt_u32(&at);
	uint32_t count = nt_u32(&at);
	TRY(sequence_numbers(stream, at, count));
	if (flags & FORGET_THREADS)
		stream->threads.era++;
	if (flags & FORGET_METADATA)
		stream->metadata.era++;
	stream->interval++;
	return HD_OK;
}

static enum hd_status read_block_v6(struct nt_stream *stream, uint32_t kind,
				    struct nt_bytes contents)
{
	switch (kind) {
	case NT_TRACE:
		trace_block(&stream->about, contents);
		return HD_OK;
	case NT_EVENTS:
		return nt_blobs(stream, contents, nt_blob_event);
	case NT_METADATA:
		return metadata_block(stream, contents);
	case NT_SEQUENCE_POINT:
		return sequence_point_v6(stream, contents);
	case NT_THREADS:
		return thread_block(stream, contents);
	case NT_REMOVE_THREADS:
		return sequence_numbers(stream, contents, UINT64_MAX);
	default:
		return HD_OK;
	}
}

enum hd_status nt_read_v6(struct nt_stream *stream, uint64_t offset)
{
	if (offset > stream->size)
		offset = stream->size;
	struct nt_bytes at = nt_bytes(stream->bytes + offset, stream->size - offset);
	for (;;) {
		uint64_t begin = (uint64_t)(at.at - stream->bytes);
		uint32_t head = nt_u32(&at), kind = head >> 24, size = head & 0xffffff;
		if (at.is_short) {
			nt_stop(&stream->outcome, begin, "the file ends here, cut off");
			return HD_OK;
		}
		if (kind < NT_BLOCKS)
			stream->outcome.blocks[kind]++;
		if (kind == NT_END) {
			stream->outcome.is_complete = true;
			return HD_OK;
		}
		if (size > nt_left(&at)) {
			nt_stop(&stream->outcome, begin,
				"the file ends within the block here, cut off");
			size = (uint32_t)nt_left(&at);
		}
		TRY(read_block_v6(stream, kind, nt_bytes(at.at, size)));
		at.at += size;
		if (stream->outcome.stopped)
			return HD_OK;
		TRY(job_check(stream->job, 4 + (uint64_t)size, stream->err));
	}
}
