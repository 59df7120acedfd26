/* SPDX-License-Identifier: MIT */
#include "format/gcdump/gcdump_encode.h"
#include "support/assert_more.h"
#include "support/gcdump_bytes.h"
#include "support/suite.h"
#include "support/writer_checks.h"

/* A source in plain arrays. */
struct made {
	const struct gcdump_type *types;
	const struct gcdump_node *nodes; /* in the order of their records */
	size_t node_count;
	const uint64_t *addresses;
	size_t at;
	size_t repeat; /* how often all nodes are given; 0 counts as 1 */
	size_t round;
	enum hd_status end; /* what finish() returns */
};

static void made_type(void *arg, uint32_t type, struct gcdump_type *ret)
{
	*ret = ((const struct made *)arg)->types[type];
}

static void made_rewind(void *arg)
{
	struct made *made = arg;
	made->at = made->round = 0;
}

static bool made_next(void *arg, struct gcdump_node *ret)
{
	struct made *made = arg;
	if (made->at == made->node_count) {
		if (++made->round >= made->repeat)
			return false;
		made->at = 0;
	}
	*ret = made->nodes[made->at++];
	return true;
}

static uint64_t made_address(void *arg, uint32_t node)
{
	const struct made *made = arg;
	return made->addresses ? made->addresses[node] : 0;
}

static enum hd_status made_finish(void *arg, struct hd_error *err)
{
	const struct made *made = arg;
	return made->end == HD_OK ? HD_OK : fail(err, made->end, 0, "as made");
}

