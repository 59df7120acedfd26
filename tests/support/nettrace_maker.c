/* SPDX-License-Identifier: MIT */
#include "support/nettrace_maker.h"

#include <stdlib.h>
#include <string.h>

#include "format/nettrace/nettrace_types.h"

#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown"

#define PIPE "Microsoft-DotNETCore-EventPipe"

/* The metadata id of event 1 of the provider PIPE. */
#define PROCESS 900u

/* Events that are defined: metadata id = event id, of the rundown provider 1000 + event id. */
static const uint16_t defined[] = { 1,  2,  15, 16, 17,  18,  19,  23,
				    36, 37, 38, 10, 146, 152, 154, PROCESS };

void maker_put(struct maker_bytes *bytes, const void *from, size_t size)
{
	if (bytes->size + size > bytes->capacity) {
		bytes->capacity = 2 * (bytes->size + size) + 64;
		bytes->bytes = realloc(bytes->bytes, bytes->capacity);
		if (!bytes->bytes)
			abort();
	}
	if (size)
		memcpy(bytes->bytes + bytes->size, from, size);
	bytes->size += size;
}

void maker_put_le(struct maker_bytes *bytes, uint64_t value, unsigned int size)
{
	uint8_t buf[8];
	for (unsigned int i = 0; i < size; i++)
		buf[i] = (uint8_t)(value >> 8 * i);
	maker_put(bytes, buf, size);
}

void maker_put_utf16(struct maker_bytes *bytes, const char *text)
{
	for (const char *at = text; *at; at++)
		maker_put_le(bytes, (uint8_t)*at, 2);
	maker_put_le(bytes, 0, 2);
}

static void put_var(struct maker_bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		maker_put_le(bytes, (value & 0x7f) | 0x80, 1);
	maker_put_le(bytes, value, 1);
}

static void put_string6(struct maker_bytes *bytes, const char *text)
{
	put_var(bytes, strlen(text));
	maker_put(bytes, text, strlen(text));
}

/* An object of version 4; Trace has no size. */
static void put_object(struct maker_bytes *file, const char *name, const struct maker_bytes *block,
		       bool is_sized)
{
	maker_put(file, "\5\5\1", 3);
	maker_put_le(file, 2, 4);
	maker_put_le(file, 2, 4);
	maker_put_le(file, strlen(name), 4);
	maker_put(file, name, strlen(name));
	maker_put_le(file, 6, 1);
	if (is_sized) {
		maker_put_le(file, block->size, 4);
		while (file->size % 4)
			maker_put_le(file, 0, 1);
	}
	maker_put(file, block->bytes, block->size);
	maker_put_le(file, 6, 1);
}

static void put_block6(struct maker_bytes *file, unsigned int kind, const struct maker_bytes *block)
{
	maker_put_le(file, block->size | (uint64_t)kind << 24, 4);
	maker_put(file, block->bytes, block->size);
}

static void begin_blobs(struct nettrace_maker *maker, bool is_compressed)
{
	maker->block.size = 0;
	maker_put_le(&maker->block, 20, 2);
	maker_put_le(&maker->block, is_compressed, 2);
	maker_put_le(&maker->block, 0, 8);
	maker_put_le(&maker->block, 0, 8);
	maker->last_time = maker->last_thread = 0;
	maker->last_sequence = maker->last_size = 0;
}

static void put_trace(struct nettrace_maker *maker)
{
	static const uint16_t time[] = { 2026, 11, 6, 21, 2, 5, 11, 314 };
	struct maker_bytes block = { 0 };
	for (size_t i = 0; i < 8; i++)
		maker_put_le(&block, time[i], 2);
	maker_put_le(&block, 1000, 8);
	maker_put_le(&block, 1000, 8); /* ticks a second */
	maker_put_le(&block, maker->pointer_size, 4);
	if (maker->version == 4) {
		maker_put_le(&block, maker->pid, 4);
		maker_put_le(&block, 0, 8);
		put_object(&maker->file, "Trace", &block, false);
	} else {
		maker_put_le(&block, 1, 4);
		put_string6(&block, "HardwareThreadCount");
		put_string6(&block, "2");
		put_block6(&maker->file, 1, &block);
	}
	free(block.bytes);
}

