/* SPDX-License-Identifier: MIT */
#include "metadata/metadata.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"

#define LITERAL 0x8056u /* public static literal, has default */
#define VALUE   0x0606u /* public, special name: value__ */

enum {
	DEF_MODULE = 1,
	DEF_OBJECT,
	DEF_COLOR,
	DEF_RIGHTS,
	DEF_LOCAL,
	DEF_FLAGS,
	DEF_COUNT = DEF_FLAGS
};

static void constant(struct metadata_maker *maker, const char *name, uint64_t value, size_t size)
{
	uint32_t field = maker_field(maker, LITERAL, name, "\x08", 1);
	MAKER_ROW(maker, MD_CONSTANT, 0x08, field << 2, maker_blob(maker, &value, size));
}

static void fill(struct metadata_maker *maker)
{
	maker_type(maker, "", "<Module>");
	maker_type(maker, "System", "Object");
	maker_type(maker, "Ns", "Color"); /* of sbyte */
	maker_field(maker, VALUE, "value__", "\x04", 1);
	constant(maker, "Red", 1, 1);
	constant(maker, "Green", 2, 1);
	constant(maker, "AlsoGreen", 2, 1);
	constant(maker, "Minus", 0xff, 1);
	maker_type(maker, "Ns", "Rights"); /* of ulong, [Flags] */
	maker_field(maker, VALUE, "value__", "\x0b", 1);
	constant(maker, "None", 0, 8);
	constant(maker, "Read", 1, 8);
	constant(maker, "Write", 2, 8);
	constant(maker, "ReadWrite", 3, 8);
	constant(maker, "Top", (uint64_t)1 << 63, 8);
	maker_type(maker, "Ns", "Local"); /* [Flags] of this very module */
	maker_field(maker, VALUE, "value__", "\x08", 1);
	constant(maker, "A", 1, 4);
	constant(maker, "B", 2, 4);
	uint32_t own = maker_type(maker, "System", "FlagsAttribute");
	uint32_t method = maker_method(maker, ".ctor");
	CU_ASSERT(own == DEF_FLAGS);
	uint32_t other = maker_type_ref(maker, "System", "OtherAttribute");
	uint32_t flags = maker_type_ref(maker, "System", "FlagsAttribute");
	/* MemberRefParent: tag 1 TypeRef; CustomAttributeType: tag 2 MethodDef, 3 MemberRef */
	uint32_t other_ctor = MAKER_ROW(maker, MD_MEMBER_REF, other << 3 | 1, 0, 0);
	uint32_t flags_ctor = MAKER_ROW(maker, MD_MEMBER_REF, flags << 3 | 1, 0, 0);
	/* sorted by HasCustomAttribute: tag 3 TypeDef */
	MAKER_ROW(maker, MD_CUSTOM_ATTRIBUTE, DEF_COLOR << 5 | 3, other_ctor << 3 | 3, 0);
	MAKER_ROW(maker, MD_CUSTOM_ATTRIBUTE, DEF_RIGHTS << 5 | 3, other_ctor << 3 | 3, 0);
	MAKER_ROW(maker, MD_CUSTOM_ATTRIBUTE, DEF_RIGHTS << 5 | 3, flags_ctor << 3 | 3, 0);
	MAKER_ROW(maker, MD_CUSTOM_ATTRIBUTE, DEF_LOCAL << 5 | 3, method << 3 | 2, 0);
}

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	uint64_t types[DEF_COUNT + 1];
};

static struct fixture set_up(bool is_uncompressed)
{
	struct fixture fixture = { .fake = fake_clr_create(NULL) };
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	maker.is_uncompressed = is_uncompressed;
	fake_metadata(fixture.fake, fixture.fake->module, &maker);
	maker_deinit(&maker);
	for (uint32_t i = 1; i <= DEF_COUNT; i++) {
		fixture.types[i] =
			fake_type(fixture.fake, &(struct fake_type){ .base_size = 24, .token = i });
	}
	fixture.runtime = fake_runtime(fixture.fake);
	return fixture;
}

/* @p expected NULL: it has no name. */
static void check(struct fixture *fixture, unsigned int rid, uint64_t value, const char *expected)
{
	char buf[64] = "";
	const struct type *type = type_find(fixture->runtime, fixture->types[rid]);
	REQUIRE(type);
	ASSERT_UINT(enum_name(fixture->runtime, type, value, buf, sizeof(buf)), expected != NULL);
	ASSERT_TEXT(buf, expected ? expected : "");
}

static void check_all(bool is_uncompressed)
{
	struct fixture fixture = set_up(is_uncompressed);
	check(&fixture, DEF_COLOR, 1, "Red");
	check(&fixture, DEF_COLOR, 2, "Green"); /* the first of two */
	check(&fixture, DEF_COLOR, 0xff, "Minus");
	check(&fixture, DEF_COLOR, UINT64_MAX, "Minus"); /* sign-extended */
	check(&fixture, DEF_COLOR, 0, NULL);
	check(&fixture, DEF_COLOR, 3, NULL); /* no [Flags] */
	check(&fixture, DEF_RIGHTS, 0, "None");
	check(&fixture, DEF_RIGHTS, 3, "ReadWrite");
	check(&fixture, DEF_RIGHTS, (uint64_t)1 << 63 | 1, "Read | Top");
	check(&fixture, DEF_RIGHTS, (uint64_t)1 << 63 | 3, "ReadWrite | Top");
	check(&fixture, DEF_RIGHTS, 5, NULL); /* 4 is left over */
	check(&fixture, DEF_LOCAL, 3, "A | B");
	check(&fixture, DEF_LOCAL, 0, NULL);
	check(&fixture, DEF_OBJECT, 0, NULL);
	fake_clr_destroy(fixture.fake);
}

TEST(test_names)
{
	check_all(false);
}

TEST(test_unsorted)
{
	check_all(true);
}

TEST(test_short_buffer)
{
	struct fixture fixture = set_up(false);
	char buf[5] = "";
	const struct type *type = type_find(fixture.runtime, fixture.types[DEF_COLOR]);
	REQUIRE(type);
	CU_ASSERT(enum_name(fixture.runtime, type, 2, buf, sizeof(buf)));
	ASSERT_TEXT(buf, "Gree");
	CU_ASSERT(!enum_name(fixture.runtime, type, 2, buf, 0));
	fake_clr_destroy(fixture.fake);
}

SUITE(.name = "enum")
