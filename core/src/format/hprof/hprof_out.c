/* SPDX-License-Identifier: MIT */
#include "format/hprof/hprof_out.h"

#include "util/alloc.h"
#include "util/fuzzed.h"

/* How much is collected before it is written, which is the size of most segments. */
#define BUFFER_SIZE FUZZED((size_t)1 << 20, (size_t)1 << 12)
#define NO_SEGMENT  SIZE_MAX

/* A tag, a time and a size. */
#define RECORD_HEADER 9u

enum hd_status hprof_out_init(struct hprof_out *out, format_write_fn write, void *arg,
			      struct hd_error *err)
{
	uint8_t *bytes = mem_alloc(1, BUFFER_SIZE + HPROF_ROOM + RECORD_HEADER);
	TRY_MEMORY(bytes, err);
	*out = (struct hprof_out){
		.write = write, .arg = arg, .bytes = bytes, .segment = NO_SEGMENT
	};
	return HD_OK;
}

void hprof_out_deinit(struct hprof_out *out)
{
	mem_free(out->bytes);
	*out = (struct hprof_out){ 0 };
}

static void write_buffer(struct hprof_out *out)
{
	if (!out->stopped && out->used)
		out->stopped = !out->write(out->arg, (const char *)out->bytes, out->used);
	out->used = 0;
}

void hprof_flush(struct hprof_out *out)
{
	if (out->segment != NO_SEGMENT) {
		uint8_t *header = out->bytes + out->segment;
		store_u32(header + 5, (uint32_t)(out->used - out->segment - RECORD_HEADER));
		out->segment = NO_SEGMENT;
	}
	write_buffer(out);
}

uint8_t *hprof_room(struct hprof_out *out, size_t size)
{
	/* An open segment has room for its records: hprof_sub() has seen to it. */
	if (out->used + size > BUFFER_SIZE + HPROF_ROOM)
		write_buffer(out);
	uint8_t *room = out->bytes + out->used;
	out->used += size;
	return room;
}

static void begin_record(struct hprof_out *out, enum hprof_tag tag, uint32_t size)
{
	uint8_t *header = hprof_room(out, RECORD_HEADER);
	header[0] = (uint8_t)tag;
	store_u32(header + 1, 0);
	store_u32(header + 5, size);
}

void hprof_record(struct hprof_out *out, enum hprof_tag tag, uint32_t size)
{
	if (out->segment != NO_SEGMENT || out->used > BUFFER_SIZE)
		hprof_flush(out);
	begin_record(out, tag, size);
}

void hprof_sub(struct hprof_out *out, enum hprof_sub tag, uint64_t size)
{
	bool is_large = size + 1 > BUFFER_SIZE - RECORD_HEADER;
	if (is_large || out->used + size + 1 > BUFFER_SIZE)
		hprof_flush(out);
	if (is_large) {
		begin_record(out, HPROF_SEGMENT, (uint32_t)(size + 1));
	} else if (out->segment == NO_SEGMENT) {
		/* Records before it may be in the buffer, too. */
		if (out->used + RECORD_HEADER + size + 1 > BUFFER_SIZE)
			hprof_flush(out);
		out->segment = out->used;
		begin_record(out, HPROF_SEGMENT, 0);
	}
	hprof_u8(out, (uint8_t)tag);
}

void hprof_put(struct hprof_out *out, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	while (size) {
		size_t part = size < HPROF_ROOM ? size : HPROF_ROOM;
		memcpy(hprof_room(out, part), from, part);
		from += part;
		size -= part;
	}
}

void hprof_zeros(struct hprof_out *out, uint64_t size)
{
	while (size) {
		size_t part = size < HPROF_ROOM ? (size_t)size : HPROF_ROOM;
		memset(hprof_room(out, part), 0, part);
		size -= part;
	}
}
