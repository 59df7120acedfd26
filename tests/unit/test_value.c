/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "inspect/locate.h"
#include "inspect/slot_name.h"
#include "inspect/utf16.h"
#include "inspect/value.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/text.h"

#define STRUCT_FLAGS   0x00040000u
#define NULLABLE_FLAGS 0x00050000u
#define ENUM_FLAGS     0x00060000u

static struct fake_clr *fake;
static struct fake_types *types;
static uint64_t scratch; /* 64 bytes to put values in */

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	scratch = fake_alloc(&fake->memory, 256);
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
}

static void tear_down(void)
{
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static struct heap *attached(void)
{
	fake_types_attach(types);
	return fake_heap(fake);
}

/* The value of the bits as an element type. */
static struct value_out read_bits(struct heap *heap, uint8_t element, uint64_t bits)
{
	struct value_out value;
	fake_poke_u64(&fake->memory, scratch, bits);
	value_read(heap, element, NULL, scratch, &value);
	return value;
}

TEST(primitives_are_shown_as_sos_does)
{
	static const struct {
		uint8_t element;
		uint64_t bits;
		const char *text, *note;
	} cases[] = {
		{ ELEMENT_BOOLEAN, 0xff01, "1", "true" },
		{ ELEMENT_BOOLEAN, 0, "0", "false" },
		{ ELEMENT_CHAR, 'x', "78", "'x'" },
		{ ELEMENT_CHAR, 0x0a, "a", "'\\u000a'" },
		{ ELEMENT_CHAR, 0xd83d, "d83d", "'\\ud83d'" },
		{ ELEMENT_CHAR, 0xe9, "e9", "'\xc3\xa9'" },
		{ ELEMENT_I1, 0x12345680, "-128", "" },
		{ ELEMENT_U1, 0x12345680, "128", "" },
		{ ELEMENT_I2, 0x8000, "-32768", "" },
		{ ELEMENT_U2, 0x18000, "32768", "" },
		{ ELEMENT_I4, 0xffffffff, "-1", "" },
		{ ELEMENT_U4, 0x1ffffffff, "4294967295", "" },
		{ ELEMENT_I8, (uint64_t)1 << 63, "-9223372036854775808", "" },
		{ ELEMENT_U8, UINT64_MAX, "18446744073709551615", "" },
		{ ELEMENT_R4, 0x3fc00000, "1.5", "" },
		{ ELEMENT_R4, 0x3dcccccd, "0.1", "" },
		{ ELEMENT_R8, 0x3fb999999999999a, "0.1", "" },
		{ ELEMENT_R8, 0x3fd5555555555555, "0.3333333333333333", "" },
		{ ELEMENT_R8, 0x7ff0000000000000, "Infinity", "" },
		{ ELEMENT_R8, 0xfff0000000000000, "-Infinity", "" },
		{ ELEMENT_R8, 0x7ff8000000000000, "NaN", "" },
		{ ELEMENT_I, 0x1234, "0000000000001234", "" },
		{ ELEMENT_POINTER, UINT64_MAX, "ffffffffffffffff", "" },
	};
	struct heap *heap = attached();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct value_out value = read_bits(heap, cases[i].element, cases[i].bits);
		CU_ASSERT_EQUAL(value.form, FORM_TEXT);
		ASSERT_TEXT(value.text, cases[i].text);
		ASSERT_TEXT(value.note, cases[i].note);
	}
}

TEST(references_structs_and_missing_bytes_have_their_forms)
{
	struct heap *heap = attached();
	struct value_out value = read_bits(heap, ELEMENT_CLASS, 0x1234);
	CU_ASSERT_EQUAL(value.form, FORM_REFERENCE);
	ASSERT_UINT(value.address, 0x1234);
	value_read(heap, ELEMENT_VALUE, NULL, scratch, &value);
	CU_ASSERT_EQUAL(value.form, FORM_STRUCT);
	ASSERT_UINT(value.address, scratch);
	value_read(heap, ELEMENT_I4, NULL, 0x10, &value);
	CU_ASSERT_EQUAL(value.form, FORM_MISSING);
	value_read(heap, ELEMENT_CLASS, NULL, UINT64_MAX - 3, &value);
	CU_ASSERT_EQUAL(value.form, FORM_MISSING);
	for (unsigned int element = 0; element < 256; element++)
		value_read(heap, (uint8_t)element, NULL, scratch, &value);
}

