/* SPDX-License-Identifier: MIT */
/* Rules about memory that is held without a use: each with a case that it finds, and a healthy neighbour. */
#include "gc/layouts/object_layout.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO 1024u

static struct report_scene *scene;
static uint64_t box_type, tile_type, tiles_type, bytes_type;

static void set_up(void)
{
	scene = scene_create();
	const struct fake_field box[] = { { .name = "content", .element = ELEMENT_CLASS },
					  { .name = NULL } };
	box_type = scene_class(scene, "Shop", "Box", 1, 16, box);
	tile_type = scene_class(scene, "Shop", "Tile", 0, 8, NULL);
	tiles_type = fake_array_type(scene->fake, tile_type);
	bytes_type = scene_bytes_type(scene);
}

static void tear_down(void)
{
	scene_destroy(scene);
}

/* A Box whose array of tiles has @p count of @p room elements. */
static uint64_t make_board(uint32_t count, uint32_t room)
{
	scene_segment(scene, GENERATION_2, (uint64_t)8 * room + (uint64_t)count * 24 + KILO);
	uint64_t box = fake_object(scene->fake, box_type, 0);
	uint64_t tiles = fake_object(scene->fake, tiles_type, room);
	scene_set(scene, box, 0, tiles);
	for (uint32_t i = 0; i < count; i++)
		scene_set_element(scene, tiles, i, fake_object(scene->fake, tile_type, 0));
	return box;
}

/* @p count boxes, each with an array of @p size bytes, in an array. */
static uint64_t make_boxes(uint32_t count, uint32_t size, uint8_t filled_with)
{
	scene_segment(scene, GENERATION_2, (uint64_t)count * (size + 96) + KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t box = fake_object(scene->fake, box_type, 0);
		uint64_t bytes = fake_object(scene->fake, bytes_type, size);
		fake_poke(&scene->fake->memory, bytes + 16 + size - 1, &filled_with, 1);
		scene_set(scene, box, 0, bytes);
		scene_set_element(scene, all, i, box);
	}
	return all;
}

TEST(an_array_with_few_elements_is_sparse)
{
	scene_hold(scene, SCENE_STATIC, make_board(1000, 1024 * KILO));
	const struct report_finding *finding = scene_finding(scene, "sparse-arrays");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, 1);
	ASSERT_UINT(finding->bytes, (uint64_t)8 * (1024 * KILO - 1000));
	ASSERT_TEXT(finding->holder.name, "Shop.Box.content");
}

TEST(an_array_that_is_used_by_a_quarter_is_not_sparse)
{
	scene_hold(scene, SCENE_STATIC, make_board(256 * KILO, 1024 * KILO));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "sparse-arrays"));
}

TEST(a_sparse_array_of_the_framework_is_its_own_affair)
{
	make_boxes(1, 16, 1);
	uint64_t tiles = fake_peek_u64(&scene->fake->memory, make_board(1000, 1024 * KILO) + 8);
	scene_hold(scene, SCENE_FRAMEWORK, tiles);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "sparse-arrays"));
}

TEST(what_only_a_stack_holds_is_not_sparse)
{
	scene_hold(scene, SCENE_STACK, make_board(1000, 1024 * KILO));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "sparse-arrays"));
}

TEST(buffers_of_zeros_in_many_objects_may_wait_for_their_use)
{
	scene_hold(scene, SCENE_STATIC, make_boxes(300, 64 * KILO, 0));
	const struct report_finding *finding = scene_finding(scene, "sparse-arrays");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_LOW);
	CU_ASSERT(strstr(finding->title, "300 Byte[] of zeros in ") != NULL);
	ASSERT_UINT(finding->objects, 300);
	ASSERT_UINT(finding->bytes, (uint64_t)300 * 64 * KILO);
}

TEST(a_few_large_buffers_of_zeros_wait_for_their_use)
{
	scene_hold(scene, SCENE_STATIC, make_boxes(5, 1024 * KILO, 0));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "sparse-arrays"));
}

TEST(a_buffer_whose_last_byte_is_set_is_not_empty)
{
	scene_hold(scene, SCENE_STATIC, make_boxes(300, 16 * KILO, 7));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "sparse-arrays"));
}

