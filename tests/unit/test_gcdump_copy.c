/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "format/gcdump/gcdump_encode.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/suite.h"
#include "support/writer_checks.h"

static bool take(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

/* gcdump_copy() of a file that holds these bytes. */
static enum hd_status copy(const char *bytes, size_t size, struct text *ret, struct hd_error *err)
{
	const struct format_options options = { .exact = true };
	struct dump_file file;
	struct job job = { 0 };
	dump_file_make(&file, bytes, size);
	enum hd_status status = gcdump_copy(&(struct dump_input){ .path = file.path, .fd = -1 },
					    &options, &job, take, ret, err);
	dump_file_close(&file);
	return status;
}

static void check_same(const struct text *got, const struct text *expected)
{
	ASSERT_UINT(got->size, expected->size);
	CU_ASSERT(got->size == expected->size &&
		  memcmp(got->bytes, expected->bytes, got->size) == 0);
}

static const char *const fixtures[] = { "tests/data/small300.gcdump",
					"tests/data/small1000.gcdump" };

/* Files of dotnet-gcdump come out as they are, byte for byte. */
TEST(files_of_dotnet_gcdump_stay_the_same)
{
	for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
		struct text file = dump_source_file(fixtures[i]), got = { 0 };
		struct hd_error err = { 0 };
		ASSERT_UINT(copy(file.bytes, file.size, &got, &err), HD_OK);
		ASSERT_TEXT(err.message, "");
		check_same(&got, &file);
		text_deinit(&got);
		text_deinit(&file);
	}
}

/* A file without its end, where the forward references are, gets one. */
TEST(a_lost_end_comes_back)
{
	struct text file = dump_source_file(fixtures[0]);
	for (size_t cut = 1; cut <= 16; cut++) {
		struct text got = { 0 };
		ASSERT_UINT(copy(file.bytes, file.size - cut, &got, NULL), HD_OK);
		check_same(&got, &file);
		text_deinit(&got);
	}
	text_deinit(&file);
}

/* A made file: nodes in the order of their records. */
struct made {
	const struct gcdump_node *nodes;
	size_t count, at;
};

static void made_type(void *arg, uint32_t type, struct gcdump_type *ret)
{
	(void)arg;
	*ret = (struct gcdump_type){ .size = type ? 24 : 0 };
	ret->name = (struct gcdump_text){ (const uint8_t *)"\xed\xa0\xbd\xc3\xa9", 5, 2 };
	/* The second type has no node. */
	if (type == 2)
		ret->size = -1;
}

static void made_rewind(void *arg)
{
	((struct made *)arg)->at = 0;
}

static bool made_next(void *arg, struct gcdump_node *ret)
{
	struct made *made = arg;
	if (made->at == made->count)
		return false;
	*ret = made->nodes[made->at++];
	return true;
}

static uint64_t made_address(void *arg, uint32_t node)
{
	(void)arg;
	return node * 0x1111111111111111u;
}

static const uint32_t children[] = { 2, 2, 0, 3, 1 };

static const struct gcdump_node made_nodes[] = {
	{ .index = 2, .type = 1, .size = 24, .is_given_size = true, .has_size = true },
	{ .index = 0, .type = 1, .size = 24, .child_count = 5, .children = children },
	{ .index = 3, .type = 1, .size = -5 },
};

static struct text make_file(const struct gcdump_about *about, bool is_wide)
{
	static const int64_t total = 123;
	struct made made = { .nodes = made_nodes, .count = 3 };
	const struct gcdump_source source = {
		.about = about,
		.root = 3,
		.type_count = 3,
		.node_count = 4,
		.has_wide_counts = is_wide,
		.type = made_type,
		.rewind = made_rewind,
		.next = made_next,
		.address = made_address,
		.total_size = &total,
		.arg = &made,
	};
	struct text text = { 0 };
	ASSERT_UINT(gcdump_encode(&source, NULL, take, &text, NULL), HD_OK);
	return text;
}

static struct gcdump_segment segments[] = { { 1, 2, { 3, 4, 5, 6, 7 } }, { 8, 9, { 10 } } };

static const struct gcdump_about abouts[] = {
	{ .version = 10, .min_reader = 8 },
	{ .version = 9, .min_reader = 8, .has_is_64bit = true, .is_64bit = true },
	{ .version = 10, .min_reader = 8, .interop = { .is_there = true } },
	{ .version = 10, .min_reader = 8, .interop = { .is_there = true }, .has_tool = true },
	{ .version = 10,
	  .min_reader = 8,
	  .has_is_64bit = true,
	  .sampling = { 2, 0.5f, (const uint8_t *)"abcdefgh", 2 },
	  .heap = { true, -1, 1, segments, 2 },
	  .log = { (const uint8_t *)"a\r\n\xc3\xbc", 5, 4 },
	  .machine = { (const uint8_t *)"", 0, 0 },
	  .process = { (const uint8_t *)"p", 1, 1 },
	  .tool = { (const uint8_t *)"t", 1, 1 },
	  .has_tool = true,
	  .time = 5,
	  .process_id = 6,
	  .commit = 7,
	  .working_set = 8,
	  .interop = { true, (const uint8_t *)"\0\0\0\0", 4 } },
};

