/* SPDX-License-Identifier: MIT */
/* Growth that no counter of a collection tells: doc/report.md 4.2. */
#include "findings/counted.h"
#include "findings/growth.h"
#include "gc/heap.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO 1024u
/* A counter that has wrapped is not trusted. */
#define NO_VERSION 0x80000000u

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

static void expect(enum severity severity, enum growth_state growth)
{
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, severity);
	ASSERT_UINT(finding->growth.state, growth);
}

static uint64_t make_pages(uint32_t old, uint32_t young, uint32_t version)
{
	return scene_full_list(scene, page_type, 4096, (const uint32_t[]){ old, young }, version);
}

/* Pages of generation 0 that nothing refers to. */
static void drop_pages(uint32_t count)
{
	scene_segment(scene, GENERATION_0, (uint64_t)count * 4096 + KILO);
	for (uint32_t i = 0; i < count; i++)
		(void)fake_object(scene->fake, page_type, 0);
}

/* So much that all else is a small part of it. */
static void hold_table(uint32_t count)
{
	uint64_t row = scene_class(scene, "Shop", "Row", 0, 4080, NULL);
	scene_hold(scene, SCENE_OTHER_STATIC,
		   scene_full_list(scene, row, 4096, (const uint32_t[]){ count, 0 }, count));
}

TEST(of_what_only_grows_nothing_is_garbage)
{
	hold_table(600);
	scene_hold(scene, SCENE_STATIC, make_pages(1200, 200, NO_VERSION));
	expect(SEVERITY_HIGH, GROWTH_GROWS);
}

TEST(of_what_comes_and_goes_some_is_garbage)
{
	hold_table(600);
	scene_hold(scene, SCENE_STATIC, make_pages(1200, 200, NO_VERSION));
	drop_pages(100);
	expect(SEVERITY_MEDIUM, GROWTH_UNKNOWN);
	const char *sentence = scene_finding(scene, "accumulation")->sentence;
	CU_ASSERT(strstr(sentence, "one dump cannot tell") != NULL);
	CU_ASSERT(strstr(sentence, "nothing was ever removed") == NULL);
}

/* The collection has taken all garbage: there is none, whether some left or not. */
TEST(right_after_a_collection_garbage_tells_nothing)
{
	const uint32_t old = 1200, between = 200, young = 3;
	scene_segment(scene, GENERATION_2, (uint64_t)(old + 20) * 4096);
	uint64_t list = scene_list(scene, old + between + young, old + between + young, NO_VERSION);
	for (uint32_t i = 0; i < old; i++)
		scene_list_set(scene, list, i, fake_object(scene->fake, page_type, 0));
	scene_segment(scene, GENERATION_1, (uint64_t)between * 4096 + KILO);
	for (uint32_t i = 0; i < between; i++)
		scene_list_set(scene, list, old + i, fake_object(scene->fake, page_type, 0));
	scene_segment(scene, GENERATION_0, (uint64_t)young * 4096 + KILO);
	for (uint32_t i = 0; i < young; i++)
		scene_list_set(scene, list, old + between + i,
			       fake_object(scene->fake, page_type, 0));
	scene_hold(scene, SCENE_STATIC, list);
	expect(SEVERITY_MEDIUM, GROWTH_GROWS);
	const char *sentence = scene_finding(scene, "accumulation")->sentence;
	CU_ASSERT(strstr(sentence, "nothing counts how many were removed") != NULL);
}

/* It may be a cache that is not full yet. */
TEST(less_than_half_without_a_counter_may_stop_to_grow)
{
	hold_table(2000);
	scene_hold(scene, SCENE_STATIC, make_pages(1200, 200, NO_VERSION));
	const struct report *report = scene_report(scene);
	ASSERT_UINT_FATAL(report->findings_count, 2);
	ASSERT_TEXT(report->findings[1].holder.name, "Shop.Program.held");
	ASSERT_UINT(report->findings[1].severity, SEVERITY_MEDIUM);
	ASSERT_UINT(report->findings[1].growth.state, GROWTH_GROWS);
}

/* An array of pages without an empty element, of which the first @p young are in generation 0. */
static void hold_ring(enum generation generation, uint32_t old, uint32_t young)
{
	scene_segment(scene, GENERATION_2, (uint64_t)old * 4096 + KILO);
	uint64_t first = 0;
	for (uint32_t i = 0; i < old; i++) {
		uint64_t page = fake_object(scene->fake, page_type, 0);
		first = first ? first : page;
	}
	scene_segment(scene, generation, (uint64_t)(old + young) * 8 + KILO);
	uint64_t ring = fake_object(scene->fake, scene->fake->object_array_type, old + young);
	for (uint32_t i = 0; i < old; i++)
		scene_set_element(scene, ring, young + i, first + (uint64_t)i * 4096);
	scene_segment(scene, GENERATION_0, (uint64_t)young * 4096 + KILO);
	for (uint32_t i = 0; i < young; i++)
		scene_set_element(scene, ring, i, fake_object(scene->fake, page_type, 0));
	scene_hold(scene, SCENE_STATIC, ring);
}