/* An enum of bytes with A = 1 and B = 200. */
static uint64_t make_enum(void)
{
	uint64_t base = fake_class(types, &(struct fake_class){ .space = "System",
								.name = "Enum",
								.type = { .base_size = 24 } });
	const struct fake_field fields[] = {
		{ .name = "value__", .element = ELEMENT_U1 },
		{ .name = "A", .element = ELEMENT_U1, .is_literal = true, .constant = 1 },
		{ .name = "B", .element = ELEMENT_U1, .is_literal = true, .constant = 200 },
		{ .name = NULL },
	};
	return fake_class(
		types, &(struct fake_class){
			       .name = "Letters",
			       .fields = fields,
			       .type = { .base_size = 24, .flags = ENUM_FLAGS, .parent = base } });
}

TEST(enums_are_called_by_name)
{
	uint64_t method_table = make_enum();
	struct heap *heap = attached();
	const struct type *type = type_find(heap->runtime, method_table);
	REQUIRE(type);
	CU_ASSERT(type_is_enum(heap->runtime, type));
	ASSERT_UINT(type_storage(heap->runtime, type), ELEMENT_U1);
	struct value_out value;
	fake_poke_u64(&fake->memory, scratch, 200);
	value_read(heap, ELEMENT_U1, type, scratch, &value);
	ASSERT_TEXT(value.text, "200");
	ASSERT_TEXT(value.note, "B");
	value_read(heap, ELEMENT_VALUE, type, scratch, &value);
	ASSERT_TEXT(value.note, "B");
	fake_poke_u64(&fake->memory, scratch, 3);
	value_read(heap, ELEMENT_U1, type, scratch, &value);
	ASSERT_TEXT(value.text, "3");
	ASSERT_TEXT(value.note, "");
}

/* Check the meaning that value_read() gives to a struct of the framework. */
static void check_known(const char *name, const struct fake_field *fields, uint32_t flags,
			const char *expected)
{
	uint64_t method_table = fake_class(
		types, &(struct fake_class){ .space = "System",
					     .name = name,
					     .fields = fields,
					     .type = { .base_size = 32, .flags = flags } });
	struct heap *heap = attached();
	struct value_out value;
	value_read(heap, ELEMENT_VALUE, type_find(heap->runtime, method_table), scratch, &value);
	ASSERT_TEXT(value.note, expected);
	/* Without memory nothing is said, and nothing is lost. */
	for (uint64_t nth = 1; nth < 20; nth++) {
		alloc_fail_at(nth);
		value_read(heap, ELEMENT_VALUE, type_find(heap->runtime, method_table), scratch,
			   &value);
		alloc_fail_at(0);
		CU_ASSERT(!*value.note || strcmp(value.note, expected) == 0);
	}
	tear_down();
	set_up();
}

