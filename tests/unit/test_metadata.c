/* SPDX-License-Identifier: MIT */
#include "metadata/metadata.h"
#include "support/assert_more.h"
#include "support/metadata_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define HEADER_SIZE 0x90u /* enough of it that each byte of a header is cut once */

static struct metadata *read_maker(const struct metadata_maker *maker)
{
	uint32_t size;
	uint8_t *bytes = maker_finish_mem(maker, &size);
	struct metadata *metadata = NULL;
	struct hd_error err = { 0 };
	if (metadata_create(bytes, size, &metadata, &err) != HD_OK)
		(void)fprintf(stderr, "%s\n", err.message);
	REQUIRE(metadata);
	return metadata;
}

static const char *name_at(const struct metadata *metadata, enum md_table table, uint32_t rid,
			   unsigned int column)
{
	return metadata_string(metadata, metadata_column(metadata, table, rid, column));
}

/* One row of each table that is read, around those whose columns have every kind of width. */
static void fill(struct metadata_maker *maker)
{
	uint32_t mvid = maker_guid(maker, 0xab);
	MAKER_ROW(maker, MD_MODULE, 0, maker_string(maker, "m.dll"), mvid, 0, 0);
	maker_type_ref(maker, "System", "Object");
	maker_type(maker, "", "<Module>");
	maker_type(maker, "Ns", "Outer");
	maker_field(maker, 1, "first", "\x08", 1);
	maker_field(maker, 2, "second", "\x0e", 1);
	maker_method(maker, "Run");
	maker_type(maker, "", "Empty");
	maker_type(maker, "", "Inner");
	maker_field(maker, 3, "third", "\x1c", 1);
	maker_method(maker, "Walk");
	maker_method(maker, "Sit");
	maker_nest(maker, 4, 2);
	MAKER_ROW(maker, MD_ASSEMBLY, 0x8004, 1, 2, 3, 4, 0, 0, maker_string(maker, "asm"), 0);
	MAKER_ROW(maker, MD_CONSTANT, 0x08, 2 << 2, maker_blob(maker, "\x2a\0\0\0", 4));
	MAKER_ROW(maker, MD_GENERIC_PARAM, 1, 2, 2 << 1, maker_string(maker, "TKey"));
}

static void check_filled(const struct metadata *metadata)
{
	ASSERT_TEXT(name_at(metadata, MD_MODULE, 1, 1), "m.dll");
	ASSERT_TEXT(name_at(metadata, MD_TYPE_REF, 1, 1), "Object");
	ASSERT_TEXT(name_at(metadata, MD_TYPE_REF, 1, 2), "System");
	ASSERT_UINT(metadata->tables[MD_TYPE_DEF].rows, 4);
	ASSERT_TEXT(name_at(metadata, MD_TYPE_DEF, 2, 1), "Outer");
	ASSERT_TEXT(name_at(metadata, MD_TYPE_DEF, 2, 2), "Ns");
	ASSERT_UINT(metadata_column(metadata, MD_TYPE_DEF, 4, 4), 3);
	ASSERT_UINT(metadata_column(metadata, MD_FIELD, 3, 0), 3);
	ASSERT_TEXT(name_at(metadata, MD_FIELD, 3, 1), "third");
	ASSERT_TEXT(name_at(metadata, MD_METHOD, 2, 3), "Walk");
	ASSERT_TEXT(name_at(metadata, MD_ASSEMBLY, 1, 7), "asm");
	ASSERT_UINT(metadata_column(metadata, MD_ASSEMBLY, 1, 4), 4);
	ASSERT_UINT(metadata_column(metadata, MD_CONSTANT, 1, 1), 2 << 2);
	ASSERT_TEXT(name_at(metadata, MD_GENERIC_PARAM, 1, 3), "TKey");
	ASSERT_UINT(metadata_enclosing(metadata, 4), 2);
	ASSERT_UINT(metadata_enclosing(metadata, 2), 0);
	ASSERT_UINT(metadata_enclosing(metadata, 99), 0);
	uint32_t size;
	const uint8_t *blob =
		metadata_blob(metadata, metadata_column(metadata, MD_CONSTANT, 1, 2), &size);
	REQUIRE(blob);
	ASSERT_UINT(size, 4);
	ASSERT_UINT(blob[0], 42);
	const uint8_t *mvid = metadata_mvid(metadata);
	REQUIRE(mvid);
	CU_ASSERT(mvid[0] == 0xab && mvid[15] == 0xab);
}

