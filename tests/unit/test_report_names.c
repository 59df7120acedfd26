/* SPDX-License-Identifier: MIT */
/* How findings name who holds something: by the element of the path that tells most, as the program's code has it. */
#include "findings/rule.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
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

/* A class with one reference in the field @p field. */
static uint64_t holding_class(const char *space, const char *name, const char *field)
{
	const struct fake_field fields[] = { { .name = field, .element = ELEMENT_CLASS },
					     { .name = NULL } };
	return scene_class(scene, space, name, 1, 16, fields);
}

/* An object of each of @p types refers to the next one, the last one to @p last; the first one hangs on @p root. */
static void hold_through(enum scene_root root, const uint64_t *types, size_t count, uint64_t last)
{
	scene_segment(scene, GENERATION_2, 8 * KILO);
	for (size_t i = count; i-- > 0;) {
		uint64_t object = fake_object(scene->fake, types[i], 0);
		scene_set(scene, object, 0, last);
		last = object;
	}
	scene_hold(scene, root, last);
}

static uint64_t make_pages(void)
{
	return scene_full_list(scene, page_type, 4096, (const uint32_t[]){ 1200, 200 }, 1400);
}

static const struct held_by *holder_of_pages(void)
{
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	return &finding->holder;
}

TEST(a_property_has_its_own_name)
{
	uint64_t type = holding_class("Shop", "Shelf", "<Pages>k__BackingField");
	hold_through(SCENE_FRAMEWORK, &type, 1, make_pages());
	const struct held_by *holder = holder_of_pages();
	ASSERT_TEXT(holder->name, "Shop.Shelf.Pages");
	ASSERT_TEXT(holder->blamed_field, "Pages");
	/* Data has the name of metadata. */
	ASSERT_TEXT(holder->steps[1].link, ".<Pages>k__BackingField");
}

TEST(what_a_lambda_has_captured_is_a_variable_of_its_method)
{
	uint64_t type = holding_class("Shop", "Poller+<>c__DisplayClass3_0", "seen");
	hold_through(SCENE_SCHEDULE, &type, 1, make_pages());
	ASSERT_TEXT(holder_of_pages()->name, "Shop.Poller.seen");
}

/* The list of a hosted service hangs on a token that its delay was given. */
TEST(a_variable_of_an_async_method_comes_before_a_field_that_leads_to_it)
{
	const struct fake_field box[] = {
		{ .name = "StateMachine.<seen>5__2", .element = ELEMENT_CLASS }, { .name = NULL }
	};
	uint64_t types[] = {
		holding_class("Shop", "Worker", "_stoppingCts"),
		holding_class("System.Threading", "CancellationTokenSource", "_registrations"),
		scene_class(scene, NULL, "B+AsyncStateMachineBox<Shop.Worker+<Run>d__0>", 1, 16,
			    box),
	};
	hold_through(SCENE_FRAMEWORK, types, 3, make_pages());
	const struct held_by *holder = holder_of_pages();
	ASSERT_TEXT(holder->name, "Shop.Worker.Run.seen");
	ASSERT_TEXT(holder->blamed_type, "Shop.Worker+<Run>d__0");
	CU_ASSERT(holder->steps[3].is_blamed && !holder->steps[1].is_blamed);
}

TEST(fields_of_a_box_are_not_the_program_s)
{
	const struct fake_field box[] = {
		{ .name = "m_continuationObject", .element = ELEMENT_CLASS }, { .name = NULL }
	};
	uint64_t types[] = {
		holding_class("Shop", "Worker", "_current"),
		scene_class(scene, NULL, "B+AsyncStateMachineBox<Shop.Worker+<Run>d__0>", 1, 16,
			    box),
	};
	hold_through(SCENE_FRAMEWORK, types, 2, make_pages());
	ASSERT_TEXT(holder_of_pages()->name, "Shop.Worker._current");
}

/* A cache of the framework that a container has made, to which a class of @p first leads. */
static void hold_by_service(const char *first)
{
	const uint64_t types[] = {
		holding_class(first, "Start", "_provider"),
		holding_class("Microsoft.Extensions.DependencyInjection", "ServiceProvider",
			      "_accessors"),
		holding_class("System", "Object[]", "_first"),
		holding_class("Microsoft.Extensions.Caching", "Cache", "_entries"),
		holding_class("Microsoft.Extensions.Caching", "Cache+State", "_all"),
	};
	hold_through(SCENE_FRAMEWORK, types, 5, make_pages());
}

