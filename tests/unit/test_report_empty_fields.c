/* SPDX-License-Identifier: MIT */
/* Objects whose fields have empty collections and arrays: one finding of all of them. */
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO     1024u
#define SZ_ARRAY 0x000a0000u
#define FIELDS   3u
#define LENGTH   100u

static struct report_scene *scene;
static uint64_t numbers_type, bytes_type;

static void set_up(void)
{
	scene = scene_create();
	bytes_type = scene_bytes_type(scene);
	uint64_t number = scene_class(scene, "System", "Double", 0, 8, NULL);
	numbers_type = fake_type(scene->fake, &(struct fake_type){ .base_size = 24,
								   .component_size = 8,
								   .flags = SZ_ARRAY,
								   .per_inst = number });
}

static void tear_down(void)
{
	scene_destroy(scene);
}

/* The rows of a scene, with three fields each. */
struct rows {
	const char *space;
	enum generation generation;
	uint32_t count, fields, elements, filled; /* the first rows are filled */
	bool has_arrays, has_bytes, is_from_front, is_shared;
};

static const struct rows usual = {
	.space = "Shop", .generation = GENERATION_2, .count = 20000, .fields = FIELDS
};

static uint64_t make_list(uint32_t count)
{
	uint64_t list = scene_list(scene, count, 4, count);
	for (uint32_t i = 0; i < count; i++)
		scene_list_set(scene, list, i, list);
	return list;
}

static uint64_t make_numbers(const struct rows *rows, uint32_t count)
{
	uint64_t array = fake_object(scene->fake, rows->has_bytes ? bytes_type : numbers_type,
				     rows->has_bytes ? LENGTH * 8 : LENGTH);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = rows->is_from_front ? i : LENGTH - 1 - i;
		fake_poke_u64(&scene->fake->memory, array + 16 + (uint64_t)8 * at, 7);
	}
	return array;
}

static void hold_rows(const struct rows *rows, enum scene_root root)
{
	const struct fake_field fields[] = {
		{ .name = "tags", .element = ELEMENT_CLASS },
		{ .name = "<Notes>k__BackingField", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "prices", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = NULL },
	};
	uint64_t type = scene_class(scene, rows->space, "Row", FIELDS, 24, fields);
	scene_segment(scene, rows->generation, (uint64_t)rows->count * 3 * 900 + KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, rows->count);
	for (uint32_t i = 0; i < rows->count; i++) {
		uint64_t row = fake_object(scene->fake, type, 0);
		for (uint32_t k = 0; k < rows->fields; k++) {
			uint32_t count = i < rows->filled ? 4 : rows->elements;
			bool is_array = rows->has_arrays && k > 0;
			scene_set(scene, row, k,
				  is_array ? make_numbers(rows, i < rows->filled ? 90 : count)
					   : make_list(is_array || i < rows->filled ? count : 0));
		}
		for (uint32_t k = 1; rows->is_shared && k < rows->fields; k++) {
			scene_set(scene, row, k, fake_peek_u64(&scene->fake->memory, row + 8));
		}
		scene_set_element(scene, all, i, row);
	}
	scene_hold(scene, root, all);
}

TEST(empty_lists_of_all_fields_are_one_finding)
{
	hold_rows(&usual, SCENE_STATIC);
	const struct report_finding *finding = scene_finding(scene, "empty-fields");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_HIGH);
	ASSERT_UINT(finding->objects, 20000);
	ASSERT_UINT(finding->counts[1].value, 60000);
	ASSERT_TEXT(finding->title, "20,000 Row with 3 empty collections each");
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->sentence, "tags, Notes, prices ("));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
	/* The table is not told as loudly as that. */
	finding = scene_finding(scene, "accumulation");
	CU_ASSERT(!finding || finding->severity == SEVERITY_LOW);
}

TEST(arrays_of_zeros_and_lists_are_counted_together)
{
	struct rows rows = usual;
	rows.has_arrays = true;
	rows.elements = 2;
	hold_rows(&rows, SCENE_STATIC);
	const struct report_finding *finding = scene_finding(scene, "empty-fields");
	REQUIRE(finding);
	ASSERT_TEXT(finding->title, "20,000 Row with 3 empty collections and arrays each");
	CU_ASSERT_PTR_NULL(scene_finding(scene, "sparse-arrays"));
}

TEST(a_few_rows_may_be_filled)
{
	struct rows rows = usual;
	rows.filled = 2000;
	hold_rows(&rows, SCENE_STATIC);
	const struct report_finding *finding = scene_finding(scene, "empty-fields");
	REQUIRE(finding);
	ASSERT_UINT(finding->counts[1].value, 54000);
}

static void check_silent(const struct rows *rows, enum scene_root root)
{
	hold_rows(rows, root);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "empty-fields"));
}

TEST(rows_of_which_a_third_is_filled_are_in_use)
{
	struct rows rows = usual;
	rows.filled = 7000;
	check_silent(&rows, SCENE_STATIC);
}

TEST(a_list_that_all_fields_share_is_counted_once)
{
	struct rows rows = usual;
	rows.is_shared = true;
	check_silent(&rows, SCENE_STATIC);
}

TEST(rows_that_are_young_are_being_made)
{
	struct rows rows = usual;
	rows.generation = GENERATION_1;
	check_silent(&rows, SCENE_STATIC);
}

TEST(rows_of_the_framework_are_its_own_affair)
{
	struct rows rows = usual;
	rows.space = "System.Net";
	check_silent(&rows, SCENE_STATIC);
}

TEST(rows_that_only_a_stack_holds_are_in_use)
{
	check_silent(&usual, SCENE_STACK);
}

TEST(arrays_that_are_filled_from_the_front_are_not_empty)
{
	struct rows rows = usual;
	rows.has_arrays = rows.is_from_front = true;
	rows.elements = 20;
	check_silent(&rows, SCENE_STATIC);
}

TEST(buffers_of_zeros_are_not_empty_arrays)
{
	struct rows rows = usual;
	rows.has_arrays = rows.has_bytes = true;
	check_silent(&rows, SCENE_STATIC);
}

TEST(a_few_rows_are_not_worth_a_finding)
{
	struct rows rows = usual;
	rows.count = 200;
	check_silent(&rows, SCENE_STATIC);
}

TEST(one_field_is_told_as_a_small_collection)
{
	struct rows rows = usual;
	rows.fields = 1;
	rows.count = 60000;
	check_silent(&rows, SCENE_STATIC);
	CU_ASSERT_PTR_NOT_NULL(scene_finding(scene, "collections"));
}

SUITE(.name = "report_empty_fields", .set_up = set_up, .tear_down = tear_down)
