/* SPDX-License-Identifier: MIT */
#include "support/gcdump_maker.h"

#include <stdlib.h>
#include <string.h>

#include "support/assert_more.h"

struct maker {
	const struct made_gcdump *spec;
	uint8_t *bytes;
	size_t size, capacity;
	uint8_t *blob;
	size_t blob_size;
	uint32_t *offsets;
	int32_t *sizes; /* of the types */
	int64_t total;
	uint32_t forwards[2];
	uint32_t forward_count;
	size_t segment_type; /* label */
};

static void put(struct maker *maker, const void *bytes, size_t size)
{
	if (maker->capacity - maker->size < size) {
		maker->capacity = (maker->capacity + size) * 2;
		maker->bytes = realloc(maker->bytes, maker->capacity);
		REQUIRE(maker->bytes);
	}
	if (size)
		memcpy(maker->bytes + maker->size, bytes, size);
	maker->size += size;
}

static void put_byte(struct maker *maker, uint8_t value)
{
	put(maker, &value, 1);
}

static void put_i32(struct maker *maker, int32_t value)
{
	put(maker, &value, sizeof(value));
}

static void put_i64(struct maker *maker, int64_t value)
{
	put(maker, &value, sizeof(value));
}

static void put_float(struct maker *maker, float value)
{
	put(maker, &value, sizeof(value));
}

static void put_count(struct maker *maker, uint32_t count)
{
	if (maker->spec->is_wide) {
		put_i64(maker, count);
	} else {
		put_i32(maker, (int32_t)count);
	}
}

static void put_text(struct maker *maker, const char16_t *text)
{
	int32_t units = 0;
	if (!text) {
		put_i32(maker, -1);
		return;
	}
	while (text[units])
		units++;
	put_i32(maker, units);
	for (; *text; text++) {
		if (*text < 0x80) {
			put_byte(maker, (uint8_t)*text);
		} else if (*text < 0x800) {
			put_byte(maker, (uint8_t)(0xc0 | *text >> 6));
			put_byte(maker, (uint8_t)(0x80 | (*text & 0x3f)));
		} else {
			put_byte(maker, (uint8_t)(0xe0 | *text >> 12));
			put_byte(maker, (uint8_t)(0x80 | (*text >> 6 & 0x3f)));
			put_byte(maker, (uint8_t)(0x80 | (*text & 0x3f)));
		}
	}
}

static void begin(struct maker *maker, const char16_t *name, int32_t version, int32_t min_reader)
{
	put(maker, "\4\4\1", 3);
	put_i32(maker, version);
	put_i32(maker, min_reader);
	put_text(maker, name);
	put_byte(maker, 6);
}

/* A number in the fewest bytes. */
static void put_cint(struct maker *maker, int32_t value)
{
	uint8_t *to = maker->blob + maker->blob_size;
	size_t size = 1;
	while (size < 5 &&
	       (value < -(1 << (7 * (int)size - 1)) || value >= 1 << (7 * (int)size - 1)))
		size++;
	for (size_t i = 0; i < size; i++) {
		int32_t group = value >> (7 * (size - 1 - i));
		to[i] = (uint8_t)((group & 0x7f) | (i + 1 < size ? 0x80 : 0));
	}
	maker->blob_size += size;
}

static void make_blob(struct maker *maker)
{
	const struct made_gcdump *spec = maker->spec;
	maker->blob = calloc(spec->node_count + 1, (size_t)(MADE_CHILDREN + 3) * 5);
	maker->offsets = calloc(spec->node_count + 1, sizeof(*maker->offsets));
	maker->sizes = calloc(spec->type_count + 1, sizeof(*maker->sizes));
	REQUIRE(maker->blob);
	REQUIRE(maker->offsets);
	REQUIRE(maker->sizes);
	for (uint32_t i = 0; i < spec->type_count; i++)
		maker->sizes[i] = spec->types[i].size;
	maker->blob_size = 2;
	for (uint32_t i = 0; i < spec->node_count; i++) {
		const struct made_gcdump_node *node = &spec->nodes[i];
		if (node->is_undefined)
			continue;
		maker->offsets[i] = (uint32_t)maker->blob_size;
		maker->total += node->size;
		if (maker->sizes[node->type] < 0)
			maker->sizes[node->type] = node->size;
		bool has_size = maker->sizes[node->type] != node->size;
		put_cint(maker, (int32_t)(node->type * 2 + has_size));
		if (has_size)
			put_cint(maker, node->size);
		put_cint(maker, (int32_t)node->child_count);
		for (uint32_t k = 0; k < node->child_count; k++)
			put_cint(maker, (int32_t)(node->children[k] - i));
	}
}

