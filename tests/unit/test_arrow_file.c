/* SPDX-License-Identifier: MIT */
/* Streams of Arrow that cannot be written; whole ones are read by tests/cli/arrow_file.py. */
#include "format/columns/arrow_file.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "support/writer_checks.h"
#include "util/text.h"

static const struct field_text fruits[] = { { "apple", 5 }, { "pear", 4 } };
static const uint64_t weights[] = { 100, UINT64_MAX };
static const struct field_dictionary fruit = { .texts = fruits, .count = 2 };
static const struct field_dictionary weight = { .numbers = weights, .count = 2 };
static const struct field fields[] = {
	{ .name = "number", .type = FIELD_UNSIGNED },
	{ .name = "real", .type = FIELD_REAL, .is_optional = true },
	{ .name = "flag", .type = FIELD_BOOL },
	{ .name = "fruit", .type = FIELD_TEXT, .dictionary = &fruit },
	{ .name = "weight", .type = FIELD_UNSIGNED, .dictionary = &weight },
	{ .name = "text", .type = FIELD_TEXT, .is_optional = true },
};
static const struct field_table table = {
	.name = "made", .fields = fields, .count = 6, .command = "test", .lacks = "half of it"
};

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
		{ .indices = indices },
		{ .ends = ends, .text = "hello", .validity = validity, .null_count = 1 },
	};
	const struct field_target target = { .write = write, .arg = arg, .job = job, .err = err };
	struct arrow_file *file = NULL;
	(void)what;
	TRY(arrow_file_begin(&table, &target, &file));
	enum hd_status status = arrow_file_rows(file, values, 3);
	if (status == HD_OK)
		status = arrow_file_rows(file, values, 0);
	if (status == HD_OK)
		status = arrow_file_rows(file, values, 2);
	return arrow_file_end(file, status);
}

static bool keep(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

TEST(writing_ends_when_nobody_takes_more)
{
	check_refused_pieces(&(struct writing){ write_made, NULL }, 20);
}

TEST(writing_can_be_cancelled)
{
	check_cancelling(&(struct writing){ write_made, NULL }, 20);
}

TEST(failed_allocations_are_reported)
{
	check_failed_allocations(&(struct writing){ write_made, NULL }, 6);
}

TEST(messages_begin_at_multiples_of_eight)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct hd_error err = { 0 };
	unsigned int messages = 0;
	ASSERT_UINT(write_made(NULL, NULL, keep, &text, &err), HD_OK);
	for (size_t i = 0; i + 8 <= text.size; i += 8)
		messages += memcmp(text.bytes + i, "\xff\xff\xff\xff", 4) == 0;
	/* A schema, a dictionary, two batches, the end; and a weight in each batch, whose bits are all set. */
	CU_ASSERT(text.size % 8 == 0 && messages >= 5);
	CU_ASSERT(memcmp(text.bytes + text.size - 8, "\xff\xff\xff\xff\0\0\0\0", 8) == 0);
}

TEST(a_dictionary_that_is_too_large_is_refused)
{
	static const struct field_text names[] = { { "", 1 }, { "", INT32_MAX } };
	static const struct field_dictionary large = { .texts = names, .count = 2 };
	const struct field field = { .name = "names", .type = FIELD_TEXT, .dictionary = &large };
	const struct field_table one = {
		.name = "made", .fields = &field, .count = 1, .command = "test"
	};
	struct hd_error err = { 0 };
	HD_CLEANUP(text) struct text text = { 0 };
	const struct field_target target = { .write = keep, .arg = &text, .err = &err };
	struct arrow_file *file = NULL;
	ASSERT_UINT(arrow_file_begin(&one, &target, &file), HD_ERR_UNSUPPORTED);
	CU_ASSERT(strstr(err.message, "the column names take 2 GB") != NULL);
}

SUITE(.name = "arrow file")