/* Lists of room @p room with one element each, in an array. */
static uint64_t make_lists(uint32_t lists, uint32_t room, uint32_t version)
{
	scene_segment(scene, GENERATION_2, (uint64_t)lists * (room * 8 + 200) + KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, lists);
	for (uint32_t i = 0; i < lists; i++) {
		uint64_t box = fake_object(scene->fake, box_type, 0);
		uint64_t list = scene_list(scene, 1, room, version);
		scene_list_set(scene, list, 0, fake_object(scene->fake, tile_type, 0));
		scene_set(scene, box, 0, list);
		scene_set_element(scene, all, i, box);
	}
	return all;
}

TEST(lists_with_one_element_in_many_slots_waste)
{
	scene_hold(scene, SCENE_STATIC, make_lists(2000, 128, 1));
	const struct report_finding *finding = scene_finding(scene, "collections");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->bytes, (uint64_t)2000 * 127 * 8);
	ASSERT_UINT(finding->objects, 2000);
}

/* A list of objects of @p type that grows, each with a list with one element in @p room slots. */
static void hold_growing_boxes(uint64_t type, uint32_t room)
{
	uint64_t all = scene_full_list(scene, type, 32, (const uint32_t[]){ 1900, 100 }, 2000);
	uint64_t items = fake_peek_u64(&scene->fake->memory, all + 8);
	scene_segment(scene, GENERATION_2, (uint64_t)2000 * (room * 8 + 1400));
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t list = scene_list(scene, 1, room, 1);
		scene_list_set(scene, list, 0, fake_object(scene->fake, tile_type, 0));
		scene_set(scene, fake_peek_u64(&scene->fake->memory, items + 16 + 8 * i), 0, list);
	}
	scene_hold(scene, SCENE_STATIC, all);
}

TEST(something_that_grows_and_is_mostly_empty_is_told_twice)
{
	hold_growing_boxes(box_type, 256);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->growth.state, GROWTH_GROWS);
	finding = scene_finding(scene, "collections");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->bytes, (uint64_t)2000 * 255 * 8);
}

TEST(some_empty_slots_of_something_that_grows_are_not_told)
{
	hold_growing_boxes(box_type, 8);
	CU_ASSERT_PTR_NOT_NULL(scene_finding(scene, "accumulation"));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
}

/* Too little for a pile, but a rule knows the class and says that it grows: that is before what is waste. */
TEST(some_empty_slots_of_a_known_class_that_grows_are_not_told)
{
	uint64_t entry = scene_class(scene, "Microsoft.EntityFrameworkCore.ChangeTracking.Internal",
				     "InternalEntityEntry", 1, 16, NULL);
	hold_growing_boxes(entry, 8);
	scene_segment(scene, GENERATION_2, 12 * KILO * KILO);
	scene_hold(scene, SCENE_OTHER_STATIC,
		   fake_object(scene->fake, scene_bytes_type(scene), 7 * KILO * KILO));
	const struct report_finding *finding = scene_finding(scene, "known-types");
	REQUIRE(finding);
	ASSERT_UINT(finding->growth.state, GROWTH_GROWS);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "accumulation"));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
}

TEST(one_list_with_many_slots_wastes)
{
	scene_segment(scene, GENERATION_2, 4 * KILO * KILO);
	scene_hold(scene, SCENE_STATIC, scene_list(scene, 10, 300000, 10));
	const struct report_finding *finding = scene_finding(scene, "collections");
	REQUIRE(finding);
	ASSERT_TEXT(finding->sentence, "1 List in Shop.Program.held uses 10 of its 300,000 slots; "
				       "2.2 MB are empty.");
}

