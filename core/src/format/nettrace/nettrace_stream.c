/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace_stream.h"

#include <string.h>

#include "util/alloc.h"

/* Keeps the meaning of a stream's ids: metadata and threads. */

/*
 * The row of an id in a table with @p count rows and room for one more.  A new row is zero, which
 * belongs to no era. false: memory is exhausted.
 */
static bool find_id_row(struct nt_ids *ids, uint64_t id, size_t *count)
{
	uint32_t fresh = (uint32_t)*count;
	uint32_t index = type_table_add(&ids->table, 0, id, fresh);
	if (index == UINT32_MAX)
		return false;
	*count += index == fresh;
	ids->last = id;
	ids->last_row = (size_t)index + 1;
	return true;
}

/* Was the row of an id looked up last time? */
static bool is_last_id(const struct nt_ids *ids, uint64_t id)
{
	return ids->last_row && ids->last == id;
}

/* The row of a metadata id; NULL: memory is exhausted. */
static struct nt_metadata *metadata_row(struct nt_metadata_table *metadata, uint64_t id)
{
	struct nt_ids *ids = &metadata->ids;
	if (!is_last_id(ids, id) &&
	    (!PAGES_RESERVE(metadata, rows) || !find_id_row(ids, id, &metadata->rows_count)))
		return NULL;
	return &metadata->rows[ids->last_row - 1];
}

enum hd_status nt_define(struct nt_metadata_table *metadata, uint64_t id,
			 const struct nt_metadata *definition, struct hd_error *err)
{
	struct nt_metadata *row = metadata_row(metadata, id);
	TRY_MEMORY(row, err);
	*row = *definition;
	row->era = metadata->era;
	return HD_OK;
}

/* An id that is not defined gets a row that belongs to no era. */
static enum hd_status nt_metadata_find(struct nt_metadata_table *metadata, uint64_t id,
				       struct nt_metadata **ret, struct hd_error *err)
{
	struct nt_metadata *row = metadata_row(metadata, id);
	TRY_MEMORY(row, err);
	*ret = row->era == metadata->era ? row : NULL;
	return HD_OK;
}

static void nt_metadata_table_deinit(struct nt_metadata_table *metadata)
{
	pages_free(metadata->rows, metadata->rows_capacity, sizeof(*metadata->rows));
	type_table_deinit(&metadata->ids.table);
}

struct nt_thread *nt_thread(struct nt_thread_table *threads, uint64_t id, uint32_t pid)
{
	struct nt_ids *ids = &threads->ids;
	if (!is_last_id(ids, id) &&
	    (!PAGES_RESERVE(threads, rows) || !find_id_row(ids, id, &threads->rows_count)))
		return NULL;
	struct nt_thread *thread = &threads->rows[ids->last_row - 1];
	if (thread->era != threads->era)
		*thread = (struct nt_thread){ .id = id, .pid = pid, .era = threads->era };
	return thread;
}

void nt_thread_table_deinit(struct nt_thread_table *threads)
{
	pages_free(threads->rows, threads->rows_capacity, sizeof(*threads->rows));
	type_table_deinit(&threads->ids.table);
}

/* Providers whose events are used. */
static const struct {
	const char *name;
	enum nt_provider provider;
} providers[] = { { "Microsoft-Windows-DotNETRuntime", NT_RUNTIME },
		  { "Microsoft-Windows-DotNETRuntimeRundown", NT_RUNDOWN },
		  { "Microsoft-DotNETCore-EventPipe", NT_EVENT_PIPE } };

#define PROVIDERS (sizeof(providers) / sizeof(providers[0]))

enum nt_provider nt_provider_utf8(const char *name, size_t size)
{
	for (size_t i = 0; i < PROVIDERS; i++) {
		if (strlen(providers[i].name) == size && memcmp(providers[i].name, name, size) == 0)
			return providers[i].provider;
	}
	return NT_OTHER;
}

const char *nt_provider_name(enum nt_provider provider)
{
	for (size_t i = 0; i < PROVIDERS; i++) {
		if (providers[i].provider == provider)
			return providers[i].name;
	}
	return "";
}

static enum nt_provider nt_provider_utf16(const struct nt_utf16 *name)
{
	char ascii[64];
	if (name->units > sizeof(ascii))
		return NT_OTHER;
	for (uint32_t i = 0; i < name->units; i++) {
		uint16_t unit = nt_unit(name, i);
		if (unit >= 0x80)
			return NT_OTHER;
		ascii[i] = (char)unit;
	}
	return nt_provider_utf8(ascii, name->units);
}

