/* SPDX-License-Identifier: MIT */
/* Rules that know a kind of defect: each with a case that it finds, and a healthy neighbour. */
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO      1024u
#define CONTAINER "Microsoft.Extensions.DependencyInjection.ServiceLookup"
static struct report_scene *scene;
static uint64_t box_type, session_type, handler_type;
/* The object that has the event of make_event(). */
static uint64_t feed_of_event;

/* All delegates have the fields here that the runtime gives to two base classes. */
static void make_delegates(void)
{
	const struct fake_field fields[] = {
		{ .name = "_target", .element = ELEMENT_CLASS },
		{ .name = "_invocationList", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "_methodPtr", .element = ELEMENT_I, .offset = 16 },
		{ .name = "_methodPtrAux", .element = ELEMENT_I, .offset = 24 },
		{ .name = "_invocationCount", .element = ELEMENT_I, .offset = 32 },
		{ .name = NULL },
	};
	const struct gc_series series = { .size = 16 - 56, .offset = 8 };
	uint64_t base = scene_class(scene, "System", "Delegate", 2, 40, fields);
	handler_type =
		fake_class(scene->types, &(struct fake_class){ .space = "Shop",
							       .name = "PriceHandler",
							       .inherited = 5,
							       .type = { .base_size = 56,
									 .parent = base,
									 .series = &series,
									 .series_count = 1 } });
}

static void set_up(void)
{
	scene = scene_create();
	const struct fake_field box[] = { { .name = "Changed", .element = ELEMENT_CLASS },
					  { .name = NULL } };
	box_type = scene_class(scene, "Shop", "Feed", 1, 16, box);
	session_type = scene_class(scene, "Shop", "Session", 0, 4080, NULL);
	make_delegates();
}

static void tear_down(void)
{
	scene_destroy(scene);
}

static void poke(uint64_t address, uint64_t value)
{
	fake_poke_u64(&scene->fake->memory, address, value);
}

static void expect(const char *rule, enum severity severity, uint64_t objects)
{
	const struct report_finding *finding = scene_finding(scene, rule);
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, severity);
	ASSERT_UINT(finding->counts[0].value, objects);
	CU_ASSERT(finding->bytes <= scene->report.facts.sums.all_live);
}

static void expect_none(const char *rule)
{
	CU_ASSERT_PTR_NULL(scene_finding(scene, rule));
}

/* So much that all else is little. */
static void hold_pages(uint32_t count)
{
	scene_hold(
		scene, SCENE_OTHER_STATIC,
		scene_full_list(scene, session_type, 4096, (const uint32_t[]){ count, 0 }, count));
}

static uint64_t make_delegate(uint64_t target, uint64_t code)
{
	uint64_t one = fake_object(scene->fake, handler_type, 0);
	scene_set(scene, one, 0, target);
	poke(one + 8 + 16, code);
	return one;
}

/* An event with @p count handlers, whose sessions are also in the array that is returned. */
static uint64_t make_event(uint32_t count, enum scene_root root)
{
	scene_segment(scene, GENERATION_2, (uint64_t)count * 4300 + 8 * KILO);
	uint64_t feed = fake_object(scene->fake, box_type, 0);
	uint64_t event = fake_object(scene->fake, handler_type, 0);
	uint64_t list = fake_object(scene->fake, scene->fake->object_array_type, count);
	uint64_t grid = fake_object(scene->fake, scene->fake->object_array_type, count);
	scene_set(scene, feed, 0, event);
	scene_set(scene, event, 1, list);
	poke(event + 8 + 32, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t session = fake_object(scene->fake, session_type, 0);
		scene_set_element(scene, grid, i, session);
		scene_set_element(scene, list, i, make_delegate(session, 0x1234));
	}
	scene_hold(scene, root, feed);
	feed_of_event = feed;
	return grid;
}

TEST(handlers_whose_objects_nothing_else_keeps_are_found)
{
	(void)make_event(300, SCENE_STATIC);
	expect("events", SEVERITY_HIGH, 300);
	ASSERT_TEXT(scene_finding(scene, "events")->holder.name, "Shop.Feed.Changed");
}