static const char *provider_of(uint32_t event, bool is_rundown)
{
	return event == PROCESS ? PIPE : is_rundown ? RUNDOWN : RUNTIME;
}

static void put_metadata4(struct nettrace_maker *maker, uint32_t event, bool is_rundown)
{
	struct maker_bytes payload = { 0 };
	maker_put_le(&payload, event + (is_rundown ? 1000 : 0), 4);
	maker_put_utf16(&payload, provider_of(event, is_rundown));
	maker_put_le(&payload, event == PROCESS ? 1 : event, 4);
	maker_put_utf16(&payload, "");
	maker_put_le(&payload, 1, 8);
	maker_put_le(&payload, 0, 4);
	maker_put_le(&payload, 5, 4);
	maker_put_le(&payload, 0, 4);
	maker_put_le(&maker->block, 0x80, 1); /* only a size */
	put_var(&maker->block, 0);
	put_var(&maker->block, payload.size);
	maker_put(&maker->block, payload.bytes, payload.size);
	free(payload.bytes);
}

static void put_metadata6(struct nettrace_maker *maker, uint32_t event, bool is_rundown)
{
	struct maker_bytes row = { 0 };
	put_var(&row, event + (is_rundown ? 1000 : 0));
	put_string6(&row, provider_of(event, is_rundown));
	put_var(&row, event == PROCESS ? 1 : event);
	put_string6(&row, "a name");
	maker_put_le(&row, 1, 2); /* a field, whose type nobody knows */
	maker_put_le(&row, 3, 2);
	maker_put(&row, "abc", 3);
	maker_put_le(&row, 4, 2);
	maker_put(&row, "\x08\x05\x09\x01", 4); /* level, version */
	maker_put_le(&maker->block, row.size, 2);
	maker_put(&maker->block, row.bytes, row.size);
	free(row.bytes);
}

void nettrace_begin(struct nettrace_maker *maker)
{
	maker_put(&maker->file, "Nettrace", 8);
	if (maker->version == 4) {
		maker_put_le(&maker->file, 20, 4);
		maker_put(&maker->file, "!FastSerialization.1", 20);
	} else {
		maker_put_le(&maker->file, 0, 4);
		maker_put_le(&maker->file, 6, 4);
		maker_put_le(&maker->file, 0, 4);
	}
	put_trace(maker);
	begin_blobs(maker, true);
	if (maker->version == 6) {
		maker->block.size = 0;
		maker_put_le(&maker->block, 0, 2);
	}
	for (size_t i = 0; i < sizeof(defined) / sizeof(defined[0]); i++) {
		for (int rundown = 0; rundown < 2; rundown++) {
			(maker->version == 4 ? put_metadata4 : put_metadata6)(maker, defined[i],
									      rundown);
		}
	}
	if (maker->version == 4) {
		put_object(&maker->file, "MetadataBlock", &maker->block, true);
	} else {
		put_block6(&maker->file, 3, &maker->block);
	}
	begin_blobs(maker, maker->is_compressed);
}

void nettrace_flush(struct nettrace_maker *maker)
{
	if (maker->block.size > 20) {
		if (maker->version == 4) {
			put_object(&maker->file, "EventBlock", &maker->block, true);
		} else {
			put_block6(&maker->file, 2, &maker->block);
		}
	}
	begin_blobs(maker, maker->is_compressed);
}

void nettrace_end(struct nettrace_maker *maker)
{
	nettrace_flush(maker);
	maker_put_le(&maker->file, maker->version == 4 ? 1 : 0, maker->version == 4 ? 1 : 4);
}

void nettrace_deinit(struct nettrace_maker *maker)
{
	free(maker->file.bytes);
	free(maker->block.bytes);
	free(maker->event.bytes);
}

