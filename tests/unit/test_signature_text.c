/* SPDX-License-Identifier: MIT */
/* The words are those of SOS's dumpsig, the bytes those of ECMA-335 II.23.2 and corhdr.h. */
#include "runtime/coreclr/code/signature_text.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"

/* Rows of the tables that all tests have. */
enum {
	DEF_MODULE = 1,
	DEF_OBJECT,
	DEF_LIST,
	DEF_OUTER,
	DEF_INNER
};

static void fill(struct metadata_maker *maker)
{
	maker_type(maker, "", "<Module>");
	maker_type(maker, "System", "Object");
	maker_type(maker, "Ns", "List`1");
	maker_type(maker, "Ns", "Outer");
	maker_type(maker, "", "Inner");
	maker_nest(maker, DEF_INNER, DEF_OUTER);
	maker_type_ref(maker, "Far", "IsVolatile");
	MAKER_ROW(maker, MD_TYPE_SPEC, maker_blob(maker, "\x1d\x08", 2));
}

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	struct module *module;
};

static struct fixture set_up(void)
{
	struct fixture fixture = { .fake = fake_clr_create(NULL) };
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	fake_metadata(fixture.fake, fixture.fake->module, &maker);
	maker_deinit(&maker);
	fixture.runtime = fake_runtime(fixture.fake);
	fixture.module = module_find(fixture.runtime, fixture.fake->module);
	REQUIRE(fixture.module);
	REQUIRE(fixture.module->metadata);
	return fixture;
}

/* The next type of @p size bytes is @p expected, and uses all of them. */
static void check_bytes(struct fixture *fixture, const uint8_t *bytes, size_t size,
			const char *expected)
{
	struct signature signature = { bytes, bytes + size };
	struct text text = { 0 };
	CU_ASSERT(signature_type_text(fixture->runtime, fixture->module, &signature, &text));
	ASSERT_TEXT(text.bytes, expected);
	ASSERT_UINT((size_t)(signature.at - bytes), size);
	text_deinit(&text);
}

#define CHECK(fixture, expected, ...)                          \
	check_bytes(fixture, (const uint8_t[]){ __VA_ARGS__ }, \
		    sizeof((const uint8_t[]){ __VA_ARGS__ }), expected)

/* The text before the bad byte is written, and the type is refused. */
static void check_bad(struct fixture *fixture, const uint8_t *bytes, size_t size,
		      const char *expected)
{
	struct signature signature = { bytes, bytes + size };
	struct text text = { 0 };
	CU_ASSERT_FALSE(signature_type_text(fixture->runtime, fixture->module, &signature, &text));
	ASSERT_TEXT(text.bytes ? text.bytes : "", expected);
	text_deinit(&text);
}

#define CHECK_BAD(fixture, expected, ...)                    \
	check_bad(fixture, (const uint8_t[]){ __VA_ARGS__ }, \
		  sizeof((const uint8_t[]){ __VA_ARGS__ }), expected)

/* II.23.1.16 */
TEST(each_element_that_is_a_type_has_the_word_of_sos)
{
	struct fixture fixture = set_up();
	static const struct {
		uint8_t element;
		const char *word;
	} words[] = { { 0x01, "Void" }, { 0x02, "Boolean" }, { 0x03, "Char" },       { 0x04, "I1" },
		      { 0x05, "UI1" },  { 0x06, "I2" },      { 0x07, "UI2" },        { 0x08, "I4" },
		      { 0x09, "UI4" },  { 0x0a, "I8" },      { 0x0b, "UI8" },        { 0x0c, "R4" },
		      { 0x0d, "R8" },   { 0x0e, "String" },  { 0x16, "TypedByRef" }, { 0x18, "I" },
		      { 0x19, "U" },    { 0x1c, "Object" } };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		CHECK(&fixture, words[i].word, words[i].element);
	fake_clr_destroy(fixture.fake);
}

