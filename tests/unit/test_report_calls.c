/* SPDX-License-Identifier: MIT */
/* Calls of async methods that wait. */
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO 1024u
/* The m_stateFlags of a suspended async method, as a core of .NET 10 has them. */
#define SUSPENDED    0x02000c00u
#define STRUCT_FLAGS 0x00040000u

static struct report_scene *scene;

static void set_up(void)
{
	scene = scene_create();
}

static void tear_down(void)
{
	scene_destroy(scene);
}

static void expect(enum severity severity, uint64_t objects)
{
	const struct report_finding *finding = scene_finding(scene, "async");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, severity);
	ASSERT_UINT(finding->counts[0].value, objects);
	CU_ASSERT(finding->bytes <= scene->report.facts.sums.all_live);
}

/* So much that all else is little. */
static void hold_pages(uint32_t count)
{
	uint64_t page = scene_class(scene, "Shop", "Page", 0, 4080, NULL);
	scene_hold(scene, SCENE_OTHER_STATIC,
		   scene_full_list(scene, page, 4096, (const uint32_t[]){ count, 0 }, count));
}

static void make_calls(uint32_t count, int32_t state)
{
	const struct fake_field machine[] = {
		{ .name = "<>1__state", .element = ELEMENT_I4 },
		{ .name = "<>u__1", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL },
	};
	uint64_t machine_type = fake_class(
		scene->types,
		&(struct fake_class){ .name = "Shop+<Place>d__1",
				      .fields = machine,
				      .type = { .base_size = 32, .flags = STRUCT_FLAGS } });
	const struct fake_field box[] = {
		{ .name = "m_continuationObject", .element = ELEMENT_CLASS },
		{ .name = "m_stateFlags", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "StateMachine",
		  .element = ELEMENT_VALUE,
		  .type = machine_type,
		  .offset = 16 },
		{ .name = NULL },
	};
	uint64_t type =
		scene_class(scene, NULL, "B+AsyncStateMachineBox<Shop+<Place>d__1>", 1, 32, box);
	scene_segment(scene, GENERATION_2, (uint64_t)count * 64 + KILO);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t one = fake_object(scene->fake, type, 0);
		fake_poke_u32(&scene->fake->memory, one + 16, SUSPENDED);
		fake_poke_u32(&scene->fake->memory, one + 24, (uint32_t)state);
		scene_hold(scene, SCENE_STATIC, one);
	}
}

TEST(calls_that_wait_and_pile_up_are_found)
{
	make_calls(6000, 0);
	expect(SEVERITY_MEDIUM, 6000);
}

/* Their number is no evidence: a server has as many connections. */
TEST(calls_that_keep_little_of_a_small_heap_are_not_much)
{
	make_calls(3000, 0);
	expect(SEVERITY_LOW, 3000);
}

TEST(calls_that_keep_a_small_part_are_a_fact)
{
	make_calls(6000, 0);
	hold_pages(2000);
	expect(SEVERITY_INFO, 6000);
}

TEST(as_many_calls_as_a_server_has_connections_are_a_fact)
{
	make_calls(300, 0);
	expect(SEVERITY_INFO, 300);
}

TEST(calls_that_run_do_not_wait)
{
	make_calls(300, -1);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "async"));
}

TEST(a_few_calls_may_wait)
{
	make_calls(200, 0);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "async"));
}

SUITE(.name = "report_calls", .set_up = set_up, .tear_down = tear_down)