TEST(the_name_of_a_type_is_quoted_in_the_next_command)
{
	char name[400] = "Cell<System.Collections.Generic.KeyValuePair<System.Int32, ";
	uint64_t cell =
		scene_class(scene, "Shop", "Cell<System.Tuple<System.Int32, A>>", 0, 8, NULL);
	(void)memset(name + strlen(name), 'x', 300);
	uint64_t boards[] = { fake_array_type(scene->fake, cell),
			      fake_array_type(scene->fake,
					      scene_class(scene, "Shop", name, 0, 8, NULL)) };
	for (size_t i = 0; i < 2; i++) {
		scene_segment(scene, GENERATION_2, (uint64_t)16 * 1024 * KILO);
		uint64_t box = fake_object(scene->fake, box_type, 0);
		scene_set(scene, box, 0, fake_object(scene->fake, boards[i], 1024 * KILO));
		scene_hold(scene, i ? SCENE_OTHER_STATIC : SCENE_STATIC, box);
	}
	const struct report *report = scene_report(scene);
	ASSERT_UINT_FATAL(report->findings_count, 2);
	const char *cut = report->findings[0].next;
	static const char start[] = "dumpheap -type 'Shop.Cell<System.Collections.Generic.";
	CU_ASSERT(strncmp(cut, start, sizeof(start) - 1) == 0);
	CU_ASSERT(strstr(cut, "x*x") != NULL && strstr(cut, "...") == NULL);
	ASSERT_TEXT(report->findings[1].next,
		    "dumpheap -type 'Shop.Cell<System.Tuple<System.Int32, A>>[]'");
}

/* It would need no quotes, if nothing were cut out of it. */
TEST(a_long_plain_name_in_a_command_matches)
{
	char name[400] = { 0 };
	(void)memset(name, 'x', 300);
	scene_segment(scene, GENERATION_2, (uint64_t)16 * 1024 * KILO);
	uint64_t type = fake_array_type(scene->fake, scene_class(scene, "Shop", name, 0, 8, NULL));
	uint64_t box = fake_object(scene->fake, box_type, 0);
	scene_set(scene, box, 0, fake_object(scene->fake, type, 1024 * KILO));
	scene_hold(scene, SCENE_STATIC, box);
	const struct report *report = scene_report(scene);
	ASSERT_UINT_FATAL(report->findings_count, 1);
	const char *next = report->findings[0].next;
	CU_ASSERT(strstr(next, "x*x") != NULL && strstr(next, "...") == NULL);
}

TEST(a_few_kilobytes_of_empty_slots_are_not_worth_a_finding)
{
	scene_segment(scene, GENERATION_2, 64 * KILO);
	scene_hold(scene, SCENE_STATIC, scene_list(scene, 10, 3000, 10));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
}

TEST(lists_with_turnover_were_full_once)
{
	scene_hold(scene, SCENE_STATIC, make_lists(2000, 128, 500));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
}

TEST(some_lists_of_four_slots_do_not_waste)
{
	scene_hold(scene, SCENE_STATIC, make_lists(2000, 4, 1));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
}

TEST(a_small_list_for_each_of_many_objects_wastes)
{
	scene_hold(scene, SCENE_STATIC, make_lists(60000, 4, 1));
	const struct report_finding *finding = scene_finding(scene, "collections");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, 60000);
	ASSERT_UINT(finding->counts[1].value, 60000);
	CU_ASSERT(strstr(finding->title, "60,000 small List in Shop.Box.content") != NULL);
}

/* Boxes with strings of 100 characters, of which @p values differ. */
static void hold_strings_by(enum scene_root root, unsigned int generation, uint32_t count,
			    uint32_t values)
{
	char text[101];
	scene_segment(scene, generation, (uint64_t)count * (232 + 32 + 8) + KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, count);
	for (uint32_t i = 0; i < count; i++) {
		(void)snprintf(text, sizeof(text), "%0100u", i % values);
		uint64_t box = fake_object(scene->fake, box_type, 0);
		scene_set(scene, box, 0, fake_string(scene->fake, text));
		scene_set_element(scene, all, i, box);
	}
	scene_hold(scene, root, all);
}

static void hold_strings(uint32_t count, uint32_t values)
{
	hold_strings_by(SCENE_STATIC, GENERATION_2, count, values);
}

TEST(equal_strings_of_the_main_thread_waste)
{
	hold_strings_by(SCENE_STACK, GENERATION_2, 20000, 3);
	const struct report_finding *finding = scene_finding(scene, "duplicates");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, 19997);
}