TEST(types_are_named_by_their_tokens)
{
	struct fixture fixture = set_up();
	CHECK(&fixture, "Class System.Object", 0x12, DEF_OBJECT << 2);
	CHECK(&fixture, "ValueClass Ns.Outer+Inner", 0x11, DEF_INNER << 2);
	CHECK(&fixture, "Class Far.IsVolatile", 0x12, 1 << 2 | 1);
	CHECK(&fixture, "Class Ns.List`1", 0x12, DEF_LIST << 2);
	CHECK(&fixture, "Class System.Int32[]", 0x12, 1 << 2 | 2);
	/* rows that the tables do not have */
	CHECK(&fixture, "Class 0x0200001f", 0x12, 0x1f << 2);
	CHECK(&fixture, "Class 0x01000009", 0x12, 9 << 2 | 1);
	CHECK_BAD(&fixture, "Class ", 0x12, 4 << 2 | 3);
	/* without metadata there are no names */
	struct module bare = { .address = fixture.fake->module };
	struct fixture without = { fixture.fake, fixture.runtime, &bare };
	CHECK(&without, "SZArray Class 0x02000002", 0x1d, 0x12, DEF_OBJECT << 2);
	fake_clr_destroy(fixture.fake);
}

TEST(prefixes_come_before_their_type)
{
	struct fixture fixture = set_up();
	CHECK(&fixture, "Ptr Ptr Void", 0x0f, 0x0f, 0x01);
	CHECK(&fixture, "ByRef SZArray SZArray String", 0x10, 0x1d, 0x1d, 0x0e);
	CHECK(&fixture, "PINNED ByRef UI1", 0x45, 0x10, 0x05);
	CHECK(&fixture, "<ELEMENT_TYPE_SENTINEL> I4", 0x41, 0x08);
	CHECK(&fixture, "CMOD_REQD Far.IsVolatile I4", 0x1f, 1 << 2 | 1, 0x08);
	CHECK(&fixture, "CMOD_OPT System.Object CMOD_OPT System.Int32[] R8", 0x20, DEF_OBJECT << 2,
	      0x20, 1 << 2 | 2, 0x0d);
	fake_clr_destroy(fixture.fake);
}

TEST(generic_types_have_their_arguments)
{
	struct fixture fixture = set_up();
	CHECK(&fixture, "!0", 0x13, 0);
	CHECK(&fixture, "!!300", 0x1e, 0x81, 0x2c);
	CHECK(&fixture, "Class Ns.List`1<I4>", 0x15, 0x12, DEF_LIST << 2, 1, 0x08);
	CHECK(&fixture, "ValueClass Ns.List`1<Class Ns.List`1<!!1>,SZArray !0>", 0x15, 0x11,
	      DEF_LIST << 2, 2, 0x15, 0x12, DEF_LIST << 2, 1, 0x1e, 1, 0x1d, 0x13, 0);
	CHECK(&fixture, "Class Ns.List`1<>", 0x15, 0x12, DEF_LIST << 2, 0);
	CHECK_BAD(&fixture, "", 0x15, 0x1d, DEF_LIST << 2, 1, 0x08);
	fake_clr_destroy(fixture.fake);
}

/* II.23.2.13; the lower bounds are those of the table in II.23.2: 3, -3, 64, -64, 8192, -8192, and the ends. */
TEST(arrays_have_rank_sizes_and_lower_bounds)
{
	struct fixture fixture = set_up();
	CHECK(&fixture, "MDArray I4 2 0 0", 0x14, 0x08, 2, 0, 0);
	CHECK(&fixture, "MDArray I4 7 1 3 0", 0x14, 0x08, 7, 1, 3, 0);
	CHECK(&fixture, "MDArray I4 6 2 4 3 2 0 -2", 0x14, 0x08, 6, 2, 4, 3, 2, 0, 0x7d);
	CHECK(&fixture, "MDArray MDArray String 1 0 0 2 0 0", 0x14, 0x14, 0x0e, 1, 0, 0, 2, 0, 0);
	CHECK(&fixture, "MDArray Class Ns.List`1<I4> 2 0 0", 0x14, 0x15, 0x12, DEF_LIST << 2, 1,
	      0x08, 2, 0, 0);
	CHECK(&fixture, "MDArray I4 9 0 8 3 -3 64 -64 8192 -8192 268435455 -268435456", 0x14, 0x08,
	      9, 0, 8, 0x06, 0x7b, 0x80, 0x80, 0x01, 0xc0, 0x00, 0x40, 0x00, 0x80, 0x01, 0xdf, 0xff,
	      0xff, 0xfe, 0xc0, 0x00, 0x00, 0x01);
	CHECK_BAD(&fixture, "MDArray I4 2 200 1", 0x14, 0x08, 2, 0x80, 200, 1);
	fake_clr_destroy(fixture.fake);
}

