/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/native_format.h"
#include "support/native_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define ADDRESS ((uint64_t)0x7f5000000ffd)

TEST(numbers_of_all_sizes_are_read)
{
	static const uint32_t numbers[] = { 0,         1,          127,       128,
					    16383,     16384,      2097151,   2097152,
					    0xfffffff, 0x10000000, UINT32_MAX };
	static const int32_t with_sign[] = {
		0, -1, 63, 64, -64, -65, 8191, -8193, 1048575, -1048577, 1 << 28, INT32_MIN + 1
	};
	struct native_maker maker = { .size = 0 };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		native_put(&maker, numbers[i]);
	for (size_t i = 0; i < sizeof(with_sign) / sizeof(with_sign[0]); i++)
		native_put_signed(&maker, with_sign[i]);
	struct native_blob blob = native_blob_of(&maker);
	struct native_cursor cursor = native_cursor_at(&blob, 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		CU_ASSERT_EQUAL(native_unsigned(&cursor), numbers[i]);
	for (size_t i = 0; i < sizeof(with_sign) / sizeof(with_sign[0]); i++)
		CU_ASSERT_EQUAL(native_signed(&cursor), with_sign[i]);
	CU_ASSERT_FALSE(cursor.is_bad);
	CU_ASSERT_EQUAL(native_left(&cursor), 0);
	native_blob_deinit(&blob);
}

TEST(a_number_beyond_the_end_is_bad_and_stays_so)
{
	static const uint8_t firsts[] = { 0x01, 0x03, 0x07, 0x0f, 0x1f };
	for (size_t i = 0; i < sizeof(firsts); i++) {
		struct native_maker maker = { .size = 0 };
		native_put_u8(&maker, firsts[i]);
		struct native_blob blob = native_blob_of(&maker);
		struct native_cursor cursor = native_cursor_at(&blob, 0);
		CU_ASSERT_EQUAL(native_unsigned(&cursor), 0);
		CU_ASSERT_TRUE(cursor.is_bad);
		CU_ASSERT_EQUAL(native_u8(&cursor), 0);
		CU_ASSERT_EQUAL(native_left(&cursor), 0);
		native_blob_deinit(&blob);
	}
}

TEST(a_blob_has_only_the_bytes_of_the_target)
{
	struct fake_memory memory;
	struct native_blob blob = { .size = 0 };
	struct hd_error err;
	fake_memory_init(&memory);
	fake_map(&memory, ADDRESS, 100);
	CU_ASSERT_EQUAL(native_blob_read(&memory.memory, ADDRESS, UINT64_MAX, &blob, &err), HD_OK);
	CU_ASSERT_EQUAL(blob.size, 100);
	CU_ASSERT_TRUE(blob.is_cut);
	native_blob_deinit(&blob);
	CU_ASSERT_EQUAL(native_blob_read(&memory.memory, ADDRESS, 100, &blob, &err), HD_OK);
	CU_ASSERT_FALSE(blob.is_cut);
	native_blob_deinit(&blob);
	CU_ASSERT_EQUAL(native_blob_read(&memory.memory, 0, 0, &blob, &err), HD_OK);
	CU_ASSERT_FALSE(blob.is_cut);
	CU_ASSERT_TRUE(native_cursor_at(&blob, 1).is_bad);
	alloc_fail_at(1);
	CU_ASSERT_EQUAL(native_blob_read(&memory.memory, ADDRESS, 100, &blob, &err), HD_ERR_NOMEM);
	alloc_fail_at(0);
	fake_memory_deinit(&memory);
}

TEST(a_relative_address_counts_from_where_it_lies)
{
	struct native_maker maker = { .size = 0 };
	struct fake_memory memory;
	struct native_blob blob = { .size = 0 };
	struct hd_error err;
	fake_memory_init(&memory);
	native_put_u8(&maker, 0);
	native_put_u32(&maker, (uint32_t)-16);
	native_map(&maker, &memory, ADDRESS);
	CU_ASSERT_EQUAL(native_blob_read(&memory.memory, ADDRESS, 5, &blob, &err), HD_OK);
	struct native_cursor cursor = native_cursor_at(&blob, 1);
	CU_ASSERT_EQUAL(native_relative(&cursor), ADDRESS + 1 - 16);
	native_blob_deinit(&blob);
	fake_memory_deinit(&memory);
}

TEST(all_entries_of_a_hash_table_are_visited)
{
	struct native_hash_maker entries = { .count = 0 };
	struct native_maker table;
	for (uint32_t i = 0; i < 50; i++) {
		native_hash_entry(&entries);
		native_put(&entries.entries, 1000 * i);
	}
	native_hash_make(&entries, &table);
	struct native_blob blob = native_blob_of(&table);
	struct native_hash hash;
	struct native_cursor entry;
	uint32_t count = 0;
	CU_ASSERT_TRUE(native_hash_begin(&blob, &hash));
	while (native_hash_next(&hash, &entry)) {
		CU_ASSERT_EQUAL(native_unsigned(&entry), 1000 * count);
		count++;
	}
	CU_ASSERT_EQUAL(count, 50);
	native_blob_deinit(&blob);
}

TEST(buckets_that_overlap_are_visited_once)
{
	/* Four buckets of a table of 4 bytes of offsets and an entry: the third goes back. */
	static const uint8_t bytes[] = { 2 << 2, 5, 9, 5, 9, 9, 0, 0x02, 0, 0x02, 0 };
	struct native_maker maker = { .size = 0 };
	for (size_t i = 0; i < sizeof(bytes); i++)
		native_put_u8(&maker, bytes[i]);
	struct native_blob blob = native_blob_of(&maker);
	struct native_hash hash;
	struct native_cursor entry;
	unsigned int count = 0;
	CU_ASSERT_TRUE(native_hash_begin(&blob, &hash));
	while (native_hash_next(&hash, &entry))
		count++;
	CU_ASSERT_EQUAL(count, 2);
	native_blob_deinit(&blob);
}

TEST(a_hash_table_without_a_head_is_refused)
{
	static const uint8_t heads[] = { 3, 25 << 2, 24 << 2 };
	struct native_hash hash;
	struct native_cursor entry;
	for (size_t i = 0; i < sizeof(heads); i++) {
		struct native_maker maker = { .size = 0 };
		native_put_u8(&maker, heads[i]);
		native_put_u8(&maker, 1);
		struct native_blob blob = native_blob_of(&maker);
		CU_ASSERT_FALSE(native_hash_begin(&blob, &hash) && native_hash_next(&hash, &entry));
		native_blob_deinit(&blob);
	}
	struct native_blob none = { .size = 0 };
	CU_ASSERT_FALSE(native_hash_begin(&none, &hash));
}

SUITE(.name = "native_format")