TEST(equal_strings_of_another_thread_are_low)
{
	scene->more_threads = 1;
	scene_segment(scene, GENERATION_2, KILO);
	scene_hold(scene, SCENE_STACK, fake_object(scene->fake, box_type, 0));
	hold_strings_by(SCENE_STACK, GENERATION_2, 20000, 3);
	const struct report_finding *finding = scene_finding(scene, "duplicates");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_LOW);
}

TEST(a_thread_works_on_young_strings)
{
	hold_strings_by(SCENE_STACK, GENERATION_1, 20000, 3);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "duplicates"));
}

TEST(strings_with_equal_content_waste)
{
	hold_strings(20000, 3);
	const struct report_finding *finding = scene_finding(scene, "duplicates");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, 19997);
	ASSERT_UINT(finding->bytes, (uint64_t)19997 * 222);
	ASSERT_UINT(finding->counts[1].value, 6667);
}

/* The same string of 100 characters in young boxes, in a list from which @p removed others were taken. */
static void hold_young_strings(uint32_t count, uint32_t removed)
{
	char text[101];
	(void)snprintf(text, sizeof(text), "%0100u", 1u);
	uint64_t list = scene_full_list(scene, box_type, 32, (const uint32_t[]){ 0, count },
					count + 2 * removed);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_1, (uint64_t)count * 232 + KILO);
	for (uint64_t i = 0; i < count; i++) {
		scene_set(scene, fake_peek_u64(&scene->fake->memory, items + 16 + 8 * i), 0,
			  fake_string(scene->fake, text));
	}
	scene_hold(scene, SCENE_STATIC, list);
}

TEST(some_equal_strings_that_are_young_may_be_gone_soon)
{
	hold_young_strings(20000, 20000);
	const struct report_finding *finding = scene_finding(scene, "duplicates");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_LOW);
}

TEST(many_equal_strings_waste_also_if_they_are_young)
{
	hold_young_strings(60000, 60000);
	const struct report_finding *finding = scene_finding(scene, "duplicates");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
}

TEST(some_equal_strings_of_a_pile_waste_also_if_they_are_young)
{
	hold_young_strings(20000, 0);
	const struct report_finding *finding = scene_finding(scene, "duplicates");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
}

/* Two fields in turns: the second one has the longer strings. */
TEST(the_field_with_most_bytes_of_copies_is_named)
{
	const struct fake_field fields[] = {
		{ .name = "code", .element = ELEMENT_CLASS },
		{ .name = "country", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL },
	};
	uint64_t type = scene_class(scene, "Shop", "Row", 2, 16, fields);
	const uint32_t count = 20000;
	scene_segment(scene, GENERATION_2, (uint64_t)count * 256 + KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t row = fake_object(scene->fake, type, 0);
		scene_set(scene, row, 0, fake_string(scene->fake, "a code of some length"));
		scene_set(scene, row, 1, fake_string(scene->fake, "a country with a longer name"));
		scene_set_element(scene, all, i, row);
	}
	scene_hold(scene, SCENE_STATIC, all);
	const struct report_finding *finding = scene_finding(scene, "duplicates");
	REQUIRE(finding);
	ASSERT_TEXT(finding->holder.name, "Shop.Row.country");
	CU_ASSERT(strstr(finding->sentence, "Shop.Row.country holds most of them.") != NULL);
}

/* Arrays of 100 bytes in boxes; those that wait for their use are all zeros. */
static void hold_arrays(uint32_t values)
{
	const uint32_t count = 40000;
	scene_segment(scene, GENERATION_2, (uint64_t)count * 200 + KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t box = fake_object(scene->fake, box_type, 0);
		uint64_t bytes = fake_object(scene->fake, bytes_type, 120);
		fake_poke_u32(&scene->fake->memory, bytes + 16 + 92, values ? 1 + i % values : 0);
		scene_set(scene, box, 0, bytes);
		scene_set_element(scene, all, i, box);
	}
	scene_hold(scene, SCENE_STATIC, all);
}

