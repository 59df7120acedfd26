/* SPDX-License-Identifier: MIT */
/* A .nettrace of version 4 (doc/formats.md 4), as the runtime writes one, of events that were gathered. */
#include <string.h>

#include "format/nettrace/nettrace_gather.h"
#include "util/fuzzed.h"
#include "util/text.h"

#define BLOCK_SIZE         FUZZED((size_t)1 << 17, (size_t)1 << 10)
#define BLOCK_HEADER       20u
#define HEADERS_COMPRESSED 1u

/* Metadata, number and thread, thread, stack, size of the payload, sorted: all are given. */
#define BLOB_FLAGS 0xcfu

/* Where the trace goes. */
struct trace_writer {
	const struct nt_gathering *gathering;
	const struct nt_trace *trace;
	struct job *job;
	struct hd_error *err;
	format_write_fn write;
	void *arg;
	uint64_t size; /* bytes so far */
	struct text block;
	uint64_t block_first, block_last; /* times in it */
	uint32_t sequence;                /* of the last event in it */
	struct nt_thread_table threads;
};

static enum hd_status put(struct trace_writer *writer, const void *bytes, size_t size)
{
	writer->size += size;
	return !size || writer->write(writer->arg, bytes, size) ? HD_OK
								: fail_cancelled(writer->err);
}

static void add_le(struct text *text, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++, value >>= 8)
		text_append(text, &(char){ (char)(value & 0xff) }, 1);
}

static void add_var(struct text *text, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		text_append(text, &(char){ (char)(value | 0x80) }, 1);
	text_append(text, &(char){ (char)value }, 1);
}

/* An object, whose contents follow; blocks have a size, and begin at a multiple of 4. */
static enum hd_status put_object(struct trace_writer *writer, const char *name, uint32_t version,
				 const struct text *contents)
{
	HD_CLEANUP(text) struct text head = { 0 };
	text_append(&head, "\5\5\1", 3);
	add_le(&head, version, 4);
	add_le(&head, version, 4);
	add_le(&head, strlen(name), 4);
	text_puts(&head, name);
	text_append(&head, "\6", 1);
	if (strcmp(name, "Trace") != 0) {
		add_le(&head, contents->size, 4);
		add_le(&head, 0, (0 - (unsigned int)(writer->size + head.size)) % 4);
	}
	TRY_MEMORY(!head.failed && !contents->failed, writer->err);
	TRY(put(writer, head.bytes, head.size));
	TRY(put(writer, contents->bytes, contents->size));
	return put(writer, "\6", 1);
}

static enum hd_status put_trace_object(struct trace_writer *writer)
{
	const struct nt_about *about = &writer->trace->stream.about;
	HD_CLEANUP(text) struct text contents = { 0 };
	for (unsigned int i = 0; i < 8; i++)
		add_le(&contents, about->time[i], 2);
	add_le(&contents, about->sync_time, 8);
	add_le(&contents, about->frequency, 8);
	add_le(&contents, about->pointer_size, 4);
	add_le(&contents, about->pid, 4);
	add_le(&contents, 0, 8); /* processors, sampling rate: not known */
	return put_object(writer, "Trace", 4, &contents);
}

static void begin_block(struct trace_writer *writer)
{
	writer->block.size = 0;
	add_le(&writer->block, BLOCK_HEADER, 2);
	add_le(&writer->block, HEADERS_COMPRESSED, 2);
	add_le(&writer->block, 0, 16); /* times: end_block() knows them */
	writer->block_first = writer->block_last = 0;
	writer->sequence = 0;
}

static enum hd_status end_block(struct trace_writer *writer, const char *name)
{
	if (writer->block.failed)
		return fail_nomem(writer->err);
	for (unsigned int i = 0; i < 8; i++) {
		writer->block.bytes[4 + i] = (char)(writer->block_first >> 8 * i & 0xff);
		writer->block.bytes[12 + i] = (char)(writer->block_last >> 8 * i & 0xff);
	}
	return put_object(writer, name, 2, &writer->block);
}

/* The head of a blob in the block; blobs of metadata have id 0 and no number. */
static void add_head(struct trace_writer *writer, uint32_t id, uint32_t sequence,
		     const struct nt_item *item, uint32_t size)
{
	struct text *block = &writer->block;
	bool is_first = block->size == BLOCK_HEADER;
	uint32_t next = writer->sequence + (id ? 1 : 0);
	text_append(block, &(char){ (char)BLOB_FLAGS }, 1);
	add_var(block, id);
	add_var(block, sequence - next);
	add_var(block, item->thread);
	add_var(block, 0); /* processor */
	add_var(block, item->thread);
	add_var(block, 0); /* stack */
	add_var(block, item->time - writer->block_last);
	add_var(block, size);
	writer->sequence = sequence;
	writer->block_first = is_first ? item->time : writer->block_first;
	writer->block_last = item->time;
}