static void check_widths(void (*set)(struct metadata_maker *maker))
{
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	set(&maker);
	struct metadata *metadata = read_maker(&maker);
	check_filled(metadata);
	metadata_destroy(metadata);
	maker_deinit(&maker);
}

static void set_plain(struct metadata_maker *maker)
{
	(void)maker;
}

static void set_strings(struct metadata_maker *maker)
{
	maker->wide_strings = true;
}

static void set_blobs(struct metadata_maker *maker)
{
	maker->wide_blobs = maker->extra = true;
}

static void set_guids(struct metadata_maker *maker)
{
	maker->wide_guids = true;
}

static void set_delta(struct metadata_maker *maker)
{
	maker->is_delta = maker->is_uncompressed = true;
}

/* 16,384 rows make TypeDefOrRef (2 bits of tag) wide, and ResolutionScope. */
static void set_many_references(struct metadata_maker *maker)
{
	while (maker->tables[MD_TYPE_REF].rows < 16384)
		maker_type_ref(maker, "", "Many");
}

/* 65,536 rows make a plain index wide: TypeDef's list of fields. */
static void set_many_fields(struct metadata_maker *maker)
{
	while (maker->tables[MD_FIELD].rows < 65536)
		maker_field(maker, 0, "many", "\x08", 1);
}

TEST(test_widths)
{
	check_widths(set_plain);
	check_widths(set_strings);
	check_widths(set_blobs);
	check_widths(set_guids);
	check_widths(set_delta);
	check_widths(set_many_references);
	check_widths(set_many_fields);
}

TEST(test_owners)
{
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	struct metadata *metadata = read_maker(&maker);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 1), 2);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 2), 2);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 3), 4);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 0), 0);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 4), 0);
	ASSERT_UINT(metadata_owner(metadata, MD_METHOD, 1), 2);
	ASSERT_UINT(metadata_owner(metadata, MD_METHOD, 3), 4);
	uint32_t end;
	ASSERT_UINT(metadata_members(metadata, MD_FIELD, 2, &end), 1);
	ASSERT_UINT(end, 3);
	uint32_t begin = metadata_members(metadata, MD_FIELD, 3, &end);
	ASSERT_UINT(begin, end);
	ASSERT_UINT(metadata_members(metadata, MD_METHOD, 4, &end), 2);
	ASSERT_UINT(end, 4);
	begin = metadata_members(metadata, MD_METHOD, 5, &end);
	ASSERT_UINT(begin, end);
	ASSERT_UINT(metadata_member(metadata, MD_FIELD, 2), 2);
	ASSERT_UINT(metadata_member(metadata, MD_FIELD, 9), 0);
	metadata_destroy(metadata);
	maker_deinit(&maker);
}

/* In #- the lists of TypeDef lead through FieldPtr and MethodPtr. */
TEST(test_pointer_tables)
{
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	maker.is_uncompressed = true;
	MAKER_ROW(&maker, MD_FIELD_PTR, 3);
	MAKER_ROW(&maker, MD_FIELD_PTR, 1);
	MAKER_ROW(&maker, MD_FIELD_PTR, 2);
	struct metadata *metadata = read_maker(&maker);
	CU_ASSERT(metadata->has_pointer_tables);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 3), 2);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 1), 2);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 2), 4);
	ASSERT_UINT(metadata_member(metadata, MD_FIELD, 1), 3);
	/* without MethodPtr rows methods are in order */
	ASSERT_UINT(metadata_owner(metadata, MD_METHOD, 3), 4);
	uint32_t end;
	ASSERT_UINT(metadata_members(metadata, MD_FIELD, 4, &end), 3);
	ASSERT_UINT(end, 4);
	metadata_destroy(metadata);
	maker_deinit(&maker);
}