TEST(arrays_with_equal_content_waste)
{
	hold_arrays(7);
	const struct report_finding *finding = scene_finding(scene, "duplicates");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, 39993);
	ASSERT_TEXT(finding->holder.name, "Shop.Box.content");
	CU_ASSERT(strstr(finding->title, " of equal Byte[]") != NULL);
	/* The pile that they are in is told with it. */
	CU_ASSERT(strstr(finding->sentence, "whether they pile up, in Shop.Program.held.") != NULL);
}

TEST(arrays_that_differ_are_no_duplicates)
{
	hold_arrays(40000);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "duplicates"));
}

TEST(arrays_of_zeros_are_not_called_equal)
{
	hold_arrays(0);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "duplicates"));
}

TEST(strings_that_differ_are_no_duplicates)
{
	hold_strings(20000, 20000);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "duplicates"));
}

TEST(lambdas_are_named_with_the_variable_that_keeps_most)
{
	const struct fake_field fields[] = {
		{ .name = "<>4__this", .element = ELEMENT_CLASS },
		{ .name = "order", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL },
	};
	uint64_t closure = scene_class(scene, "Shop", "Till+<>c__DisplayClass1_0", 2, 16, fields);
	scene_segment(scene, GENERATION_2, (uint64_t)300 * (8 * KILO + 200) + 16 * KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, 300);
	uint64_t till = fake_object(scene->fake, box_type, 0);
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t one = fake_object(scene->fake, closure, 0);
		scene_set(scene, one, 0, till);
		scene_set(scene, one, 1, fake_object(scene->fake, bytes_type, 8 * KILO));
		scene_set_element(scene, all, i, one);
	}
	scene_hold(scene, SCENE_STATIC, all);
	const struct report_finding *finding = scene_finding(scene, "closures");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_LOW);
	ASSERT_UINT(finding->objects, 300);
	ASSERT_TEXT(finding->title, "300 lambdas of Shop.Till keep order");
}

TEST(one_lambda_keeps_what_it_has_captured)
{
	const struct fake_field fields[] = { { .name = "order", .element = ELEMENT_CLASS },
					     { .name = NULL } };
	uint64_t closure = scene_class(scene, "Shop", "Till+<>c__DisplayClass1_0", 1, 8, fields);
	scene_segment(scene, GENERATION_2, 2 * KILO * KILO);
	uint64_t one = fake_object(scene->fake, closure, 0);
	scene_set(scene, one, 0, fake_object(scene->fake, bytes_type, KILO * KILO + KILO));
	scene_hold(scene, SCENE_STATIC, one);
	const struct report_finding *finding = scene_finding(scene, "closures");
	REQUIRE(finding);
	ASSERT_TEXT(finding->title, "1 lambda of Shop.Till keeps order");
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->sentence, "keeps what it has captured: 1 MB, "));
}

TEST(lambdas_that_keep_little_are_not_told)
{
	uint64_t closure = scene_class(scene, "Shop", "Till+<>c__DisplayClass1_0", 1, 8, NULL);
	scene_hold(scene, SCENE_STATIC, make_boxes(300, 16 * KILO, 7));
	scene_segment(scene, GENERATION_2, 16 * KILO);
	for (uint32_t i = 0; i < 300; i++)
		scene_hold(scene, SCENE_OTHER_STATIC, fake_object(scene->fake, closure, 0));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "closures"));
}

/* An object of System.Buffers that has @p arrays of 1 MB. */
static uint64_t make_pool(const char *name, uint32_t arrays)
{
	uint64_t type = scene_class(scene, "System.Buffers", name, 1, 8, NULL);
	scene_segment(scene, GENERATION_2, (uint64_t)arrays * (1024 * KILO + 64) + 4 * KILO);
	uint64_t pool = fake_object(scene->fake, type, 0);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, arrays);
	scene_set(scene, pool, 0, all);
	for (uint32_t i = 0; i < arrays; i++)
		scene_set_element(scene, all, i, fake_object(scene->fake, bytes_type, 1024 * KILO));
	return pool;
}

static void hold_pool(uint32_t arrays)
{
	scene_hold(scene, SCENE_FRAMEWORK, make_pool("SharedArrayPoolPartitions", arrays));
}

