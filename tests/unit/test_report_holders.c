/* SPDX-License-Identifier: MIT */
/* Rules about who holds objects: each with a case that it finds, and a healthy neighbour. */
#include "runtime/coreclr/types/field.h"
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

/* Entries of a library, each with an object that refers to a page; of the program only in the first @p pages. */
static uint64_t make_entries(uint32_t pages)
{
	uint64_t entry = scene_class(scene, "System.Reactive", "Subscription", 1, 8, NULL);
	uint64_t inner = scene_class(scene, "System", "Action", 1, 8, NULL);
	uint64_t other = scene_class(scene, "System", "Other", 0, 4080, NULL);
	uint64_t list = scene_full_list(scene, entry, 24, (const uint32_t[]){ 1000, 0 }, 1000);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_2, (uint64_t)1000 * 4200);
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t one = fake_peek_u64(&scene->fake->memory, items + 16 + 8 * (uint64_t)i);
		uint64_t action = fake_object(scene->fake, inner, 0);
		scene_set(scene, one, 0, action);
		scene_set(scene, action, 0,
			  fake_object(scene->fake, i < pages ? page_type : other, 0));
	}
	return list;
}

/* A list of @p old objects in generation 2 and @p young ones in generation 0. */
static uint64_t make_list(uint64_t type, uint32_t old, uint32_t young, uint32_t version)
{
	return scene_full_list(scene, type, 4096, (const uint32_t[]){ old, young }, version);
}

TEST(what_a_stack_holds_is_the_work_of_its_thread)
{
	scene_hold(scene, SCENE_STACK, make_list(page_type, 600, 0, 600));
	const struct report_finding *finding = scene_finding(scene, "threads");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_INFO);
	CU_ASSERT(finding->bytes > (uint64_t)600 * 4 * KILO);
	CU_ASSERT(!report_has(&scene->report, SEVERITY_MEDIUM));
}

TEST(what_a_static_holds_is_not_the_thread_s)
{
	scene_hold(scene, SCENE_STATIC, make_list(page_type, 600, 0, 600));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "threads"));
}

TEST(a_variable_of_a_thread_that_only_grew_is_told)
{
	scene_hold(scene, SCENE_THREAD_STATIC, make_list(page_type, 600, 20, 620));
	const struct report_finding *finding = scene_finding(scene, "threads");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_TEXT(finding->holder.name, "Shop.Program.mine");
}

TEST(a_variable_of_a_thread_that_is_emptied_is_only_a_fact)
{
	scene_hold(scene, SCENE_THREAD_STATIC, make_list(page_type, 600, 20, 5000));
	const struct report_finding *finding = scene_finding(scene, "threads");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_INFO);
	CU_ASSERT(!report_has(&scene->report, SEVERITY_MEDIUM));
}

/* Some pages on the stack of each of @p count threads. */
static void hold_by_threads(uint32_t count)
{
	scene->more_threads = count - 1;
	for (uint32_t i = 0; i < count; i++)
		scene_hold(scene, SCENE_STACK, make_list(page_type, 20, 0, 20));
}

TEST(many_threads_of_one_method_are_found)
{
	hold_by_threads(40);
	const struct report_finding *finding = scene_finding(scene, "threads");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, 40);
	ASSERT_TEXT(finding->method, "Shop.Poller.Run()");
	CU_ASSERT(finding->bytes > (uint64_t)40 * 20 * 4 * KILO);
}

TEST(some_threads_of_one_method_do_their_work)
{
	hold_by_threads(8);
	CU_ASSERT(!report_has(scene_report(scene), SEVERITY_MEDIUM));
}

/* So much else that the pile is less than a tenth. */
static void hold_ballast(void)
{
	scene_hold(scene, SCENE_FRAMEWORK, make_list(page_type, 2000, 0, 1));
}