TEST(an_event_of_the_framework_has_its_own_name)
{
	const struct fake_field box[] = { { .name = "Exiting", .element = ELEMENT_CLASS },
					  { .name = NULL } };
	box_type = scene_class(scene, "System", "Domain<Shop.Feed>", 1, 16, box);
	(void)make_event(300, SCENE_FRAMEWORK);
	ASSERT_TEXT(scene_finding(scene, "events")->holder.name, "System.Domain.Exiting");
}

TEST(an_event_of_a_collection_is_named_with_the_field_that_has_it)
{
	const struct fake_field rows[] = {
		{ .name = "<Rows>k__BackingField", .element = ELEMENT_CLASS }, { .name = NULL }
	};
	const struct fake_field box[] = { { .name = "RowsChanged", .element = ELEMENT_CLASS },
					  { .name = NULL } };
	uint64_t view_type = scene_class(scene, "Shop", "View", 1, 16, rows);
	box_type = scene_class(scene, "System", "Observed", 1, 16, box);
	(void)make_event(300, SCENE_WEAK_HANDLE);
	uint64_t view = fake_object(scene->fake, view_type, 0);
	scene_set(scene, view, 0, feed_of_event);
	scene_hold(scene, SCENE_FRAMEWORK, view);
	ASSERT_TEXT(scene_finding(scene, "events")->holder.name, "Shop.View.Rows.RowsChanged");
}

TEST(disposed_objects_that_an_event_keeps_are_told_once)
{
	const struct fake_field visit[] = { { .name = "_isDisposed", .element = ELEMENT_BOOLEAN },
					    { .name = NULL } };
	session_type = scene_class(scene, "Shop", "Visit", 0, 480, visit);
	uint64_t grid = make_event(1200, SCENE_STATIC);
	for (uint64_t i = 0; i < 1200; i++)
		poke(fake_peek_u64(&scene->fake->memory, grid + 16 + 8 * i) + 8, 1);
	expect("events", SEVERITY_HIGH, 1200);
	expect_none("finished");
}

/* Each session subscribes twice: handlers are not objects. */
TEST(an_object_with_two_handlers_is_counted_once)
{
	scene_segment(scene, GENERATION_2, (uint64_t)200 * 4400 + 8 * KILO);
	uint64_t feed = fake_object(scene->fake, box_type, 0);
	uint64_t event = fake_object(scene->fake, handler_type, 0);
	uint64_t list = fake_object(scene->fake, scene->fake->object_array_type, 400);
	scene_set(scene, feed, 0, event);
	scene_set(scene, event, 1, list);
	poke(event + 8 + 32, 400);
	for (uint32_t i = 0; i < 200; i++) {
		uint64_t session = fake_object(scene->fake, session_type, 0);
		scene_set_element(scene, list, 2 * i, make_delegate(session, 0x1234));
		scene_set_element(scene, list, 2 * i + 1, make_delegate(session, 0x1234));
	}
	scene_hold(scene, SCENE_STATIC, feed);
	expect("events", SEVERITY_HIGH, 400);
	const struct report_finding *finding = scene_finding(scene, "events");
	ASSERT_UINT(finding->counts[2].value, 200);
	CU_ASSERT(strstr(finding->sentence, "has 400 handlers") != NULL);
	CU_ASSERT(strstr(finding->sentence, "belong to: 200 Session (") != NULL);
}

