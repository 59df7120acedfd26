/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "format/gcdump/gcdump.h"
#include "format/gcdump/gcdump_cint.h"
#include "format/gcdump/gcdump_reading.h"
#include "support/assert_more.h"
#include "support/gcdump_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/arena.h"

static const struct made_gcdump_type types[] = {
	{ u"UNDEFINED", 0, NULL },
	{ u"[.NET Roots]", -1, NULL },
	{ u"A", -1, u"/x/a.dll" },
	{ NULL, -1, NULL },
	{ u"emoji \xd83d\xde00 \xd800.", -1, u"" },
	{ NULL, -1, u"own.dll" },
};

static const struct made_gcdump_node nodes[] = {
	{ .type = 1, .children = { 1, 2, 3 }, .child_count = 3 },
	{ .type = 2, .size = 24, .address = 0x1000, .children = { 2, 1 }, .child_count = 2 },
	{ .type = 3, .size = 100000, .address = 0x2000, .children = { 0, 4 }, .child_count = 2 },
	{ .type = 2, .size = 32, .address = 0x1020 },
	{ .address = 0x9000, .is_undefined = true },
};

static const struct made_gcdump_segment segments[] = {
	{ 0x1000, 0x2000, { 0x2000, 0, 0, 0, 0 } },
	{ 0x2000, 0x3000, { 0, 0, 0, 0, 0x3000 } },
};

static const float multipliers[] = { 1, 2.5f };

static struct made_gcdump all_features(void)
{
	return (struct made_gcdump){
		.types = types,
		.nodes = nodes,
		.type_count = 6,
		.node_count = 5,
		.width = 64,
		.has_deferred = true,
		.has_interop = true,
		.has_more_items = true,
		.heap.segments = segments,
		.heap.segment_count = 2,
		.heap.version = 1,
		.sampling.average_count = 3,
		.sampling.multipliers = multipliers,
		.sampling.multiplier_count = 2,
		.log = u"line 1\n",
		.process.machine = u"host",
		.process.name = u"proc",
		.tool = u"maker",
		.process.time = 638000000000000000,
		.process.id = 4242,
	};
}

static bool is(const struct gcdump_text *text, const char *string)
{
	return string ? fast_text_is(text, string) : !text->bytes;
}

static void assert_graph(const struct gcdump *gcdump)
{
	ASSERT_UINT((uint64_t)gcdump->total_size, 100056);
	ASSERT_UINT(gcdump->root, 0);
	ASSERT_UINT(gcdump->type_count, 6);
	ASSERT_UINT(gcdump->node_count, 5);
	CU_ASSERT(is(&gcdump->types[1].name, "[.NET Roots]"));
	CU_ASSERT(is(&gcdump->types[1].module, NULL));
	CU_ASSERT(is(&gcdump->types[2].name, "A"));
	CU_ASSERT(is(&gcdump->types[2].module, "/x/a.dll"));
	CU_ASSERT(is(&gcdump->types[4].module, ""));
	ASSERT_UINT((uint64_t)gcdump->types[2].size, 24);
	ASSERT_UINT((uint64_t)gcdump->types[3].size, 100000);
	CU_ASSERT(gcdump->types[4].size == -1);
	/* Units, each on its own. */
	ASSERT_UINT(gcdump->types[4].name.units, 11);
	CU_ASSERT(is(&gcdump->types[4].name, "emoji \xed\xa0\xbd\xed\xb8\x80 \xed\xa0\x80."));
	for (uint32_t i = 0; i < 5; i++)
		ASSERT_UINT(gcdump_address(gcdump, i), nodes[i].address);
	struct gcdump_record record;
	CU_ASSERT(gcdump_record(gcdump, gcdump_offset(gcdump, 3), &record));
	ASSERT_UINT(record.type, 2);
	ASSERT_UINT((uint64_t)record.size, 32);
	CU_ASSERT(record.has_size);
	ASSERT_UINT(record.child_count, 0);
	CU_ASSERT(gcdump_record(gcdump, gcdump_offset(gcdump, 2), &record));
	CU_ASSERT(!record.has_size);
	ASSERT_UINT((uint64_t)record.size, 100000);
	ASSERT_UINT(record.child_count, 2);
	ASSERT_UINT(gcdump_child(&record.children, record.end, 2, 5), 0);
	ASSERT_UINT(gcdump_child(&record.children, record.end, 2, 5), 4);
	CU_ASSERT(!gcdump_record(gcdump, gcdump->blob_size, &record));
}