/* A list of dynamic methods, and ballast. */
static void hold_methods(uint32_t old, uint32_t young, uint32_t version)
{
	uint64_t type = scene_class(scene, "System.Reflection.Emit", "DynamicMethod", 0, 40, NULL);
	hold_ballast();
	scene_hold(scene, SCENE_STATIC, make_list(type, old, young, version));
}

TEST(dynamic_methods_that_pile_up_are_found)
{
	hold_methods(1200, 200, 1400);
	const struct report_finding *finding = scene_finding(scene, "known-types");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, 1400);
	ASSERT_TEXT(finding->holder.name, "Shop.Program.held");
}

TEST(dynamic_methods_that_come_and_go_are_a_fact)
{
	hold_methods(1200, 200, 9000);
	const struct report_finding *finding = scene_finding(scene, "known-types");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_LOW);
}

TEST(a_few_hundred_dynamic_methods_are_not_told)
{
	hold_methods(800, 100, 900);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "known-types"));
}

TEST(entities_of_a_context_on_a_stack_are_not_told)
{
	uint64_t entry = scene_class(scene, "Microsoft.EntityFrameworkCore.ChangeTracking.Internal",
				     "InternalEntityEntry", 0, 40, NULL);
	hold_ballast();
	scene_hold(scene, SCENE_STACK, make_list(entry, 2000, 400, 2400));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "known-types"));
}

TEST(a_pile_that_another_rule_tells_is_not_told_again)
{
	const struct report_finding *finding;
	uint64_t exception = scene_class(scene, "System", "Exception", 0, 4080, NULL);
	scene_hold(scene, SCENE_STATIC, make_list(exception, 1200, 200, 1400));
	finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_HIGH);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "known-types"));
}

/* A method that Main, or another method, awaits has a list of pages, and waits for a timer. */
static void hold_by_awaited(const char *awaiting, uint32_t version)
{
	const struct fake_field box[] = {
		{ .name = "m_continuationObject", .element = ELEMENT_CLASS },
		{ .name = "pages", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL },
	};
	uint64_t outer_type = scene_class(scene, NULL, awaiting, 2, 16, box);
	uint64_t inner_type =
		scene_class(scene, NULL, "B+AsyncStateMachineBox<Shop+<Serve>d__1>", 2, 16, box);
	uint64_t list = make_list(page_type, 1200, 200, version);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t inner = fake_object(scene->fake, inner_type, 0);
	scene_set(scene, inner, 0, fake_object(scene->fake, outer_type, 0));
	scene_set(scene, inner, 1, list);
	scene_hold(scene, SCENE_SCHEDULE, inner);
}

static void expect_pile(enum severity severity)
{
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, severity);
	ASSERT_UINT(finding->counts[0].value, 1400);
}

TEST(what_grows_in_a_method_that_main_awaits_is_told)
{
	hold_by_awaited("B+AsyncStateMachineBox<Shop.Program+<Main>d__0>", 1400);
	expect_pile(SEVERITY_MEDIUM);
}

TEST(what_main_filled_at_once_is_its_work)
{
	hold_by_awaited("B+AsyncStateMachineBox<Shop.Program+<<Main>$>d__0>", 1);
	expect_pile(SEVERITY_LOW);
}

TEST(what_turns_over_in_main_is_a_fact)
{
	hold_by_awaited("B+AsyncStateMachineBox<Shop.Program+<Main>d__0>", 9000);
	expect_pile(SEVERITY_INFO);
}

TEST(what_grows_in_a_method_that_another_awaits_is_its_work)
{
	hold_by_awaited("B+AsyncStateMachineBox<Shop+<Handle>d__0>", 1400);
	expect_pile(SEVERITY_INFO);
}