/* The handlers belong to objects of a library, each of which keeps a session by a lambda. */
TEST(objects_of_the_program_behind_a_wrapper_are_named)
{
	const struct fake_field monitor[] = { { .name = "_onChange", .element = ELEMENT_CLASS },
					      { .name = NULL } };
	uint64_t wrapper = scene_class(scene, "System.Options", "Monitor+Tracker", 1, 8, NULL);
	uint64_t lambda = scene_class(scene, "System.Options", "<>c__DisplayClass1_0", 1, 8, NULL);
	uint64_t owner = scene_class(scene, "System.Options", "Monitor", 1, 8, monitor);
	scene_segment(scene, GENERATION_2, (uint64_t)300 * 4400 + 8 * KILO);
	uint64_t box = fake_object(scene->fake, box_type, 0);
	uint64_t feed = fake_object(scene->fake, owner, 0);
	uint64_t event = fake_object(scene->fake, handler_type, 0);
	uint64_t list = fake_object(scene->fake, scene->fake->object_array_type, 300);
	scene_set(scene, box, 0, feed);
	scene_set(scene, feed, 0, event);
	scene_set(scene, event, 1, list);
	poke(event + 8 + 32, 300);
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t one = fake_object(scene->fake, wrapper, 0);
		uint64_t closure = fake_object(scene->fake, lambda, 0);
		scene_set(scene, one, 0, closure);
		scene_set(scene, closure, 0, fake_object(scene->fake, session_type, 0));
		scene_set_element(scene, list, i, make_delegate(one, 0x1234));
	}
	scene_hold(scene, SCENE_STATIC, box);
	expect("events", SEVERITY_HIGH, 300);
	const struct report_finding *finding = scene_finding(scene, "events");
	ASSERT_TEXT(finding->title, "300 handlers of Shop.Feed.Changed._onChange");
	CU_ASSERT(strstr(finding->sentence, "), each with an object of type Shop.Session.") !=
		  NULL);
}

TEST(a_grid_whose_rows_are_also_in_a_list_is_no_leak)
{
	scene_hold(scene, SCENE_OTHER_STATIC, make_event(300, SCENE_STATIC));
	expect_none("events");
}

TEST(an_event_with_a_few_handlers_is_no_leak)
{
	(void)make_event(20, SCENE_STATIC);
	expect_none("events");
}

TEST(an_event_of_an_object_on_a_stack_is_no_leak)
{
	(void)make_event(300, SCENE_STACK);
	expect_none("events");
}

static uint64_t source_type, linked_type, linked_with_session, node_type, registrations_type;

static uint64_t lifetime_type; /* of the object that has the next source; 0: a static has it */

static void make_token_types(void)
{
	lifetime_type = 0;
	const struct fake_field source[] = {
		{ .name = "_registrations", .element = ELEMENT_CLASS },
		{ .name = "_state", .element = ELEMENT_I4, .offset = 8 },
		{ .name = NULL },
	};
	const struct fake_field registrations[] = { { .name = "Source", .element = ELEMENT_CLASS },
						    { .name = NULL } };
	const struct fake_field node[] = {
		{ .name = "Registrations", .element = ELEMENT_CLASS },
		{ .name = "CallbackState", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "Next", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = "Id", .element = ELEMENT_I8, .offset = 24 },
		{ .name = NULL },
	};
	source_type =
		scene_class(scene, "System.Threading", "CancellationTokenSource", 2, 24, source);
	linked_type =
		scene_class(scene, "System.Threading",
			    "CancellationTokenSource+Linked1CancellationTokenSource", 0, 32, NULL);
	linked_with_session =
		scene_class(scene, "System.Threading",
			    "CancellationTokenSource+Linked2CancellationTokenSource", 1, 32, NULL);
	node_type = scene_class(scene, "System.Threading", "CancellationTokenSource+CallbackNode",
				3, 32, node);
	registrations_type =
		scene_class(scene, "System.Threading", "CancellationTokenSource+Registrations", 2,
			    16, registrations);
}

/* A linked source with a registration of its own, whose state is a session. */
static uint64_t make_linked(uint64_t type)
{
	uint64_t source = fake_object(scene->fake, type, 0);
	uint64_t registrations = fake_object(scene->fake, registrations_type, 0);
	uint64_t node = fake_object(scene->fake, node_type, 0);
	scene_set(scene, source, 0, registrations);
	scene_set(scene, registrations, 0, source);
	scene_set(scene, registrations, 1, node);
	scene_set(scene, node, 0, registrations);
	scene_set(scene, node, 1, fake_object(scene->fake, session_type, 0));
	poke(node + 8 + 24, 1);
	return source;
}

