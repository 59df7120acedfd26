/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/native_metadata.h"
#include "support/native_maker.h"
#include "support/suite.h"
#include "util/text.h"

static const unsigned int all_bits[] = { 8, 7 };

/* "A.B.Outer+Inner". */
static void check_chain(const struct native_metadata *metadata, struct native_handle type,
			const char *want)
{
	struct native_chain chain;
	struct text text = { 0 };
	if (native_chain_read(metadata, type, &chain)) {
		for (size_t i = 0; i < chain.namespaces_count; i++) {
			text_append(&text, chain.namespaces[i].bytes, chain.namespaces[i].size);
			text_puts(&text, ".");
		}
		for (size_t i = 0; i < chain.types_count; i++) {
			text_puts(&text, i ? "+" : "");
			text_append(&text, chain.types[i].bytes, chain.types[i].size);
		}
	}
	CU_ASSERT_STRING_EQUAL(text.bytes ? text.bytes : "", want);
	text_deinit(&text);
}

TEST(a_type_has_the_names_of_the_types_and_namespaces_around_it)
{
	for (size_t i = 0; i < 2; i++) {
		struct native_maker maker;
		native_begin(&maker, all_bits[i]);
		struct native_handle scope = { 0x38, 4 };
		uint32_t root = native_namespace(&maker, scope, "");
		uint32_t a = native_namespace(
			&maker, (struct native_handle){ NATIVE_NAMESPACE, root }, "A");
		uint32_t b = native_namespace(&maker, (struct native_handle){ NATIVE_NAMESPACE, a },
					      "B");
		uint32_t outer = native_type(&maker, b, 0, "Outer`1");
		uint32_t inner = native_type(&maker, 0, outer, "Inner");
		uint32_t global = native_type(&maker, root, 0, "Program");
		uint32_t reference = native_type_reference(
			&maker, (struct native_handle){ NATIVE_NAMESPACE_REFERENCE, b }, "Other");
		uint32_t nested = native_type_reference(
			&maker, (struct native_handle){ NATIVE_TYPE_REFERENCE, reference }, "In");
		struct native_metadata metadata = { native_blob_of(&maker), all_bits[i] };
		CU_ASSERT_TRUE(native_metadata_is_sound(&metadata));
		check_chain(&metadata, (struct native_handle){ NATIVE_TYPE, inner },
			    "A.B.Outer`1+Inner");
		check_chain(&metadata, (struct native_handle){ NATIVE_TYPE, global }, "Program");
		check_chain(&metadata, (struct native_handle){ NATIVE_TYPE_REFERENCE, nested },
			    "A.B.Other+In");
		check_chain(&metadata, (struct native_handle){ NATIVE_SZ_ARRAY, inner }, "");
		check_chain(&metadata, (struct native_handle){ NATIVE_TYPE, 100000 }, "");
		check_chain(&metadata, (struct native_handle){ NATIVE_TYPE, 0 }, "");
		native_blob_deinit(&metadata.blob);
	}
}

TEST(a_type_that_is_around_itself_has_no_name)
{
	struct native_maker maker;
	native_begin(&maker, 7);
	uint32_t name = native_string(&maker, "T");
	uint32_t at = (uint32_t)maker.size;
	const uint32_t fields[] = { 1, 0, 0, name, 0, 0, at };
	for (size_t i = 0; i < 7; i++)
		native_put(&maker, fields[i]);
	uint32_t space = (uint32_t)maker.size;
	native_put(&maker, native_value(&maker, (struct native_handle){ NATIVE_NAMESPACE, space }));
	native_put(&maker, name);
	uint32_t in_space = native_type(&maker, space, 0, "U");
	struct native_metadata metadata = { native_blob_of(&maker), 7 };
	check_chain(&metadata, (struct native_handle){ NATIVE_TYPE, at }, "");
	check_chain(&metadata, (struct native_handle){ NATIVE_TYPE, in_space }, "");
	native_blob_deinit(&metadata.blob);
}

TEST(a_long_string_is_cut_between_characters)
{
	struct native_maker maker;
	native_begin(&maker, 7);
	uint32_t at = (uint32_t)maker.size;
	native_put(&maker, NATIVE_STRING_MAX + 100);
	native_put_u8(&maker, 'x');
	for (size_t i = 0; i < NATIVE_STRING_MAX / 2 + 50; i++) {
		native_put_u8(&maker, 0xc3);
		native_put_u8(&maker, 0xa4);
	}
	struct native_metadata metadata = { native_blob_of(&maker), 7 };
	struct native_string string = native_string_at(&metadata, at);
	CU_ASSERT_EQUAL(string.size, NATIVE_STRING_MAX - 1);
	CU_ASSERT_EQUAL(native_string_at(&metadata, 0).size, 0);
	CU_ASSERT_EQUAL(native_string_at(&metadata, UINT32_MAX).size, 0);
	native_blob_deinit(&metadata.blob);
}

TEST(a_signature_cannot_have_more_parameters_than_bytes)
{
	struct native_maker maker;
	native_begin(&maker, 8);
	uint32_t sound = (uint32_t)maker.size;
	const struct native_handle type = { NATIVE_TYPE, 9 };
	native_put(&maker, 0);
	native_put_signed(&maker, 2);
	native_put(&maker, native_value(&maker, type));
	native_put(&maker, 1);
	native_put(&maker, native_value(&maker, type));
	uint32_t damaged = (uint32_t)maker.size;
	native_put(&maker, 0);
	native_put_signed(&maker, 0);
	native_put(&maker, 0);
	native_put(&maker, 1000);
	struct native_metadata metadata = { native_blob_of(&maker), 8 };
	struct native_signature signature;
	CU_ASSERT_TRUE_FATAL(native_signature_read(&metadata, sound, &signature));
	CU_ASSERT_EQUAL(signature.generics, 2);
	CU_ASSERT_EQUAL(signature.parameters, 1);
	struct native_handle parameter =
		native_handle_of(&metadata, native_unsigned(&signature.cursor));
	CU_ASSERT_TRUE(parameter.kind == type.kind && parameter.offset == type.offset);
	CU_ASSERT_FALSE(native_signature_read(&metadata, damaged, &signature));
	native_blob_deinit(&metadata.blob);
}

TEST(a_token_is_a_kind_and_an_offset)
{
	for (size_t i = 0; i < 2; i++) {
		struct native_maker maker = { .kind_bits = all_bits[i] };
		struct native_metadata metadata = { .kind_bits = all_bits[i] };
		struct native_handle type = { NATIVE_TYPE, 0x12345 };
		struct native_handle token = native_token_of(&metadata, native_token(&maker, type));
		struct native_handle value =
			native_handle_of(&metadata, native_value(&maker, type));
		CU_ASSERT_TRUE(token.kind == type.kind && token.offset == type.offset);
		CU_ASSERT_TRUE(value.kind == type.kind && value.offset == type.offset);
	}
}

SUITE(.name = "native_metadata")
