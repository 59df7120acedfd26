/* SPDX-License-Identifier: MIT */
/* Collections of one field that a few objects of one type have: what is in all of them is one pile. */
#include <string.h>

#include "findings/counted.h"
#include "findings/growth.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define ROOMS        12u
#define STRUCT_FLAGS 0x00040000u

static struct report_scene *scene;
static uint64_t page_type, room_type;

static void set_up(void)
{
	const struct fake_field room[] = { { .name = "_guests", .element = ELEMENT_CLASS },
					   { .name = NULL } };
	scene = scene_create();
	page_type = scene_class(scene, "Shop", "Page", 0, 4080, NULL);
	room_type = scene_class(scene, "Shop", "Room", 1, 16, room);
}

static void tear_down(void)
{
	scene_destroy(scene);
}

static const struct report_finding *finding_of_pages(void)
{
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	return finding;
}

/* A list of rooms, of which @p young are in generation 0; each has a list of pages with @p version. */
static void make_rooms(uint32_t rooms, uint32_t young, const uint32_t old_and_young[2],
		       uint32_t version)
{
	uint64_t list = scene_full_list(scene, room_type, 32,
					(const uint32_t[]){ rooms - young, young }, rooms);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	for (uint32_t i = 0; i < rooms; i++) {
		uint64_t room = fake_peek_u64(&scene->fake->memory, items + 16 + 8 * (uint64_t)i);
		scene_set(scene, room, 0,
			  scene_full_list(scene, page_type, 4096, old_and_young, version));
	}
	scene_hold(scene, SCENE_STATIC, list);
}

TEST(lists_of_a_few_rooms_that_only_grow_are_a_leak)
{
	make_rooms(ROOMS, 0, (const uint32_t[]){ 40, 8 }, 48);
	const struct report_finding *finding = finding_of_pages();
	ASSERT_UINT(finding->severity, SEVERITY_HIGH);
	ASSERT_TEXT(finding->title, "576 Page in Shop.Room._guests");
	CU_ASSERT(strstr(finding->sentence, "in 12 collections") != NULL);
	CU_ASSERT(strstr(finding->sentence, "nothing was ever removed") != NULL);
	ASSERT_UINT(finding->growth.version, 576);
	/* The rooms are not told as well. */
	size_t piles = 0;
	for (size_t i = 0; i < scene->report.findings_count; i++)
		piles += strcmp(scene->report.findings[i].rule->name, "accumulation") == 0;
	ASSERT_UINT(piles, 1);
}

TEST(rooms_whose_guests_come_and_go_are_a_fact)
{
	make_rooms(ROOMS, 0, (const uint32_t[]){ 40, 8 }, 200);
	ASSERT_UINT(finding_of_pages()->severity, SEVERITY_INFO);
	ASSERT_UINT(finding_of_pages()->growth.state, GROWTH_TURNS);
}

TEST(what_has_stopped_for_a_moment_is_not_forgotten)
{
	make_rooms(ROOMS, 0, (const uint32_t[]){ 48, 0 }, 48);
	ASSERT_UINT(finding_of_pages()->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding_of_pages()->growth.state, GROWTH_UNKNOWN);
}

/* Rooms that come one by one are what grows. */
TEST(lists_of_many_rooms_belong_to_these)
{
	make_rooms(400, 30, (const uint32_t[]){ 16, 2 }, 18);
	ASSERT_TEXT(finding_of_pages()->title, "400 Room in Shop.Program.held");
	ASSERT_UINT(finding_of_pages()->severity, SEVERITY_HIGH);
}

/* So many are made for requests, and gone with them. */
TEST(rooms_that_are_young_have_no_pile_of_their_own)
{
	make_rooms(ROOMS, 6, (const uint32_t[]){ 40, 8 }, 48);
	CU_ASSERT(strstr(finding_of_pages()->title, "Room in Shop.Program.held") != NULL);
	ASSERT_UINT(finding_of_pages()->severity, SEVERITY_LOW);
}

TEST(a_queue_that_gave_elements_away_is_not_known_to_grow)
{
	struct report_facts facts = { .has_generations = true, .sums.has_recent = true };
	facts.sums.all_live = facts.sums.recent = (uint64_t)64 << 20;
	struct member_ages ages = { .of = { 50, 0, 950 }, .all = 1000 };
	struct counted owner = { .took_out = true };
	ASSERT_UINT(growth_of(&facts, &ages, &owner, 1).state, GROWTH_UNKNOWN);
	owner.took_out = false;
	ASSERT_UINT(growth_of(&facts, &ages, &owner, 1).state, GROWTH_GROWS);
	CU_ASSERT(!growth_of(&facts, &ages, &owner, 1).has_proof);
	owner.took_nothing = true;
	CU_ASSERT(growth_of(&facts, &ages, &owner, 1).has_proof);
}

/* A ConcurrentQueue of one segment, which begins at @p head, with an array of old and young pages. */
static void make_queue(uint32_t slots, uint32_t head)
{
	const struct fake_field queue[] = { { .name = "_head", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	const struct fake_field place[] = { { .name = "Head", .element = ELEMENT_I4 },
					    { .name = NULL } };
	const struct fake_class places = { .name = "PaddedHeadAndTail",
					   .fields = place,
					   .type = { .base_size = 24, .flags = STRUCT_FLAGS } };
	const struct fake_field segment[] = {
		{ .name = "_slots", .element = ELEMENT_CLASS },
		{ .name = "_slotsMask", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_headAndTail",
		  .element = ELEMENT_VALUE,
		  .offset = 16,
		  .type = fake_class(scene->types, &places) },
		{ .name = NULL }
	};
	uint64_t queue_type = scene_class(scene, "System.Collections.Concurrent", "ConcurrentQueue",
					  1, 16, queue);
	uint64_t segment_type = scene_class(scene, "System.Collections.Concurrent",
					    "ConcurrentQueueSegment`1", 1, 24, segment);
	uint64_t list = scene_full_list(scene, page_type, 4096, (const uint32_t[]){ 1200, 200 }, 1);
	uint64_t object = fake_object(scene->fake, queue_type, 0);
	uint64_t first = fake_object(scene->fake, segment_type, 0);
	scene_set(scene, object, 0, first);
	scene_set(scene, first, 0, fake_peek_u64(&scene->fake->memory, list + 8));
	fake_poke_u32(&scene->fake->memory, first + 16, slots - 1);
	fake_poke_u32(&scene->fake->memory, first + 24, head);
	scene_hold(scene, SCENE_STATIC, object);
}

TEST(a_queue_says_that_it_gave_nothing_away)
{
	make_queue(32, 0);
	ASSERT_UINT(finding_of_pages()->severity, SEVERITY_HIGH);
	CU_ASSERT(strstr(finding_of_pages()->sentence, "nothing was ever removed") != NULL);
}

TEST(a_queue_that_gave_some_away_is_not_known_to_grow)
{
	make_queue(32, 5);
	ASSERT_UINT(finding_of_pages()->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding_of_pages()->growth.state, GROWTH_UNKNOWN);
}

/* The first segments of such a queue are gone, or it was made of a list. */
TEST(a_later_segment_of_a_queue_proves_nothing)
{
	make_queue(64, 0);
	CU_ASSERT(!finding_of_pages()->growth.has_proof);
}

SUITE(.name = "report_fields", .set_up = set_up, .tear_down = tear_down)
