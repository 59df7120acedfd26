/* SPDX-License-Identifier: MIT */
/* Collections that have their elements in several arrays or nodes: all of them count, once. */
#include <string.h>

#include "findings/comparison.h"
#include "findings/owners.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO 1024u

static struct report_scene *scene;
static uint64_t page_type;

static void set_up(void)
{
	scene = scene_create();
	page_type = scene_class(scene, "Shop", "Page", 0, 4080, NULL);
}

static void tear_down(void)
{
	scene_destroy(scene);
}

/* A list of arrays, with so many pages each. */
static uint64_t make_parts(const uint32_t pages[3])
{
	uint32_t count = pages[0] + pages[1] + pages[2];
	scene_segment(scene, GENERATION_2, (uint64_t)(count + 4) * 4112 + (uint64_t)8 * count);
	uint64_t list = scene_list(scene, 3, 3, 3);
	for (uint32_t part = 0; part < 3; part++) {
		uint64_t array =
			fake_object(scene->fake, scene->fake->object_array_type, pages[part]);
		scene_list_set(scene, list, part, array);
		for (uint32_t i = 0; i < pages[part]; i++) {
			scene_set_element(scene, array, i, fake_object(scene->fake, page_type, 0));
		}
	}
	return list;
}

#define ARRAY_BYTES(length) (24 + 8 * (uint64_t)(length))

TEST(arrays_of_one_collection_are_one_pile_however_small)
{
	uint64_t list = make_parts((const uint32_t[]){ 1000, 600, 20 });
	scene_hold(scene, SCENE_STATIC, list);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->counts[0].value, 1620);
	/* The pages, their arrays, the array of these, and the list. */
	ASSERT_UINT(finding->objects, 1620 + 3 + 1 + 1);
	uint64_t own = graph_size(scene->report.facts.graph, finding->holder.subject);
	ASSERT_UINT(finding->bytes, (uint64_t)1620 * 4096 + ARRAY_BYTES(1000) + ARRAY_BYTES(600) +
					    ARRAY_BYTES(20) + ARRAY_BYTES(3) + own);
}

/* As two messages in different segments of a mailbox do with their sender. */
TEST(what_the_parts_of_a_collection_share_belongs_to_it)
{
	uint64_t sender_type = scene_class(scene, "Shop", "Sender", 0, 99984, NULL);
	uint64_t letter = scene_class(scene, "Shop", "Letter", 1, 4080, NULL);
	page_type = letter;
	uint64_t list = make_parts((const uint32_t[]){ 1000, 600, 20 });
	uint64_t parts = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_2, 100 * KILO);
	uint64_t sender = fake_object(scene->fake, sender_type, 0);
	for (uint64_t part = 0; part < 2; part++) {
		uint64_t array = fake_peek_u64(&scene->fake->memory, parts + 16 + 8 * part);
		scene_set(scene, fake_peek_u64(&scene->fake->memory, array + 16), 0, sender);
	}
	scene_hold(scene, SCENE_STATIC, list);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->counts[0].value, 1620);
	CU_ASSERT(finding->bytes >= (uint64_t)1620 * 4096 + 100000);
	CU_ASSERT(finding->bytes <= scene->report.facts.sums.all_live);
}

/* Rooms that have large rooms: what the first list has is told once, with all that is below. */
TEST(a_tree_of_lists_is_counted_once)
{
	uint64_t room = scene_class(scene, "Shop", "Room", 1, 4080, NULL);
	uint64_t outer = scene_full_list(scene, room, 4096, (const uint32_t[]){ 600, 0 }, 600);
	uint64_t inner = scene_full_list(scene, room, 4096, (const uint32_t[]){ 700, 0 }, 700);
	uint64_t items = fake_peek_u64(&scene->fake->memory, outer + 8);
	scene_set(scene, fake_peek_u64(&scene->fake->memory, items + 16), 0, inner);
	scene_hold(scene, SCENE_STATIC, outer);
	const struct report *report = scene_report(scene);
	uint64_t bytes = 0;
	for (size_t i = 0; i < report->findings_count; i++) {
		if (strcmp(report->findings[i].holder.name, "Shop.Program.held") == 0)
			bytes = report->findings[i].bytes;
	}
	CU_ASSERT(bytes >= (uint64_t)1300 * 4096);
	CU_ASSERT(bytes <= report->facts.sums.all_live);
}

static const struct report_finding *only_accumulation(uint64_t count)
{
	const struct report *report = scene_report(scene);
	const struct report_finding *found = NULL;
	for (size_t i = 0; i < report->findings_count; i++) {
		if (strcmp(report->findings[i].rule->name, "accumulation") != 0)
			continue;
		CU_ASSERT_PTR_NULL(found);
		found = &report->findings[i];
	}
	REQUIRE(found);
	ASSERT_UINT(found->counts[0].value, count);
	return found;
}

/* An object with @p count small rooms, and one more reference. */
static uint64_t make_floor(uint64_t floor_type, uint32_t count)
{
	uint64_t floor = fake_object(scene->fake, floor_type, 0);
	uint64_t array = fake_object(scene->fake, scene->fake->object_array_type, count);
	scene_set(scene, floor, 0, array);
	for (uint32_t i = 0; i < count; i++)
		scene_set_element(scene, array, i, fake_object(scene->fake, page_type, 0));
	return floor;
}