TEST(a_service_tells_more_than_a_static_of_the_framework)
{
	hold_by_service("System");
	ASSERT_TEXT(holder_of_pages()->name,
		    "Microsoft.Extensions.Caching.Cache (a singleton of the host)");
}

/* Code that the container has made for a service is none. */
TEST(what_a_container_needs_itself_is_no_service)
{
	const uint64_t types[] = {
		holding_class("Microsoft.Extensions.DependencyInjection", "ServiceProvider",
			      "_accessors"),
		holding_class("System", "Func<Microsoft.Extensions.DependencyInjection.Scope>",
			      "_method"),
		holding_class("System.Reflection.Emit", "DynamicMethod", "_resolver"),
	};
	hold_through(SCENE_FRAMEWORK, types, 3, make_pages());
	ASSERT_TEXT(holder_of_pages()->name, "System.Cache.s_items");
}

TEST(a_service_tells_more_than_who_has_the_host)
{
	hold_by_service("Shop");
	const struct held_by *holder = holder_of_pages();
	ASSERT_TEXT(holder->name, "Microsoft.Extensions.Caching.Cache (a singleton of the host)");
	ASSERT_TEXT(holder->blamed_field, "_provider");
}

/* A server refers to the container, and nothing else does so over fewer objects. */
TEST(what_a_service_holds_is_not_a_connection_s)
{
	const uint64_t types[] = {
		holding_class("Microsoft.AspNetCore.Server.Kestrel.Core", "KestrelServerImpl",
			      "_services"),
		holding_class("Microsoft.Extensions.DependencyInjection", "ServiceProvider",
			      "_accessors"),
		holding_class("System", "Object[]", "_first"),
		holding_class("Microsoft.Extensions.Caching", "Cache", "_entries"),
	};
	uint64_t entry = scene_class(scene, "Microsoft.Extensions.Caching", "Entry", 0, 4080, NULL);
	uint64_t list = scene_full_list(scene, entry, 4096, (const uint32_t[]){ 1200, 200 }, 1400);
	hold_through(SCENE_FRAMEWORK, types, 4, list);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_HIGH);
}

TEST(a_container_that_leads_to_no_service_changes_nothing)
{
	const uint64_t types[] = {
		holding_class("Microsoft.Extensions.DependencyInjection", "ServiceProvider",
			      "_accessors"),
		holding_class("System", "Object[]", "_first"),
		holding_class("Shop", "Shelf", "pages"),
	};
	hold_through(SCENE_FRAMEWORK, types, 3, make_pages());
	ASSERT_TEXT(holder_of_pages()->name, "Shop.Shelf.pages");
}

TEST(without_anything_better_the_root_is_named)
{
	uint64_t type = holding_class("System", "Box", "_value");
	hold_through(SCENE_FRAMEWORK, &type, 1, make_pages());
	ASSERT_TEXT(holder_of_pages()->name, "System.Cache.s_items");
}

TEST(members_that_keep_variables_are_named_by_their_method)
{
	uint64_t closure = scene_class(scene, "Shop", "Cart+<>c__DisplayClass0_0", 0, 4080, NULL);
	scene_hold(scene, SCENE_STATIC,
		   scene_full_list(scene, closure, 4096, (const uint32_t[]){ 1200, 200 }, 1400));
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_TEXT(finding->title, "1,400 Shop.Cart.lambda in Shop.Program.held");
	/* The command needs the name of the type. */
	ASSERT_TEXT(finding->next, "gcroot -nostacks -type 'Shop.Cart+<>c__DisplayClass0_0'");
}

/* Entries of a library, each with an order or a line of the program, which has an array of bytes. */
static uint64_t make_entries(void)
{
	const uint64_t own[] = { holding_class("Shop", "Order", "_text"),
				 holding_class("Shop", "Line", "_text") };
	uint64_t entry = holding_class("System.Data", "Row", "_item");
	uint64_t bytes = scene_bytes_type(scene);
	uint64_t list = scene_full_list(scene, entry, 32, (const uint32_t[]){ 1000, 0 }, 1000);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_2, (uint64_t)1000 * 4200);
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t row = fake_peek_u64(&scene->fake->memory, items + 16 + 8 * (uint64_t)i);
		uint64_t item = fake_object(scene->fake, own[i % 4 == 0], 0);
		scene_set(scene, row, 0, item);
		scene_set(scene, item, 0, fake_object(scene->fake, bytes, 4000));
	}
	return list;
}

