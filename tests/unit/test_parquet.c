/* SPDX-License-Identifier: MIT */
/* Encodings of Parquet, taken apart again; whole files are read by tests/cli/parquet_file.py. */
#include "format/columns/parquet.h"
#include "format/columns/parquet_encode.h"
#include "format/columns/thrift.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "support/writer_checks.h"

#define COUNT 1500u

/* An encoded text that is read; an end that is not there fails the test. */
struct reader {
	const struct text *text;
	size_t at;
};

static unsigned int read_byte(struct reader *reader)
{
	CU_ASSERT_FATAL(reader->at < reader->text->size);
	return (uint8_t)reader->text->bytes[reader->at++];
}

static uint64_t read_varint(struct reader *reader)
{
	uint64_t value = 0;
	unsigned int byte, shift = 0;
	do {
		byte = read_byte(reader);
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static int64_t read_signed(struct reader *reader)
{
	uint64_t value = read_varint(reader);
	return (int64_t)(value >> 1 ^ -(value & 1));
}

/* Number @p index of those that are packed with @p width bits each at @p from. */
static uint64_t unpacked(const struct text *text, size_t from, size_t index, unsigned int width)
{
	uint64_t value = 0;
	for (unsigned int i = 0; i < width; i++) {
		size_t bit = index * width + i;
		CU_ASSERT_FATAL(from + bit / 8 < text->size);
		value |= (uint64_t)((uint8_t)text->bytes[from + bit / 8] >> bit % 8 & 1) << i;
	}
	return value;
}

static void check_hybrid(const uint32_t *values, size_t count, unsigned int width)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct reader reader = { .text = &text };
	encode_hybrid(&text, values, count, width);
	for (size_t i = 0; i < count;) {
		uint64_t header = read_varint(&reader);
		size_t many = header & 1 ? (size_t)(header >> 1) * 8 : (size_t)(header >> 1);
		CU_ASSERT_FATAL(many > 0 && i + many < count + 8);
		for (size_t k = 0; k < many && i + k < count; k++) {
			size_t index = header & 1 ? k : 0;
			unsigned int bits = header & 1 ? width : (width + 7) / 8 * 8;
			ASSERT_UINT(unpacked(&text, reader.at, index, bits), values[i + k]);
		}
		reader.at += header & 1 ? many / 8 * width : (width + 7) / 8;
		i += many;
	}
	ASSERT_UINT(reader.at, text.size);
}

/* Numbers that repeat themselves as often as they like: the same ones each time. */
static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

TEST(numbers_of_few_bits_are_runs_and_groups)
{
	static const uint32_t few[] = { 1, 2, 3 };
	uint32_t values[COUNT];
	for (unsigned int width = 1; width <= 32; width++) {
		uint32_t mask = (uint32_t)(((uint64_t)1 << width) - 1);
		for (unsigned int stay = 1; stay < 40; stay += 3) {
			uint64_t state = width;
			for (size_t i = 0; i < COUNT; i++) {
				bool is_new = !i || next_random(&state) % stay == 0;
				values[i] = is_new ? next_random(&state) & mask : values[i - 1];
			}
			check_hybrid(values, COUNT - stay, width);
		}
	}
	check_hybrid(few, 3, 2);
	check_hybrid(few, 0, 2);
	memset(values, 0xff, sizeof(values));
	check_hybrid(values, COUNT, 32);
	check_hybrid(values, 8, 32);
	check_hybrid(values, 7, 32);
}

TEST(a_run_takes_a_few_bytes)
{
	static uint32_t values[100000];
	HD_CLEANUP(text) struct text text = { 0 };
	encode_hybrid(&text, values, 100000, 17);
	ASSERT_UINT(text.size, 3 + 3);
}

TEST(a_width_holds_all_indices)
{
	ASSERT_UINT(encode_width(0), 1);
	ASSERT_UINT(encode_width(1), 1);
	ASSERT_UINT(encode_width(2), 1);
	ASSERT_UINT(encode_width(3), 2);
	ASSERT_UINT(encode_width(256), 8);
	ASSERT_UINT(encode_width(257), 9);
	ASSERT_UINT(encode_width(UINT32_MAX), 32);
}

static void check_deltas(const uint64_t *values, size_t count)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct reader reader = { .text = &text };
	encode_deltas(&text, values, count);
	uint64_t block = read_varint(&reader), parts = read_varint(&reader);
	CU_ASSERT_FATAL(block % 128 == 0 && parts && block / parts % 32 == 0);
	ASSERT_UINT(read_varint(&reader), count);
	uint64_t value = (uint64_t)read_signed(&reader);
	if (count)
		ASSERT_UINT(value, values[0]);
	for (size_t i = 1; i < count;) {
		uint64_t least = (uint64_t)read_signed(&reader);
		size_t widths = reader.at;
		reader.at += parts;
		for (size_t part = 0; part < parts && i < count; part++) {
			unsigned int width = (uint8_t)text.bytes[widths + part];
			for (size_t k = 0; k < block / parts && i < count; k++, i++) {
				value += least + unpacked(&text, reader.at, k, width);
				ASSERT_UINT(value, values[i]);
			}
			reader.at += block / parts * width / 8;
		}
	}
	ASSERT_UINT(reader.at, text.size);
}

