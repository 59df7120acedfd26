/* SPDX-License-Identifier: MIT */
#include "findings/accumulation.h"
#include "findings/report.h"
#include "findings/rule.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define MEMBERS 600u
#define MEMBER  (24 * 1024u)
/* Object 0 is held by a static, object 1 by a stack; members come after them. */
#define FIRST 2u

struct fixture {
	struct hd_graph *graph;
	struct dominators dominators;
	struct report report;
};

static uint64_t sizes[FIRST + MEMBERS];
static uint32_t types[FIRST + MEMBERS];
static struct made_edge edges[3 * MEMBERS];

/* Members of 24 KB; their type is 1. */
static void set_up(void)
{
	for (uint32_t i = 0; i < FIRST + MEMBERS; i++) {
		sizes[i] = i < FIRST ? 24 : MEMBER;
		types[i] = i >= FIRST;
	}
}

static void make_report(struct fixture *fixture, uint64_t edge_count, uint8_t first_kind)
{
	const struct graph_root roots[] = {
		{ .node = 0, .container = HD_NONE, .kind = first_kind },
		{ .node = 1, .container = HD_NONE, .kind = HD_ROOT_STACK },
	};
	fixture->graph = graph_make(&(struct graph_spec){ .object_count = FIRST + MEMBERS,
							  .type_count = 2,
							  .sizes = sizes,
							  .types = types,
							  .edges = edges,
							  .edge_count = edge_count,
							  .roots = roots,
							  .root_count = 2 });
	REQUIRE(fixture->graph);
	ASSERT_UINT_FATAL(dominators_init(fixture->graph, NULL, &fixture->dominators, NULL), HD_OK);
	const struct facts_of of = { .graph = fixture->graph,
				     .dominators = &fixture->dominators,
				     .is_complete = true };
	ASSERT_UINT_FATAL(report_make(&fixture->report, &of, NULL, NULL), HD_OK);
}

static void tear_down(struct fixture *fixture)
{
	report_deinit(&fixture->report);
	dominators_deinit(&fixture->dominators);
	graph_destroy(fixture->graph);
}

/* In a heap of a few megabytes a pile may be all that the program works on. */
TEST(a_small_pile_of_a_small_heap_is_low)
{
	struct fixture fixture;
	set_up();
	for (uint32_t i = 0; i < MEMBERS; i++) {
		edges[i] = (struct made_edge){ 0, FIRST + i };
		sizes[FIRST + i] = MEMBER / 6;
	}
	make_report(&fixture, MEMBERS, HD_ROOT_STATIC);
	ASSERT_UINT_FATAL(fixture.report.findings_count, 1);
	ASSERT_UINT(fixture.report.findings[0].severity, SEVERITY_LOW);
	tear_down(&fixture);
}

TEST(what_one_object_holds_is_a_pile)
{
	struct fixture fixture;
	set_up();
	for (uint32_t i = 0; i < MEMBERS; i++)
		edges[i] = (struct made_edge){ 0, FIRST + i };
	make_report(&fixture, MEMBERS, HD_ROOT_STATIC);
	ASSERT_UINT_FATAL(fixture.report.findings_count, 1);
	const struct report_finding *finding = &fixture.report.findings[0];
	ASSERT_TEXT(finding->rule->name, "accumulation");
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->growth.state, GROWTH_UNKNOWN);
	ASSERT_UINT(finding->bytes, (uint64_t)MEMBERS * MEMBER);
	ASSERT_UINT(finding->objects, MEMBERS);
	ASSERT_UINT(finding->holder.subject, 0);
	tear_down(&fixture);
}

TEST(without_memory_there_is_no_report)
{
	struct fixture fixture;
	set_up();
	for (uint32_t i = 0; i < MEMBERS; i++)
		edges[i] = (struct made_edge){ 0, FIRST + i };
	make_report(&fixture, MEMBERS, HD_ROOT_STATIC);
	const struct facts_of of = { .graph = fixture.graph,
				     .dominators = &fixture.dominators,
				     .is_complete = true };
	enum hd_status status = HD_ERR_NOMEM;
	uint64_t nth = 1;
	for (; status != HD_OK && nth < 100; nth++) {
		report_deinit(&fixture.report);
		alloc_fail_at(nth);
		status = report_make(&fixture.report, &of, NULL, NULL);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
	}
	CU_ASSERT_FATAL(status == HD_OK && nth > 10);
	/* The report that was made at last is whole. */
	ASSERT_UINT_FATAL(fixture.report.findings_count, 1);
	CU_ASSERT(!strchr(fixture.report.findings[0].sentence, '?'));
	CU_ASSERT(!fixture.report.lacks_text);
	/* The rest of the arena is used up first. */
	alloc_fail_at(1);
	size_t made = 0;
	while (made < 1000 && report_text(&fixture.report, "%600d", 1)[0] != '?')
		made++;
	alloc_fail_at(0);
	CU_ASSERT(made < 1000 && fixture.report.lacks_text);
	tear_down(&fixture);
}