TEST(what_an_array_pool_keeps_is_a_fact)
{
	hold_pool(20);
	const struct report_finding *finding = scene_finding(scene, "pools");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_INFO);
	CU_ASSERT(finding->bytes >= (uint64_t)20 * 1024 * KILO);
}

TEST(a_small_array_pool_is_not_told)
{
	hold_pool(10);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "pools"));
}

/* A pool of the program with @p arrays of 1 MB, and other objects of @p others MB. */
static void hold_own_pool(uint32_t arrays, uint32_t others)
{
	scene_hold(scene, SCENE_OTHER_STATIC, make_boxes(others, 1024 * KILO, 7));
	scene_hold(scene, SCENE_STATIC, make_pool("ConfigurableArrayPool", arrays));
}

TEST(a_pool_that_is_most_of_the_heap_is_found)
{
	hold_own_pool(20, 10);
	const struct report_finding *finding = scene_finding(scene, "pools");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_TEXT(finding->holder.name, "Shop.Program.held");
}

TEST(a_pool_that_is_a_third_of_the_heap_is_a_fact)
{
	hold_own_pool(20, 40);
	const struct report_finding *finding = scene_finding(scene, "pools");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_INFO);
}

/* An array of strings that a handle holds; @p is_shared: a static has them, too. */
static void hold_interned(uint32_t count, enum generation generation, bool is_shared)
{
	char text[64];
	scene_segment(scene, generation, (uint64_t)count * 8 + KILO);
	uint64_t table = fake_object(scene->fake, scene->fake->object_array_type, count);
	scene_segment(scene, GENERATION_2, (uint64_t)count * 1040 + KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, count);
	for (uint32_t i = 0; i < count; i++) {
		(void)snprintf(text, sizeof(text), "customer-%u@mail.example", i);
		uint64_t one = fake_object(scene->fake, scene->fake->string_type, 500);
		fake_poke(&scene->fake->memory, one + 12, text, strlen(text));
		scene_set_element(scene, table, i, one);
		scene_set_element(scene, all, i, is_shared ? one : 0);
	}
	scene_hold(scene, SCENE_HANDLE, table);
	scene_hold(scene, SCENE_STATIC, all);
}

TEST(strings_that_only_the_table_of_interned_ones_holds_are_found)
{
	hold_interned(12000, GENERATION_POH, false);
	const struct report_finding *finding = scene_finding(scene, "interned");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, 12000);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "accumulation"));
}

/* Objects of generation 0 that nothing refers to: what was allocated since the last collection. */
static void make_garbage(uint32_t megabytes)
{
	scene_segment(scene, GENERATION_0, (uint64_t)(megabytes + 1) * KILO * KILO);
	for (uint32_t i = 0; i < megabytes; i++)
		(void)fake_object(scene->fake, bytes_type, KILO * KILO - 24);
}

TEST(many_interned_strings_are_waste_also_if_they_do_not_grow)
{
	hold_interned(12000, GENERATION_POH, false);
	make_garbage(3);
	const struct report_finding *finding = scene_finding(scene, "interned");
	REQUIRE(finding);
	ASSERT_UINT(finding->growth.state, GROWTH_IDLE);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
}

TEST(interned_strings_that_do_not_grow_and_are_a_small_part_are_a_fact)
{
	hold_interned(12000, GENERATION_POH, false);
	scene_hold(scene, SCENE_OTHER_STATIC, make_boxes(50, 1024 * KILO, 7));
	make_garbage(3);
	const struct report_finding *finding = scene_finding(scene, "interned");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_LOW);
}

TEST(interned_strings_that_the_program_uses_are_its_own)
{
	hold_interned(12000, GENERATION_POH, true);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "interned"));
}

TEST(an_array_that_a_handle_of_the_program_holds_is_no_table)
{
	hold_interned(12000, GENERATION_2, false);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "interned"));
}

TEST(some_thousand_literals_are_usual)
{
	hold_interned(9000, GENERATION_POH, false);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "interned"));
}