TEST(numbers_are_told_by_their_differences)
{
	static const uint64_t far[] = { 0, UINT64_MAX, 0, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX,
					1, UINT64_MAX };
	uint64_t values[COUNT];
	for (unsigned int width = 0; width <= 64; width++) {
		uint64_t state = width, mask = width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
		for (size_t i = 0; i < COUNT; i++) {
			uint64_t number = (uint64_t)next_random(&state) << 40 ^
					  (uint64_t)next_random(&state) << 20 ^ next_random(&state);
			values[i] = 0x7f0000000000 + (number & mask);
		}
		check_deltas(values, COUNT - width * 7);
	}
	for (size_t i = 0; i <= sizeof(far) / sizeof(far[0]); i++)
		check_deltas(far, i);
	for (size_t i = 0; i < COUNT; i++)
		values[i] = i * 24;
	check_deltas(values, COUNT);
	check_deltas(values, 257);
	check_deltas(values, 258);
}

TEST(rows_with_values_are_a_run_or_bits)
{
	static const uint8_t validity[] = { 0xff, 0x0f, 0x81 };
	const struct field_values all = { .null_count = 0 };
	const struct field_values some = { .validity = validity, .null_count = 6 };
	HD_CLEANUP(text) struct text text = { 0 };
	encode_levels(&text, &all, 0, 1000);
	ASSERT_UINT(text.size, 4 + 3);
	CU_ASSERT(memcmp(text.bytes, "\3\0\0\0\xd0\x0f\1", 7) == 0);
	text.size = 0;
	encode_levels(&text, &some, 8, 16);
	ASSERT_UINT(text.size, 4 + 3);
	CU_ASSERT(memcmp(text.bytes, "\3\0\0\0\5\x0f\x81", 7) == 0);
}

TEST(fields_of_thrift_tell_their_distance)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct thrift thrift = { .to = &text };
	thrift_i32(&thrift, 1, -1);
	thrift_i64(&thrift, 3, INT64_MIN);
	thrift_list(&thrift, 4, THRIFT_I32, 16);
	for (int i = 0; i < 16; i++)
		thrift_list_i32(&thrift, 0);
	thrift_struct(&thrift, 7);
	thrift_bool(&thrift, 1, true);
	thrift_bool(&thrift, 2, false);
	thrift_end(&thrift);
	thrift_i8(&thrift, 8, 64);
	thrift_binary(&thrift, 15, "ab", 2);
	thrift_end(&thrift);
	static const char wanted[] = "\x15\1"
				     "\x26\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"
				     "\x19\xf5\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				     "\x3c\x11\x12\0"
				     "\x13\x40"
				     "\x78\2ab";
	ASSERT_UINT(text.size, sizeof(wanted));
	CU_ASSERT(memcmp(text.bytes, wanted, sizeof(wanted)) == 0);
}

static const struct field_text fruits[] = { { "apple", 5 }, { "pear", 4 } };
static const struct field_dictionary fruit = { .texts = fruits, .count = 2 };
static const struct field fields[] = {
	{ .name = "number", .type = FIELD_UNSIGNED, .is_near = true },
	{ .name = "real", .type = FIELD_REAL, .is_optional = true },
	{ .name = "flag", .type = FIELD_BOOL },
	{ .name = "fruit", .type = FIELD_TEXT, .dictionary = &fruit },
	{ .name = "text", .type = FIELD_TEXT, .is_optional = true },
};
static const struct field_table table = {
	.name = "made", .fields = fields, .count = 5, .command = "test", .lacks = "half of it"
};