static void put_deferred(struct maker *maker)
{
	const struct made_gcdump *spec = maker->spec;
	uint32_t forward = maker->forward_count++, module = 0;
	put_i32(maker, (int32_t)forward);
	put_i32(maker, (int32_t)spec->type_count);
	for (uint32_t i = 0; i < spec->type_count; i++) {
		put_i32(maker, (int32_t)(0x1000 + i));
		if (spec->types[i].name) {
			put_byte(maker, 1);
			put_text(maker, NULL);
			continue;
		}
		if (module) {
			put_byte(maker, 2);
			put_i32(maker, (int32_t)module);
		} else {
			module = (uint32_t)maker->size;
			begin(maker, u"Graphs.Module", 0, 0);
			put_text(maker, u"C:\\app\\native.dll");
			put_i64(maker, 0x180000000);
			put_i64(maker, 65536);
			put_i64(maker, 635000000000000000);
			put_text(maker, u"native.pdb");
			put(maker, "0123456789abcdef", 16);
			put_i32(maker, 1);
			put_byte(maker, 6);
		}
		put_text(maker, i % 2 ? u" (boxed)" : NULL);
	}
	put_byte(maker, 6);
	maker->forwards[forward] = (uint32_t)maker->size;
}

static void put_graph(struct maker *maker)
{
	const struct made_gcdump *spec = maker->spec;
	make_blob(maker);
	begin(maker, u"Graphs.MemoryGraph", 1, spec->has_deferred);
	put_i64(maker, maker->total + spec->total_error);
	put_i32(maker, (int32_t)spec->root);
	put_i32(maker, (int32_t)spec->type_count);
	for (uint32_t i = 0; i < spec->type_count; i++) {
		put_text(maker, spec->types[i].name);
		put_i32(maker, maker->sizes[i]);
		put_text(maker, spec->types[i].module);
	}
	put_count(maker, spec->node_count);
	put(maker, maker->offsets, spec->node_count * sizeof(*maker->offsets));
	put_i32(maker, (int32_t)maker->blob_size);
	put(maker, maker->blob, maker->blob_size);
	if (spec->has_deferred)
		put_deferred(maker);
	put_count(maker, spec->node_count);
	for (uint32_t i = 0; i < spec->node_count; i++)
		put(maker, &spec->nodes[i].address, sizeof(spec->nodes[i].address));
	if (spec->width) {
		put_byte(maker, 8);
		put_byte(maker, spec->width == 64);
	}
	put_byte(maker, 6);
}

static void put_segments(struct maker *maker)
{
	const struct made_gcdump *spec = maker->spec;
	put_i32(maker, (int32_t)spec->heap.segment_count);
	for (uint32_t i = 0; i < spec->heap.segment_count; i++) {
		const struct made_gcdump_segment *segment = &spec->heap.segments[i];
		if (!maker->segment_type) {
			maker->segment_type = maker->size + 1;
			begin(maker, u"GCHeapDumpSegment", spec->heap.version, spec->heap.version);
		} else {
			put(maker, "\4\2", 2);
			put_i32(maker, (int32_t)maker->segment_type);
		}
		put_i64(maker, (int64_t)segment->start);
		put_i64(maker, (int64_t)segment->end);
		for (int32_t k = 0; k < 4 + (spec->heap.version >= 1); k++)
			put_i64(maker, (int64_t)segment->ends[k]);
		put_byte(maker, 6);
	}
}

