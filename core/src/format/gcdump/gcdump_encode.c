/* SPDX-License-Identifier: MIT */
#include "format/gcdump/gcdump_encode.h"

#include <inttypes.h>
#include <string.h>

#include "util/alloc.h"
#include "util/fuzzed.h"

#define ENCODE_BUFFER_SIZE ((size_t)FUZZED(256 << 10, 512))
#define CINT_MAX           ((size_t)5)

/* Tags of FastSerialization.cs. */
enum tag {
	TAG_NULL = 1,
	TAG_REFERENCE = 2,
	TAG_BEGIN = 4,
	TAG_END = 6,
	TAG_BYTE = 8,
	TAG_SKIP_REGION = 12,
	TAG_STRING = 13,
};

/* The types whose objects are written. */
enum file_type {
	TYPE_DUMP,
	TYPE_GRAPH,
	TYPE_HEAP_INFO,
	TYPE_SEGMENT,
	TYPE_INTEROP,
	TYPE_COUNT
};

struct encoder {
	const struct gcdump_source *source;
	struct job *job;
	format_write_fn write;
	void *arg;
	struct hd_error *err;
	enum hd_status status; /* if it is not HD_OK, nothing more is written */
	uint8_t *buffer;
	size_t used;
	uint64_t flushed; /* bytes of the file before the buffer */
	uint32_t *offsets;
	int32_t *type_sizes;
	uint64_t blob_size;
	int64_t total_size;
	uint64_t units;              /* since the last job_step() */
	uint32_t labels[TYPE_COUNT]; /* offset of the definitions of types; 0: not known yet */
	uint32_t forwards[2];        /* the places that the forward references mean */
	uint32_t forward_count;
};

static enum hd_status fail_gcdump_too_large(struct hd_error *err, const char *what, uint64_t size)
{
	return fail(err, HD_ERR_UNSUPPORTED, 0,
		    "too large for a .gcdump: %" PRIu64
		    " %s; leave out dead objects with -live, or export to another format",
		    size, what);
}

static void flush_encoder(struct encoder *encoder)
{
	if (encoder->status == HD_OK && encoder->used &&
	    !encoder->write(encoder->arg, (const char *)encoder->buffer, encoder->used))
		encoder->status = fail_cancelled(encoder->err);
	encoder->flushed += encoder->used;
	encoder->used = 0;
}

/* A place for @p size more bytes, at most those of the buffer. */
static uint8_t *room(struct encoder *encoder, size_t size)
{
	if (ENCODE_BUFFER_SIZE - encoder->used < size)
		flush_encoder(encoder);
	return encoder->buffer + encoder->used;
}

static void encode_bytes(struct encoder *encoder, const void *bytes, uint64_t size)
{
	const uint8_t *at = bytes;
	while (size && encoder->status == HD_OK) {
		if (encoder->used == ENCODE_BUFFER_SIZE)
			flush_encoder(encoder);
		size_t some = ENCODE_BUFFER_SIZE - encoder->used;
		if (some > size)
			some = (size_t)size;
		memcpy(encoder->buffer + encoder->used, at, some);
		encoder->used += some;
		at += some;
		size -= some;
	}
}

/* The lowest bytes of a number; this machine is little-endian, like the file. */
static inline void encode_le(struct encoder *encoder, uint64_t value, size_t size)
{
	memcpy(room(encoder, size), &value, size);
	encoder->used += size;
}

static void encode_u8(struct encoder *encoder, uint8_t value)
{
	encode_le(encoder, value, 1);
}

static inline void encode_u32(struct encoder *encoder, uint32_t value)
{
	encode_le(encoder, value, 4);
}

static inline void encode_u64(struct encoder *encoder, uint64_t value)
{
	encode_le(encoder, value, 8);
}

static void encode_float(struct encoder *encoder, float value)
{
	uint32_t bits;
	_Static_assert(sizeof(bits) == sizeof(value), "an IEEE-754 single");
	memcpy(&bits, &value, sizeof(bits));
	encode_u32(encoder, bits);
}