/*
 * NetTrace version 4 (doc/formats.md 4): objects of FastSerialization whose contents are blocks (TraceEvent's
 * EventPipeEventSource.cs and EventPipeFormat.md; ds-rt and ep-block.c of the runtime write it).
 */

#define MAGIC         "Nettrace"
#define SERIALIZATION "!FastSerialization.1"

/* Tags of FastSerialization. */
enum {
	TAG_NULL = 1,
	TAG_PRIVATE_OBJECT = 5,
	TAG_END_OBJECT = 6
};

#define TRACE_SIZE      48u
#define OBJECT_NAME_MAX 256u

void nt_stop(struct nt_outcome *outcome, uint64_t at, const char *why)
{
	if (outcome->stopped)
		return;
	outcome->stopped = why;
	outcome->stopped_at = at;
}

static enum hd_status add_loss(struct nt_stream *stream, const struct nt_thread *thread,
			       uint32_t count, uint64_t time)
{
	stream->outcome.lost += count;
	stream->outcome.gaps++;
	const struct nt_loss loss = { .thread = thread->id,
				      .time = time,
				      .count = count,
				      .pid = thread->pid,
				      .interval = stream->interval };
	return stream->loss(stream->arg, &loss);
}

enum hd_status nt_thread_at(struct nt_stream *stream, uint64_t id, uint32_t sequence)
{
	struct nt_thread *thread = nt_thread(&stream->threads, id, stream->about.pid);
	TRY_MEMORY(thread, stream->err);
	uint32_t ahead = sequence - thread->sequence;
	if (!ahead || ahead >= 0x80000000u)
		return HD_OK;
	thread->sequence = sequence;
	thread->has_events = true;
	return add_loss(stream, thread, ahead, UINT64_MAX);
}

/*
 * Does its number follow the thread's last one?  A number 1 belongs to a new thread with an old id.
 */
static enum hd_status check_sequence(struct nt_stream *stream, const struct nt_blob *blob,
				     struct nt_thread *thread)
{
	uint32_t missing = blob->sequence - thread->sequence - 1;
	bool begins = blob->sequence == 1 && thread->has_events;
	thread->sequence = blob->sequence;
	thread->has_events = true;
	if (begins || !missing || missing >= 0x80000000u)
		return HD_OK;
	return add_loss(stream, thread, missing, blob->time);
}

enum hd_status nt_blob_event(struct nt_stream *stream, const struct nt_blob *blob)
{
	struct nt_metadata *metadata = NULL;
	TRY(nt_metadata_find(&stream->metadata, blob->metadata, &metadata, stream->err));
	struct nt_thread *thread =
		nt_thread(&stream->threads, blob->capture_thread, stream->about.pid);
	TRY_MEMORY(thread, stream->err);
	TRY(check_sequence(stream, blob, thread));
	if (!metadata) {
		stream->outcome.unknown++;
		return HD_OK;
	}
	metadata->count++;
	if (metadata->provider == NT_OTHER)
		return HD_OK;
	struct nt_event event = { .metadata = metadata,
				  .payload = blob->payload,
				  .size = blob->size,
				  .pid = stream->about.pid,
				  .interval = stream->interval,
				  .thread = blob->capture_thread,
				  .time = blob->time };
	if (stream->version >= 6) {
		const struct nt_thread *of =
			nt_thread(&stream->threads, blob->thread, stream->about.pid);
		TRY_MEMORY(of, stream->err);
		event.pid = of->pid;
	}
	return stream->event(stream->arg, &event);
}

enum hd_status nt_blobs(struct nt_stream *stream, struct nt_bytes block,
			enum hd_status (*each)(struct nt_stream *stream,
					       const struct nt_blob *blob))
{
	/* The header: its own size, flags, two times, and what later versions may add. */
	struct nt_bytes header = block;
	uint16_t header_size = nt_u16(&header), flags = nt_u16(&header);
	if (header_size < 4 || !nt_take(&block, header_size)) {
		stream->outcome.damaged += stream->outcome.stopped ? 0 : 1;
		return HD_OK;
	}
	struct nt_blob blob = { 0 };
	while (nt_left(&block)) {
		if (!nt_blob_read(&block, stream->version, flags & 1, &blob)) {
			stream->outcome.damaged +=
				stream->outcome.stopped ? 0 : 1; /* if not cut off */
			return HD_OK;
		}
		TRY(each(stream, &blob));
	}
	return HD_OK;
}