static void put_process(struct maker *maker)
{
	const struct made_gcdump *spec = maker->spec;
	put_text(maker, spec->log);
	put_i64(maker, spec->process.time);
	put_text(maker, spec->process.machine);
	put_text(maker, spec->process.name);
	put_i32(maker, spec->process.id);
	put_i64(maker, 1 << 20);
	put_i64(maker, 1 << 19);
}

static void put_interop(struct maker *maker)
{
	static const uint8_t zeros[40 + 32 + 33 + 16] = { 0 };
	begin(maker, u"InteropInfo", 0, 0);
	put_i32(maker, 2);
	for (size_t i = 0; i < 4; i++)
		put_i32(maker, 1);
	put(maker, zeros, sizeof(zeros));
	put_text(maker, u"com.dll");
	put_byte(maker, 6);
}

/* Tagged items that a later version might have. */
static void put_more_items(struct maker *maker)
{
	put(maker, "\x08\1\x09\1\2\x0a\1\2\3\4\x0b\1\2\3\4\5\6\7\x08\1", 20);
	put_byte(maker, 13);
	put_text(maker, u"later");
	put_byte(maker, 14);
	put_i32(maker, 3);
	put(maker, "\6\6\6", 3);
	put(maker, "\2\1\0\0\0\3\1\0\0\0", 10);
}

static void put_tagged(struct maker *maker)
{
	const struct made_gcdump *spec = maker->spec;
	put_byte(maker, 12);
	uint32_t forward = maker->forward_count++;
	put_i32(maker, (int32_t)forward);
	if (spec->has_interop) {
		put_interop(maker);
	} else {
		put_byte(maker, 1);
	}
	maker->forwards[forward] = (uint32_t)maker->size;
	put_byte(maker, 13);
	put_text(maker, spec->tool);
	if (spec->has_more_items)
		put_more_items(maker);
}

static void put_dump(struct maker *maker)
{
	const struct made_gcdump *spec = maker->spec;
	put_graph(maker);
	put_byte(maker, spec->width == 64);
	put_float(maker, spec->sampling.average_count != 0 ? spec->sampling.average_count : 1);
	put_float(maker, 1);
	put_byte(maker, 1);
	if (spec->heap.segment_count) {
		begin(maker, u"DotNetHeapInfo", 0, 0);
		put_i64(maker, 1 << 30);
		put_segments(maker);
		put_byte(maker, 6);
	} else {
		put_byte(maker, 1);
	}
	put_process(maker);
	put_i32(maker, (int32_t)spec->sampling.multiplier_count);
	for (uint32_t i = 0; i < spec->sampling.multiplier_count; i++)
		put_float(maker, spec->sampling.multipliers[i]);
	put_tagged(maker);
}

static void put_old_dump(struct maker *maker, int32_t version)
{
	put_graph(maker);
	put_i64(maker, 1 << 30);
	put_i64(maker, 1);
	put_i64(maker, 2);
	put_byte(maker, 1);
	if (version >= 5)
		put_process(maker);
	if (version >= 6)
		put_segments(maker);
	if (version >= 7)
		put_byte(maker, 1);
}

uint8_t *gcdump_make(const struct made_gcdump *spec, size_t *ret_size)
{
	struct maker maker = { .spec = spec };
	int32_t version = spec->version ? spec->version : 10;
	put_i32(&maker, 20);
	put(&maker, "!FastSerialization.1", 20);
	int32_t least = version < 8 ? 4 : 8;
	begin(&maker, u"GCHeapDump", version, spec->min_reader ? spec->min_reader : least);
	if (version < 8) {
		put_old_dump(&maker, version);
	} else {
		put_dump(&maker);
	}
	put(&maker, "\6\6", 2);
	int32_t table = (int32_t)maker.size;
	put_i32(&maker, (int32_t)maker.forward_count);
	put(&maker, maker.forwards, maker.forward_count * sizeof(*maker.forwards));
	int32_t trailer = (int32_t)maker.size;
	put_i32(&maker, table);
	put_i32(&maker, trailer);
	free(maker.blob);
	free(maker.offsets);
	free(maker.sizes);
	*ret_size = maker.size;
	return maker.bytes;
}
