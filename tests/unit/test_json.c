/* SPDX-License-Identifier: MIT */
#include "output/json.h"
#include "support/assert_more.h"
#include "support/suite.h"

static int keep(void *arg, const char *text, size_t size)
{
	text_append(arg, text, size);
	return 0;
}

static void check_real(double value, bool is_single, const char *expected)
{
	struct text got = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = &got, .write = keep };
	struct out out;
	out_init(&out, &sink, 0, false);
	struct json json = { .out = &out };
	json_real(&json, NULL, value, is_single);
	out_flush(&out);
	ASSERT_TEXT(got.bytes, expected);
	out_deinit(&out);
	text_deinit(&got);
}

TEST(reals_read_back_to_the_same_value)
{
	check_real(0.0, false, "0");
	check_real(-0.0, false, "-0.0");
	check_real(-0.0, true, "-0.0");
	check_real(1.5, false, "1.5");
	check_real(0.1, false, "0.1");
	check_real((double)0.1f, true, "0.1");
	check_real(-3, false, "-3");
	check_real(1e300, false, "1e+300");
	check_real((double)__builtin_inff(), false, "\"Infinity\"");
	check_real((double)__builtin_nanf(""), true, "\"NaN\"");
}

/* Keys as long as what is copied in one piece, shorter and longer; of the first member and of others. */
TEST(keys_of_any_length_are_written)
{
	for (size_t length = 1; length < 70; length++) {
		struct text got = { 0 }, expected = { 0 };
		const struct hd_sink sink = { .struct_size = sizeof(sink),
					      .arg = &got,
					      .write = keep };
		struct out out;
		char key[80] = "";
		memset(key, 'k', length);
		key[0] = '<';
		key[length - 1] = '>';
		out_init(&out, &sink, 0, false);
		struct json json = { .out = &out };
		json_object(&json, NULL);
		json_address(&json, key, length);
		json_null(&json, key);
		json_end(&json);
		out_deinit(&out);
		text_printf(&expected, "{\"%s\": \"0x%zx\", \"%s\": null}\n", key, length, key);
		ASSERT_TEXT(got.bytes, expected.bytes);
		text_deinit(&got);
		text_deinit(&expected);
	}
}

TEST(addresses_have_all_their_digits)
{
	for (unsigned int bits = 0; bits <= 64; bits++) {
		uint64_t value = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - (bits % 3 == 0);
		struct text got = { 0 }, expected = { 0 };
		const struct hd_sink sink = { .struct_size = sizeof(sink),
					      .arg = &got,
					      .write = keep };
		struct out out;
		out_init(&out, &sink, 0, false);
		struct json json = { .out = &out };
		json_address(&json, NULL, value);
		out_deinit(&out);
		text_printf(&expected, "\"0x%llx\"", (unsigned long long)value);
		ASSERT_TEXT(got.bytes, expected.bytes);
		text_deinit(&got);
		text_deinit(&expected);
	}
}

SUITE(.name = "json")