/* A shelf of the program has a list through an object of the class @p name. */
static const char *blamed_for(const char *space, const char *name)
{
	const struct fake_field bag[] = { { .name = "items", .element = ELEMENT_CLASS },
					  { .name = NULL } };
	const struct fake_field shelf[] = { { .name = "pages", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	uint64_t bag_type = scene_class(scene, space, name, 1, 16, bag);
	uint64_t shelf_type = scene_class(scene, "Shop", "Shelf", 1, 16, shelf);
	uint64_t list = make_list(page_type, 1200, 200, 1400);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t one = fake_object(scene->fake, bag_type, 0);
	uint64_t holder = fake_object(scene->fake, shelf_type, 0);
	scene_set(scene, one, 0, list);
	scene_set(scene, holder, 0, one);
	scene_hold(scene, SCENE_FRAMEWORK, holder);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	return finding->holder.name;
}

TEST(who_has_a_collection_of_a_library_is_to_blame)
{
	ASSERT_TEXT(blamed_for("Tools.Collections", "Bag<Shop.Page>"), "Shop.Shelf.pages");
}

TEST(a_class_of_the_program_next_to_collections_is_to_blame)
{
	ASSERT_TEXT(blamed_for("Shop.Collections", "Cellar"), "Shop.Collections.Cellar.items");
}

/* A host that only @p root refers to, and that has a list which grows. */
static void hold_by_host(const char *space, const char *name, enum scene_root root)
{
	uint64_t type = scene_class(scene, space, name, 1, 16, NULL);
	uint64_t list = make_list(page_type, 1200, 200, 1400);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t host = fake_object(scene->fake, type, 0);
	scene_set(scene, host, 0, list);
	scene_hold(scene, root, host);
}

TEST(a_host_lives_as_long_as_the_process)
{
	hold_by_host("Microsoft.Extensions.Hosting.Internal", "Host", SCENE_STACK);
	expect_pile(SEVERITY_HIGH);
	const struct held_by *holder = &scene_finding(scene, "accumulation")->holder;
	ASSERT_TEXT(holder->root_kind, "stack");
	/* The host, and the list. */
	ASSERT_UINT(holder->step_count, 2);
}

TEST(a_host_that_nothing_refers_to_keeps_nothing)
{
	hold_by_host("Microsoft.Extensions.Hosting.Internal", "Host", SCENE_WEAK_HANDLE);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "accumulation"));
}

TEST(an_older_web_host_lives_as_long)
{
	hold_by_host("Microsoft.AspNetCore.Hosting", "WebHost", SCENE_STACK);
	expect_pile(SEVERITY_HIGH);
}

TEST(a_generic_class_is_not_a_host)
{
	hold_by_host("Microsoft.Extensions.Hosting.Internal", "Host<Shop.Job>", SCENE_STACK);
	expect_pile(SEVERITY_INFO);
}

/* A container that only one with a higher address refers to. */
TEST(a_container_may_refer_to_one_before_it)
{
	uint64_t type = scene_class(scene, "Microsoft.Extensions.DependencyInjection",
				    "ServiceProvider", 2, 16, NULL);
	uint64_t list = make_list(page_type, 1200, 200, 1400);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t first = fake_object(scene->fake, type, 0);
	uint64_t second = fake_object(scene->fake, type, 0);
	scene_set(scene, first, 0, list);
	scene_set(scene, first, 1, first);
	scene_set(scene, second, 0, first);
	scene_hold(scene, SCENE_STACK, second);
	expect_pile(SEVERITY_HIGH);
	const struct held_by *holder = &scene_finding(scene, "accumulation")->holder;
	ASSERT_TEXT(holder->root_kind, "stack");
	ASSERT_UINT(holder->step_count, 3);
}

TEST(what_a_job_holds_on_the_stack_is_its_work)
{
	hold_by_host("Shop.Jobs", "Host", SCENE_STACK);
	expect_pile(SEVERITY_INFO);
}