static void encode_text(struct encoder *encoder, const struct gcdump_text *text)
{
	encode_u32(encoder, text->bytes ? text->units : UINT32_MAX);
	if (text->bytes)
		encode_bytes(encoder, text->bytes, text->size);
}

/* Number of nodes or addresses. */
static void encode_count(struct encoder *encoder, uint32_t count)
{
	encode_le(encoder, count, encoder->source->has_wide_counts ? 8 : 4);
}

/* Where the next byte goes, as a label. */
static uint32_t label_here(struct encoder *encoder)
{
	uint64_t here = encoder->flushed + encoder->used;
	if (here > UINT32_MAX && encoder->status == HD_OK) {
		encoder->status =
			fail_gcdump_too_large(encoder->err, "bytes, of 4,294,967,295", here);
	}
	return (uint32_t)here;
}

static void encode_object_begin(struct encoder *encoder, enum file_type type, int32_t version,
				int32_t min_reader)
{
	static const char *const names[TYPE_COUNT] = {
		[TYPE_DUMP] = "GCHeapDump",          [TYPE_GRAPH] = "Graphs.MemoryGraph",
		[TYPE_HEAP_INFO] = "DotNetHeapInfo", [TYPE_SEGMENT] = "GCHeapDumpSegment",
		[TYPE_INTEROP] = "InteropInfo",
	};
	encode_u8(encoder, TAG_BEGIN);
	if (encoder->labels[type]) {
		encode_u8(encoder, TAG_REFERENCE);
		encode_u32(encoder, encoder->labels[type]);
		return;
	}
	encoder->labels[type] = label_here(encoder);
	uint32_t size = (uint32_t)strlen(names[type]);
	const struct gcdump_text name = { (const uint8_t *)names[type], size, size };
	encode_u8(encoder, TAG_BEGIN);
	encode_u8(encoder, TAG_NULL);
	encode_u32(encoder, (uint32_t)version);
	encode_u32(encoder, (uint32_t)min_reader);
	encode_text(encoder, &name);
	encode_u8(encoder, TAG_END);
}

static void encode_object_end(struct encoder *encoder)
{
	encode_u8(encoder, TAG_END);
}

/* Node.ReadCompressedInt() of MemoryGraph.cs: groups of 7 bits, the highest first. */
static inline uint32_t cint_size(int32_t value)
{
	uint32_t bits = value < 0 ? ~(uint32_t)value : (uint32_t)value;
	if (bits < 1u << 6)
		return 1;
	if (bits < 1u << 13)
		return 2;
	if (bits < 1u << 20)
		return 3;
	return bits < 1u << 27 ? 4 : (uint32_t)CINT_MAX;
}

static inline uint8_t *put_cint(uint8_t *at, int32_t value)
{
	for (uint32_t left = cint_size(value) - 1; left; left--)
		*at++ = (uint8_t)(value >> (7 * left) | 0x80);
	*at++ = (uint8_t)(value & 0x7f);
	return at;
}

static inline int32_t difference(const struct gcdump_node *node, uint32_t child)
{
	return (int32_t)(node->children[child] - node->index);
}

/* Does the record have a size?  The first record of a type never does. */
static inline bool has_size(const struct encoder *encoder, const struct gcdump_node *node)
{
	if (node->is_given_size)
		return node->has_size;
	return encoder->type_sizes[node->type] != node->size;
}

static uint64_t record_size(const struct encoder *encoder, const struct gcdump_node *node)
{
	bool sized = has_size(encoder, node);
	uint64_t size = cint_size((int32_t)(node->type * 2 + sized));
	if (sized)
		size += cint_size(node->size);
	size += cint_size((int32_t)node->child_count);
	for (uint32_t i = 0; i < node->child_count; i++)
		size += cint_size(difference(node, i));
	return size;
}