/* Generation 0 with pinned tiles between 11 free megabytes, and @p garbage megabytes that nothing refers to. */
static void pin_tiles(uint32_t count, uint32_t garbage)
{
	scene_segment(scene, GENERATION_0, (uint64_t)(garbage + 14) * KILO * KILO);
	for (uint32_t i = 0; i < count; i++) {
		scene_hold(scene, SCENE_PINNED, fake_object(scene->fake, tile_type, 0));
		(void)fake_free(scene->fake, (uint64_t)11 * KILO * KILO / count / 8 * 8);
	}
	for (uint32_t i = 0; i < garbage; i++)
		(void)fake_object(scene->fake, bytes_type, KILO * KILO - 24);
}

TEST(free_memory_between_pinned_objects_is_found)
{
	pin_tiles(200, 0);
	const struct report_finding *finding = scene_finding(scene, "fragmentation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_HIGH);
	ASSERT_UINT(finding->objects, 200);
}

TEST(garbage_between_pinned_objects_will_be_free)
{
	pin_tiles(200, 5);
	const struct report_finding *finding = scene_finding(scene, "fragmentation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
}

TEST(a_few_pinned_objects_do_not_divide_the_heap)
{
	pin_tiles(90, 0);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "fragmentation"));
}

/* Sockets that nothing refers to; the last are alive. */
static void make_sockets(uint32_t dead, uint32_t alive, uint32_t header)
{
	uint64_t socket = scene_class(scene, "System.Net.Sockets", "Socket", 0, 8, NULL);
	scene_segment(scene, GENERATION_2, (uint64_t)(dead + alive) * 24 + KILO);
	for (uint32_t i = 0; i < dead + alive; i++) {
		uint64_t one = fake_object(scene->fake, socket, 0);
		fake_header(scene->fake, one, header);
		scene_hold(scene, SCENE_REGISTERED, one);
		if (i >= dead)
			scene_hold(scene, SCENE_STATIC, one);
	}
}

TEST(dead_sockets_that_nobody_disposed_are_found)
{
	make_sockets(600, 100, 0);
	const struct report_finding *finding = scene_finding(scene, "undisposed");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, 600);
	ASSERT_UINT(finding->counts[1].value, 700);
}

TEST(sockets_that_were_disposed_are_only_garbage)
{
	make_sockets(600, 100, HEADER_FINALIZER_RUN);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "undisposed"));
}

TEST(sockets_that_are_alive_are_not_forgotten)
{
	make_sockets(100, 600, 0);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "undisposed"));
}

/* Dead handles of a library, which refer to something or do not. */
static void drop_handles(const char *space, const char *name, uint64_t value)
{
	const struct fake_field fields[] = { { .name = "handle", .element = ELEMENT_I },
					     { .name = NULL } };
	uint64_t base =
		scene_class(scene, "System.Runtime.InteropServices", "SafeHandle", 0, 8, fields);
	uint64_t type = fake_class(
		scene->types, &(struct fake_class){ .space = space,
						    .name = name,
						    .inherited = 1,
						    .type = { .base_size = 24, .parent = base } });
	scene_segment(scene, GENERATION_2, (uint64_t)600 * 24 + KILO);
	for (uint32_t i = 0; i < 600; i++) {
		uint64_t one = fake_object(scene->fake, type, 0);
		fake_poke_u64(&scene->fake->memory, one + 8, value);
		scene_hold(scene, SCENE_REGISTERED, one);
	}
}

TEST(dead_handles_of_files_are_found)
{
	drop_handles("Microsoft.Win32.SafeHandles", "SafeFileHandle", 7);
	const struct report_finding *finding = scene_finding(scene, "undisposed");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
}

TEST(handles_that_were_closed_are_only_garbage)
{
	drop_handles("Microsoft.Win32.SafeHandles", "SafeFileHandle", 0);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "undisposed"));
}

TEST(dead_handles_of_a_library_are_only_garbage)
{
	drop_handles("SQLitePCL", "sqlite3_stmt", 0x7f0000);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "undisposed"));
}

TEST(without_all_roots_nothing_is_known_to_be_dead)
{
	scene->is_partial = true;
	make_sockets(600, 100, 0);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "undisposed"));
}

SUITE(.name = "report_waste", .set_up = set_up, .tear_down = tear_down)