TEST(pointers_to_functions_have_their_signature)
{
	struct fixture fixture = set_up();
	CHECK(&fixture, "FNPTR [DEFAULT] Void ()", 0x1b, 0x00, 0, 0x01);
	CHECK(&fixture, "FNPTR [UNMANAGED] I4 (Ptr Char,FNPTR [C] Void (I4))", 0x1b, 0x09, 2, 0x08,
	      0x0f, 0x03, 0x1b, 0x01, 1, 0x01, 0x08);
	CHECK(&fixture, "FNPTR [DEFAULT] [hasThis] [explicit] [generic 1] !!0 (Object)", 0x1b, 0x70,
	      1, 1, 0x1e, 0, 0x1c);
	/* that of a field, of locals, of a property */
	CHECK_BAD(&fixture, "FNPTR ", 0x1b, 0x06, 0x08);
	CHECK_BAD(&fixture, "FNPTR ", 0x1b, 0x07, 1, 0x08);
	CHECK_BAD(&fixture, "FNPTR ", 0x1b, 0x08, 0, 0x08);
	fake_clr_destroy(fixture.fake);
}

/* TypeHandles, which only signatures that the runtime made have. */
TEST(types_of_the_runtime_are_named_by_their_address)
{
	struct fixture fixture = set_up();
	uint64_t type = fixture.fake->object_type;
	uint8_t bytes[11] = { 0x21 };
	char expected[96];
	memcpy(bytes + 1, &type, sizeof(type));
	(void)snprintf(expected, sizeof(expected), "INTERNAL MT %llx System.Object",
		       (unsigned long long)type);
	check_bytes(&fixture, bytes, 9, expected);
	check_bad(&fixture, bytes, 8, "INTERNAL ");
	bytes[0] = 0x22;
	bytes[1] = 1;
	memcpy(bytes + 2, &type, sizeof(type));
	bytes[10] = 0x08;
	(void)snprintf(expected, sizeof(expected), "CMOD_INTERNAL REQD MT %llx System.Object I4",
		       (unsigned long long)type);
	check_bytes(&fixture, bytes, 11, expected);
	bytes[1] = 0;
	(void)snprintf(expected, sizeof(expected), "CMOD_INTERNAL OPT MT %llx System.Object ",
		       (unsigned long long)type);
	check_bad(&fixture, bytes, 10, expected);
	fake_clr_destroy(fixture.fake);
}

TEST(what_is_sound_before_a_bad_byte_is_shown)
{
	struct fixture fixture = set_up();
	CHECK_BAD(&fixture, "", 0x00);
	CHECK_BAD(&fixture, "", 0x17);
	CHECK_BAD(&fixture, "", 0xff);
	CHECK_BAD(&fixture, "SZArray ", 0x1d);
	CHECK_BAD(&fixture, "Class Ns.List`1<I4,", 0x15, 0x12, DEF_LIST << 2, 2, 0x08);
	CHECK_BAD(&fixture, "FNPTR [DEFAULT] Void (I4,", 0x1b, 0x00, 0xdf, 0xff, 0xff, 0xff, 0x01,
		  0x08);
	CHECK_BAD(&fixture, "Class ", 0x12, 0x80);
	CHECK_BAD(&fixture, "", 0x13); /* cut before the number */
	fake_clr_destroy(fixture.fake);
}