TEST(what_a_stack_holds_is_only_told)
{
	struct fixture fixture;
	set_up();
	for (uint32_t i = 0; i < MEMBERS; i++)
		edges[i] = (struct made_edge){ 1, FIRST + i };
	make_report(&fixture, MEMBERS, HD_ROOT_STATIC);
	ASSERT_UINT_FATAL(fixture.report.findings_count, 1);
	ASSERT_UINT(fixture.report.findings[0].severity, SEVERITY_INFO);
	CU_ASSERT(!report_has(&fixture.report, SEVERITY_MEDIUM));
	tear_down(&fixture);
}

TEST(a_static_is_named_also_where_a_stack_is_nearer)
{
	struct fixture fixture;
	set_up();
	/* The stack refers to the last member, the static to the first of the chain that leads there. */
	for (uint32_t i = 0; i < MEMBERS; i++)
		edges[i] = (struct made_edge){ i ? FIRST + i - 1 : 0, FIRST + i };
	edges[MEMBERS] = (struct made_edge){ 1, FIRST + MEMBERS - 1 };
	make_report(&fixture, MEMBERS + 1, HD_ROOT_STATIC);
	const struct report_facts *facts = &fixture.report.facts;
	ASSERT_UINT(facts->classes[FIRST + MEMBERS - 1], CLASS_PROCESS);
	ASSERT_UINT(facts->classes[1], CLASS_THREAD);
	uint64_t steps = MEMBERS + 10;
	ASSERT_UINT(holder_root(&fixture.report, FIRST + MEMBERS - 1, &steps), 0);
	steps = MEMBERS / 2;
	ASSERT_UINT(holder_root(&fixture.report, FIRST + MEMBERS - 1, &steps), HD_NONE);
	tear_down(&fixture);
}

TEST(a_chain_is_one_pile)
{
	struct fixture fixture;
	set_up();
	for (uint32_t i = 0; i < MEMBERS; i++)
		edges[i] = (struct made_edge){ i ? FIRST + i - 1 : 0, FIRST + i };
	make_report(&fixture, MEMBERS, HD_ROOT_STATIC);
	ASSERT_UINT_FATAL(fixture.report.findings_count, 1);
	const struct report_finding *finding = &fixture.report.findings[0];
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->counts[0].value, MEMBERS);
	ASSERT_UINT(finding->holder.subject, 0);
	tear_down(&fixture);
}

TEST(objects_of_two_holders_are_seen_though_none_dominates_them)
{
	struct fixture fixture;
	set_up();
	types[1] = 0;
	for (uint32_t i = 0; i < MEMBERS; i++) {
		edges[2 * i] = (struct made_edge){ 0, FIRST + i };
		edges[2 * i + 1] = (struct made_edge){ 1, FIRST + i };
	}
	make_report(&fixture, (uint64_t)2 * MEMBERS, HD_ROOT_STATIC);
	ASSERT_UINT_FATAL(fixture.report.findings_count, 1);
	ASSERT_UINT(fixture.report.findings[0].counts[0].value, MEMBERS);
	ASSERT_UINT(fixture.report.findings[0].severity, SEVERITY_MEDIUM);
	tear_down(&fixture);
}

/* So it is with literals, which the program may refer to as well. */
TEST(objects_that_the_collector_has_are_no_pile_of_anybody)
{
	struct fixture fixture;
	set_up();
	for (uint32_t i = 0; i < MEMBERS; i++) {
		edges[2 * i] = (struct made_edge){ 0, FIRST + i };
		edges[2 * i + 1] = (struct made_edge){ 1, FIRST + i };
	}
	make_report(&fixture, (uint64_t)2 * MEMBERS, HD_ROOT_GC);
	ASSERT_UINT(fixture.report.findings_count, 0);
	tear_down(&fixture);
}

TEST(a_circle_of_objects_is_no_trap)
{
	struct fixture fixture;
	set_up();
	for (uint32_t i = 0; i < MEMBERS; i++) {
		edges[2 * i] = (struct made_edge){ i ? FIRST + i - 1 : 0, FIRST + i };
		edges[2 * i + 1] = (struct made_edge){ FIRST + i, FIRST + (i * 7) % MEMBERS };
	}
	make_report(&fixture, (uint64_t)2 * MEMBERS, HD_ROOT_STATIC);
	CU_ASSERT(report_has(&fixture.report, SEVERITY_INFO));
	tear_down(&fixture);
}

TEST(a_rule_that_needs_fields_does_not_run_on_a_dump_file)
{
	struct fixture fixture;
	set_up();
	make_report(&fixture, 0, HD_ROOT_STATIC);
	ASSERT_UINT(fixture.report.findings_count, 0);
	for (size_t i = 0; i < report_rule_count(); i++) {
		bool needs = report_rule_at(i)->needs & RULE_FIELDS;
		ASSERT_UINT(fixture.report.results[i].has_run, !needs);
		CU_ASSERT((fixture.report.results[i].reason != NULL) == needs);
	}
	tear_down(&fixture);
}