static void encode_record(struct encoder *encoder, const struct gcdump_node *node)
{
	bool sized = has_size(encoder, node);
	uint8_t *at = room(encoder, 3 * CINT_MAX);
	at = put_cint(at, (int32_t)(node->type * 2 + sized));
	if (sized)
		at = put_cint(at, node->size);
	at = put_cint(at, (int32_t)node->child_count);
	encoder->used = (size_t)(at - encoder->buffer);
	for (uint32_t i = 0; i < node->child_count;) {
		at = room(encoder, CINT_MAX);
		size_t fit = (ENCODE_BUFFER_SIZE - encoder->used) / CINT_MAX;
		uint32_t end = node->child_count - i < fit ? node->child_count : i + (uint32_t)fit;
		for (; i < end; i++)
			at = put_cint(at, difference(node, i));
		encoder->used = (size_t)(at - encoder->buffer);
	}
}

/* Count a node. */
static bool encode_step(struct encoder *encoder, const struct gcdump_node *node)
{
	encoder->units += 1 + (uint64_t)node->child_count / 4;
	if (encoder->units < JOB_STRIDE)
		return true;
	bool goes_on = job_step(encoder->job, 0, encoder->units);
	encoder->units = 0;
	return goes_on;
}

static enum hd_status finish_source_pass(const struct encoder *encoder)
{
	const struct gcdump_source *source = encoder->source;
	return source->finish ? source->finish(source->arg, encoder->err) : HD_OK;
}

/* First pass: find where the records will lie, and the sizes of types. */
static enum hd_status measure_records(struct encoder *encoder)
{
	const struct gcdump_source *source = encoder->source;
	struct gcdump_node node;
	uint64_t at = 2; /* after the undefined record */
	source->rewind(source->arg);
	while (source->next(source->arg, &node)) {
		int32_t *type_size = &encoder->type_sizes[node.type];
		if (*type_size < 0 && !node.is_given_size)
			*type_size = node.size;
		encoder->offsets[node.index] = (uint32_t)at;
		encoder->total_size += node.size;
		at += record_size(encoder, &node);
		if (at > INT32_MAX) {
			return fail_gcdump_too_large(encoder->err,
						     "bytes of records, of 2,147,483,647", at);
		}
		if (!encode_step(encoder, &node))
			return fail_cancelled(encoder->err);
	}
	encoder->blob_size = at;
	return finish_source_pass(encoder);
}

static enum hd_status put_blob(struct encoder *encoder)
{
	const struct gcdump_source *source = encoder->source;
	struct gcdump_node node;
	encode_u32(encoder, (uint32_t)encoder->blob_size);
	uint64_t begin = encoder->flushed + encoder->used;
	encode_le(encoder, 0, 2); /* the record of all undefined nodes: type 0, no children */
	source->rewind(source->arg);
	while (encoder->status == HD_OK && source->next(source->arg, &node)) {
		encode_record(encoder, &node);
		if (!encode_step(encoder, &node))
			return fail_cancelled(encoder->err);
	}
	TRY(encoder->status);
	TRY(finish_source_pass(encoder));
	if (encoder->flushed + encoder->used - begin != encoder->blob_size) {
		return fail(encoder->err, HD_ERR_OS, 0,
			    "the objects changed while they were written: try again");
	}
	return HD_OK;
}

static void put_types(struct encoder *encoder)
{
	const struct gcdump_source *source = encoder->source;
	encode_u32(encoder, source->type_count);
	for (uint32_t i = 0; i < source->type_count && encoder->status == HD_OK; i++) {
		struct gcdump_type type = { 0 };
		source->type(source->arg, i, &type);
		encode_text(encoder, &type.name);
		encode_u32(encoder, (uint32_t)encoder->type_sizes[i]);
		encode_text(encoder, &type.module);
	}
}

static enum hd_status put_addresses(struct encoder *encoder)
{
	const struct gcdump_source *source = encoder->source;
	encode_count(encoder, source->node_count);
	for (uint32_t i = 0; i < source->node_count && encoder->status == HD_OK; i++) {
		encode_u64(encoder, source->address(source->arg, i));
		if (i % JOB_STRIDE == 0 && !job_step(encoder->job, 0, 0))
			return fail_cancelled(encoder->err);
	}
	return encoder->status;
}

/* Add a forward reference to a place that is not known yet; @return its index. */
static uint32_t put_forward(struct encoder *encoder)
{
	encode_u32(encoder, encoder->forward_count);
	return encoder->forward_count++;
}