/* A source with a chain of @p count registrations. */
static uint64_t make_source(uint32_t count, uint64_t state_type, uint32_t state)
{
	scene_segment(scene, GENERATION_2, (uint64_t)count * 4500 + KILO);
	uint64_t source = fake_object(scene->fake, source_type, 0);
	uint64_t registrations = fake_object(scene->fake, registrations_type, 0), next = 0;
	scene_set(scene, source, 0, registrations);
	fake_poke_u32(&scene->fake->memory, source + 16, state);
	scene_set(scene, registrations, 0, source);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t node = fake_object(scene->fake, node_type, 0);
		scene_set(scene, node, 0, registrations);
		scene_set(scene, node, 1,
			  state_type == linked_with_session
				  ? make_linked(state_type)
				  : fake_object(scene->fake, state_type, 0));
		scene_set(scene, node, 2, next);
		poke(node + 8 + 24, i + 1);
		next = node;
	}
	scene_set(scene, registrations, 1, next);
	if (lifetime_type) {
		uint64_t lifetime = fake_object(scene->fake, lifetime_type, 0);
		scene_set(scene, lifetime, 0, source);
		source = lifetime;
	}
	scene_hold(scene, lifetime_type ? SCENE_FRAMEWORK : SCENE_STATIC, source);
	return registrations;
}

TEST(what_linked_sources_keep_is_named)
{
	make_token_types();
	(void)make_source(1100, linked_with_session, 0);
	expect("cancellation", SEVERITY_HIGH, 1100);
	const struct report_finding *finding = scene_finding(scene, "cancellation");
	CU_ASSERT(strstr(finding->sentence, ", each with an object of type Shop.Session:") != NULL);
	CU_ASSERT(strstr(finding->look_at, ", where a Shop.Session is made") != NULL);
}

/* The static that leads to it says nothing of whose token it is. */
TEST(a_token_of_the_host_is_named_by_its_property)
{
	const struct fake_field lifetime[] = {
		{ .name = "_stoppingSource", .element = ELEMENT_CLASS }, { .name = NULL }
	};
	make_token_types();
	lifetime_type = scene_class(scene, "Microsoft.Extensions.Hosting.Internal",
				    "ApplicationLifetime", 1, 16, lifetime);
	(void)make_source(1100, linked_type, 0);
	expect("cancellation", SEVERITY_HIGH, 1100);
	const char *name = scene_finding(scene, "cancellation")->holder.name;
	ASSERT_TEXT(name, "Microsoft.Extensions.Hosting.Internal.ApplicationLifetime."
			  "_stoppingSource (the host's ApplicationStopping)");
}

TEST(linked_sources_that_nobody_disposed_are_found)
{
	make_token_types();
	(void)make_source(1100, linked_type, 0);
	expect("cancellation", SEVERITY_HIGH, 1100);
}

TEST(callbacks_that_nobody_disposed_are_found)
{
	make_token_types();
	(void)make_source(1100, session_type, 0);
	hold_pages(2000);
	expect("cancellation", SEVERITY_MEDIUM, 1100);
	CU_ASSERT(strstr(scene_finding(scene, "cancellation")->sentence,
			 ", each with an object of type Shop.Session:") != NULL);
}

TEST(callbacks_that_keep_most_of_the_heap_are_a_leak)
{
	make_token_types();
	(void)make_source(1100, session_type, 0);
	expect("cancellation", SEVERITY_HIGH, 1100);
}

TEST(ten_thousand_callbacks_that_keep_much_are_a_leak)
{
	make_token_types();
	(void)make_source(10000, session_type, 0);
	expect("cancellation", SEVERITY_HIGH, 10000);
}

TEST(a_source_that_was_cancelled_is_done)
{
	make_token_types();
	(void)make_source(1100, linked_type, 2);
	expect_none("cancellation");
}

/* Then the source does not dominate them. */
TEST(registrations_are_counted_though_a_stack_has_one_of_them)
{
	make_token_types();
	uint64_t registrations = make_source(1100, session_type, 0);
	scene_hold(scene, SCENE_STACK, registrations);
	expect("cancellation", SEVERITY_HIGH, 1100);
	const struct report_finding *finding = scene_finding(scene, "cancellation");
	CU_ASSERT(finding->bytes > UINT64_C(1100) * 100);
	CU_ASSERT(finding->objects >= 1100);
}

