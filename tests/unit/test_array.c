/* SPDX-License-Identifier: MIT */
#include "inspect/value.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/text.h"

#define SZ_ARRAY 0x000a0000u
#define MD_ARRAY 0x00080000u

static struct fake_clr *fake;
static struct fake_types *types;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	(void)fake_segment(fake, 0, GENERATION_0, 0x8000);
}

static void tear_down(void)
{
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

/* array_read() of the object at an address. */
static bool read_at(uint64_t address, struct array_info *ret)
{
	fake_types_attach(types);
	struct heap *heap = fake_heap(fake);
	struct window window = { .memory = heap->memory };
	struct object object;
	CU_ASSERT_FATAL(object_read(heap, &window, address, &object));
	window_deinit(&window);
	return array_read(heap, &object, ret);
}

/* System.Int32 as CoreLib has it: a primitive with one field. */
static uint64_t make_int32(void)
{
	const struct fake_field fields[] = { { .name = "m_value", .element = ELEMENT_I4 },
					     { .name = NULL } };
	return fake_class(
		types, &(struct fake_class){ .space = "System",
					     .name = "Int32",
					     .fields = fields,
					     .type = { .base_size = 24, .flags = 0x00070000u } });
}

static uint64_t make_array_type(uint64_t element, uint32_t flags, uint32_t rank, uint16_t size)
{
	return fake_type(fake, &(struct fake_type){ .base_size = 24 + 8 * rank,
						    .component_size = size,
						    .flags = flags,
						    .per_inst = element });
}

TEST(a_vector_has_one_dimension)
{
	uint64_t method_table = make_array_type(make_int32(), SZ_ARRAY, 0, 4);
	uint64_t address = fake_object(fake, method_table, 5);
	struct array_info array;
	CU_ASSERT_FATAL(read_at(address, &array));
	ASSERT_UINT(array.rank, 1);
	ASSERT_UINT(array.length, 5);
	ASSERT_UINT(array.lengths[0], 5);
	ASSERT_UINT(array.data, address + 16);
	ASSERT_UINT(array.element_size, 4);
	ASSERT_UINT(array.element_type, ELEMENT_I4);
	CU_ASSERT_PTR_NOT_NULL(array.element);
}

TEST(references_and_pointers_are_told_apart)
{
	uint64_t strings = fake_array_type(fake, fake->string_type);
	uint64_t pointers = make_array_type(0x1002, SZ_ARRAY, 0, 8);
	uint64_t lost = make_array_type(0x1000, SZ_ARRAY, 0, 8);
	uint64_t a = fake_object(fake, strings, 1), b = fake_object(fake, pointers, 1);
	uint64_t c = fake_object(fake, lost, 1), d = fake_object(fake, fake->object_array_type, 1);
	struct array_info array;
	CU_ASSERT_FATAL(read_at(a, &array));
	ASSERT_UINT(array.element_type, ELEMENT_STRING);
	struct heap *heap = fake->heap;
	struct window window = { .memory = heap->memory };
	struct object object;
	const struct {
		uint64_t address;
		uint8_t element;
	} cases[] = { { b, ELEMENT_POINTER }, { c, ELEMENT_VALUE }, { d, ELEMENT_CLASS } };
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_FATAL(object_read(heap, &window, cases[i].address, &object));
		CU_ASSERT(array_read(heap, &object, &array));
		ASSERT_UINT(array.element_type, cases[i].element);
	}
	CU_ASSERT_PTR_NOT_NULL(array.element);
}

/* Rank 2 of int: lengths 2 and 3, lower bounds -1 and 5. */
static uint64_t make_matrix(void)
{
	uint64_t method_table = make_array_type(make_int32(), MD_ARRAY, 2, 4);
	uint64_t address = fake_object(fake, method_table, 6);
	const uint32_t head[] = { 2, 3, (uint32_t)-1, 5 };
	for (uint32_t i = 0; i < 4; i++)
		fake_poke_u32(&fake->memory, address + 16 + 4 * (uint64_t)i, head[i]);
	return address;
}

TEST(dimensions_have_lengths_and_bounds)
{
	uint64_t address = make_matrix();
	struct array_info array;
	CU_ASSERT_FATAL(read_at(address, &array));
	ASSERT_UINT(array.rank, 2);
	ASSERT_UINT(array.lengths[0], 2);
	ASSERT_UINT(array.lengths[1], 3);
	CU_ASSERT_EQUAL(array.bounds[0], -1);
	CU_ASSERT_EQUAL(array.bounds[1], 5);
	ASSERT_UINT(array.data, address + 32);
	static const char *const indexes[] = { "[-1][5]", "[-1][6]", "[-1][7]",
					       "[0][5]",  "[0][6]",  "[0][7]" };
	for (uint32_t i = 0; i < 6; i++) {
		struct text text = { 0 };
		array_index_text(&array, i, &text);
		ASSERT_TEXT(text.bytes, indexes[i]);
		text_deinit(&text);
	}
}

TEST(dimensions_that_do_not_make_the_length_are_refused)
{
	uint64_t address = make_matrix();
	fake_poke_u32(&fake->memory, address + 16, 3);
	struct array_info array;
	CU_ASSERT(!read_at(address, &array));
}

TEST(dimensions_that_overflow_are_refused)
{
	uint64_t method_table = make_array_type(make_int32(), MD_ARRAY, 3, 4);
	uint64_t address = fake_object(fake, method_table, 0);
	for (uint32_t i = 0; i < 3; i++)
		fake_poke_u32(&fake->memory, address + 16 + 4 * (uint64_t)i, UINT32_MAX);
	struct array_info array;
	CU_ASSERT(!read_at(address, &array));
}

TEST(an_empty_dimension_makes_an_empty_array)
{
	uint64_t method_table = make_array_type(make_int32(), MD_ARRAY, 2, 4);
	uint64_t address = fake_object(fake, method_table, 0);
	fake_poke_u32(&fake->memory, address + 20, 5);
	struct array_info array;
	CU_ASSERT_FATAL(read_at(address, &array));
	ASSERT_UINT(array.length, 0);
	ASSERT_UINT(array.lengths[1], 5);
}

TEST(ranks_that_cannot_be_are_refused)
{
	uint64_t method_table = make_array_type(make_int32(), MD_ARRAY, 33, 4);
	uint64_t none = make_array_type(fake->object_type, MD_ARRAY, 0, 8);
	uint64_t a = fake_object(fake, method_table, 0), b = fake_object(fake, none, 1);
	struct array_info array;
	CU_ASSERT(!read_at(a, &array));
	struct window window = { .memory = fake->heap->memory };
	struct object object;
	CU_ASSERT_FATAL(object_read(fake->heap, &window, b, &object));
	CU_ASSERT(!array_read(fake->heap, &object, &array));
}

TEST(strings_are_no_arrays)
{
	uint64_t address = fake_string(fake, "text");
	struct array_info array;
	CU_ASSERT(!read_at(address, &array));
}

SUITE(.name = "array", .set_up = set_up, .tear_down = tear_down)