/* A file of two groups, in either form. */
static enum hd_status write_made(const void *what, struct job *job, format_write_fn write,
				 void *arg, struct hd_error *err)
{
	static const uint64_t words[] = { 1, 0, 3 };
	static const uint32_t indices[] = { 1, 0, 1 };
	static const int32_t ends[] = { 0, 2, 2, 5 };
	static const uint8_t validity[] = { 5 };
	const struct field_values values[] = {
		{ .words = words },
		{ .words = words, .validity = validity, .null_count = 1 },
		{ .words = words },
		{ .indices = indices },
		{ .ends = ends, .text = "hello", .validity = validity, .null_count = 1 },
	};
	const struct field_target target = {
		.write = write, .arg = arg, .job = job, .err = err, .is_plain = what != NULL
	};
	struct parquet *parquet = NULL;
	TRY(parquet_begin(&table, &target, &parquet));
	enum hd_status status = parquet_rows(parquet, values, 3);
	if (status == HD_OK)
		status = parquet_rows(parquet, values, 0);
	if (status == HD_OK)
		status = parquet_rows(parquet, values, 2);
	return parquet_end(parquet, status);
}

TEST(writing_ends_when_nobody_takes_more)
{
	check_refused_pieces(&(struct writing){ write_made, NULL }, 20);
	check_refused_pieces(&(struct writing){ write_made, "" }, 20);
}

TEST(writing_can_be_cancelled)
{
	check_cancelling(&(struct writing){ write_made, NULL }, 20);
}

TEST(failed_allocations_are_reported)
{
	check_failed_allocations(&(struct writing){ write_made, "" }, 8);
	check_failed_allocations(&(struct writing){ write_made, NULL }, 8);
}

static bool keep(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

TEST(a_file_begins_and_ends_with_its_mark)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct hd_error err = { 0 };
	ASSERT_UINT(write_made("", NULL, keep, &text, &err), HD_OK);
	CU_ASSERT(memcmp(text.bytes, "PAR1", 4) == 0);
	CU_ASSERT(memcmp(text.bytes + text.size - 4, "PAR1", 4) == 0);
	uint32_t size;
	memcpy(&size, text.bytes + text.size - 8, sizeof(size));
	/* Version 1, then the list of six columns and what is above them. */
	CU_ASSERT(memcmp(text.bytes + text.size - 8 - size, "\x15\2\x19\x6c", 4) == 0);
	CU_ASSERT(memmem(text.bytes, text.size, "half of it", 10) != NULL);
	CU_ASSERT(memmem(text.bytes, text.size, "heapdump version ", 17) != NULL);
}

TEST(a_text_that_has_no_place_in_a_page_is_refused)
{
	static const int32_t ends[] = { 0, 5, INT32_MAX };
	static const struct field_text names[] = { { "", 0 }, { "", INT32_MAX } };
	static const struct field_dictionary long_names = { .texts = names, .count = 2 };
	static const uint32_t indices[] = { 0, 1 };
	const struct field columns[] = {
		{ .name = "words", .type = FIELD_TEXT },
		{ .name = "names", .type = FIELD_TEXT, .dictionary = &long_names },
	};
	const struct field_values values[] = { { .ends = ends, .text = "hello" },
					       { .indices = indices } };
	for (size_t i = 0; i < 2; i++) {
		struct hd_error err = { 0 };
		HD_CLEANUP(text) struct text text = { 0 };
		const struct field_table one = {
			.name = "made", .fields = &columns[i], .count = 1, .command = "test"
		};
		const struct field_target target = { .write = keep, .arg = &text, .err = &err };
		struct parquet *parquet = NULL;
		CU_ASSERT_FATAL(parquet_begin(&one, &target, &parquet) == HD_OK);
		enum hd_status status = parquet_rows(parquet, &values[i], 2);
		ASSERT_UINT(parquet_end(parquet, status), HD_ERR_UNSUPPORTED);
		CU_ASSERT(strstr(err.message, i ? "column names is" : "column words is") != NULL);
	}
}

SUITE(.name = "parquet")
