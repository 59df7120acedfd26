/* SPDX-License-Identifier: MIT */
/* ConcurrentDictionaries that are nearly empty. */
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO     1024u
#define SZ_ARRAY 0x000a0000u

static struct report_scene *scene;
static uint64_t tables_type, map_type, counts_type;

static void set_up(void)
{
	scene = scene_create();
}

static void tear_down(void)
{
	scene_destroy(scene);
}

static void make_concurrent_types(void)
{
	const struct fake_field tables[] = {
		{ .name = "_buckets", .element = ELEMENT_CLASS },
		{ .name = "_countPerLock", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL },
	};
	const struct fake_field map[] = { { .name = "_tables", .element = ELEMENT_CLASS },
					  { .name = NULL } };
	const char *space = "System.Collections.Concurrent";
	tables_type = scene_class(scene, space, "Tables", 2, 16, tables);
	map_type = scene_class(scene, space, "ConcurrentDictionary", 1, 8, map);
	uint64_t number = scene_class(scene, "System", "Int32", 0, 8, NULL);
	counts_type = fake_type(scene->fake, &(struct fake_type){ .base_size = 24,
								  .component_size = 4,
								  .flags = SZ_ARRAY,
								  .per_inst = number });
}

/* A ConcurrentDictionary with @p count items in @p room buckets, counted by two locks. */
static uint64_t make_concurrent(uint32_t count, uint32_t room)
{
	uint64_t ret = fake_object(scene->fake, map_type, 0);
	uint64_t inner = fake_object(scene->fake, tables_type, 0);
	uint64_t counts = fake_object(scene->fake, counts_type, 2);
	const uint32_t halves[] = { count / 2, count - count / 2 };
	fake_poke(&scene->fake->memory, counts + 16, halves, sizeof(halves));
	scene_set(scene, ret, 0, inner);
	scene_set(scene, inner, 0, fake_object(scene->fake, scene->fake->object_array_type, room));
	scene_set(scene, inner, 1, counts);
	return ret;
}

TEST(a_concurrent_dictionary_with_few_items_wastes)
{
	make_concurrent_types();
	scene_segment(scene, GENERATION_2, (uint64_t)8 * 300000 + KILO);
	scene_hold(scene, SCENE_STATIC, make_concurrent(241, 300000));
	const struct report_finding *finding = scene_finding(scene, "collections");
	REQUIRE(finding);
	ASSERT_TEXT(finding->sentence,
		    "1 ConcurrentDictionary in Shop.Program.held uses 241 of its 300,000 slots; "
		    "2.2 MB are empty.");
}

TEST(a_concurrent_dictionary_has_some_buckets_from_the_start)
{
	make_concurrent_types();
	scene_segment(scene, GENERATION_2, (uint64_t)1000 * KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		scene_set_element(scene, all, i, make_concurrent(1, 37));
	scene_hold(scene, SCENE_STATIC, all);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
}

TEST(a_concurrent_dictionary_may_have_more_items_than_buckets)
{
	make_concurrent_types();
	scene_segment(scene, GENERATION_2, (uint64_t)8 * 300000 + KILO);
	scene_hold(scene, SCENE_STATIC, make_concurrent(400000, 300000));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
}

/* A MemoryStream with @p used of @p room bytes in use. */
static uint64_t make_stream(uint64_t type, uint64_t bytes_type, uint32_t used, uint32_t room)
{
	uint64_t ret = fake_object(scene->fake, type, 0);
	scene_set(scene, ret, 0, fake_object(scene->fake, bytes_type, room));
	fake_poke_u32(&scene->fake->memory, ret + 16, used);
	fake_poke_u32(&scene->fake->memory, ret + 20, room);
	return ret;
}

/* So many streams of 64 KB, of which few bytes are used, in an array. */
static void make_streams(uint32_t count, uint32_t used)
{
	const struct fake_field fields[] = {
		{ .name = "_buffer", .element = ELEMENT_CLASS },
		{ .name = "_length", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_capacity", .element = ELEMENT_I4, .offset = 12 },
		{ .name = NULL },
	};
	uint64_t type = scene_class(scene, "System.IO", "MemoryStream", 1, 16, fields);
	uint64_t bytes_type = scene_bytes_type(scene);
	scene_segment(scene, GENERATION_2, (uint64_t)count * 65 * KILO + (uint64_t)64 * KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, count);
	for (uint32_t i = 0; i < count; i++)
		scene_set_element(scene, all, i, make_stream(type, bytes_type, used, 64 * KILO));
	scene_hold(scene, SCENE_STATIC, all);
}

TEST(streams_that_are_nearly_empty_waste)
{
	make_streams(400, 100);
	const struct report_finding *finding = scene_finding(scene, "collections");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->bytes, (uint64_t)400 * (64 * KILO - 100));
}

TEST(a_few_streams_may_be_empty)
{
	make_streams(40, 100);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
}

TEST(streams_that_are_used_waste_nothing)
{
	make_streams(400, 32 * KILO);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
}

SUITE(.name = "report_collections", .set_up = set_up, .tear_down = tear_down)