void nettrace_lose(struct nettrace_maker *maker, uint32_t count)
{
	maker->sequence += count;
}

/* Number of the thread: 7 in version 4, in version 6 an index, one for each process. */
static uint64_t thread_of(struct nettrace_maker *maker)
{
	if (maker->version == 4)
		return 7;
	unsigned int index = maker->pid % 8;
	if (!maker->has_thread[index]) {
		struct maker_bytes row = { 0 }, block = { 0 };
		put_var(&row, index + 1);
		maker_put_le(&row, 1, 1);
		put_string6(&row, "walker");
		maker_put_le(&row, 2, 1);
		put_var(&row, maker->pid);
		maker_put_le(&block, row.size, 2);
		maker_put(&block, row.bytes, row.size);
		nettrace_flush(maker);
		put_block6(&maker->file, 6, &block);
		free(row.bytes);
		free(block.bytes);
		maker->has_thread[index] = true;
		maker->sequence = 0;
	}
	return index + 1;
}

void nettrace_point(struct nettrace_maker *maker, uint32_t sequence)
{
	uint64_t thread = thread_of(maker);
	struct maker_bytes block = { 0 };
	nettrace_flush(maker);
	maker_put_le(&block, maker->time, 8);
	if (maker->version == 6)
		maker_put_le(&block, 0, 4);
	maker_put_le(&block, 1, 4);
	if (maker->version == 4) {
		maker_put_le(&block, thread, 8);
		maker_put_le(&block, sequence, 4);
		put_object(&maker->file, "SPBlock", &block, true);
	} else {
		put_var(&block, thread);
		put_var(&block, sequence);
		put_block6(&maker->file, 4, &block);
	}
	free(block.bytes);
}

static void put_compressed(struct nettrace_maker *maker, uint32_t id, uint64_t thread, size_t size)
{
	struct maker_bytes *block = &maker->block;
	maker_put_le(block, 1 | 2 | 4 | 0x80, 1);
	put_var(block, id);
	put_var(block, maker->sequence - 1 - maker->last_sequence);
	put_var(block, thread);
	put_var(block, 0);
	put_var(block, thread);
	put_var(block, maker->time - maker->last_time);
	put_var(block, size);
	maker->last_sequence = maker->sequence;
	maker->last_time = maker->time;
}

static void put_plain(struct nettrace_maker *maker, uint32_t id, uint64_t thread, size_t size)
{
	static const uint8_t zeros[32];
	struct maker_bytes *block = &maker->block;
	maker_put_le(block, (maker->version == 4 ? 76 : 48) + size, 4);
	maker_put_le(block, id, 4);
	maker_put_le(block, maker->sequence, 4);
	maker_put_le(block, thread, 8);
	maker_put_le(block, thread, 8);
	maker_put_le(block, 0, 8);
	maker_put_le(block, maker->time, 8);
	maker_put(block, zeros, maker->version == 4 ? 32 : 4);
	maker_put_le(block, size, 4);
}

void nettrace_event(struct nettrace_maker *maker, bool is_rundown, uint32_t id, const void *payload,
		    size_t size)
{
	uint64_t thread = thread_of(maker);
	uint32_t metadata = id + (is_rundown ? 1000 : 0);
	maker->sequence++;
	maker->time += 10;
	if (maker->is_compressed) {
		put_compressed(maker, metadata, thread, size);
	} else {
		put_plain(maker, metadata, thread, size);
	}
	maker_put(&maker->block, payload, size);
	while (maker->version == 4 && !maker->is_compressed && maker->block.size % 4)
		maker_put_le(&maker->block, 0, 1);
}

/* Send what is in maker->event. */
static void send(struct nettrace_maker *maker, uint32_t id)
{
	nettrace_event(maker, false, id, maker->event.bytes, maker->event.size);
	maker->event.size = 0;
}

static void put_pointer(struct nettrace_maker *maker, uint64_t value)
{
	maker_put_le(&maker->event, value, maker->pointer_size);
}