TEST(some_registrations_are_in_use)
{
	make_token_types();
	(void)make_source(900, linked_type, 0);
	expect_none("cancellation");
}

/* A root scope or others, with @p services disposable ones. */
static uint64_t make_scope_type(void)
{
	const struct fake_field scope[] = {
		{ .name = "_disposables", .element = ELEMENT_CLASS },
		{ .name = "_disposed", .element = ELEMENT_BOOLEAN, .offset = 8 },
		{ .name = "<IsRootScope>k__BackingField", .element = ELEMENT_BOOLEAN, .offset = 9 },
		{ .name = NULL },
	};
	return scene_class(scene, CONTAINER, "ServiceProviderEngineScope", 1, 16, scope);
}

static uint64_t make_scope(uint64_t type, uint32_t services, bool is_root)
{
	scene_segment(scene, GENERATION_2, (uint64_t)services * 4200 + KILO);
	uint64_t scope = fake_object(scene->fake, type, 0);
	uint64_t list = scene_list(scene, services, services, services);
	scene_set(scene, scope, 0, list);
	fake_poke_u32(&scene->fake->memory, scope + 16, is_root ? 0x100 : 0);
	for (uint32_t i = 0; i < services; i++)
		scene_list_set(scene, list, i, fake_object(scene->fake, session_type, 0));
	return scope;
}

TEST(services_that_the_root_container_keeps_are_found)
{
	uint64_t type = make_scope_type();
	scene_hold(scene, SCENE_STATIC, make_scope(type, 1100, true));
	expect("container", SEVERITY_HIGH, 1100);
}

TEST(services_of_a_scope_that_lives_are_its_own)
{
	uint64_t type = make_scope_type();
	scene_hold(scene, SCENE_STATIC, make_scope(type, 1100, false));
	expect_none("container");
}

TEST(scopes_that_nobody_disposed_are_found)
{
	uint64_t type = make_scope_type();
	for (unsigned int i = 0; i < 1000; i++)
		scene_hold(scene, SCENE_STATIC, make_scope(type, 1, false));
	expect("container", SEVERITY_MEDIUM, 1000);
}

TEST(scopes_that_keep_little_are_low)
{
	uint64_t type = make_scope_type();
	for (unsigned int i = 0; i < 1000; i++)
		scene_hold(scene, SCENE_STATIC, make_scope(type, 0, false));
	scene_segment(scene, GENERATION_2, 8192 * KILO);
	scene_hold(scene, SCENE_STATIC,
		   fake_object(scene->fake, scene->fake->object_array_type, 512 * KILO));
	expect("container", SEVERITY_LOW, 1000);
}

static void make_contexts(uint32_t count, uint32_t state)
{
	const struct fake_field fields[] = {
		{ .name = "_state", .element = ELEMENT_I4 },
		{ .name = "_isCollectible", .element = ELEMENT_BOOLEAN, .offset = 4 },
		{ .name = NULL },
	};
	uint64_t type = scene_class(scene, "Shop", "PluginLoadContext", 0, 8, fields);
	scene_segment(scene, GENERATION_2, 8 * KILO);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t context = fake_object(scene->fake, type, 0);
		poke(context + 8, (uint64_t)1 << 32 | state);
		scene_hold(scene, SCENE_STATIC, context);
	}
}

TEST(load_contexts_that_were_unloaded_and_stay_are_found)
{
	make_contexts(3, 1);
	expect("load-contexts", SEVERITY_HIGH, 3);
}

TEST(one_load_context_may_still_be_about_to_go)
{
	make_contexts(1, 1);
	expect("load-contexts", SEVERITY_LOW, 1);
}

TEST(one_load_context_whose_code_something_keeps_is_found)
{
	uint64_t type = scene_class(scene, "System.Reflection", "LoaderAllocator", 0, 40, NULL);
	make_contexts(1, 1);
	scene_hold(scene, SCENE_OTHER_STATIC, fake_object(scene->fake, type, 0));
	expect("load-contexts", SEVERITY_MEDIUM, 1);
	ASSERT_TEXT(scene_finding(scene, "load-contexts")->holder.name, "Shop.Program.other");
}