static bool take(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

static struct gcdump_text ascii(const char *string)
{
	uint32_t size = (uint32_t)strlen(string);
	return (struct gcdump_text){ (const uint8_t *)string, size, size };
}

static void check_bytes(const struct text *got, const struct text *expected)
{
	ASSERT_UINT(got->size, expected->size);
	for (size_t i = 0; i < got->size && i < expected->size; i++) {
		if (got->bytes[i] == expected->bytes[i])
			continue;
		ASSERT_UINT(i, SIZE_MAX);
		ASSERT_UINT((uint8_t)got->bytes[i], (uint8_t)expected->bytes[i]);
		return;
	}
}

static struct text encode(const struct gcdump_source *source)
{
	struct text text = { 0 };
	struct hd_error err = { 0 };
	ASSERT_UINT(gcdump_encode(source, NULL, take, &text, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	return text;
}

static struct gcdump_source source_of(struct made *made, const struct gcdump_about *about,
				      uint32_t types, uint32_t nodes)
{
	return (struct gcdump_source){ .about = about,
				       .type_count = types,
				       .node_count = nodes,
				       .type = made_type,
				       .rewind = made_rewind,
				       .next = made_next,
				       .address = made_address,
				       .arg = made };
}

static const struct gcdump_about plain_about = { .version = 10,
						 .min_reader = 8,
						 .is_64bit = true,
						 .has_is_64bit = true,
						 .sampling = { 1, 1, NULL, 0 },
						 .interop = { .is_there = true },
						 .has_tool = true };

/*
 * A root and two objects of one type: the first has the type's size, the second another; a node
 * that is never defined.  Laid out as by the writer of dotnet-gcdump.
 */
TEST(a_small_file_is_written_as_expected)
{
	static const uint32_t root_children[] = { 1, 2 }, children[] = { 3, 1, 2 };
	const struct gcdump_type types[] = {
		{ .name = ascii("UNDEFINED") },
		{ .name = ascii("[.NET Roots]"), .size = -1 },
		{ .name = ascii("App.Node"), .module = ascii("/app/app.dll"), .size = -1 },
		{ .name = ascii("App.None"), .module = ascii(""), .size = -1 }
	};
	const struct gcdump_node nodes[] = {
		{ .index = 1, .type = 2, .size = 24 },
		{ .index = 2, .type = 2, .size = 300, .child_count = 3, .children = children },
		{ .index = 0, .type = 1, .child_count = 2, .children = root_children },
	};
	static const uint64_t addresses[] = { 0, 0x7f0011223344, 0x10, 0xfedcba9876543210 };
	struct made made = {
		.types = types, .nodes = nodes, .node_count = 3, .addresses = addresses
	};
	struct gcdump_about about = plain_about;
	about.tool = ascii("dotnet-gcdump");
	struct gcdump_source source = source_of(&made, &about, 4, 4);
	struct text got = encode(&source), expected = { 0 };
	put_head(&expected, 0);
	put(&expected, 324, 8); /* bytes of all objects */
	put(&expected, 0, 4);   /* root */
	put(&expected, 4, 4);
	put_row(&expected, "UNDEFINED", 0, NULL);
	put_row(&expected, "[.NET Roots]", 0, NULL);
	put_row(&expected, "App.Node", 24, "/app/app.dll");
	put_row(&expected, "App.None", UINT32_MAX, "");
	put(&expected, 4, 4);
	put_hex(&expected, "0b000000 02000000 04000000 00000000");
	put(&expected, 15, 4);
	put_hex(&expected, "0000 0400");           /* undefined; type 2, no children */
	put_hex(&expected, "05 822c 03 01 7f 00"); /* type 2 with a size, 3 children: +1 -1 0 */
	put_hex(&expected, "02 02 01 02");
	put(&expected, 4, 4);
	for (size_t i = 0; i < 4; i++)
		put(&expected, addresses[i], 8);
	put_hex(&expected, "08 01 06"); /* 64 bits; end of the graph */
	put_hex(&expected, "01 0000803f 0000803f 01 01 ffffffff");
	put(&expected, 0, 8);
	put_hex(&expected, "ffffffff ffffffff 00000000");
	put(&expected, 0, 8);
	put(&expected, 0, 8);
	put(&expected, 0, 4);
	put_hex(&expected, "0c 00000000 01");
	uint32_t forward = (uint32_t)expected.size;
	put_hex(&expected, "0d");
	put_string(&expected, "dotnet-gcdump");
	put_hex(&expected, "06");
	put_end(&expected, &forward, 1);
	check_bytes(&got, &expected);
	text_deinit(&got);
	text_deinit(&expected);
}

/* Write what that one has after its graph, up to the forward reference of the interop. */
static void put_about(struct text *text)
{
	put_type(text, "DotNetHeapInfo", 0, 0);
	put(text, 0x123456789a, 8);
	put(text, 2, 4);
	size_t segment_type = text->size + 1;
	put_type(text, "GCHeapDumpSegment", 1, 1);
	for (uint64_t i = 0; i < 7; i++)
		put(text, i < 2 ? 0x1000 + i * 0x1000 : i - 1, 8);
	put_hex(text, "06 04 02");
	put(text, segment_type, 4);
	for (uint64_t i = 0; i < 7; i++)
		put(text, i < 2 ? 0x3000 + i * 0x1000 : i + 4, 8);
	put_hex(text, "06 06");
	put_string(text, "a log");
	put(text, 638000000000000000, 8);
	put_string(text, "box");
	put_string(text, "app");
	put(text, 4711, 4);
	put(text, 1, 8);
	put(text, 2, 8);
	put_hex(text, "01000000 0000803f 0c 01000000");
}

/* Everything that a file can have beside its graph: segments, interop, a log, multipliers. */
static struct gcdump_about perfview_about(void)
{
	static struct gcdump_segment segments[] = { { 0x1000, 0x2000, { 1, 2, 3, 4, 5 } },
						    { 0x3000, 0x4000, { 6, 7, 8, 9, 10 } } };
	return (struct gcdump_about){
		.version = 9,
		.min_reader = 8,
		.sampling = { 2.5f, 1, (const uint8_t *)"\x00\x00\x80\x3f", 1 },
		.heap = { true, 0x123456789a, 1, segments, 2 },
		.log = ascii("a log"),
		.machine = ascii("box"),
		.process = ascii("app"),
		.time = 638000000000000000,
		.process_id = 4711,
		.commit = 1,
		.working_set = 2,
		.interop = { true, (const uint8_t *)"\x01\x02\x03\x04", 4 },
	};
}

/* And deferred types. */
TEST(what_dumps_of_perfview_have_is_written)
{
	const struct gcdump_type types[] = { { .name = ascii("UNDEFINED") } };
	const struct gcdump_about about = perfview_about();
	static const int64_t total = 77;
	struct made made = { .types = types };
	struct gcdump_source source = source_of(&made, &about, 1, 1);
	source.deferred = (const uint8_t *)"\xff\xff\xff\xff\x00\x00\x00\x00\x06";
	source.deferred_size = 9;
	source.deferred_at = 139;
	source.has_wide_counts = true;
	source.total_size = &total;
	struct text got = encode(&source), expected = { 0 };
	put_string(&expected, "!FastSerialization.1");
	put_type(&expected, "GCHeapDump", 9, 8);
	put_type(&expected, "Graphs.MemoryGraph", 1, 1);
	put(&expected, 77, 8);
	put(&expected, 0, 4);
	put(&expected, 1, 4);
	put_row(&expected, "UNDEFINED", 0, NULL);
	put(&expected, 1, 8);
	put(&expected, 0, 4);
	put(&expected, 2, 4);
	put_hex(&expected, "0000 00000000 00000000 06"); /* forward 0: the deferred types */
	uint32_t forwards[] = { (uint32_t)expected.size, 0 };
	put(&expected, 1, 8);
	put(&expected, 0, 8);
	put_hex(&expected, "06 00 00002040 0000803f 01");
	put_about(&expected);
	put_type(&expected, "InteropInfo", 0, 0);
	put_hex(&expected, "01020304 06");
	forwards[1] = (uint32_t)expected.size;
	put_hex(&expected, "06");
	put_end(&expected, forwards, 2);
	check_bytes(&got, &expected);
	text_deinit(&got);
	text_deinit(&expected);
}

/* Labels in the region of deferred types would lead astray anywhere else. */
TEST(deferred_types_do_not_move)
{
	const struct gcdump_type types[] = { { .name = ascii("UNDEFINED") } };
	struct made made = { .types = types };
	struct gcdump_source source = source_of(&made, &plain_about, 1, 1);
	source.deferred = (const uint8_t *)"\x00\x00\x00\x00\x00\x00\x00\x00\x06";
	source.deferred_size = 9;
	for (source.deferred_at = 134; source.deferred_at < 137; source.deferred_at++) {
		struct text got = { 0 };
		struct hd_error err = { 0 };
		enum hd_status status = gcdump_encode(&source, NULL, take, &got, &err);
		ASSERT_UINT(status, source.deferred_at == 135 ? HD_OK : HD_ERR_UNSUPPORTED);
		CU_ASSERT(status == HD_OK || strstr(err.message, "would move") != NULL);
		text_deinit(&got);
	}
}

/* Segments of old files have no generation 4; files older than version 9 become version 10. */
TEST(old_files_become_new_ones)
{
	static struct gcdump_segment segments[] = { { 1, 2, { 3, 4, 5, 6, 99 } } };
	const struct gcdump_type types[] = { { .name = ascii("UNDEFINED") } };
	const struct gcdump_about about = { .version = 7,
					    .min_reader = 4,
					    .heap = { true, 0, 0, segments, 1 } };
	struct made made = { .types = types };
	struct gcdump_source source = source_of(&made, &about, 1, 0);
	struct text got = encode(&source), segment = { 0 }, head = { 0 };
	put_type(&segment, "GCHeapDumpSegment", 0, 0);
	for (uint64_t i = 1; i <= 6; i++)
		put(&segment, i, 8);
	put_hex(&segment, "06 06 ffffffff");
	put_head(&head, 0);
	CU_ASSERT(memmem(got.bytes, got.size, segment.bytes, segment.size) != NULL);
	CU_ASSERT(got.size > head.size && memcmp(got.bytes, head.bytes, head.size) == 0);
	text_deinit(&got);
	text_deinit(&segment);
	text_deinit(&head);
}

/* Numbers at the limits of 1 to 5 bytes; the highest 7 bits come first. */
static const struct {
	int32_t value;
	const char *bytes;
} numbers[] = {
	{ 0, "00" },
	{ 1, "01" },
	{ -1, "7f" },
	{ 63, "3f" },
	{ -64, "40" },
	{ 64, "8040" },
	{ -65, "ff3f" },
	{ 8191, "bf7f" },
	{ -8192, "c000" },
	{ 8192, "80c000" },
	{ -8193, "ffbf7f" },
	{ (1 << 20) - 1, "bfff7f" },
	{ -(1 << 20), "c08000" },
	{ 1 << 20, "80c08000" },
	{ -(1 << 20) - 1, "ffbfff7f" },
	{ (1 << 27) - 1, "bfffff7f" },
	{ -(1 << 27), "c0808000" },
	{ 1 << 27, "80c0808000" },
	{ -(1 << 27) - 1, "ffbfffff7f" },
	{ INT32_MAX, "87ffffff7f" },
	{ INT32_MIN, "f880808000" },
};

TEST(numbers_take_as_few_bytes_as_they_can)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct gcdump_type types[] = { { .size = 0 } };
		const struct gcdump_node node = { .size = numbers[i].value,
						  .is_given_size = true,
						  .has_size = true };
		struct made made = { .types = types, .nodes = &node, .node_count = 1 };
		struct gcdump_source source = source_of(&made, &plain_about, 1, 1);
		struct text got = encode(&source), expected = { 0 };
		put(&expected, 4 + strlen(numbers[i].bytes) / 2, 4);
		put_hex(&expected, "0000 01"); /* type 0, and a size */
		put_hex(&expected, numbers[i].bytes);
		put_hex(&expected, "00 01000000");
		CU_ASSERT(memmem(got.bytes, got.size, expected.bytes, expected.size) != NULL);
		text_deinit(&got);
		text_deinit(&expected);
	}
}

/* A size that is given stays where it was, needed or not; the type's stays as well. */
TEST(given_sizes_stay_as_they_are)
{
	const struct gcdump_type types[] = { { .size = 24 }, { .size = -1 } };
	const struct gcdump_node nodes[] = {
		{ .index = 0, .size = 24, .is_given_size = true, .has_size = true },
		{ .index = 1, .size = 24, .is_given_size = true },
		{ .index = 2, .type = 1, .size = 9, .is_given_size = true, .has_size = true },
		{ .index = 3, .size = 25 },
	};
	struct made made = { .types = types, .nodes = nodes, .node_count = 4 };
	struct gcdump_source source = source_of(&made, &plain_about, 2, 4);
	struct text got = encode(&source), expected = { 0 };
	put_hex(&expected, "18000000 ffffffff ffffffff ffffffff ffffffff 04000000");
	put_hex(&expected, "02000000 05000000 07000000 0a000000 0d000000");
	put_hex(&expected, "0000 011800 0000 030900 011900 04000000");
	CU_ASSERT(memmem(got.bytes, got.size, expected.bytes, expected.size) != NULL);
	text_deinit(&got);
	text_deinit(&expected);
}

/* More children than the buffer holds, and file pieces of any size. */
TEST(long_lists_pass_through_the_buffer)
{
	enum {
		COUNT = 300000
	};
	uint32_t *children = calloc(COUNT, sizeof(*children));
	uint64_t *addresses = calloc(COUNT, sizeof(*addresses));
	REQUIRE(children);
	REQUIRE(addresses);
	for (uint32_t i = 0; i < COUNT; i++) {
		children[i] = i;
		addresses[i] = 0x1000 + i;
	}
	const struct gcdump_type types[] = { { .size = 0 } };
	const struct gcdump_node node = { .child_count = COUNT, .children = children };
	struct made made = {
		.types = types, .nodes = &node, .node_count = 1, .addresses = addresses
	};
	struct gcdump_source source = source_of(&made, &plain_about, 1, COUNT);
	struct text got = encode(&source), expected = { 0 };
	uint64_t size = 2 + 1 + 3 + 64 + (8192 - 64) * 2 + (COUNT - 8192) * 3;
	put(&expected, size, 4);
	put_hex(&expected, "0000 00 92a760 00 01 02");
	const char *blob = memmem(got.bytes, got.size, expected.bytes, expected.size);
	REQUIRE(blob);
	/* The last child, and the first addresses after it. */
	expected.size = 0;
	put_hex(&expected, "92a75f");
	put(&expected, COUNT, 4);
	put(&expected, 0x1000, 8);
	put(&expected, 0x1001, 8);
	CU_ASSERT(memcmp(blob + 4 + size - 3, expected.bytes, expected.size) == 0);
	text_deinit(&got);
	text_deinit(&expected);
	free(children);
	free(addresses);
}

TEST(what_the_format_has_no_room_for_is_refused)
{
	enum {
		COUNT = 1 << 20
	};
	uint32_t *children = calloc(COUNT, sizeof(*children));
	REQUIRE(children);
	const struct gcdump_type types[] = { { .size = 0 } };
	/* 5 bytes for each child. */
	const struct gcdump_node node = { .index = (1 << 27) + 5,
					  .child_count = COUNT,
					  .children = children };
	struct made made = { .types = types, .nodes = &node, .node_count = 1, .repeat = SIZE_MAX };
	static const struct {
		uint32_t types, nodes;
		size_t node_count;
		const char *message;
	} cases[] = {
		{ 1, (1 << 27) + 6, 1, "bytes of records, of 2,147,483,647" },
		{ 1, 360000000, 0, "4320000002 bytes, of 4,294,967,295" },
		{ 1, (uint32_t)1 << 31, 0, "2147483648 nodes, of 2,147,483,647" },
		{ 1 << 30, 1, 0, "1073741824 types, of 1,073,741,823" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text got = { 0 };
		struct hd_error err = { 0 };
		made.node_count = cases[i].node_count;
		made.repeat = made.node_count ? SIZE_MAX : 0;
		struct gcdump_source source =
			source_of(&made, &plain_about, cases[i].types, cases[i].nodes);
		ASSERT_UINT(gcdump_encode(&source, NULL, take, &got, &err), HD_ERR_UNSUPPORTED);
		CU_ASSERT(strstr(err.message, cases[i].message) != NULL);
		ASSERT_UINT(got.size, 0);
		text_deinit(&got);
	}
	free(children);
}

/* A source that fails fails the file. */
TEST(a_source_may_fail)
{
	const struct gcdump_type types[] = { { .size = 0 } };
	struct made made = { .types = types, .end = HD_ERR_FORMAT };
	struct gcdump_source source = source_of(&made, &plain_about, 1, 1);
	source.finish = made_finish;
	struct text got = { 0 };
	ASSERT_UINT(gcdump_encode(&source, NULL, take, &got, NULL), HD_ERR_FORMAT);
	ASSERT_UINT(got.size, 0);
	made.end = HD_OK;
	ASSERT_UINT(gcdump_encode(&source, NULL, take, &got, NULL), HD_OK);
	text_deinit(&got);
}

/* The second pass gives one node less. */
static bool next_that_changes(void *arg, struct gcdump_node *ret)
{
	struct made *made = arg;
	return made_next(arg, ret) && !(made->end != HD_OK && made->at == 2);
}

static void rewind_that_changes(void *arg)
{
	struct made *made = arg;
	made->end = made->end == HD_OK ? HD_ERR_OS : HD_OK;
	made_rewind(arg);
}

TEST(objects_that_change_meanwhile_are_an_error)
{
	const struct gcdump_type types[] = { { .size = 0 } };
	const struct gcdump_node nodes[] = { { .index = 0 }, { .index = 1 } };
	struct made made = { .types = types, .nodes = nodes, .node_count = 2, .end = HD_ERR_OS };
	struct gcdump_source source = source_of(&made, &plain_about, 1, 2);
	source.next = next_that_changes;
	source.rewind = rewind_that_changes;
	struct text got = { 0 };
	struct hd_error err = { 0 };
	ASSERT_UINT(gcdump_encode(&source, NULL, take, &got, &err), HD_ERR_OS);
	CU_ASSERT(strstr(err.message, "changed") != NULL);
	text_deinit(&got);
}

enum {
	LARGE = 200000
};

/* A source of nodes that alternate between two. */
static bool next_of_many(void *arg, struct gcdump_node *ret)
{
	struct made *made = arg;
	if (made->at == LARGE)
		return false;
	*ret = (struct gcdump_node){ .index = (uint32_t)made->at++, .size = 8 };
	return true;
}

static enum hd_status write_source(const void *what, struct job *job, format_write_fn write,
				   void *arg, struct hd_error *err)
{
	return gcdump_encode(what, job, write, arg, err);
}

TEST(writing_can_be_stopped)
{
	const struct gcdump_type types[] = { { .size = 8 } };
	struct made made = { .types = types };
	struct gcdump_source source = source_of(&made, &plain_about, 1, LARGE);
	source.next = next_of_many;
	const struct writing writing = { write_source, &source };
	check_refused_pieces(&writing, 9);
	check_cancelling(&writing, 6);
}

TEST(each_failed_allocation_is_reported)
{
	const struct gcdump_type types[] = { { .size = 0 } };
	struct made made = { .types = types };
	const struct gcdump_source source = source_of(&made, &plain_about, 1, 3);
	check_failed_allocations(&(struct writing){ write_source, &source }, 3);
}

SUITE(.name = "gcdump encode")