TEST(a_collection_that_was_never_emptied_and_has_young_members_grows)
{
	struct report_facts facts = { .has_generations = true, .sums.has_recent = true };
	facts.sums.all_live = facts.sums.recent = (uint64_t)64 << 20;
	struct member_ages ages = { .of = { 50, 100, 850 }, .all = 1000 };
	struct counted owner = { .has_count = true, .has_version = true, .count = 1000 };
	owner.version = 1000;
	ASSERT_UINT(growth_of(&facts, &ages, &owner, 1).state, GROWTH_GROWS);
	owner.version = 5000;
	ASSERT_UINT(growth_of(&facts, &ages, &owner, 1).state, GROWTH_TURNS);
	owner.version = 1;
	ASSERT_UINT(growth_of(&facts, &ages, &owner, 1).state, GROWTH_UNKNOWN);
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_GROWS);
}

TEST(a_collection_without_young_members_is_idle_if_much_was_allocated)
{
	struct report_facts facts = { .has_generations = true, .sums.has_recent = true };
	facts.sums.all_live = facts.sums.recent = (uint64_t)64 << 20;
	struct member_ages ages = { .of = { 0, 0, 1000 }, .all = 1000 };
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_IDLE);
	facts.sums.recent = 100;
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_UNKNOWN);
	facts.sums.recent = (uint64_t)64 << 20;
	facts.sums.has_recent = false;
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_UNKNOWN);
}

TEST(generation_1_counts_as_young_if_generation_0_has_little)
{
	struct report_facts facts = { .has_generations = true, .sums.has_recent = true };
	facts.sums.all_live = (uint64_t)64 << 20;
	facts.sums.recent = (uint64_t)900 << 10;
	struct member_ages ages = { .of = { 1, 100, 899 }, .all = 1000 };
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_GROWS);
	facts.sums.recent = (uint64_t)64 << 20;
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_UNKNOWN);
}

TEST(what_is_only_in_generation_1_may_have_come_to_its_end)
{
	struct report_facts facts = { .has_generations = true, .sums.has_recent = true };
	facts.sums.all_live = (uint64_t)64 << 20;
	facts.sums.recent = (uint64_t)900 << 10;
	struct member_ages ages = { .of = { 0, 100, 900 }, .all = 1000 };
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_UNKNOWN);
}

TEST(most_members_are_younger_than_the_last_collection)
{
	struct report_facts facts = { .has_generations = true, .sums.has_recent = true };
	facts.sums.all_live = facts.sums.recent = (uint64_t)64 << 20;
	struct member_ages ages = { .of = { 900, 0, 100 }, .all = 1000 };
	ASSERT_UINT(growth_of(&facts, &ages, NULL, 0).state, GROWTH_UNKNOWN);
}

TEST(names_of_the_framework_are_told_from_the_program_s)
{
	struct report_facts facts = { .heap = NULL };
	CU_ASSERT(facts_name_is_own(&facts, "WebShop.Session", 15));
	CU_ASSERT(!facts_name_is_own(&facts, "System.String", 13));
	CU_ASSERT(!facts_name_is_own(&facts, "Microsoft.Extensions.X", 22));
	CU_ASSERT(!facts_name_is_own(&facts, "", 0));
	const struct graph_type list = { .name = "System.List<A>", .name_size = 14 };
	CU_ASSERT(type_is_class(&list, "System.List"));
	CU_ASSERT(!type_is_class(&list, "System.Li"));
	CU_ASSERT(!type_is_own(&list));
	struct graph_type type = { .name = "InternalShop.PriceFeed", .name_size = 22 };
	CU_ASSERT(type_is_own(&type));
	type.owner = TYPE_OF_FRAMEWORK;
	CU_ASSERT(!type_is_own(&type));
	/* A dump file says at least which file the type is from. */
	type = (struct graph_type){ .name = "System.Mine",
				    .name_size = 11,
				    .module = "/app/shop.dll" };
	CU_ASSERT(type_is_own(&type));
}

TEST(types_of_which_only_the_name_is_known_are_counted)
{
	struct graph_type rows[] = {
		{ .name = "System.Byte[]", .name_size = 13, .count = 5 },
		{ .name = "Shop.Cart", .name_size = 9, .count = 1, .module = "/app/shop.dll" },
		{ .name = "Shop.Item", .name_size = 9, .count = 2, .owner = TYPE_OF_PROGRAM },
		{ .name = "Shop.Unused", .name_size = 11 },
		{ .name = NULL, .count = 1 },
		{ .name = "Shop.Order", .name_size = 10, .count = 1 },
	};
	struct hd_graph graph = { .types = rows, .type_count = 6 };
	struct report_facts facts = { .graph = &graph };
	ASSERT_UINT(facts_types_by_name(&facts), 2);
}

SUITE(.name = "report")