static enum hd_status metadata_blob_v4(struct nt_stream *stream, const struct nt_blob *blob)
{
	struct nt_bytes at = nt_bytes(blob->payload, blob->size);
	uint32_t id = nt_u32(&at);
	struct nt_utf16 provider = nt_utf16z(&at);
	struct nt_metadata metadata = { .event = nt_u32(&at) };
	(void)nt_utf16z(&at); /* name */
	(void)nt_u64(&at);    /* keywords */
	metadata.version = nt_u32(&at);
	if (at.is_short) {
		stream->outcome.damaged++;
		return HD_OK;
	}
	metadata.provider = nt_provider_utf16(&provider);
	return nt_define(&stream->metadata, id, &metadata, stream->err);
}

static enum hd_status sequence_point_v4(struct nt_stream *stream, struct nt_bytes at)
{
	(void)nt_u64(&at); /* time */
	uint32_t count = nt_u32(&at);
	for (uint32_t i = 0; i < count && nt_left(&at) >= 12; i++) {
		uint64_t thread = nt_u64(&at);
		TRY(nt_thread_at(stream, thread, nt_u32(&at)));
	}
	stream->interval++;
	return HD_OK;
}

static void trace_object(struct nt_about *about, struct nt_bytes at)
{
	for (unsigned int i = 0; i < 8; i++)
		about->time[i] = nt_u16(&at);
	about->sync_time = nt_u64(&at);
	about->frequency = nt_u64(&at);
	about->pointer_size = nt_u32(&at);
	about->pid = nt_u32(&at);
	about->has_trace = !at.is_short;
}

/* The kind of an object with that name. */
static enum nt_block block_of(const uint8_t *name, uint32_t size)
{
	static const struct {
		const char *name;
		enum nt_block block;
	} names[] = { { "Trace", NT_TRACE },
		      { "EventBlock", NT_EVENTS },
		      { "MetadataBlock", NT_METADATA },
		      { "SPBlock", NT_SEQUENCE_POINT },
		      { "StackBlock", NT_STACKS } };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i].name) == size && memcmp(names[i].name, name, size) == 0)
			return names[i].block;
	}
	return NT_BLOCKS;
}

/* Read "tag 5, type object" and the name; false: something else, or the end. */
static bool object_begin(struct nt_stream *stream, struct nt_bytes *at, enum nt_block *ret)
{
	const uint8_t *begin = at->at;
	uint64_t offset = (uint64_t)(begin - stream->bytes);
	const uint8_t *tags = nt_take(at, 3);
	(void)nt_u64(at); /* version, least version of a reader */
	uint32_t size = nt_u32(at);
	bool is_object = tags && tags[0] == TAG_PRIVATE_OBJECT && tags[1] == TAG_PRIVATE_OBJECT &&
			 tags[2] == TAG_NULL && size <= OBJECT_NAME_MAX;
	const uint8_t *name = is_object ? nt_take(at, size) : NULL;
	uint8_t end = nt_u8(at);
	if (at->is_short && (is_object || begin + 15 > at->end)) {
		nt_stop(&stream->outcome, offset, "the file ends here, cut off");
	} else if (!name || end != TAG_END_OBJECT) {
		nt_stop(&stream->outcome, offset, "no object begins here");
	}
	if (stream->outcome.stopped)
		return false;
	*ret = block_of(name, size);
	return true;
}

/* The contents of an object; if a block is cut off, the part that exists. */
static struct nt_bytes object_contents(struct nt_stream *stream, struct nt_bytes *at,
				       enum nt_block block)
{
	uint64_t offset = (uint64_t)(at->at - stream->bytes);
	uint32_t size = TRACE_SIZE;
	if (block != NT_TRACE) {
		size = nt_u32(at);
		if (size > INT32_MAX) {
			nt_stop(&stream->outcome, offset, "a block of a negative size");
			return (struct nt_bytes){ .at = at->end, .end = at->end };
		}
		/* Blocks are at multiples of 4 in the stream. */
		(void)nt_take(at, (0 - (uint64_t)(at->at - stream->bytes)) % 4);
	}
	if (size > nt_left(at) || at->is_short) {
		nt_stop(&stream->outcome, offset, "the file ends within the block here, cut off");
		struct nt_bytes rest = *at;
		at->at = at->end;
		return rest;
	}
	const uint8_t *contents = nt_take(at, size);
	return nt_bytes(contents, size);
}