/* Each refers to the next. */
TEST(hosts_inside_of_each_other_are_one)
{
	uint64_t types[] = {
		scene_class(scene, "Microsoft.AspNetCore.Builder", "WebApplication", 1, 16, NULL),
		scene_class(scene, "Microsoft.Extensions.Hosting.Internal", "Host", 1, 16, NULL),
		scene_class(scene, "Microsoft.Extensions.DependencyInjection", "ServiceProvider", 1,
			    16, NULL),
	};
	uint64_t inner = make_list(page_type, 1200, 200, 1400);
	scene_segment(scene, GENERATION_2, KILO);
	for (size_t i = 3; i-- > 0;) {
		uint64_t host = fake_object(scene->fake, types[i], 0);
		scene_set(scene, host, 0, inner);
		inner = host;
	}
	scene_hold(scene, SCENE_SCHEDULE, inner);
	expect_pile(SEVERITY_HIGH);
	ASSERT_UINT(scene_finding(scene, "accumulation")->holder.step_count, 4);
}

TEST(containers_that_each_job_makes_do_not_live_long)
{
	uint64_t type = scene_class(scene, "Microsoft.Extensions.DependencyInjection",
				    "ServiceProvider", 1, 16, NULL);
	scene_segment(scene, GENERATION_2, 4 * KILO);
	for (uint32_t i = 0; i < 20; i++)
		scene_hold(scene, SCENE_STACK, fake_object(scene->fake, type, 0));
	hold_by_host("Microsoft.Extensions.DependencyInjection", "ServiceProvider", SCENE_STACK);
	expect_pile(SEVERITY_INFO);
}

TEST(a_root_of_the_program_comes_before_one_of_the_framework)
{
	uint64_t list = make_list(page_type, 1200, 200, 1400);
	scene_hold(scene, SCENE_FRAMEWORK, list);
	scene_hold(scene, SCENE_STATIC, list);
	expect_pile(SEVERITY_HIGH);
	ASSERT_TEXT(scene_finding(scene, "accumulation")->holder.name, "Shop.Program.held");
}

/* A log that all refer to is not why something stays, though the way through it is shorter. */
TEST(what_traces_the_program_comes_last)
{
	uint64_t trace = scene_class(scene, "Microsoft.Extensions.Logging.EventSource",
				     "LoggingEventSource", 1, 16, NULL);
	uint64_t box = scene_class(scene, "Shop", "Box", 1, 16, NULL);
	uint64_t list = make_list(page_type, 1200, 200, 1400);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t inner = fake_object(scene->fake, box, 0), outer = fake_object(scene->fake, box, 0);
	uint64_t source = fake_object(scene->fake, trace, 0);
	scene_set(scene, inner, 0, list);
	scene_set(scene, outer, 0, inner);
	scene_set(scene, source, 0, inner);
	scene_hold(scene, SCENE_HANDLE, source);
	scene_hold(scene, SCENE_STATIC, outer);
	expect_pile(SEVERITY_HIGH);
	const struct held_by *holder = &scene_finding(scene, "accumulation")->holder;
	ASSERT_TEXT(holder->root_kind, "static");
	ASSERT_TEXT(scene_finding(scene, "accumulation")->next, "gcroot -nostacks -type Shop.Page");
}

TEST(what_entries_of_a_library_keep_is_named)
{
	scene_hold(scene, SCENE_STATIC, make_entries(1000));
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	CU_ASSERT(strstr(finding->sentence, " Each of them keeps an object of type Page.") != NULL);
}

/* The finding is about the pages in the nodes: that a node keeps a page says nothing more. */
TEST(an_item_of_a_node_is_said_once)
{
	uint64_t node = scene_class(scene, "System.Collections.Concurrent",
				    "ConcurrentDictionary+Node", 1, 8, NULL);
	uint64_t list = scene_full_list(scene, node, 24, (const uint32_t[]){ 1000, 0 }, 1000);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_2, (uint64_t)1000 * 4200);
	for (uint64_t i = 0; i < 1000; i++) {
		scene_set(scene, fake_peek_u64(&scene->fake->memory, items + 16 + 8 * i), 0,
			  fake_object(scene->fake, page_type, 0));
	}
	scene_hold(scene, SCENE_STATIC, list);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	CU_ASSERT(strstr(finding->title, "Page") != NULL);
	CU_ASSERT(strstr(finding->sentence, "Each of them") == NULL);
}

