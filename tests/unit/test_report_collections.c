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

SUITE(.name = "report_collections", .set_up = set_up, .tear_down = tear_down)