/* Two heaps are compared by the same numbers. */
static void check_holding(const struct report_finding *finding)
{
	struct inventory inventory;
	REQUIRE(finding);
	scene->report.facts.job = NULL; /* that of scene_report() is over */
	ASSERT_UINT_FATAL(inventory_make(&scene->report, &inventory, NULL), HD_OK);
	ASSERT_UINT_FATAL(inventory.holdings_count, 1);
	ASSERT_UINT(inventory.holdings[0].count, finding->counts[0].value);
	ASSERT_UINT(inventory.holdings[0].bytes, finding->bytes);
	inventory_deinit(&inventory);
}

/* Floors that refer to the next: each has pages of its own.  The first one has the fewest. */
TEST(levels_of_one_field_are_added_up_once)
{
	static const uint32_t counts[] = { 300, 500, 400 };
	uint64_t floor_type = scene_class(scene, "System.Tools", "Floor", 2, 16, NULL);
	uint64_t floors[3];
	scene_segment(scene, GENERATION_2, (uint64_t)1300 * 4096);
	for (size_t i = 0; i < 3; i++)
		floors[i] = make_floor(floor_type, counts[i]);
	scene_set(scene, floors[0], 1, floors[1]);
	scene_set(scene, floors[1], 1, floors[2]);
	scene_hold(scene, SCENE_STATIC, floors[0]);
	const struct report_finding *found = only_accumulation(1200);
	ASSERT_TEXT(found->title, "1,200 Page in Shop.Program.held");
	CU_ASSERT_PTR_NOT_NULL(strstr(
		found->sentence, "Shop.Program.held holds 1,200 objects of type Page: 4.6 MB, "));
	ASSERT_UINT(found->bytes, (uint64_t)1200 * 4096);
	ASSERT_UINT(found->objects, 1200);
	ASSERT_UINT(found->growth.all, 1200);
	check_holding(found);
}

/* The list has fewer rooms of its own than the one that it retains, and is counted first. */
TEST(what_a_list_retains_is_not_added_to_it)
{
	uint64_t room = scene_class(scene, "System.Tools", "Room", 1, 4080, NULL);
	uint64_t outer = scene_full_list(scene, room, 4096, (const uint32_t[]){ 600, 0 }, 600);
	uint64_t inner = scene_full_list(scene, room, 4096, (const uint32_t[]){ 700, 0 }, 700);
	uint64_t items = fake_peek_u64(&scene->fake->memory, outer + 8);
	scene_set(scene, fake_peek_u64(&scene->fake->memory, items + 16), 0, inner);
	scene_hold(scene, SCENE_STATIC, outer);
	const struct report_finding *found = only_accumulation(1300);
	ASSERT_UINT(found->bytes, scene->report.facts.sums.all_live);
	ASSERT_UINT(found->holder.subject, facts_node(&scene->report.facts, outer));
	check_holding(found);
}

/* A queue whose segments stay small, because somebody looks at it all the time. */
TEST(members_are_counted_however_deep_they_lie)
{
	uint64_t part = scene_class(scene, "System.Tools", "Segment", 2, 16, NULL);
	uint64_t type = scene_class(scene, "Shop", "Letter", 0, 1008, NULL);
	scene_segment(scene, GENERATION_2, (uint64_t)3 * KILO * KILO);
	uint64_t list = scene_list(scene, 2, 2, 2), before = 0;
	for (uint32_t i = 0; i < 2000; i++) {
		uint64_t one = fake_object(scene->fake, part, 0);
		scene_set(scene, one, 1, fake_object(scene->fake, type, 0));
		if (before)
			scene_set(scene, before, 0, one);
		else
			scene_list_set(scene, list, 0, one);
		before = one;
	}
	scene_hold(scene, SCENE_STATIC, list);
	struct owners_inside inside;
	const struct report *report = scene_report(scene);
	struct report_facts *facts = &scene->report.facts;
	ASSERT_UINT_FATAL(owners_inside_init(&inside, facts, facts_node(facts, list), NULL), HD_OK);
	uint64_t count = 0;
	for (uint32_t node = 0; node < report->facts.graph->object_count; node++) {
		if (type_is_class(facts_type(facts, node), "Shop.Letter"))
			count += owners_inside_has(&inside, facts_idom(facts, node));
	}
	ASSERT_UINT(count, 2000);
	CU_ASSERT(!owners_inside_has(&inside, HD_NONE));
	CU_ASSERT(owners_inside_has(&inside, facts_node(facts, list)));
	owners_inside_deinit(&inside);
}

/* A holding, which -against compares, has the numbers of the finding. */
TEST(a_holding_has_as_much_as_the_finding)
{
	uint64_t list = make_parts((const uint32_t[]){ 1000, 600, 20 });
	scene_hold(scene, SCENE_STATIC, list);
	check_holding(scene_finding(scene, "accumulation"));
}

SUITE(.name = "report_parts", .set_up = set_up, .tear_down = tear_down)