TEST(entries_that_keep_different_things_are_not_said_to_keep_one)
{
	scene_hold(scene, SCENE_STATIC, make_entries(1));
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	CU_ASSERT(strstr(finding->sentence, "Each of them") == NULL);
}

/* Entries that belong to rows of two types, and a rule that knows the entries. */
TEST(what_is_known_of_the_members_is_said_with_the_pile)
{
	uint64_t entry = scene_class(scene, "Microsoft.EntityFrameworkCore.ChangeTracking.Internal",
				     "InternalEntityEntry", 1, 984, NULL);
	uint64_t rows[] = { scene_class(scene, "Shop", "Order", 0, 3000, NULL),
			    scene_class(scene, "Shop", "Line", 0, 2000, NULL) };
	uint64_t list = make_list(entry, 1200, 200, 1400);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_2, (uint64_t)1400 * 3100);
	for (uint64_t i = 0; i < 1400; i++) {
		scene_set(scene, fake_peek_u64(&scene->fake->memory, items + 16 + 8 * i), 0,
			  fake_object(scene->fake, rows[i % 2], 0));
	}
	scene_hold(scene, SCENE_STATIC, list);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_TEXT(finding->title, "1,400 InternalEntityEntry in Shop.Program.held");
	CU_ASSERT(strstr(finding->sentence, "tracks every entity") != NULL);
	ASSERT_UINT(finding->explains.count, 1);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "known-types"));
}

/* Pages that roots of four names hold: no name is that of most. */
TEST(what_several_have_is_not_said_to_be_of_one_of_them)
{
	static const enum scene_root roots[] = { SCENE_STATIC, SCENE_OTHER_STATIC, SCENE_FRAMEWORK,
						 SCENE_HANDLE };
	scene_segment(scene, GENERATION_2, (uint64_t)600 * 4096 + KILO);
	for (uint32_t i = 0; i < 600; i++)
		scene_hold(scene, roots[i % 4], fake_object(scene->fake, page_type, 0));
	CU_ASSERT_PTR_NULL(scene_finding(scene, "accumulation"));
}

TEST(what_most_have_by_one_name_is_told)
{
	scene_segment(scene, GENERATION_2, (uint64_t)600 * 4096 + KILO);
	for (uint32_t i = 0; i < 600; i++) {
		scene_hold(scene, i % 3 ? SCENE_STATIC : SCENE_HANDLE,
			   fake_object(scene->fake, page_type, 0));
	}
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_TEXT(finding->holder.name, "Shop.Program.held");
}

/* Buffers of sockets that a list of the program has; 600 of 4 KB. */
static void hold_buffers(const char *space, uint32_t count)
{
	uint64_t type = scene_class(scene, space, "Buffer", 0, 4080, NULL);
	uint64_t socket = scene_class(scene, "System.Net.Sockets", "Socket", 0, 8, NULL);
	scene_segment(scene, GENERATION_2, KILO);
	scene_hold(scene, SCENE_OTHER_STATIC, fake_object(scene->fake, socket, 0));
	scene_hold(scene, SCENE_STATIC, make_list(type, count, 0, count));
}

TEST(what_belongs_to_open_connections_is_one_fact)
{
	hold_buffers("System.Net.Sockets", 600);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_INFO);
	ASSERT_TEXT(finding->title, "1 socket is open");
	ASSERT_TEXT(finding->id, "connections");
}

TEST(objects_of_the_framework_that_are_no_connections_are_told)
{
	hold_buffers("System.Net.Mail", 600);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
}

TEST(connections_that_keep_much_are_told)
{
	hold_buffers("System.Net.Sockets", 2100);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
}

SUITE(.name = "report_holders", .set_up = set_up, .tear_down = tear_down)