static void put_head(struct nettrace_maker *maker, uint32_t index, uint32_t count)
{
	maker->event.size = 0;
	maker_put_le(&maker->event, index, 4);
	maker_put_le(&maker->event, count, 4);
	maker_put_le(&maker->event, 0, 2);
}

void nettrace_gc_start(struct nettrace_maker *maker, uint32_t number)
{
	put_head(maker, number, 2);
	maker->event.size = 8;
	maker_put_le(&maker->event, 1, 8); /* induced, blocking */
	maker_put_le(&maker->event, 0, 8);
	maker_put_le(&maker->event, 0, 2);
	send(maker, 1);
}

void nettrace_gc_end(struct nettrace_maker *maker, uint32_t number)
{
	put_head(maker, number, 2);
	send(maker, 2);
}

void nettrace_nodes(struct nettrace_maker *maker, uint32_t index, const struct nt_node *nodes,
		    uint32_t count)
{
	put_head(maker, index, count);
	for (uint32_t i = 0; i < count; i++) {
		put_pointer(maker, nodes[i].address);
		maker_put_le(&maker->event, nodes[i].size, 8);
		maker_put_le(&maker->event, nodes[i].type, 8);
		maker_put_le(&maker->event, nodes[i].edges, 8);
	}
	send(maker, 18);
}

void nettrace_edges(struct nettrace_maker *maker, uint32_t index, const uint64_t *targets,
		    uint32_t count)
{
	put_head(maker, index, count);
	for (uint32_t i = 0; i < count; i++) {
		put_pointer(maker, targets[i]);
		maker_put_le(&maker->event, 0, 4);
	}
	send(maker, 19);
}

void nettrace_root(struct nettrace_maker *maker, uint64_t object, uint8_t kind, uint32_t flags)
{
	nettrace_root_with(maker, object, kind, flags, 0);
}

void nettrace_root_with(struct nettrace_maker *maker, uint64_t object, uint8_t kind, uint32_t flags,
			uint64_t id)
{
	put_head(maker, 0, 1);
	put_pointer(maker, object);
	maker_put_le(&maker->event, kind, 1);
	maker_put_le(&maker->event, flags, 4);
	put_pointer(maker, id);
	send(maker, 16);
}

void nettrace_pair(struct nettrace_maker *maker, uint64_t key, uint64_t value)
{
	put_head(maker, 0, 1);
	put_pointer(maker, key);
	put_pointer(maker, value);
	put_pointer(maker, 0);
	send(maker, 17);
}

void nettrace_static(struct nettrace_maker *maker, uint64_t object, uint64_t type, uint32_t flags,
		     const char *field)
{
	nettrace_static_at(maker, 0, object, type, flags, field);
}

void nettrace_static_at(struct nettrace_maker *maker, uint64_t slot, uint64_t object, uint64_t type,
			uint32_t flags, const char *field)
{
	maker->event.size = 0;
	maker_put_le(&maker->event, 1, 4);
	maker_put_le(&maker->event, 0, 8);
	maker_put_le(&maker->event, 0, 2);
	maker_put_le(&maker->event, slot, 8);
	maker_put_le(&maker->event, object, 8);
	maker_put_le(&maker->event, type, 8);
	maker_put_le(&maker->event, flags, 4);
	maker_put_utf16(&maker->event, field);
	send(maker, 38);
}

void nettrace_range(struct nettrace_maker *maker, uint8_t generation, uint64_t start, uint64_t used)
{
	maker->event.size = 0;
	maker_put_le(&maker->event, generation, 1);
	put_pointer(maker, start);
	maker_put_le(&maker->event, used, 8);
	maker_put_le(&maker->event, used, 8);
	maker_put_le(&maker->event, 0, 2);
	send(maker, 23);
}

static void put_count(struct nettrace_maker *maker)
{
	maker->event.size = 0;
	maker_put_le(&maker->event, 1, 4);
	maker_put_le(&maker->event, 0, 2);
}