/* The region of deferred types, whose first word is the reference to its end. */
static enum hd_status put_deferred(struct encoder *encoder)
{
	const struct gcdump_source *source = encoder->source;
	if (encoder->flushed + encoder->used != source->deferred_at) {
		return fail(encoder->err, HD_ERR_UNSUPPORTED, source->deferred_at,
			    "deferred types at offset 0x%" PRIx64
			    " would move, as the records before them are not what PerfView writes: "
			    "copy the file as it is, or export to another format",
			    source->deferred_at);
	}
	uint32_t forward = put_forward(encoder);
	encode_bytes(encoder, source->deferred + 4, source->deferred_size - 4);
	encoder->forwards[forward] = label_here(encoder);
	return encoder->status;
}

/* MemoryGraph.ToStream() and Graph.ToStream(). */
static enum hd_status put_graph(struct encoder *encoder)
{
	const struct gcdump_source *source = encoder->source;
	encode_object_begin(encoder, TYPE_GRAPH, 1, source->deferred ? 1 : 0);
	encode_u64(encoder, (uint64_t)encoder->total_size);
	encode_u32(encoder, source->root);
	put_types(encoder);
	encode_count(encoder, source->node_count);
	for (uint32_t i = 0; i < source->node_count && encoder->status == HD_OK; i++)
		encode_u32(encoder, encoder->offsets[i]);
	TRY(encoder->status);
	TRY(put_blob(encoder));
	if (source->deferred)
		TRY(put_deferred(encoder));
	TRY(put_addresses(encoder));
	if (source->about->has_is_64bit) {
		encode_u8(encoder, TAG_BYTE);
		encode_u8(encoder, source->about->is_64bit);
	}
	encode_object_end(encoder);
	return encoder->status;
}

static void put_segment(struct encoder *encoder, const struct gcdump_segment *segment,
			int32_t version)
{
	encode_object_begin(encoder, TYPE_SEGMENT, version, version);
	encode_u64(encoder, segment->start);
	encode_u64(encoder, segment->end);
	for (size_t i = 0; i < (version ? 5u : 4u); i++)
		encode_u64(encoder, segment->ends[i]);
	encode_object_end(encoder);
}

static void put_heap_info(struct encoder *encoder)
{
	const struct gcdump_heap *heap = &encoder->source->about->heap;
	if (!heap->is_there) {
		encode_u8(encoder, TAG_NULL);
		return;
	}
	encode_object_begin(encoder, TYPE_HEAP_INFO, 0, 0);
	encode_u64(encoder, (uint64_t)heap->bytes);
	encode_u32(encoder, heap->segment_count);
	for (uint32_t i = 0; i < heap->segment_count && encoder->status == HD_OK; i++)
		put_segment(encoder, &heap->segments[i], heap->version ? 1 : 0);
	encode_object_end(encoder);
}

/* The part of a GCHeapDump that comes after its graph: GCHeapDump.ToStream(). */
static void put_about(struct encoder *encoder)
{
	const struct gcdump_about *about = encoder->source->about;
	encode_u8(encoder, about->is_64bit);
	encode_float(encoder, about->sampling.average_count);
	encode_float(encoder, about->sampling.average_size);
	encode_u8(encoder, TAG_NULL); /* JSHeapInfo */
	put_heap_info(encoder);
	encode_text(encoder, &about->log);
	encode_u64(encoder, (uint64_t)about->time);
	encode_text(encoder, &about->machine);
	encode_text(encoder, &about->process);
	encode_u32(encoder, (uint32_t)about->process_id);
	encode_u64(encoder, (uint64_t)about->commit);
	encode_u64(encoder, (uint64_t)about->working_set);
	encode_u32(encoder, about->sampling.multiplier_count);
	encode_bytes(encoder, about->sampling.multipliers,
		     (uint64_t)about->sampling.multiplier_count * 4);
}