TEST(one_load_context_whose_code_only_the_handle_of_the_runtime_keeps_may_go)
{
	uint64_t type = scene_class(scene, "System.Reflection", "LoaderAllocator", 0, 40, NULL);
	make_contexts(1, 1);
	scene_hold(scene, SCENE_HANDLE, fake_object(scene->fake, type, 0));
	expect("load-contexts", SEVERITY_LOW, 1);
}

TEST(a_handle_to_an_object_of_a_load_context_keeps_its_code)
{
	uint64_t type = scene_class(scene, "System.Reflection", "LoaderAllocator", 0, 40, NULL);
	const struct fake_field fields[] = {
		{ .name = "code", .element = ELEMENT_CLASS },
		{ .name = NULL },
	};
	uint64_t widget = scene_class(scene, "Shop", "Widget", 1, 8, fields);
	make_contexts(1, 1);
	uint64_t object = fake_object(scene->fake, widget, 0);
	scene_set(scene, object, 0, fake_object(scene->fake, type, 0));
	scene_hold(scene, SCENE_HANDLE, object);
	expect("load-contexts", SEVERITY_MEDIUM, 1);
	ASSERT_TEXT(scene_finding(scene, "load-contexts")->holder.name, "Shop.Widget.code");
}

/* A module of the binder 0x777000, of the LoaderAllocator 0x666800; both are of .NET 10. */
enum {
	MODULE_ALLOCATOR = 176,
	ASSEMBLY_BINDER = 64
};

/* Code of a module that @p binder loaded is kept; the binder of the unloaded context is 0x777000. */
static void keep_code_of(uint64_t binder)
{
	const struct fake_field context_fields[] = {
		{ .name = "_state", .element = ELEMENT_I4 },
		{ .name = "_isCollectible", .element = ELEMENT_BOOLEAN, .offset = 4 },
		{ .name = "_nativeAssemblyLoadContext", .element = ELEMENT_I, .offset = 8 },
		{ .name = NULL },
	};
	const struct fake_field scout_fields[] = {
		{ .name = "m_nativeLoaderAllocator", .element = ELEMENT_I },
		{ .name = NULL },
	};
	const struct fake_field allocator_fields[] = {
		{ .name = "m_scout", .element = ELEMENT_CLASS },
		{ .name = NULL },
	};
	struct fake_memory *memory = &scene->fake->memory;
	uint64_t context_type =
		scene_class(scene, "Shop", "PluginLoadContext", 0, 16, context_fields);
	uint64_t scout_type =
		scene_class(scene, "System.Reflection", "LoaderAllocatorScout", 0, 8, scout_fields);
	uint64_t allocator_type =
		scene_class(scene, "System.Reflection", "LoaderAllocator", 1, 40, allocator_fields);
	uint64_t module = fake_module(scene->fake), assembly = fake_alloc(memory, 256);
	fake_poke_u64(memory, module + FAKE_MODULE_PE_ASSEMBLY, assembly);
	fake_poke_u64(memory, assembly + ASSEMBLY_BINDER, binder);
	fake_poke_u64(memory, module + MODULE_ALLOCATOR, 0x666800);
	scene_segment(scene, GENERATION_2, 8 * KILO);
	uint64_t context = fake_object(scene->fake, context_type, 0);
	poke(context + 8, (uint64_t)1 << 32 | 1);
	poke(context + 16, 0x777000);
	scene_hold(scene, SCENE_STATIC, context);
	uint64_t allocator = fake_object(scene->fake, allocator_type, 0);
	uint64_t scout = fake_object(scene->fake, scout_type, 0);
	scene_set(scene, allocator, 0, scout);
	poke(scout + 8, 0x666800);
	scene_hold(scene, SCENE_OTHER_STATIC, allocator);
	fake_domain(scene->fake, &module, 1);
}

TEST(kept_code_of_the_unloaded_load_context_is_found)
{
	keep_code_of(0x777000);
	expect("load-contexts", SEVERITY_MEDIUM, 1);
}