/* No input causes recursion, nor more levels than a name may have. */
TEST(types_that_nest_too_deep_are_refused)
{
	struct fixture fixture = set_up();
	static uint8_t bytes[1 << 16];
	struct text text = { 0 };
	memset(bytes, 0x14, sizeof(bytes)); /* arrays of arrays */
	struct signature signature = { bytes, bytes + sizeof(bytes) };
	CU_ASSERT_FALSE(signature_type_text(fixture.runtime, fixture.module, &signature, &text));
	CU_ASSERT(signature.at - bytes <= NAME_DEPTH_MAX);
	memset(bytes, 0x0f, sizeof(bytes)); /* pointers do not nest */
	bytes[sizeof(bytes) - 1] = 0x01;
	signature = (struct signature){ bytes, bytes + sizeof(bytes) };
	text.size = 0;
	CU_ASSERT(signature_type_text(fixture.runtime, fixture.module, &signature, &text));
	ASSERT_UINT(text.size, 4 * (sizeof(bytes) - 1) + strlen("Void"));
	text_deinit(&text);
	fake_clr_destroy(fixture.fake);
}

static void check_head(const uint8_t *bytes, size_t size, const char *expected, uint32_t types,
		       bool has_return)
{
	struct signature signature = { bytes, bytes + size };
	struct signature_head head = { 0 };
	struct text text = { 0 };
	CU_ASSERT(signature_head_read(&signature, &head));
	signature_head_text(&head, &text);
	ASSERT_TEXT(text.bytes, expected);
	ASSERT_UINT(head.types, types);
	CU_ASSERT_EQUAL(head.has_return, has_return);
	CU_ASSERT_PTR_EQUAL(signature.at, signature.end);
	text_deinit(&text);
}

/* II.23.2.1 to II.23.2.6, II.23.2.15 */
TEST(the_first_bytes_say_which_kind_of_signature_it_is)
{
	check_head((const uint8_t[]){ 0x00, 2 }, 2, "[DEFAULT] ", 3, true);
	check_head((const uint8_t[]){ 0x20, 0 }, 2, "[DEFAULT] [hasThis] ", 1, true);
	check_head((const uint8_t[]){ 0x65, 0 }, 2, "[VARARG] [hasThis] [explicit] ", 1, true);
	check_head((const uint8_t[]){ 0x30, 2, 1 }, 3, "[DEFAULT] [hasThis] [generic 2] ", 2, true);
	check_head((const uint8_t[]){ 0x06 }, 1, "[FIELD] ", 1, false);
	check_head((const uint8_t[]){ 0x07, 0x80, 0x80 }, 3, "[LOCALSIG] ", 128, false);
	check_head((const uint8_t[]){ 0x28, 1 }, 2, "[PROPERTY] [hasThis] ", 2, true);
	check_head((const uint8_t[]){ 0x09, 1 }, 2, "[UNMANAGED] ", 2, true);
	check_head((const uint8_t[]){ 0x0a, 3 }, 2, "[GENERICINST] ", 3, false);
	static const struct {
		uint8_t bytes[2];
		size_t size;
	} bad[] = { { { 0 }, 0 },
		    { { 0x0b, 0 }, 2 },
		    { { 0x0f, 0 }, 2 },
		    { { 0x00 }, 1 },
		    { { 0x10, 1 }, 2 },
		    { { 0x07, 0xff }, 2 },
		    /* flags that its kind cannot have, or none has */
		    { { 0x27, 0 }, 2 },
		    { { 0x26, 8 }, 2 },
		    { { 0x1a, 1 }, 2 },
		    { { 0x48, 0 }, 2 },
		    { { 0x40, 0 }, 2 },
		    { { 0x80, 0 }, 2 },
		    { { 0x10, 0 }, 2 } };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct signature signature = { bad[i].bytes, bad[i].bytes + bad[i].size };
		struct signature_head head;
		CU_ASSERT_FALSE(signature_head_read(&signature, &head));
	}
}

SUITE(.name = "signature_text")
