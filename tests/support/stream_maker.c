/* SPDX-License-Identifier: MIT */
#include "support/stream_maker.h"

#include <string.h>

static void put(struct text *text, uint64_t value, size_t size)
{
	text_append(text, (const char *)&value, size);
}

static void put_utf16(struct text *text, const char *string)
{
	for (size_t i = 0; i <= strlen(string); i++)
		put(text, (uint8_t)string[i], 2);
}

static void put_var(struct text *text, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put(text, (value & 0x7f) | 0x80, 1);
	put(text, value, 1);
}

static void put_object(struct text *text, const char *name, int version)
{
	put(text, 0x010505, 3);
	put(text, (uint64_t)version, 4);
	put(text, (uint64_t)version, 4);
	put(text, strlen(name), 4);
	text_puts(text, name);
	put(text, 6, 1);
}

void stream_maker_block(struct stream_maker *maker)
{
	maker->content.size = 0;
	put(&maker->content, 20 | 1 << 16, 4);
	put(&maker->content, 0, 8);
	put(&maker->content, 0, 8);
}

void stream_maker_end_block(struct stream_maker *maker, const char *name)
{
	struct text *bytes = &maker->bytes;
	put_object(bytes, name, 2);
	put(bytes, maker->content.size, 4);
	while (bytes->size % 4)
		put(bytes, 0, 1);
	text_append(bytes, maker->content.bytes, maker->content.size);
	put(bytes, 6, 1);
	text_deinit(&maker->content);
	maker->content = (struct text){ 0 };
}

static void put_metadata(struct stream_maker *maker, unsigned int id, const char *provider,
			 unsigned int event)
{
	struct text payload = { 0 };
	put(&payload, id, 4);
	put_utf16(&payload, provider);
	put(&payload, event, 4);
	put_utf16(&payload, "");
	for (int i = 0; i < 5; i++)
		put(&payload, 0, 4);
	put(&maker->content, 0x80, 1); /* flags: a size of its own */
	put_var(&maker->content, 0);   /* time */
	put_var(&maker->content, payload.size);
	text_append(&maker->content, payload.bytes, payload.size);
	text_deinit(&payload);
}

void stream_maker_begin(struct stream_maker *maker)
{
	static const char runtime[] = "Microsoft-Windows-DotNETRuntime";
	*maker = (struct stream_maker){ .thread = 7 };
	text_puts(&maker->bytes, "Nettrace");
	put(&maker->bytes, 20, 4);
	text_puts(&maker->bytes, "!FastSerialization.1");
	put_object(&maker->bytes, "Trace", 4);
	for (int i = 0; i < 6; i++)
		put(&maker->bytes, 0, 8);
	put(&maker->bytes, 6, 1);
	stream_maker_block(maker);
	put_metadata(maker, MADE_GC_START, runtime, 1);
	put_metadata(maker, MADE_GC_END, runtime, 2);
	put_metadata(maker, MADE_NODES, runtime, 18);
	put_metadata(maker, MADE_EDGES, runtime, 19);
	put_metadata(maker, MADE_OTHER, "Microsoft-DotNETCore-SampleProfiler", 2);
	stream_maker_end_block(maker, "MetadataBlock");
}

void stream_maker_event(struct stream_maker *maker, unsigned int metadata, uint32_t sequence,
			uint32_t a, uint32_t b, uint32_t size)
{
	/* Numbers are told as differences to the event before; a block of its own begins at 0. */
	struct text *content = &maker->content;
	stream_maker_block(maker);
	put(content, 1 | 2 | 4 | 8 | 128, 1);
	put_var(content, metadata);
	put_var(content, (uint32_t)(sequence - 1));
	put_var(content, maker->thread);
	put_var(content, 0); /* processor */
	put_var(content, maker->thread);
	put_var(content, 0); /* stack */
	put_var(content, 1); /* time */
	put_var(content, size);
	uint32_t words[2] = { a, b };
	text_append(content, (const char *)words, size < 8 ? size : 8);
	for (uint32_t i = 8; i < size; i++)
		put(content, 0, 1);
	stream_maker_end_block(maker, "EventBlock");
}

void stream_maker_point(struct stream_maker *maker, uint64_t thread, uint32_t sequence)
{
	maker->content.size = 0;
	put(&maker->content, 1, 8);
	put(&maker->content, 1, 4);
	put(&maker->content, thread, 8);
	put(&maker->content, sequence, 4);
	stream_maker_end_block(maker, "SPBlock");
}

void stream_maker_end(struct stream_maker *maker)
{
	put(&maker->bytes, 1, 1);
}