TEST(pointer_tables_may_repeat_rows_or_lead_nowhere)
{
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	maker.is_uncompressed = true;
	MAKER_ROW(&maker, MD_FIELD_PTR, 2);
	MAKER_ROW(&maker, MD_FIELD_PTR, 0xffff);
	MAKER_ROW(&maker, MD_FIELD_PTR, 2);
	MAKER_ROW(&maker, MD_FIELD_PTR, 0);
	struct metadata *metadata = read_maker(&maker);
	/* The first one counts. */
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 2), 2);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 1), 0);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 3), 0);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 4), 0);
	ASSERT_UINT(metadata_owner(metadata, MD_FIELD, 0xffff), 0);
	metadata_destroy(metadata);
	maker_deinit(&maker);
}

#define MANY 60000u

/* A search from row to row would take many seconds here. */
TEST(owners_of_many_methods_are_found_through_pointers)
{
	struct metadata_maker maker;
	maker_init(&maker);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "Ns", "Worker");
	maker.is_uncompressed = true;
	for (uint32_t i = 0; i < MANY; i++) {
		MAKER_ROW(&maker, MD_METHOD, 0, 0, 0, 0, 0, 1);
		MAKER_ROW(&maker, MD_METHOD_PTR, MANY - i);
	}
	struct metadata *metadata = read_maker(&maker);
	for (uint32_t i = 1; i <= MANY; i++)
		ASSERT_UINT(metadata_owner(metadata, MD_METHOD, i), 2);
	metadata_destroy(metadata);
	maker_deinit(&maker);
}

TEST(test_out_of_bounds)
{
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	struct metadata *metadata = read_maker(&maker);
	ASSERT_UINT(metadata_column(metadata, MD_TYPE_DEF, 0, 1), 0);
	ASSERT_UINT(metadata_column(metadata, MD_TYPE_DEF, 5, 1), 0);
	ASSERT_UINT(metadata_column(metadata, MD_TYPE_DEF, 1, 6), 0);
	ASSERT_UINT(metadata_column(metadata, MD_TABLE_COUNT, 1, 0), 0);
	ASSERT_UINT(metadata_column(metadata, MD_EXPORTED_TYPE, 1, 0), 0);
	ASSERT_TEXT(metadata_string(metadata, 1u << 30), "");
	ASSERT_TEXT(metadata_string(metadata, UINT32_MAX), "");
	uint32_t size = 1;
	CU_ASSERT(!metadata_blob(metadata, UINT32_MAX, &size));
	ASSERT_UINT(size, 0);
	/* a string without its NUL, a blob longer than its heap */
	metadata->strings.size -= 4;
	while (metadata->bytes[metadata->strings.offset + metadata->strings.size - 1] == 0)
		metadata->strings.size--;
	ASSERT_TEXT(metadata_string(metadata, metadata->strings.size - 1), "");
	metadata->bytes[metadata->blobs.offset] = 0x7f;
	CU_ASSERT(!metadata_blob(metadata, 0, &size));
	metadata_destroy(metadata);
	maker_deinit(&maker);
	metadata_destroy(NULL);
}

/* Examples of II.23.2. */
TEST(test_compressed)
{
	static const struct {
		uint8_t bytes[4];
		uint32_t size, value;
	} good[] = {
		{ { 0x03 }, 1, 0x03 },
		{ { 0x7f }, 1, 0x7f },
		{ { 0x80, 0x80 }, 2, 0x80 },
		{ { 0xae, 0x57 }, 2, 0x2e57 },
		{ { 0xbf, 0xff }, 2, 0x3fff },
		{ { 0xc0, 0x00, 0x40, 0x00 }, 4, 0x4000 },
		{ { 0xdf, 0xff, 0xff, 0xff }, 4, 0x1fffffff },
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const uint8_t *at = good[i].bytes;
		uint32_t value = 0;
		CU_ASSERT(metadata_compressed(&at, good[i].bytes + good[i].size, &value));
		ASSERT_UINT(value, good[i].value);
		CU_ASSERT(at == good[i].bytes + good[i].size);
		at = good[i].bytes;
		CU_ASSERT(!metadata_compressed(&at, good[i].bytes + good[i].size - 1, &value));
		CU_ASSERT(at == good[i].bytes);
	}
	static const uint8_t bad[] = { 0xe0, 0, 0, 0 };
	const uint8_t *at = bad;
	uint32_t value;
	CU_ASSERT(!metadata_compressed(&at, bad + sizeof(bad), &value));
}