static void parse(const struct made_gcdump *spec, size_t cut, struct gcdump *ret, uint8_t **bytes)
{
	struct hd_error err = { 0 };
	size_t size;
	*bytes = gcdump_make(spec, &size);
	ASSERT_UINT(gcdump_parse(*bytes, size - cut, "x.gcdump", ret, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
}

TEST(all_that_a_file_may_have)
{
	struct made_gcdump spec = all_features();
	struct gcdump gcdump;
	uint8_t *bytes;
	parse(&spec, 0, &gcdump, &bytes);
	assert_graph(&gcdump);
	const struct gcdump_about *about = &gcdump.about;
	ASSERT_UINT((uint64_t)about->version, 10);
	ASSERT_UINT((uint64_t)about->min_reader, 8);
	CU_ASSERT(about->has_is_64bit && about->is_64bit);
	CU_ASSERT(about->sampling.average_count > 2.99f && about->sampling.average_count < 3.01f);
	CU_ASSERT(about->heap.is_there);
	ASSERT_UINT((uint64_t)about->heap.bytes, 1 << 30);
	ASSERT_UINT(about->heap.segment_count, 2);
	ASSERT_UINT(about->heap.segments[1].start, 0x2000);
	ASSERT_UINT(about->heap.segments[1].end, 0x3000);
	ASSERT_UINT(about->heap.segments[1].ends[4], 0x3000);
	ASSERT_UINT(about->heap.segments[0].ends[0], 0x2000);
	CU_ASSERT(is(&about->log, "line 1\n"));
	CU_ASSERT(is(&about->machine, "host"));
	CU_ASSERT(is(&about->process, "proc"));
	CU_ASSERT(is(&about->tool, "maker"));
	ASSERT_UINT((uint64_t)about->time, 638000000000000000);
	ASSERT_UINT((uint64_t)about->process_id, 4242);
	ASSERT_UINT((uint64_t)about->commit, 1 << 20);
	ASSERT_UINT((uint64_t)about->working_set, 1 << 19);
	ASSERT_UINT(about->sampling.multiplier_count, 2);
	ASSERT_UINT(load_u32(about->sampling.multipliers + 4), 0x40200000); /* 2.5 */
	CU_ASSERT(about->interop.is_there && about->has_tool);
	/* Counts, an RCW, a CCW, an interface, a module with its name. */
	ASSERT_UINT(about->interop.size, 20 + 40 + 32 + 33 + 16 + 4 + 7);
	gcdump_deinit(&gcdump);
	free(bytes);
}

TEST(deferred_types_have_names_and_modules)
{
	struct made_gcdump spec = all_features();
	/* With the trailer, and without it. */
	for (size_t cut = 0; cut <= 20; cut += 10) {
		struct gcdump gcdump;
		uint8_t *bytes;
		parse(&spec, cut, &gcdump, &bytes);
		assert_graph(&gcdump);
		CU_ASSERT(is(&gcdump.types[3].name, "TypeID(0x1003) (boxed)"));
		ASSERT_UINT(gcdump.types[3].name.units, 22);
		CU_ASSERT(is(&gcdump.types[3].module, "C:\\app\\native.dll"));
		CU_ASSERT(gcdump.types[3].has_deferred_name);
		CU_ASSERT(gcdump.types[3].has_deferred_module);
		CU_ASSERT(is(&gcdump.types[5].name, "TypeID(0x1005) (boxed)"));
		CU_ASSERT(is(&gcdump.types[5].module, "own.dll"));
		CU_ASSERT(!gcdump.types[5].has_deferred_module);
		CU_ASSERT(!gcdump.types[2].has_deferred_name);
		REQUIRE(gcdump.deferred);
		CU_ASSERT(gcdump.deferred + gcdump.deferred_size + 4 == gcdump.addresses);
		gcdump_deinit(&gcdump);
		free(bytes);
	}
}

TEST(bare_files)
{
	/* No interop, no segments, null strings, nothing about the width; cut after the tags. */
	const struct made_gcdump spec = {
		.types = types, .nodes = nodes, .type_count = 6, .node_count = 5
	};
	struct gcdump gcdump;
	uint8_t *bytes;
	parse(&spec, 17, &gcdump, &bytes);
	assert_graph(&gcdump);
	CU_ASSERT(!gcdump.about.has_is_64bit && !gcdump.about.heap.is_there);
	CU_ASSERT(gcdump.about.interop.is_there && !gcdump.about.interop.fields);
	CU_ASSERT(gcdump.about.has_tool && is(&gcdump.about.tool, NULL));
	CU_ASSERT(is(&gcdump.types[3].name, NULL));
	CU_ASSERT(!gcdump.deferred);
	gcdump_deinit(&gcdump);
	free(bytes);
}

TEST(counts_of_8_bytes)
{
	struct made_gcdump spec = all_features();
	spec.is_wide = true;
	for (unsigned int deferred = 0; deferred < 2; deferred++) {
		struct gcdump gcdump;
		uint8_t *bytes;
		spec.has_deferred = deferred;
		parse(&spec, 0, &gcdump, &bytes);
		assert_graph(&gcdump);
		CU_ASSERT(gcdump.has_wide_counts);
		CU_ASSERT(is(&gcdump.about.process, "proc"));
		gcdump_deinit(&gcdump);
		free(bytes);
	}
}

TEST(old_versions)
{
	for (int32_t version = 4; version < 10; version++) {
		struct made_gcdump spec = all_features();
		spec.version = version;
		spec.heap.version = 0;
		if (version == 8)
			continue;
		struct gcdump gcdump;
		uint8_t *bytes;
		parse(&spec, 0, &gcdump, &bytes);
		assert_graph(&gcdump);
		const struct gcdump_about *about = &gcdump.about;
		ASSERT_UINT((uint64_t)about->version, (uint64_t)version);
		ASSERT_UINT((uint64_t)about->heap.bytes, 1 << 30);
		CU_ASSERT(is(&about->process, version >= 5 ? "proc" : NULL));
		ASSERT_UINT((uint64_t)about->process_id, version >= 5 ? 4242 : 0);
		ASSERT_UINT(about->heap.segment_count, version >= 6 ? 2 : 0);
		if (version >= 6) {
			ASSERT_UINT(about->heap.segments[0].ends[0], 0x2000);
			ASSERT_UINT(about->heap.segments[1].ends[4], 0);
		}
		CU_ASSERT(version > 8 || about->sampling.average_count == 1.0f);
		gcdump_deinit(&gcdump);
		free(bytes);
	}
}

static void assert_refused(const struct made_gcdump *spec, enum hd_status status,
			   const char *message)
{
	struct gcdump gcdump;
	struct hd_error err = { 0 };
	size_t size;
	uint8_t *bytes = gcdump_make(spec, &size);
	ASSERT_UINT(gcdump_parse(bytes, size, "x.gcdump", &gcdump, &err), status);
	ASSERT_TEXT(err.message, message);
	CU_ASSERT(!gcdump.types);
	free(bytes);
}

TEST(versions_that_cannot_be_read)
{
	struct made_gcdump spec = all_features();
	spec.version = 8;
	assert_refused(&spec, HD_ERR_UNSUPPORTED,
		       "x.gcdump: offset 0x18: a GCHeapDump of version 8, which only the tool that "
		       "wrote it can read; make it again");
	spec.version = 12;
	spec.min_reader = 11;
	assert_refused(&spec, HD_ERR_UNSUPPORTED,
		       "x.gcdump: offset 0x18: a GCHeapDump for readers of version 11 or later; "
		       "this one is of version 10");
	/* A later one that readers of today can read. */
	spec.min_reader = 8;
	struct gcdump gcdump;
	uint8_t *bytes;
	parse(&spec, 0, &gcdump, &bytes);
	assert_graph(&gcdump);
	gcdump_deinit(&gcdump);
	free(bytes);
}

TEST(what_is_wrong_is_told_with_its_offset)
{
	struct made_gcdump spec = all_features();
	spec.root = 5;
	/* 24, 26 of the GCHeapDump's type, 34 of the graph's, 8 of the total. */
	assert_refused(&spec, HD_ERR_FORMAT, "x.gcdump: offset 0x5c: the root is node 5 of 5");
	struct gcdump gcdump;
	struct hd_error err = { 0 };
	ASSERT_UINT(gcdump_parse((const uint8_t *)"Nettrace", 8, "y", &gcdump, &err),
		    HD_ERR_FORMAT);
	ASSERT_TEXT(err.message,
		    "y: offset 0x0: not a .gcdump: it does not begin with !FastSerialization.1");
}

/* Where the graph begins. */
#define GRAPH_AT ((size_t)50)

/* Objects by reference: none leads to another, so that they end. */
TEST(references_to_references_are_refused)
{
	struct made_gcdump spec = all_features();
	size_t size;
	uint8_t *bytes = gcdump_make(&spec, &size);
	/* The graph becomes a reference: to itself, to the dump, to where nothing is. */
	static const uint32_t labels[] = { (uint32_t)GRAPH_AT, 24, 0xffffff, 0, 0xffffffff };
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		struct gcdump gcdump;
		bytes[GRAPH_AT] = 2;
		memcpy(bytes + GRAPH_AT + 1, &labels[i], 4);
		ASSERT_UINT(gcdump_parse(bytes, size, "x", &gcdump, NULL), HD_ERR_FORMAT);
	}
	free(bytes);
}

/* A graph that stands elsewhere, and is only referred to. */
TEST(objects_may_stand_elsewhere)
{
	const struct made_gcdump spec = {
		.types = types, .nodes = nodes, .type_count = 6, .node_count = 5
	};
	size_t size;
	uint8_t *bytes = gcdump_make(&spec, &size);
	struct gcdump gcdump;
	ASSERT_UINT_FATAL(gcdump_parse(bytes, size, "x", &gcdump, NULL), HD_OK);
	size_t end =
		(size_t)(gcdump.addresses - bytes) + 41; /* 5 addresses and a tag: of the graph */
	gcdump_deinit(&gcdump);
	/* The file as it is, then the same dump with a reference in place of the graph. */
	uint8_t *moved = calloc(2, size);
	REQUIRE(moved);
	size_t graph = size, at = GRAPH_AT;
	memcpy(moved, bytes, at);
	moved[at] = 2;
	uint32_t label = (uint32_t)(graph + 5);
	memcpy(moved + at + 1, &label, 4);
	memcpy(moved + at + 5, bytes + end, size - end);
	CU_ASSERT_FATAL(at + 5 + size - end <= label);
	memcpy(moved + label, bytes + at, end - at);
	struct hd_error err = { 0 };
	ASSERT_UINT(gcdump_parse(moved, label + end - at, "x", &gcdump, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	assert_graph(&gcdump);
	gcdump_deinit(&gcdump);
	free(moved);
	free(bytes);
}

TEST(a_file_cut_anywhere_is_refused_or_whole)
{
	struct made_gcdump spec = all_features();
	for (int32_t version = 7; version <= 10; version += 3) {
		spec.version = version;
		spec.has_deferred = version == 10;
		size_t size, whole = 0;
		uint8_t *bytes = gcdump_make(&spec, &size);
		for (size_t cut = 0; cut < size; cut++) {
			struct gcdump gcdump;
			struct hd_error err = { 0 };
			/* A copy of its own size, so that any byte too far is seen. */
			uint8_t *part = malloc(cut ? cut : 1);
			REQUIRE(part);
			memcpy(part, bytes, cut);
			enum hd_status status = gcdump_parse(part, cut, "x", &gcdump, &err);
			CU_ASSERT(status == HD_OK || status == HD_ERR_FORMAT);
			CU_ASSERT(status == HD_OK || strstr(err.message, "x: offset 0x"));
			if (status == HD_OK) {
				assert_graph(&gcdump);
				gcdump_deinit(&gcdump);
				whole++;
			}
			free(part);
		}
		/* Only what stands after the dump may be gone: a tag, the table, the trailer. */
		ASSERT_UINT(whole, 1 + 4 + 8 + (version == 10 ? 8 : 0));
		free(bytes);
	}
}

/* A download that stopped: what is whole is read, from the end of the nodes' records on. */
TEST(a_file_cut_behind_its_nodes_is_read)
{
	struct made_gcdump spec = all_features();
	size_t size;
	uint8_t *bytes = gcdump_make(&spec, &size);
	struct gcdump gcdump;
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(gcdump_parse(bytes, size, "x", &gcdump, NULL), HD_OK);
	const size_t addresses = (size_t)(gcdump.addresses - bytes);
	const size_t records = (size_t)(gcdump.blob + gcdump.blob_size - bytes);
	const uint32_t count = gcdump.node_count;
	CU_ASSERT_FALSE(gcdump.cut.is_cut);
	gcdump_deinit(&gcdump);
	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *part = malloc(cut ? cut : 1);
		REQUIRE(part);
		memcpy(part, bytes, cut);
		enum hd_status status = gcdump_parse_cut(part, cut, "x", &gcdump, &err);
		CU_ASSERT(status == HD_OK || status == HD_ERR_FORMAT);
		if (cut >= addresses)
			ASSERT_UINT(status, HD_OK);
		if (status == HD_OK) {
			const size_t there = cut < addresses ? 0 : (cut - addresses) / 8;
			ASSERT_UINT(gcdump.node_count, count);
			ASSERT_UINT(gcdump.cut.lacks_records, cut < records);
			CU_ASSERT(!gcdump.cut.padded || gcdump.cut.address_count == there);
			CU_ASSERT(!gcdump.cut.padded || there < count);
			const size_t same = there < count ? there : count;
			CU_ASSERT(memcmp(gcdump.addresses, bytes + addresses, same * 8) == 0);
			gcdump_deinit(&gcdump);
		}
		free(part);
	}
	free(bytes);
}

/* Any four bytes as a count, a label, a size. */
TEST(hostile_numbers_do_no_harm)
{
	static const uint32_t values[] = { 0x7fffffff, 0xffffffff, 0x80000000, 0, 24, 100 };
	struct made_gcdump spec = all_features();
	size_t size;
	uint8_t *bytes = gcdump_make(&spec, &size);
	for (size_t at = 24; at + 4 <= size; at++) {
		uint8_t before[4];
		memcpy(before, bytes + at, 4);
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			struct gcdump gcdump;
			memcpy(bytes + at, &values[i], 4);
			if (gcdump_parse(bytes, size, "x", &gcdump, NULL) == HD_OK)
				gcdump_deinit(&gcdump);
		}
		memcpy(bytes + at, before, 4);
	}
	free(bytes);
}

TEST(compressed_numbers)
{
	static const struct {
		int32_t value;
		size_t size;
		uint8_t bytes[5];
	} rows[] = {
		{ 0, 1, { 0 } },
		{ 63, 1, { 63 } },
		{ -1, 1, { 0x7f } },
		{ -64, 1, { 0x40 } },
		{ 64, 2, { 0x80, 0x40 } },
		{ -65, 2, { 0xff, 0x3f } },
		{ 8191, 2, { 0xbf, 0x7f } },
		{ -8192, 2, { 0xc0, 0x00 } },
		{ 8192, 3, { 0x80, 0xc0, 0x00 } },
		{ 1 << 20, 4, { 0x80, 0xc0, 0x80, 0x00 } },
		{ INT32_MAX, 5, { 0x87, 0xff, 0xff, 0xff, 0x7f } },
		{ INT32_MIN, 5, { 0xf8, 0x80, 0x80, 0x80, 0x00 } },
		{ 1, 3, { 0x80, 0x80, 0x01 } }, /* longer than need be */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int32_t value = 77;
		const uint8_t *end = rows[i].bytes + rows[i].size;
		CU_ASSERT(gcdump_cint(rows[i].bytes, end, &value) == end);
		CU_ASSERT(value == rows[i].value);
		for (size_t cut = 0; cut < rows[i].size; cut++)
			CU_ASSERT(!gcdump_cint(rows[i].bytes, rows[i].bytes + cut, &value));
		/* The bytes after it do not matter. */
		uint8_t wide[GCDUMP_CINT_WIDE];
		memset(wide, i % 2 ? 0xff : 0x55, sizeof(wide));
		memcpy(wide, rows[i].bytes, rows[i].size);
		CU_ASSERT(gcdump_cint_wide(wide, &value) == wide + rows[i].size);
		CU_ASSERT(value == rows[i].value);
	}
	int32_t value;
	const uint8_t endless[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x01, 0x01 };
	CU_ASSERT(!gcdump_cint(endless, endless + 6, &value));
	CU_ASSERT(!gcdump_cint_wide(endless, &value));
}

TEST(texts_become_utf8)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *utf8;
	} rows[] = {
		{ "plain", 5, "plain" },
		{ "", 0, "" },
		{ "R\xc3\xa9s", 4, "R\xc3\xa9s" },
		{ "\xe6\x96\x87", 3, "\xe6\x96\x87" },
		{ "\xed\xa0\xbd\xed\xb8\x80!", 7, "\xf0\x9f\x98\x80!" },
		{ "\xed\xa0\xbd", 3, "\xed\xa0\xbd" },   /* half of a pair */
		{ "\xed\xb8\x80x", 4, "\xed\xb8\x80x" }, /* the other half */
		{ "a\0b", 3,
		  "a\xef\xbf\xbd"
		  "b" },
		{ "\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80", 9, "\xed\xa0\xbd\xf0\x9f\x98\x80" },
	};
	struct arena *arena = arena_create();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct gcdump_text text = { .bytes = (const uint8_t *)rows[i].bytes,
						  .size = (uint32_t)rows[i].size };
		char *utf8 = NULL;
		uint32_t size = 0;
		CU_ASSERT(gcdump_utf8(arena, &text, &utf8, &size));
		ASSERT_TEXT(utf8, rows[i].utf8);
		ASSERT_UINT(size, strlen(rows[i].utf8));
	}
	arena_destroy(arena);
}

TEST(each_failed_allocation_is_reported)
{
	struct made_gcdump spec = all_features();
	size_t size;
	for (unsigned int wide = 0; wide < 2; wide++) {
		spec.is_wide = wide;
		uint8_t *bytes = gcdump_make(&spec, &size);
		enum hd_status status = HD_ERR_NOMEM;
		uint64_t nth = 0;
		while (status == HD_ERR_NOMEM && nth < 100) {
			struct gcdump gcdump;
			alloc_fail_at(++nth);
			status = gcdump_parse(bytes, size, "x", &gcdump, NULL);
			alloc_fail_at(0);
			if (status == HD_OK)
				gcdump_deinit(&gcdump);
		}
		ASSERT_UINT(status, HD_OK);
		CU_ASSERT(nth > 4);
		free(bytes);
	}
}

SUITE(.name = "gcdump_parse")