void nettrace_ccw(struct nettrace_maker *maker, uint64_t object, uint64_t type, uint64_t unknown)
{
	put_count(maker);
	maker_put_le(&maker->event, 0, 8);
	maker_put_le(&maker->event, object, 8);
	maker_put_le(&maker->event, type, 8);
	maker_put_le(&maker->event, unknown, 8);
	maker_put_le(&maker->event, 1, 8);
	maker_put_le(&maker->event, 0, 4);
	send(maker, 36);
}

void nettrace_rcw(struct nettrace_maker *maker, uint64_t object, uint64_t unknown)
{
	put_count(maker);
	maker_put_le(&maker->event, object, 8);
	maker_put_le(&maker->event, 0, 8);
	maker_put_le(&maker->event, unknown, 8);
	maker_put_le(&maker->event, 0, 8);
	maker_put_le(&maker->event, 0, 8);
	send(maker, 37);
}

/* CorElementType of a type. */
static uint8_t element_of(const char *name, uint32_t flags)
{
	size_t size = strlen(name);
	if (flags & NT_TYPE_ARRAY)
		return size > 2 && strcmp(name + size - 2, "[]") == 0 ? 0x1d : 0x14;
	if (size && name[size - 1] == '*')
		return 0xf;
	if (strcmp(name, "FNPTR") == 0)
		return 0x1b;
	if (strcmp(name, "System.String") == 0)
		return 0xe;
	return strstr(name, "Struct") ? 0x11 : 0x12;
}

void nettrace_parameter(struct nettrace_maker *maker, uint64_t parameter)
{
	maker->parameter = parameter;
}

void nettrace_type(struct nettrace_maker *maker, uint64_t id, uint64_t module, uint32_t token,
		   uint32_t flags, const char *name)
{
	put_count(maker);
	maker_put_le(&maker->event, id, 8);
	maker_put_le(&maker->event, module, 8);
	maker_put_le(&maker->event, token, 4);
	maker_put_le(&maker->event, flags, 4);
	maker_put_le(&maker->event, element_of(name, flags), 1);
	maker_put_utf16(&maker->event, name);
	maker_put_le(&maker->event, maker->parameter ? 1 : 0, 4);
	if (maker->parameter)
		maker_put_le(&maker->event, maker->parameter, 8);
	maker->parameter = 0;
	send(maker, 15);
}

void nettrace_module(struct nettrace_maker *maker, uint64_t id, const char *path)
{
	maker->event.size = 0;
	maker_put_le(&maker->event, id, 8);
	maker_put_le(&maker->event, 0, 8);
	maker_put_le(&maker->event, 8, 4);
	maker_put_le(&maker->event, 0, 4);
	maker_put_utf16(&maker->event, path);
	maker_put_utf16(&maker->event, "");
	send(maker, 152);
}

void nettrace_module_rundown(struct nettrace_maker *maker, uint64_t id, uint32_t flags,
			     const char *path, uint8_t pdb)
{
	maker->event.size = 0;
	maker_put_le(&maker->event, id, 8);
	maker_put_le(&maker->event, 0, 8);
	maker_put_le(&maker->event, flags, 4);
	maker_put_le(&maker->event, 0, 4);
	maker_put_utf16(&maker->event, path);
	maker_put_utf16(&maker->event, "");
	maker_put_le(&maker->event, 0, 2);
	for (unsigned int i = 0; i < 16; i++)
		maker_put_le(&maker->event, pdb, 1);
	maker_put_le(&maker->event, 1, 4);
	maker_put_utf16(&maker->event, "a.pdb");
	nettrace_event(maker, true, 154, maker->event.bytes, maker->event.size);
	maker->event.size = 0;
}

void nettrace_process(struct nettrace_maker *maker, const char *command)
{
	maker_put_utf16(&maker->event, command);
	maker_put_utf16(&maker->event, "Linux");
	maker_put_utf16(&maker->event, "x64");
	send(maker, PROCESS);
}