static void put_tagged(struct encoder *encoder)
{
	const struct gcdump_about *about = encoder->source->about;
	if (about->interop.is_there) {
		encode_u8(encoder, TAG_SKIP_REGION);
		uint32_t forward = put_forward(encoder);
		if (about->interop.fields) {
			encode_object_begin(encoder, TYPE_INTEROP, 0, 0);
			encode_bytes(encoder, about->interop.fields, about->interop.size);
			encode_object_end(encoder);
		} else {
			encode_u8(encoder, TAG_NULL);
		}
		encoder->forwards[forward] = label_here(encoder);
	}
	if (about->has_tool) {
		encode_u8(encoder, TAG_STRING);
		encode_text(encoder, &about->tool);
	}
}

static enum hd_status put_file(struct encoder *encoder)
{
	static const char signature[] = "!FastSerialization.1";
	const struct gcdump_about *about = encoder->source->about;
	bool is_known = about->version == 9 || about->version == 10;
	encode_u32(encoder, sizeof(signature) - 1);
	encode_bytes(encoder, signature, sizeof(signature) - 1);
	/* Older versions have another layout: they are written as the newest one. */
	encode_object_begin(encoder, TYPE_DUMP, is_known ? about->version : 10,
			    is_known ? about->min_reader : 8);
	TRY(put_graph(encoder));
	put_about(encoder);
	put_tagged(encoder);
	encode_object_end(encoder);
	encode_u8(encoder, TAG_END); /* no more objects */
	uint32_t table = label_here(encoder);
	encode_u32(encoder, encoder->forward_count);
	for (uint32_t i = 0; i < encoder->forward_count; i++)
		encode_u32(encoder, encoder->forwards[i]);
	uint32_t trailer = label_here(encoder);
	encode_u32(encoder, table);
	encode_u32(encoder, trailer);
	flush_encoder(encoder);
	TRY(encoder->status);
	return job_step(encoder->job, 0, encoder->units) ? HD_OK : fail_cancelled(encoder->err);
}

/* Check what must be true before anything is written. */
static enum hd_status check_limits(const struct encoder *encoder)
{
	const struct gcdump_source *source = encoder->source;
	uint64_t bytes = encoder->blob_size + (uint64_t)source->node_count * 12;
	if (bytes > UINT32_MAX)
		return fail_gcdump_too_large(encoder->err, "bytes, of 4,294,967,295", bytes);
	return HD_OK;
}

static enum hd_status encode_in_passes(struct encoder *encoder)
{
	const struct gcdump_source *source = encoder->source;
	if (source->node_count > INT32_MAX) {
		return fail_gcdump_too_large(encoder->err, "nodes, of 2,147,483,647",
					     source->node_count);
	}
	if (source->type_count > INT32_MAX / 2) {
		return fail_gcdump_too_large(encoder->err, "types, of 1,073,741,823",
					     source->type_count);
	}
	encoder->buffer = mem_alloc(ENCODE_BUFFER_SIZE, 1);
	encoder->offsets = pages_alloc(source->node_count, sizeof(*encoder->offsets));
	encoder->type_sizes = pages_alloc(source->type_count, sizeof(*encoder->type_sizes));
	TRY_MEMORY(encoder->buffer && encoder->offsets && encoder->type_sizes, encoder->err);
	for (uint32_t i = 0; i < source->type_count; i++) {
		struct gcdump_type type = { 0 };
		source->type(source->arg, i, &type);
		encoder->type_sizes[i] = type.size;
	}
	TRY(measure_records(encoder));
	if (source->total_size)
		encoder->total_size = *source->total_size;
	TRY(check_limits(encoder));
	return put_file(encoder);
}

enum hd_status gcdump_encode(const struct gcdump_source *source, struct job *job,
			     format_write_fn write, void *arg, struct hd_error *err)
{
	struct encoder encoder = {
		.source = source, .job = job, .write = write, .arg = arg, .err = err
	};
	job_begin(job, "Writing objects", (uint64_t)source->node_count * 2);
	enum hd_status status = encode_in_passes(&encoder);
	mem_free(encoder.buffer);
	pages_free(encoder.offsets, source->node_count, sizeof(*encoder.offsets));
	pages_free(encoder.type_sizes, source->type_count, sizeof(*encoder.type_sizes));
	return status;
}