TEST(kept_code_of_another_load_context_is_in_use)
{
	keep_code_of(0x777800);
	expect("load-contexts", SEVERITY_LOW, 1);
}

TEST(load_contexts_that_nobody_unloaded_are_in_use)
{
	make_contexts(3, 0);
	expect_none("load-contexts");
}

/* A queue of timers, of which each has the next one: what dominates one retains all after it. */
static uint64_t make_timer_list(uint32_t count, uint32_t due, bool is_cancelled, uint64_t queue)
{
	const struct fake_field fields[] = {
		{ .name = "_timerCallback", .element = ELEMENT_CLASS },
		{ .name = "_next", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "_associatedTimerQueue", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = "_dueTime", .element = ELEMENT_U4, .offset = 24 },
		{ .name = "_canceled", .element = ELEMENT_BOOLEAN, .offset = 28 },
		{ .name = NULL },
	};
	uint64_t type = scene_class(scene, "System.Threading", "TimerQueueTimer", 3, 32, fields);
	uint64_t next = 0;
	scene_segment(scene, GENERATION_2, (uint64_t)count * 4300 + KILO);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t timer = fake_object(scene->fake, type, 0);
		uint64_t session = fake_object(scene->fake, session_type, 0);
		scene_set(scene, timer, 0, make_delegate(session, 0x1234));
		scene_set(scene, timer, 1, next);
		scene_set(scene, timer, 2, queue);
		poke(timer + 32, due | (uint64_t)is_cancelled << 32);
		next = timer;
	}
	return next;
}

static void make_timers(uint32_t count, uint32_t due, bool is_cancelled)
{
	scene_hold(scene, SCENE_STATIC, make_timer_list(count, due, is_cancelled, 0));
}

TEST(timers_that_call_one_method_are_found)
{
	make_timers(300, 1000, false);
	expect("timers", SEVERITY_MEDIUM, 300);
}

/* The program holds the first one; that does not tell who holds the others. */
TEST(one_timer_that_is_held_does_not_hold_the_others)
{
	uint64_t type = scene_class(scene, "System.Threading", "TimerQueue", 1, 8, NULL);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t queue = fake_object(scene->fake, type, 0);
	uint64_t first = make_timer_list(300, 1000, false, queue);
	scene_set(scene, queue, 0, first);
	scene_hold(scene, SCENE_STATIC, first);
	scene_hold(scene, SCENE_SCHEDULE, queue);
	expect("timers", SEVERITY_MEDIUM, 300);
	const struct report_finding *finding = scene_finding(scene, "timers");
	ASSERT_TEXT(finding->holder.name, "System.Threading.ThreadPool.s_workQueue");
}

/* Nobody calls them, so they are told as a pile: not of the service that has the first one in a field. */
TEST(who_has_one_timer_of_the_queue_does_not_hold_its_chain)
{
	uint64_t type = scene_class(scene, "System.Threading", "TimerQueue", 1, 8, NULL);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t queue = fake_object(scene->fake, type, 0);
	uint64_t first = make_timer_list(300, 1000, true, queue);
	scene_set(scene, queue, 0, first);
	scene_hold(scene, SCENE_STATIC, first);
	scene_hold(scene, SCENE_SCHEDULE, queue);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_TEXT(finding->holder.name, "System.Threading.ThreadPool.s_workQueue");
	ASSERT_UINT(finding->severity, SEVERITY_INFO);
}

/* Their number is no evidence. */
TEST(many_timers_that_keep_little_are_not_much)
{
	make_timers(300, 1000, false);
	hold_pages(4000);
	expect("timers", SEVERITY_LOW, 300);
}

TEST(timers_that_are_not_set_call_nobody)
{
	make_timers(300, UINT32_MAX, false);
	expect_none("timers");
}

TEST(timers_that_were_cancelled_call_nobody)
{
	make_timers(300, 1000, true);
	expect_none("timers");
}

TEST(a_few_timers_are_in_use)
{
	make_timers(200, 1000, false);
	expect_none("timers");
}

SUITE(.name = "report_defects", .set_up = set_up, .tear_down = tear_down)