static enum hd_status put_metadata(struct trace_writer *writer)
{
	static const struct nt_item nothing = { 0 };
	const struct nt_gathering *gathering = writer->gathering;
	begin_block(writer);
	for (uint32_t i = 0; i < gathering->definition_count; i++) {
		const struct nt_definition *definition = &gathering->definitions[i];
		if (!definition->metadata)
			continue;
		const char *name = nt_provider_name(definition->of.provider);
		uint32_t size = 4 + 2 * (uint32_t)(strlen(name) + 1) + definition->size;
		add_head(writer, 0, 0, &nothing, size);
		add_le(&writer->block, i + 1, 4);
		for (size_t at = 0; at <= strlen(name); at++)
			add_le(&writer->block, (unsigned char)name[at], 2);
		text_append(&writer->block, (const char *)definition->metadata, definition->size);
	}
	return end_block(writer, "MetadataBlock");
}

static enum hd_status put_events(struct trace_writer *writer)
{
	const struct nt_trace *trace = writer->trace;
	begin_block(writer);
	for (size_t i = 0; i < trace->items_count; i++) {
		const struct nt_item *item = &trace->items[i];
		struct nt_thread *thread =
			nt_thread(&writer->threads, item->thread, trace->stream.about.pid);
		TRY_MEMORY(thread, writer->err);
		add_head(writer, item->definition + 1u, ++thread->sequence, item, item->size);
		text_append(&writer->block, (const char *)item->payload, item->size);
		if (writer->block.size >= BLOCK_SIZE) {
			TRY(end_block(writer, "EventBlock"));
			begin_block(writer);
		}
		TRY(job_check(writer->job, 1, writer->err));
	}
	return writer->block.size > BLOCK_HEADER ? end_block(writer, "EventBlock") : HD_OK;
}

/* How many events each thread has sent: a reader sees that none is missing. */
static enum hd_status put_sequence_point(struct trace_writer *writer)
{
	const struct nt_trace *trace = writer->trace;
	HD_CLEANUP(text) struct text contents = { 0 };
	add_le(&contents, trace->items_count ? trace->items[trace->items_count - 1].time : 0, 8);
	add_le(&contents, writer->threads.rows_count, 4);
	for (size_t i = 0; i < writer->threads.rows_count; i++) {
		add_le(&contents, writer->threads.rows[i].id, 8);
		add_le(&contents, writer->threads.rows[i].sequence, 4);
	}
	return put_object(writer, "SPBlock", 2, &contents);
}

static enum hd_status check_whole(const struct trace_writer *writer)
{
	const struct nt_gathering *gathering = writer->gathering;
	const struct nt_trace *trace = writer->trace;
	if (gathering->lost || gathering->strays) {
		return fail(
			writer->err, HD_ERR_UNSUPPORTED, 0,
			"%s: events of the snapshot are missing or came out of order: a .nettrace "
			"of them would not be whole; write another format",
			trace->stream.path);
	}
	for (size_t i = 0; i < trace->items_count; i++) {
		uint32_t definition = trace->items[i].definition;
		if (definition < NT_DEFINITIONS_MAX && gathering->definitions[definition].metadata)
			continue;
		return fail(
			writer->err, HD_ERR_UNSUPPORTED, 0,
			"%s: a .nettrace has the metadata of each event, and that of an event of "
			"the snapshot was not given; write another format",
			trace->stream.path);
	}
	return HD_OK;
}

static void trace_writer_deinit(struct trace_writer *writer)
{
	text_deinit(&writer->block);
	nt_thread_table_deinit(&writer->threads);
}

enum hd_status nt_gathered_write(const struct nt_gathering *gathering, const struct nt_trace *trace,
				 struct job *job, format_write_fn write, void *arg,
				 struct hd_error *err)
{
	HD_CLEANUP(trace_writer)
	struct trace_writer writer = { .gathering = gathering,
				       .trace = trace,
				       .job = job,
				       .err = err,
				       .write = write,
				       .arg = arg,
				       .threads = { .era = 1 } };
	TRY(check_whole(&writer));
	JOB_STAGE(job);
	job_begin(job, "Writing events", trace->items_count);
	TRY(put(&writer, "Nettrace\x14\0\0\0!FastSerialization.1", 32));
	TRY(put_trace_object(&writer));
	TRY(put_metadata(&writer));
	TRY(put_events(&writer));
	TRY(put_sequence_point(&writer));
	return put(&writer, "\1", 1);
}
