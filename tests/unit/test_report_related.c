/* SPDX-License-Identifier: MIT */
/* Piles of different types that one cause has are one finding; others stay two. */
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO   1024u
#define COUNT  1000u
#define STRING 4096u

static struct report_scene *scene;
static uint64_t parcel_type, row_type, store_type;

static void set_up(void)
{
	scene = scene_create();
	const struct fake_field parcel[] = { { .name = "Address", .element = ELEMENT_CLASS },
					     { .name = NULL } };
	/* Two fields of the program, which both lead to collections. */
	const struct fake_field store[] = {
		{ .name = "first", .element = ELEMENT_CLASS },
		{ .name = "second", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	parcel_type = scene_class(scene, "Shop", "Parcel", 1, 2032, parcel);
	row_type = scene_class(scene, "System.Data", "Row", 0, 1008, NULL);
	store_type = scene_class(scene, "Shop", "Store", 2, 16, store);
}

static void tear_down(void)
{
	scene_destroy(scene);
}

static uint64_t item(uint64_t list, uint32_t index)
{
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	return fake_peek_u64(&scene->fake->memory, items + 16 + 8 * (uint64_t)index);
}

/* A list of old objects. */
static uint64_t make_list(uint64_t type, uint32_t size, uint32_t count)
{
	return scene_full_list(scene, type, size, (const uint32_t[]){ count, 0 }, count);
}

/* Hold two lists by one field of the program, or by two. */
static void hold_both(uint64_t first, uint64_t second, bool is_one_field)
{
	uint64_t context = scene_class(scene, "System.Data", "Context", 2, 16, NULL);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t store = fake_object(scene->fake, store_type, 0);
	uint64_t above = store;
	if (is_one_field) {
		above = fake_object(scene->fake, context, 0);
		scene_set(scene, store, 0, above);
	}
	scene_set(scene, above, 0, first);
	scene_set(scene, above, 1, second);
	scene_hold(scene, SCENE_STATIC, store);
}

/* Parcels, and an index of their addresses: these belong to nobody alone. */
static void hold_indexed(bool is_one_field)
{
	uint64_t parcels = make_list(parcel_type, 2048, COUNT);
	scene_segment(scene, GENERATION_2, (uint64_t)COUNT * (STRING + 64) + KILO);
	uint64_t addresses = scene_list(scene, COUNT, COUNT, COUNT + 500);
	for (uint32_t i = 0; i < COUNT; i++) {
		uint64_t text = fake_object(scene->fake, scene->fake->string_type, STRING / 2);
		scene_set(scene, item(parcels, i), 0, text);
		scene_list_set(scene, addresses, i, text);
	}
	hold_both(parcels, addresses, is_one_field);
}

static uint32_t count_findings(void)
{
	const struct report *report = scene_report(scene);
	uint32_t count = 0;
	for (size_t i = 0; i < report->findings_count; i++)
		count += strcmp(report->findings[i].rule->name, "accumulation") == 0;
	return count;
}

TEST(strings_that_an_index_has_as_well_go_with_their_objects)
{
	hold_indexed(true);
	ASSERT_UINT(count_findings(), 1);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_TEXT(finding->title, "1,000 Parcel in Shop.Store.first");
	CU_ASSERT(finding->bytes >= (uint64_t)COUNT * (STRING + 2048));
	ASSERT_UINT(finding->explains.count, 1);
}

TEST(strings_of_another_field_are_another_finding)
{
	hold_indexed(false);
	const struct report *report = scene_report(scene);
	for (size_t i = 0; i < report->findings_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		if (strstr(finding->title, "Parcel"))
			CU_ASSERT(finding->bytes < (uint64_t)COUNT * STRING);
	}
}

TEST(collections_with_equal_counts_below_one_field_are_one_finding)
{
	hold_both(make_list(parcel_type, 2048, COUNT), make_list(row_type, 1024, COUNT + 5), true);
	ASSERT_UINT(count_findings(), 1);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_TEXT(finding->title, "1,000 Parcel in Shop.Store.first");
	CU_ASSERT(finding->bytes >= (uint64_t)COUNT * (2048 + 1024));
}

TEST(the_finding_is_as_severe_as_the_worse_of_both)
{
	uint64_t rows =
		scene_full_list(scene, row_type, 1024, (const uint32_t[]){ 900, 100 }, COUNT);
	hold_both(make_list(parcel_type, 2048, COUNT), rows, true);
	ASSERT_UINT(count_findings(), 1);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_HIGH);
	ASSERT_UINT(finding->growth.state, GROWTH_GROWS);
	ASSERT_TEXT(finding->title, "1,000 Parcel in Shop.Store.first");
}

TEST(collections_with_other_counts_are_two_findings)
{
	hold_both(make_list(parcel_type, 2048, COUNT), make_list(row_type, 1024, COUNT + 50), true);
	ASSERT_UINT(count_findings(), 2);
}

TEST(collections_of_two_fields_are_two_findings)
{
	hold_both(make_list(parcel_type, 2048, COUNT), make_list(row_type, 1024, COUNT), false);
	ASSERT_UINT(count_findings(), 2);
}

/* A dictionary with the array of a list of 2,000 elements, which says that it only grew. */
static uint64_t make_dictionary(uint64_t list)
{
	const struct fake_field fields[] = {
		{ .name = "_entries", .element = ELEMENT_CLASS },
		{ .name = "_count", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_version", .element = ELEMENT_I4, .offset = 12 },
		{ .name = NULL },
	};
	struct fake_memory *memory = &scene->fake->memory;
	uint64_t type =
		scene_class(scene, "System.Collections.Generic", "Dictionary", 1, 16, fields);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t ret = fake_object(scene->fake, type, 0);
	scene_set(scene, ret, 0, fake_peek_u64(memory, list + 8));
	fake_poke_u64(memory, ret + 16, UINT64_C(2000) << 32 | 2000);
	return ret;
}

/* Hold a collection; @p young elements of it, every @p stride-th from @p first on, are new. */
static void renew(uint64_t collection, uint32_t first, uint32_t stride, uint32_t young)
{
	scene_segment(scene, GENERATION_0, (uint64_t)(young + 1) * 1024);
	for (uint32_t i = 0; i < young; i++)
		scene_list_set(scene, collection, first + i * stride,
			       fake_object(scene->fake, row_type, 0));
}

static uint64_t hold_dictionary(void)
{
	uint64_t ret = make_dictionary(make_list(row_type, 1024, 2000));
	scene_hold(scene, SCENE_STATIC, ret);
	return ret;
}

static void expect_growth(enum growth_state state, enum severity severity)
{
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->growth.state, state);
	ASSERT_UINT(finding->severity, severity);
}

TEST(a_collection_whose_last_elements_are_new_grows)
{
	renew(hold_dictionary(), 1800, 1, 200);
	expect_growth(GROWTH_GROWS, SEVERITY_HIGH);
}

/* @p count small objects that are garbage, after those that were made before. */
static void make_garbage(uint32_t count)
{
	uint64_t type = scene_class(scene, "Shop", "Request", 0, 8, NULL);
	scene_segment(scene, GENERATION_0, (uint64_t)count * 24 + KILO);
	for (uint32_t i = 0; i < count; i++)
		(void)fake_object(scene->fake, type, 0);
}

TEST(what_was_put_in_at_one_time_may_be_all)
{
	renew(hold_dictionary(), 1700, 1, 300);
	make_garbage(1000);
	expect_growth(GROWTH_UNKNOWN, SEVERITY_MEDIUM);
}

TEST(what_was_put_in_until_lately_grows)
{
	renew(hold_dictionary(), 1700, 1, 300);
	make_garbage(200);
	expect_growth(GROWTH_GROWS, SEVERITY_HIGH);
}

/* As in a dictionary with the last price of each share. */
TEST(new_elements_between_old_ones_took_their_places)
{
	renew(hold_dictionary(), 0, 10, 200);
	expect_growth(GROWTH_TURNS, SEVERITY_INFO);
}

/* Another collection would say that elements were replaced: they were put in between. */
TEST(new_elements_between_old_ones_of_a_list_grow)
{
	uint64_t list = make_list(row_type, 1024, 2000);
	scene_hold(scene, SCENE_STATIC, list);
	renew(list, 0, 10, 200);
	expect_growth(GROWTH_GROWS, SEVERITY_HIGH);
}

TEST(new_elements_between_old_ones_and_at_the_end_do_not_tell)
{
	uint64_t map = hold_dictionary();
	renew(map, 0, 9, 200);
	renew(map, 1920, 1, 80);
	expect_growth(GROWTH_UNKNOWN, SEVERITY_MEDIUM);
}

/* An array of the program, whose last @p young elements are new; @p room: it has one more. */
static void hold_array(uint32_t old, uint32_t young, bool has_room)
{
	uint32_t count = old + young;
	scene_segment(scene, GENERATION_2, (uint64_t)old * 1024 + (uint64_t)count * 8 + KILO);
	uint64_t store = fake_object(scene->fake, store_type, 0);
	uint64_t all =
		fake_object(scene->fake, fake_array_type(scene->fake, row_type), count + has_room);
	scene_set(scene, store, 0, all);
	for (uint32_t i = 0; i < old; i++)
		scene_set_element(scene, all, i, fake_object(scene->fake, row_type, 0));
	scene_segment(scene, GENERATION_0, (uint64_t)young * 1024 + KILO);
	for (uint32_t i = old; i < count; i++)
		scene_set_element(scene, all, i, fake_object(scene->fake, row_type, 0));
	scene_hold(scene, SCENE_STATIC, store);
}

TEST(an_array_with_room_grows)
{
	hold_array(2000, 300, true);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->growth.state, GROWTH_GROWS);
}

TEST(an_array_without_room_does_not_grow)
{
	hold_array(2000, 300, false);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->growth.state, GROWTH_UNKNOWN);
}

SUITE(.name = "report_related", .set_up = set_up, .tear_down = tear_down)