static enum hd_status read_block_v4(struct nt_stream *stream, enum nt_block block,
				    struct nt_bytes contents)
{
	switch (block) {
	case NT_TRACE:
		trace_object(&stream->about, contents);
		return HD_OK;
	case NT_EVENTS:
		return nt_blobs(stream, contents, nt_blob_event);
	case NT_METADATA:
		return nt_blobs(stream, contents, metadata_blob_v4);
	case NT_SEQUENCE_POINT:
		return sequence_point_v4(stream, contents);
	default:
		return HD_OK;
	}
}

static enum hd_status read_stream_v4(struct nt_stream *stream, uint64_t offset)
{
	struct nt_bytes at = nt_bytes(stream->bytes + offset, stream->size - offset);
	while (!stream->outcome.stopped) {
		const uint8_t *begin = at.at;
		if (nt_left(&at) && *at.at == TAG_NULL) {
			stream->outcome.is_complete = true;
			return HD_OK;
		}
		enum nt_block block;
		if (!object_begin(stream, &at, &block))
			break;
		struct nt_bytes contents = object_contents(stream, &at, block);
		if (block < NT_BLOCKS)
			stream->outcome.blocks[block]++;
		TRY(read_block_v4(stream, block, contents));
		if (!stream->outcome.stopped && nt_u8(&at) != TAG_END_OBJECT) {
			nt_stop(&stream->outcome, (uint64_t)(at.at - stream->bytes),
				at.is_short ? "the file ends here, cut off"
					    : "no end of the object here");
		}
		TRY(job_check(stream->job, (uint64_t)(at.at - begin), stream->err));
	}
	return HD_OK;
}

static enum hd_status read_blocks(struct nt_stream *stream)
{
	struct nt_bytes at = nt_bytes(stream->bytes, stream->size);
	const uint8_t *magic = nt_take(&at, sizeof(MAGIC) - 1);
	uint32_t size = nt_u32(&at);
	if (!magic || at.is_short || memcmp(magic, MAGIC, sizeof(MAGIC) - 1) != 0)
		return fail(stream->err, HD_ERR_FORMAT, 0, "%s: no NetTrace header", stream->path);
	if (!size) {
		uint32_t major = nt_u32(&at);
		(void)nt_u32(&at); /* minor versions only add */
		if (at.is_short) {
			return fail(stream->err, HD_ERR_FORMAT, stream->size,
				    "%s: the file ends within its header, cut off", stream->path);
		}
		if (major != 6) {
			return fail(stream->err, HD_ERR_UNSUPPORTED, 12,
				    "%s: NetTrace of version %u: 4 and 6 can be read", stream->path,
				    major);
		}
		stream->version = major;
		return nt_read_v6(stream, 20);
	}
	const uint8_t *name = nt_take(&at, sizeof(SERIALIZATION) - 1);
	if (size != sizeof(SERIALIZATION) - 1 || !name || memcmp(name, SERIALIZATION, size) != 0) {
		return fail(stream->err, HD_ERR_FORMAT, 8, "%s: no NetTrace header at offset 8",
			    stream->path);
	}
	stream->version = 4;
	return read_stream_v4(stream, 12 + (uint64_t)size);
}

enum hd_status nt_stream_read(struct nt_stream *stream)
{
	job_begin(stream->job, "Reading events", stream->size);
	stream->threads.era = stream->metadata.era = 1;
	TRY(read_blocks(stream));
	job_end(stream->job);
	bool has_pointers = stream->about.pointer_size == 4 || stream->about.pointer_size == 8;
	if (stream->about.has_trace && !has_pointers) {
		return fail(stream->err, HD_ERR_FORMAT, 0, "%s: a trace of pointers of %u bytes",
			    stream->path, stream->about.pointer_size);
	}
	return HD_OK;
}

void nt_stream_deinit(struct nt_stream *stream)
{
	nt_metadata_table_deinit(&stream->metadata);
	nt_thread_table_deinit(&stream->threads);
}