TEST(dates_are_shown)
{
	const struct fake_field fields[] = { { .name = "_dateData", .element = ELEMENT_U8 },
					     { .name = NULL } };
	static const struct {
		uint64_t data; /* as .NET's DateTime.ToBinary(), and "O" */
		const char *expected;
	} cases[] = {
		{ 0, "0001-01-01T00:00:00.0000000" },
		{ 630822815999999999, "1999-12-31T23:59:59.9999999" },
		{ 630872928000000000 | (uint64_t)1 << 62, "2000-02-28T00:00:00.0000000Z" },
		{ 630873792000000000, "2000-02-29T00:00:00.0000000" },
		{ 630874656000000000, "2000-03-01T00:00:00.0000000" },
		{ 599266080000000000, "1900-01-01T00:00:00.0000000" },
		{ 3155378975999999999, "9999-12-31T23:59:59.9999999" },
		{ 3155378976000000000, "" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_poke_u64(&fake->memory, scratch, cases[i].data);
		check_known("DateTime", fields, STRUCT_FLAGS, cases[i].expected);
	}
}

TEST(spans_and_guids_are_shown)
{
	const struct fake_field ticks[] = { { .name = "_ticks", .element = ELEMENT_I8 },
					    { .name = NULL } };
	fake_poke_u64(&fake->memory, scratch, (uint64_t)-15000000);
	check_known("TimeSpan", ticks, STRUCT_FLAGS, "-00:00:01.5000000");
	fake_poke_u64(&fake->memory, scratch, (uint64_t)1 << 63);
	check_known("TimeSpan", ticks, STRUCT_FLAGS, "-10675199.02:48:05.4775808");
	fake_poke_u64(&fake->memory, scratch, 864000000000);
	check_known("TimeSpan", ticks, STRUCT_FLAGS, "1.00:00:00");
	fake_poke_u64(&fake->memory, scratch, 0x7766554433221100 & ~0xffffffffULL);
	fake_poke_u32(&fake->memory, scratch, 0x00112233);
	fake_poke_u64(&fake->memory, scratch + 8, 0xffeeddccbbaa9988);
	check_known("Guid", ticks, STRUCT_FLAGS, "00112233-5544-7766-8899-aabbccddeeff");
}

TEST(decimals_are_shown)
{
	const struct fake_field fields[] = {
		{ .name = "_flags", .element = ELEMENT_I4 },
		{ .name = "_hi32", .element = ELEMENT_U4, .offset = 4 },
		{ .name = "_lo64", .element = ELEMENT_U8, .offset = 8 },
		{ .name = NULL },
	};
	static const struct {
		uint32_t flags, high;
		uint64_t low;
		const char *expected; /* as decimal.ToString() */
	} cases[] = {
		{ 0, 0, 0, "0" },
		{ 0x00020000, 0, 0, "0.00" },
		{ 0x80020000, 0, 1250, "-12.50" },
		{ 0x001c0000, 0, 1, "0.0000000000000000000000000001" },
		{ 0x00000000, 0xffffffff, UINT64_MAX, "79228162514264337593543950335" },
		{ 0x800f0000, 0xffffffff, UINT64_MAX, "-79228162514264.337593543950335" },
		{ 0x001d0000, 0, 1, "" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_poke_u32(&fake->memory, scratch, cases[i].flags);
		fake_poke_u32(&fake->memory, scratch + 4, cases[i].high);
		fake_poke_u64(&fake->memory, scratch + 8, cases[i].low);
		check_known("Decimal", fields, STRUCT_FLAGS, cases[i].expected);
	}
}

/* Structs of one number; as ToString(), or for a TimeOnly "O". */
TEST(small_structs_are_shown)
{
	static const struct {
		const char *type, *field;
		uint8_t element;
		uint64_t bits;
		const char *expected;
	} cases[] = {
		{ "DateOnly", "_dayNumber", ELEMENT_I4, 739947, "2026-11-28" },
		{ "DateOnly", "_dayNumber", ELEMENT_I4, 0, "0001-01-01" },
		{ "DateOnly", "_dayNumber", ELEMENT_I4, 3652058, "9999-12-31" },
		{ "DateOnly", "_dayNumber", ELEMENT_I4, 3652059, "" },
		{ "DateOnly", "_dayNumber", ELEMENT_I4, 0xffffffff, "" },
		{ "TimeOnly", "_ticks", ELEMENT_I8, 450150000000, "12:30:15.0000000" },
		{ "TimeOnly", "_ticks", ELEMENT_I8, 863999999999, "23:59:59.9999999" },
		{ "TimeOnly", "_ticks", ELEMENT_I8, 864000000000, "" },
		{ "Half", "_value", ELEMENT_U2, 0x3e00, "1.5" },
		{ "Half", "_value", ELEMENT_U2, 0x2e66, "0.1" },
		{ "Half", "_value", ELEMENT_U2, 0xb555, "-0.3333" },
		{ "Half", "_value", ELEMENT_U2, 0, "0" },
		{ "Half", "_value", ELEMENT_U2, 0x0001, "6e-08" },
		{ "Half", "_value", ELEMENT_U2, 0x7bff, "65500" },
		{ "Half", "_value", ELEMENT_U2, 0x7c00, "Infinity" },
		{ "Half", "_value", ELEMENT_U2, 0xfc00, "-Infinity" },
		{ "Half", "_value", ELEMENT_U2, 0x7e00, "NaN" },
		{ "Index", "_value", ELEMENT_I4, 7, "7" },
		{ "Index", "_value", ELEMENT_I4, 0xfffffffe, "^1" },
		{ "Index", "_value", ELEMENT_I4, 0xffffffff, "^0" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fake_field fields[] = {
			{ .name = cases[i].field, .element = cases[i].element }, { .name = NULL }
		};
		fake_poke_u64(&fake->memory, scratch, cases[i].bits);
		check_known(cases[i].type, fields, STRUCT_FLAGS, cases[i].expected);
	}
}

TEST(numbers_of_128_bits_are_shown)
{
	const struct fake_field fields[] = {
		{ .name = "_lower", .element = ELEMENT_U8 },
		{ .name = "_upper", .element = ELEMENT_U8, .offset = 8 },
		{ .name = NULL },
	};
	static const struct {
		uint64_t high, low;
		const char *number, *without_sign;
	} cases[] = {
		{ 0, 0, "0", "0" },
		{ 1, 0, "18446744073709551616", "18446744073709551616" },
		{ UINT64_MAX, UINT64_MAX, "-1", "340282366920938463463374607431768211455" },
		{ (uint64_t)1 << 63, 0, "-170141183460469231731687303715884105728",
		  "170141183460469231731687303715884105728" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int is_signed = 0; is_signed < 2; is_signed++) {
			fake_poke_u64(&fake->memory, scratch, cases[i].low);
			fake_poke_u64(&fake->memory, scratch + 8, cases[i].high);
			check_known(is_signed ? "Int128" : "UInt128", fields, STRUCT_FLAGS,
				    is_signed ? cases[i].number : cases[i].without_sign);
		}
	}
}

TEST(ranges_are_shown)
{
	const struct fake_field fields[] = {
		{ .name = "<Start>k__BackingField", .element = ELEMENT_I4 },
		{ .name = "<End>k__BackingField", .element = ELEMENT_I4, .offset = 4 },
		{ .name = NULL },
	};
	fake_poke_u32(&fake->memory, scratch, 1);
	fake_poke_u32(&fake->memory, scratch + 4, (uint32_t)~2);
	check_known("Range", fields, STRUCT_FLAGS, "1..^2");
}

/* Check the note of value_read() for a struct with the attribute [InlineArray(length)] whose box has @p size bytes. */
static void check_inline_array(uint32_t length, uint32_t size, const char *expected)
{
	const struct fake_field fields[] = { { .name = "_first", .element = ELEMENT_I4 },
					     { .name = NULL } };
	uint64_t method_table = fake_class(
		types, &(struct fake_class){ .name = "Line",
					     .fields = fields,
					     .type = { .base_size = size, .flags = STRUCT_FLAGS },
					     .inline_length = length });
	for (uint32_t i = 0; i < 64; i++)
		fake_poke_u32(&fake->memory, scratch + 4 * (uint64_t)i, 10 * i);
	struct heap *heap = attached();
	struct value_out value;
	value_read(heap, ELEMENT_VALUE, type_find(heap->runtime, method_table), scratch, &value);
	ASSERT_TEXT(value.note, expected);
	tear_down();
	set_up();
}

TEST(inline_arrays_show_their_elements)
{
	check_inline_array(1, 24, "[0]");
	check_inline_array(3, 32, "[0, 10, 20]");
	check_inline_array(60, 256,
			   "[0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, "
			   "160, 170, 180, 190, 200, 210, 220, 230, 240, 250, ...]");
	/* The attribute lies: the struct has not that many bytes. */
	check_inline_array(5, 32, "");
	check_inline_array(UINT32_MAX, 32, "");
	check_inline_array(0, 32, "");
}

TEST(nullables_are_shown)
{
	const struct fake_field fields[] = {
		{ .name = "hasValue", .element = ELEMENT_BOOLEAN },
		{ .name = "value", .element = ELEMENT_I4, .offset = 4 },
		{ .name = NULL },
	};
	fake_poke_u32(&fake->memory, scratch, 0);
	fake_poke_u32(&fake->memory, scratch + 4, (uint32_t)-7);
	check_known("Nullable", fields, NULLABLE_FLAGS, "null");
	fake_poke_u32(&fake->memory, scratch, 1);
	fake_poke_u32(&fake->memory, scratch + 4, (uint32_t)-7);
	check_known("Nullable", fields, NULLABLE_FLAGS, "-7");
}

/* The text of a string with these units. */
static void check_string(const uint16_t *units, uint32_t length, uint32_t limit,
			 const char *expected)
{
	uint64_t address = fake_object(fake, fake->string_type, length);
	fake_poke(&fake->memory, address + 12, units, 2 * (size_t)length);
	struct heap *heap = attached();
	struct text text = { 0 };
	uint32_t got = 0;
	CU_ASSERT(string_value(heap, address, limit, &text, &got));
	ASSERT_UINT(got, length);
	ASSERT_TEXT(text.bytes ? text.bytes : "", expected);
	text_deinit(&text);
	tear_down();
	set_up();
}

TEST(strings_become_utf8)
{
	static const uint16_t units[] = { 'a', 0xe9, 0x4e2d, 0xd83d, 0xde00, '!' };
	check_string(units, 6, UINT32_MAX, "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80!");
	check_string(units, 6, 2, "a\xc3\xa9");
	check_string(units, 6, 4, "a\xc3\xa9\xe4\xb8\xad\xef\xbf\xbd");
	check_string(units, 0, UINT32_MAX, "");
	static const uint16_t lone[] = { 0xde00, 0xd83d, 0xd83d, 0xde00, 0xd83d };
	check_string(lone, 5, UINT32_MAX, "\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd");
}

TEST(pairs_may_lie_in_two_pieces)
{
	static uint16_t units[5000];
	for (size_t i = 0; i < 5000; i++)
		units[i] = 'x';
	units[2047] = 0xd83d; /* the last of a piece */
	units[2048] = 0xde00;
	uint64_t address = fake_object(fake, fake->string_type, 5000);
	fake_poke(&fake->memory, address + 12, units, sizeof(units));
	struct heap *heap = attached();
	struct text text = { 0 };
	CU_ASSERT(string_value(heap, address, UINT32_MAX, &text, NULL));
	ASSERT_UINT(text.size, 5002);
	CU_ASSERT(text.bytes && memcmp(text.bytes + 2047, "\xf0\x9f\x98\x80x", 5) == 0);
	text_deinit(&text);
}

TEST(what_is_no_string_is_refused)
{
	uint64_t object = fake_object(fake, fake->object_type, 0);
	uint64_t string = fake_string(fake, "long");
	fake_poke_u32(&fake->memory, string + 8, UINT32_MAX);
	struct heap *heap = attached();
	struct text text = { 0 };
	CU_ASSERT(!string_value(heap, 0, 10, &text, NULL));
	CU_ASSERT(!string_value(heap, 0x10, 10, &text, NULL));
	CU_ASSERT(!string_value(heap, object, 10, &text, NULL));
	ASSERT_UINT(text.size, 0);
	/* Its length is a lie: what there is was read, and nothing more. */
	CU_ASSERT(!string_value(heap, string, UINT32_MAX, &text, NULL));
	CU_ASSERT(text.size < 0x10000);
	text_deinit(&text);
}

TEST(exhausted_memory_marks_the_text)
{
	uint64_t string = fake_string(fake, "text");
	struct heap *heap = attached();
	(void)type_find(heap->runtime, fake->string_type);
	struct text text = { 0 };
	alloc_fail_at(1);
	(void)string_value(heap, string, 10, &text, NULL);
	alloc_fail_at(0);
	CU_ASSERT(text.failed);
	text_deinit(&text);
}

TEST(every_place_of_a_segment_is_told)
{
	uint64_t a = fake_object(fake, fake->object_type, 0);
	uint64_t b = fake_string(fake, "some text");
	uint64_t context = fake_context(fake, 256);
	uint64_t c = fake_object(fake, fake->object_type, 0);
	uint64_t end = fake_end(fake);
	struct heap *heap = attached();
	struct location location;
	const struct {
		uint64_t address;
		enum place place;
		uint64_t object;
	} cases[] = {
		{ a, PLACE_OBJECT, a },      { a + 1, PLACE_INSIDE, a },
		{ a + 23, PLACE_INSIDE, a }, { b, PLACE_OBJECT, b },
		{ b + 8, PLACE_INSIDE, b },  { context, PLACE_BETWEEN, b },
		{ c - 8, PLACE_BETWEEN, b }, { c, PLACE_OBJECT, c },
		{ end, PLACE_OUTSIDE, 0 },   { 0, PLACE_OUTSIDE, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL(object_locate(heap, cases[i].address, NULL, &location, NULL),
				HD_OK);
		ASSERT_UINT(location.place, cases[i].place);
		bool between = cases[i].place == PLACE_BETWEEN;
		ASSERT_UINT((between ? location.before : location.object).address, cases[i].object);
	}
	alloc_fail_at(1);
	CU_ASSERT_EQUAL(object_locate(heap, a, NULL, &location, NULL), HD_ERR_NOMEM);
	alloc_fail_at(0);
}

TEST(damage_is_a_place_too)
{
	uint64_t a = fake_object(fake, fake->object_type, 0);
	uint64_t bad = fake_object(fake, fake->object_type, 0);
	for (unsigned int i = 0; i < 8; i++)
		(void)fake_object(fake, fake->object_type, 0);
	fake_poke_u64(&fake->memory, bad, 0x4242424242424242);
	struct heap *heap = attached();
	struct location location;
	CU_ASSERT_EQUAL(object_locate(heap, bad, NULL, &location, NULL), HD_OK);
	ASSERT_UINT(location.place, PLACE_SKIPPED);
	ASSERT_UINT(location.before.address, a);
	ASSERT_UINT(location.damage.address, bad);
	ASSERT_UINT(location.next.address, bad + 24);
	CU_ASSERT_EQUAL(object_locate(heap, bad + 24, NULL, &location, NULL), HD_OK);
	ASSERT_UINT(location.place, PLACE_OBJECT);
}

static void check_slot(struct heap *heap, uint64_t address, uint64_t offset, const char *expected)
{
	struct window window = { .memory = heap->memory };
	struct object object;
	struct text text = { 0 };
	CU_ASSERT_FATAL(object_read(heap, &window, address, &object));
	slot_name(heap, &object, offset ? address + offset : 0, &text);
	ASSERT_TEXT(text.bytes ? text.bytes : "", expected);
	text_deinit(&text);
	window_deinit(&window);
}

TEST(slots_have_names)
{
	const struct fake_field pair_fields[] = {
		{ .name = "first", .element = ELEMENT_CLASS },
		{ .name = "second", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL },
	};
	uint64_t pair = fake_class(
		types, &(struct fake_class){ .name = "Pair",
					     .fields = pair_fields,
					     .type = { .base_size = 32, .flags = STRUCT_FLAGS } });
	const struct fake_field row_fields[] = {
		{ .name = "element", .element = ELEMENT_VALUE, .type = pair }, { .name = NULL }
	};
	uint64_t row = fake_class(
		types, &(struct fake_class){ .name = "InlineArray",
					     .fields = row_fields,
					     .type = { .base_size = 64, .flags = STRUCT_FLAGS } });
	const struct fake_field owner_fields[] = {
		{ .name = "plain", .element = ELEMENT_CLASS },
		{ .name = "pair", .element = ELEMENT_VALUE, .offset = 8, .type = pair },
		{ .name = "row", .element = ELEMENT_VALUE, .offset = 24, .type = row },
		{ .name = NULL },
	};
	uint64_t owner = fake_class(types, &(struct fake_class){ .name = "Owner",
								 .fields = owner_fields,
								 .type = { .base_size = 88 } });
	uint64_t pairs = fake_type(fake, &(struct fake_type){ .base_size = 24,
							      .component_size = 16,
							      .flags = 0x000a0000u,
							      .per_inst = pair });
	uint64_t object = fake_object(fake, owner, 0), array = fake_object(fake, pairs, 3);
	uint64_t objects = fake_object(fake, fake->object_array_type, 3);
	struct heap *heap = attached();
	check_slot(heap, object, 8, "plain");
	check_slot(heap, object, 16, "pair.first");
	check_slot(heap, object, 24, "pair.second");
	check_slot(heap, object, 32, "row[0].first");
	check_slot(heap, object, 72, "row[2].second");
	check_slot(heap, object, 12, "+4");
	check_slot(heap, object, 0, "LoaderAllocator");
	check_slot(heap, array, 16, "[0].first");
	check_slot(heap, array, 56, "[2].second");
	check_slot(heap, objects, 32, "[2]");
}

TEST(runs_of_ascii_end_wherever_the_text_does)
{
	static const uint16_t units[] = { 'a', 'b',  'c',    'd',   'e',    0xd83d, 0xde00,
					  'f', 0xe9, 'g',    0x7f,  0x80,   'h',    'i',
					  'j', 'k',  0x4e16, 'l',   0xd83d, 'm',    'n',
					  'o', 'p',  'q',    0x161, 'r' };
	static const char wanted[] =
		"abcde\xf0\x9f\x98\x80"
		"f\xc3\xa9g\x7f\xc2\x80hijk\xe4\xb8\x96l\xef\xbf\xbdmnopq\xc5\xa1r";
	size_t count = sizeof(units) / sizeof(units[0]);
	for (size_t first = 0; first <= count; first++) {
		HD_CLEANUP(text) struct text text = { 0 };
		struct utf16 utf16 = { .text = &text };
		utf16_append(&utf16, (const uint8_t *)units, first);
		utf16_append(&utf16, (const uint8_t *)(units + first), count - first);
		utf16_end(&utf16);
		ASSERT_TEXT(text.bytes, wanted);
	}
}

SUITE(.name = "value", .set_up = set_up, .tear_down = tear_down)