/* Read @p size bytes with one word changed; all that can be asked is, whatever comes. */
static void read_changed(const uint8_t *bytes, uint32_t size, size_t offset, uint32_t value)
{
	uint8_t *copy = mem_alloc(size ? size : 1, 1);
	REQUIRE(copy);
	memcpy(copy, bytes, size);
	if (offset + 4 <= size)
		memcpy(copy + offset, &value, 4);
	struct metadata *metadata = NULL;
	struct hd_error err = { 0 };
	enum hd_status status = metadata_create(copy, size, &metadata, &err);
	ASSERT_UINT(metadata != NULL, status == HD_OK);
	ASSERT_UINT(err.status, status);
	if (!metadata)
		return;
	for (unsigned int t = 0; t < MD_TABLE_COUNT; t++) {
		for (unsigned int column = 0; column < MD_COLUMNS_MAX; column++) {
			enum md_table table = (enum md_table)t;
			uint32_t cell = metadata_column(metadata, table, 1, column), length;
			(void)metadata_string(metadata, cell);
			(void)metadata_blob(metadata, cell, &length);
			(void)metadata_column(metadata, table, metadata->tables[t].rows, column);
		}
	}
	uint32_t end;
	(void)metadata_mvid(metadata);
	(void)metadata_owner(metadata, MD_FIELD, 1);
	(void)metadata_owner(metadata, MD_METHOD, 1);
	uint32_t begin = metadata_members(metadata, MD_FIELD, 2, &end);
	CU_ASSERT(begin <= end && end <= metadata->size);
	metadata_destroy(metadata);
}

TEST(test_damage)
{
	static const uint32_t values[] = { 0, 1, 0xff, 0xffff, 0xffffff, 0x7fffffff, 0xffffffff };
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	uint32_t size;
	uint8_t *bytes = maker_finish(&maker, &size);
	for (uint32_t cut = 0; cut < size; cut++)
		read_changed(bytes, cut, UINT32_MAX, 0);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (size_t offset = 0; offset < size; offset++)
			read_changed(bytes, size, offset, values[i]);
	}
	free(bytes);
	maker_deinit(&maker);
}

TEST(test_errors_say_what)
{
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	uint32_t size;
	uint8_t *bytes = maker_finish_mem(&maker, &size);
	struct metadata *metadata = NULL;
	struct hd_error err = { 0 };
	bytes[0] = 'X';
	ASSERT_UINT(metadata_create(bytes, size, &metadata, &err), HD_ERR_FORMAT);
	ASSERT_TEXT(err.message, "no metadata root (BSJB) here");
	/* more rows than there is room for */
	bytes = maker_finish_mem(&maker, &size);
	uint32_t rows = 0x00ffffff;
	size_t tables = 0;
	memcpy(&tables, bytes + 32, 4);
	memcpy(bytes + tables + 24, &rows, 4);
	ASSERT_UINT(metadata_create(bytes, size, &metadata, &err), HD_ERR_FORMAT);
	ASSERT_TEXT(err.message, "metadata table 0x0: rows cut off");
	CU_ASSERT(!metadata);
	maker_deinit(&maker);
}

TEST(test_no_memory)
{
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	bool failed = true;
	for (uint64_t nth = 1; failed; nth++) {
		uint32_t size;
		uint8_t *bytes = maker_finish_mem(&maker, &size);
		struct metadata *metadata = NULL;
		alloc_fail_at(nth);
		enum hd_status status = metadata_create(bytes, size, &metadata, NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		metadata_destroy(metadata);
	}
	maker_deinit(&maker);
}

SUITE(.name = "metadata")