/* Records in any order, sizes where none is needed, all that can stand beside the graph. */
TEST(other_files_stay_the_same)
{
	for (size_t i = 0; i < sizeof(abouts) / sizeof(abouts[0]); i++) {
		for (unsigned int is_wide = 0; is_wide < 2; is_wide++) {
			struct text file = make_file(&abouts[i], is_wide), got = { 0 };
			ASSERT_UINT(copy(file.bytes, file.size, &got, NULL), HD_OK);
			check_same(&got, &file);
			text_deinit(&got);
			text_deinit(&file);
		}
	}
}

/* Each byte changed: a file of any bytes is copied, or refused with one line. */
TEST(damage_is_refused_or_kept)
{
	struct text file = make_file(&abouts[4], false);
	unsigned int copied = 0, refused = 0;
	for (size_t i = 0; i < file.size; i++) {
		char saved = file.bytes[i];
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct text got = { 0 };
			struct hd_error err = { 0 };
			file.bytes[i] = (char)(saved ^ (1 << bit));
			enum hd_status status = copy(file.bytes, file.size, &got, &err);
			CU_ASSERT(status == HD_OK || status == HD_ERR_FORMAT ||
				  status == HD_ERR_UNSUPPORTED);
			CU_ASSERT(status == HD_OK || err.message[0]);
			copied += status == HD_OK;
			refused += status != HD_OK;
			text_deinit(&got);
		}
		file.bytes[i] = saved;
	}
	CU_ASSERT(copied > 100 && refused > 100);
	text_deinit(&file);
}

TEST(a_bad_child_is_named)
{
	struct text file = make_file(&abouts[0], false), got = { 0 };
	/* The record of node 0: type 1, 5 children, the first of them 2 nodes on. */
	static const char record[] = { 0x02, 0x05, 0x02, 0x02, 0x00, 0x03, 0x01 };
	char *at = memmem(file.bytes, file.size, record, sizeof(record));
	REQUIRE(at);
	at[5] = 4; /* there are 4 nodes */
	struct hd_error err = { 0 };
	ASSERT_UINT(copy(file.bytes, file.size, &got, &err), HD_ERR_FORMAT);
	CU_ASSERT(strstr(err.message, "node 0 is damaged") != NULL);
	ASSERT_UINT(err.address, (uint64_t)(at - file.bytes));
	at[5] = 3;
	at[0] = 0x7e; /* no such type */
	ASSERT_UINT(copy(file.bytes, file.size, &got, &err), HD_ERR_FORMAT);
	CU_ASSERT(strstr(err.message, "node 0 is damaged") != NULL);
	ASSERT_UINT(got.size, 0);
	text_deinit(&got);
	text_deinit(&file);
}

TEST(other_formats_are_refused)
{
	static const char *const others[] = { "", "a 2 x\nc x\n", "\x14", "!FastSerialization.1" };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct text got = { 0 };
		struct hd_error err = { 0 };
		ASSERT_UINT(copy(others[i], strlen(others[i]), &got, &err), HD_ERR_UNSUPPORTED);
		CU_ASSERT(strstr(err.message, "neither a .gcdump nor a .nettrace") != NULL);
		ASSERT_UINT(got.size, 0);
	}
	const struct format_options options = { 0 };
	ASSERT_UINT(gcdump_copy(&(struct dump_input){ .path = "/nonexistent/file", .fd = -1 },
				&options, NULL, take, NULL, NULL),
		    HD_ERR_OS);
}

static enum hd_status copy_file(const void *what, struct job *job, format_write_fn write, void *arg,
				struct hd_error *err)
{
	const struct dump_file *file = what;
	const struct format_options options = { 0 };
	return gcdump_copy(&(struct dump_input){ .path = file->path, .fd = -1 }, &options, job,
			   write, arg, err);
}

TEST(copying_stops_when_nobody_takes_more)
{
	struct text file = dump_source_file(fixtures[0]);
	struct dump_file opened;
	dump_file_make(&opened, file.bytes, file.size);
	check_refused_pieces(&(struct writing){ copy_file, &opened }, 1);
	dump_file_close(&opened);
	text_deinit(&file);
}

TEST(each_failed_allocation_is_reported)
{
	struct text file = dump_source_file(fixtures[0]);
	struct dump_file opened;
	dump_file_make(&opened, file.bytes, file.size);
	check_failed_allocations(&(struct writing){ copy_file, &opened }, 7);
	dump_file_close(&opened);
	text_deinit(&file);
}

SUITE(.name = "gcdump copy")