TEST(elements_that_are_younger_than_their_full_array_took_the_place_of_others)
{
	hold_ring(GENERATION_2, 1200, 200);
	expect(SEVERITY_INFO, GROWTH_TURNS);
}

TEST(a_full_array_that_was_made_anew_may_grow)
{
	hold_ring(GENERATION_1, 1200, 200);
	expect(SEVERITY_MEDIUM, GROWTH_UNKNOWN);
}

/* A list of old shelves, each of which has an array of pages; @p young of each are young. */
static void hold_shelves(uint32_t old, uint32_t young)
{
	const uint32_t count = 300;
	uint64_t shelf_type = scene_class(scene, "Shop", "Shelf", 1, 8, NULL), arrays[300];
	uint64_t list =
		scene_full_list(scene, shelf_type, 24, (const uint32_t[]){ count, 0 }, count);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_2, (uint64_t)count * (old * 4096 + 200));
	for (uint32_t i = 0; i < count; i++) {
		arrays[i] = fake_object(scene->fake, scene->fake->object_array_type, old + young);
		scene_set(scene, fake_peek_u64(&scene->fake->memory, items + 16 + 8 * (uint64_t)i),
			  0, arrays[i]);
		for (uint32_t k = 0; k < old; k++) {
			scene_set_element(scene, arrays[i], k,
					  fake_object(scene->fake, page_type, 0));
		}
	}
	scene_segment(scene, GENERATION_0, (uint64_t)count * 4096 * (young + 1) + KILO);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = old; k < old + young; k++) {
			scene_set_element(scene, arrays[i], k,
					  fake_object(scene->fake, page_type, 0));
		}
	}
	scene_hold(scene, SCENE_STATIC, list);
}

TEST(old_members_that_grow_inside_are_a_leak)
{
	hold_shelves(5, 1);
	expect(SEVERITY_HIGH, GROWTH_GROWS);
	ASSERT_TEXT(scene_finding(scene, "accumulation")->holder.name, "Shop.Program.held");
}

TEST(old_members_with_pages_that_come_and_go_are_not_known_to_grow)
{
	hold_shelves(5, 1);
	drop_pages(200);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	CU_ASSERT(finding->growth.state != GROWTH_GROWS);
}

TEST(six_percent_that_grow_are_worth_a_line)
{
	hold_table(6000);
	scene_hold(scene, SCENE_STATIC, make_pages(400, 60, 460));
	const struct report *report = scene_report(scene);
	ASSERT_UINT_FATAL(report->findings_count, 2);
	ASSERT_TEXT(report->findings[1].holder.name, "Shop.Program.held");
	ASSERT_UINT(report->findings[1].severity, SEVERITY_MEDIUM);
}

TEST(six_percent_that_do_not_grow_are_not)
{
	hold_table(6000);
	scene_hold(scene, SCENE_STATIC, make_pages(460, 0, 460));
	ASSERT_UINT(scene_report(scene)->findings_count, 1);
}

TEST(what_came_between_the_last_two_collections_is_not_idle)
{
	struct report_facts facts = { .has_generations = true, .sums.has_recent = true };
	facts.sums.all_live = facts.sums.recent = (uint64_t)64 << 20;
	struct member_ages ages = { .of = { 0, 100, 900 }, .all = 1000 };
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_UNKNOWN);
	ages = (struct member_ages){ .of = { 0, 5, 995 }, .all = 1000 };
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_IDLE);
	/* The table was read not long ago: most of it is of that time. */
	ages = (struct member_ages){ .of = { 0, 800, 200 }, .all = 1000 };
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_IDLE);
}

/* Each of them takes much, so only some are young at a time. */
TEST(of_a_few_hundred_a_few_young_ones_are_enough)
{
	struct report_facts facts = { .has_generations = true, .sums.has_recent = true };
	facts.sums.all_live = facts.sums.recent = (uint64_t)64 << 20;
	struct member_ages ages = { .of = { 4, 0, 296 }, .all = 300 };
	struct counted owner = {
		.has_count = true, .has_version = true, .count = 300, .version = 300
	};
	ASSERT_UINT(growth_of(&facts, &ages, &owner, 1).state, GROWTH_GROWS);
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_UNKNOWN);
	ages = (struct member_ages){ .of = { 2, 0, 298 }, .all = 300 };
	ASSERT_UINT(growth_of(&facts, &ages, &owner, 1).state, GROWTH_UNKNOWN);
}

/* The parts of generation 0 that have young members: the first ones came before the last collection ended. */
TEST(what_comes_again_after_a_time_grows)
{
	struct heap heap = { .heap_count = 1 };
	struct report_facts facts = { .heap = &heap,
				      .has_generations = true,
				      .sums.has_recent = true };
	facts.sums.all_live = facts.sums.recent = (uint64_t)64 << 20;
	struct member_ages ages = { .of = { 50, 0, 950 }, .all = 1000, .parts = 0xf };
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_UNKNOWN);
	/* If some came before the last collection as well, it was no end. */
	ages.of[1] = 50;
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_GROWS);
	ages.of[1] = 0;
	ages.parts = 0xf0;
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_GROWS);
}

SUITE(.name = "report_growth", .set_up = set_up, .tear_down = tear_down)