TEST(types_of_the_program_that_a_pile_is_made_of_are_told)
{
	scene_hold(scene, SCENE_STATIC, make_entries());
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	const struct made_of *made_of = report_made_of(&scene->report, finding);
	ASSERT_UINT_FATAL(made_of->count, 2);
	ASSERT_UINT(made_of->parts[0].count, 750);
	ASSERT_UINT(made_of->parts[0].bytes, 750 * (4024 + 32));
	ASSERT_UINT(made_of->parts[1].count, 250);
	CU_ASSERT(strstr(finding->sentence, " Of the program are in it: Order (750, 2.9 MB), Line "
					    "(250, 990.2 KB).") != NULL);
}

TEST(what_a_pile_is_made_of_is_not_told_twice)
{
	scene_hold(scene, SCENE_STATIC, make_pages());
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	const struct made_of *made_of = report_made_of(&scene->report, finding);
	ASSERT_UINT_FATAL(made_of->count, 1);
	ASSERT_UINT(made_of->parts[0].count, 1400);
	CU_ASSERT(strstr(finding->sentence, "Of the program") == NULL);
}

/* A dump file: a graph without fields, whose first node a static holds. */
struct file_scene {
	struct hd_graph *graph;
	struct dominators dominators;
	struct report report;
};

#define NODES_MAX 4096u
static uint64_t sizes[NODES_MAX];
static uint32_t types[NODES_MAX];
static struct made_edge edges[NODES_MAX];

static void report_file(struct file_scene *file, uint32_t nodes, const char *const *names,
			uint32_t type_count)
{
	static const struct graph_root root = { .node = 0, .container = 0, .kind = HD_ROOT_STATIC };
	file->graph = graph_make(&(struct graph_spec){ .object_count = nodes,
						       .type_count = type_count,
						       .sizes = sizes,
						       .types = types,
						       .edges = edges,
						       .edge_count = nodes - 1,
						       .roots = &root,
						       .root_count = 1 });
	REQUIRE(file->graph);
	for (size_t i = 0; i < type_count; i++) {
		file->graph->types[i].name = names[i];
		file->graph->types[i].name_size = (uint32_t)strlen(names[i]);
	}
	ASSERT_UINT_FATAL(dominators_init(file->graph, NULL, &file->dominators, NULL), HD_OK);
	const struct facts_of of = { .graph = file->graph,
				     .dominators = &file->dominators,
				     .is_complete = true };
	ASSERT_UINT_FATAL(report_make(&file->report, &of, NULL, NULL), HD_OK);
	ASSERT_UINT_FATAL(file->report.findings_count, 1);
}

static void file_deinit(struct file_scene *file)
{
	report_deinit(&file->report);
	dominators_deinit(&file->dominators);
	graph_destroy(file->graph);
}

/* Each of the first @p chain nodes has a type of its own and refers to the next one, the last of them to all others. */
static void lay_out(uint32_t nodes, uint32_t chain)
{
	for (uint32_t i = 0; i < nodes; i++) {
		sizes[i] = 4 * KILO;
		types[i] = i < chain ? i : chain;
		edges[i] = (struct made_edge){ i < chain ? i : chain - 1, i + 1 };
	}
}

TEST(where_links_have_no_names_the_nearest_type_of_the_program_is_named)
{
	static const char *const names[] = { "System.Host", "Shop.Shelf", "System.Object[]",
					     "System.Byte[]" };
	struct file_scene file;
	lay_out(1003, 3);
	report_file(&file, 1003, names, 4);
	ASSERT_TEXT(file.report.findings[0].holder.name, "Shop.Shelf");
	ASSERT_TEXT(file.report.findings[0].holder.blamed_type, "Shop.Shelf");
	file_deinit(&file);
}

#define CONCURRENT "System.Collections.Concurrent.ConcurrentDictionary<System.String,Shop.Page>"

/* Buckets with one, two or three nodes each: all that the collection has are counted. */
TEST(chains_of_a_collection_in_a_dump_file_are_counted_whole)
{
	static const char *const names[] = { CONCURRENT, CONCURRENT "+Tables",
					     CONCURRENT "+VolatileNode[]", CONCURRENT "+Node" };
	struct file_scene file;
	lay_out(1503, 3);
	for (uint32_t i = 3; i < 1502; i++)
		edges[i].from = i % 6 == 4 || i % 6 == 0 || i % 6 == 1 ? i : 2;
	report_file(&file, 1503, names, 4);
	ASSERT_UINT(file.report.findings[0].counts[0].value, 1500);
	file_deinit(&file);
}

SUITE(.name = "report_names", .set_up = set_up, .tear_down = tear_down)
