/* SPDX-License-Identifier: MIT */
/* Two heaps: what each holds, and what grew from one to the other. */
#include "findings/comparison.h"
#include "findings/rule.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define KILO       1024u
#define HOLDERS    3u /* objects 0 to 2, each held by a root; members come after them */
#define MOST       2000u
#define TYPES      20u
#define CONCURRENT "System.Collections.Concurrent.ConcurrentDictionary<System.String,Shop.Page>"
#define PLACE      0x7f0000001000u /* where types lie in a process */

/* A heap: how many members of type 1 each holder has, each of @p kilobytes. */
struct shape {
	uint32_t members[HOLDERS];
	uint32_t kilobytes;
	uint64_t place; /* of the types; 0: a dump file, whose types have no address */
	const char *space;
};

struct side {
	struct hd_graph *graph;
	struct dominators dominators;
	struct report report;
	char names[TYPES][32];
};

static uint64_t sizes[HOLDERS + HOLDERS * MOST];
static uint32_t types[HOLDERS + HOLDERS * MOST];
static struct made_edge edges[HOLDERS * MOST];

static uint32_t lay_out(const struct shape *shape)
{
	uint32_t node = HOLDERS;
	for (uint32_t holder = 0; holder < HOLDERS; holder++) {
		sizes[holder] = 24;
		types[holder] = 2 + holder;
		for (uint32_t i = 0; i < shape->members[holder]; i++, node++) {
			sizes[node] = (uint64_t)shape->kilobytes * KILO;
			types[node] = 1;
			edges[node - HOLDERS] = (struct made_edge){ holder, node };
		}
	}
	/* The first types have one object each, so that they are alive. */
	for (uint32_t i = HOLDERS; i < node && i < HOLDERS + TYPES - 5; i++)
		types[i] = i + 2;
	return node;
}

/* Types are called as in @p shape says: Shop.Type1, Shop.Type2, ... */
static void name_types(struct side *side, const struct shape *shape)
{
	for (uint32_t i = 0; i < side->graph->type_count; i++) {
		struct graph_type *type = &side->graph->types[i];
		(void)snprintf(side->names[i], sizeof(side->names[i]), "%s.Type%" PRIu32,
			       shape->space, i);
		type->name = side->names[i];
		type->name_size = (uint32_t)strlen(side->names[i]);
		if (shape->place)
			type->id = shape->place + (uint64_t)i * 0x100;
	}
}

static void report_side(struct side *side, const struct compared_with *with)
{
	ASSERT_UINT_FATAL(dominators_init(side->graph, NULL, &side->dominators, NULL), HD_OK);
	const struct facts_of of = { .graph = side->graph,
				     .dominators = &side->dominators,
				     .with = with,
				     .is_complete = true };
	ASSERT_UINT_FATAL(report_make(&side->report, &of, NULL, NULL), HD_OK);
}

static void make_side(struct side *side, const struct shape *shape,
		      const struct compared_with *with)
{
	static const struct graph_root roots[HOLDERS] = {
		{ .node = 0, .container = 2, .kind = HD_ROOT_STATIC },
		{ .node = 1, .container = 3, .kind = HD_ROOT_STATIC },
		{ .node = 2, .container = HD_NONE, .kind = HD_ROOT_STACK },
	};
	uint32_t count = lay_out(shape);
	side->graph = graph_make(&(struct graph_spec){ .object_count = count,
						       .type_count = TYPES,
						       .sizes = sizes,
						       .types = types,
						       .edges = edges,
						       .edge_count = count - HOLDERS,
						       .roots = roots,
						       .root_count = HOLDERS });
	REQUIRE(side->graph);
	name_types(side, shape);
	report_side(side, with);
}

static void free_side(struct side *side)
{
	report_deinit(&side->report);
	dominators_deinit(&side->dominators);
	graph_destroy(side->graph);
}

/* Two heaps, and how they are compared. */
static struct side after;
static struct inventory before;
static struct compared_with with;

static void keep_before(const struct shape *shape)
{
	struct side side;
	make_side(&side, shape, NULL);
	ASSERT_UINT_FATAL(inventory_make(&side.report, &before, NULL), HD_OK);
	ASSERT_UINT_FATAL(inventory_keep(&before, &side.report, NULL), HD_OK);
	free_side(&side);
	with = (struct compared_with){ .before = &before, .name = "other" };
}

static void free_both(void)
{
	free_side(&after);
	inventory_deinit(&before);
}

static const struct shape first = { { 1000, 800, 400 }, 4, PLACE, "Shop" };

static void compare_shapes(const struct shape *now)
{
	keep_before(&first);
	make_side(&after, now, &with);
}

/* The change of what a holder has; of the first holder, 15 members have other types. */
static const struct change *change_of(const char *holder)
{
	const struct heap_comparison *comparison = after.report.comparison;
	for (size_t i = 0; i < comparison->changes_count; i++) {
		const struct change *change = &comparison->changes[i];
		const struct holding *any = change->after ? change->after : change->before;
		if (strstr(any->name, holder))
			return change;
	}
	return NULL;
}

static const struct change *need_change(const char *holder)
{
	const struct change *change = change_of(holder);
	REQUIRE(change);
	return change;
}

TEST(an_inventory_has_what_is_alive_by_type_by_root_and_by_holder)
{
	keep_before(&first);
	uint64_t bytes = 0, objects = 0, of_roots = 0, members = 0;
	for (size_t i = 0; i < before.types.rows_count; i++) {
		bytes += before.types.rows[i].size;
		objects += before.types.rows[i].count;
		if (strcmp(before.types.rows[i].name, "Shop.Type1") == 0)
			members = before.types.rows[i].count;
	}
	ASSERT_UINT(bytes, (uint64_t)2200 * 4 * KILO + 72);
	ASSERT_UINT(objects, 2203);
	ASSERT_UINT(members, 2200 - 15);
	ASSERT_UINT_FATAL(before.roots.rows_count, 3);
	for (size_t i = 0; i < 3; i++)
		of_roots += before.roots.rows[i].size;
	ASSERT_UINT(of_roots, bytes);
	ASSERT_UINT(before.live, bytes);
	ASSERT_UINT(before.objects, objects);
	ASSERT_UINT_FATAL(before.holdings_count, 3);
	CU_ASSERT(before.is_complete && !before.is_limited);
	inventory_deinit(&before);
}

TEST(what_grew_and_what_did_not_is_told)
{
	compare_shapes(&(struct shape){ { 1600, 800, 100 }, 4, PLACE, "Shop" });
	const struct heap_comparison *comparison = after.report.comparison;
	ASSERT_UINT(comparison->process, PROCESS_SAME);
	CU_ASSERT_FATAL(comparison_is_used(&after.report));
	const struct change *change = need_change("Type2");
	ASSERT_UINT(change->since.state, SINCE_GREW);
	ASSERT_UINT(change->since.count - change->since.count_before, 600);
	ASSERT_UINT(change->since.bytes - change->since.bytes_before, (uint64_t)600 * 4 * KILO);
	CU_ASSERT(!change->since.has_rate && !change->since.has_changes);
	ASSERT_UINT(need_change("Type3")->since.state, SINCE_SAME);
	ASSERT_UINT(need_change("stack")->since.state, SINCE_SHRANK);
	const struct change **order;
	ASSERT_UINT_FATAL(comparison_by_growth(comparison, &order, NULL), HD_OK);
	CU_ASSERT(order[0] == change);
	CU_ASSERT(order[comparison->changes_count - 1] == need_change("stack"));
	mem_free(order);
	free_both();
}

TEST(findings_go_up_and_down_with_growth)
{
	compare_shapes(&(struct shape){ { 1600, 800, 400 }, 4, PLACE, "Shop" });
	ASSERT_UINT_FATAL(after.report.findings_count, 3);
	const struct report_finding *grew = &after.report.findings[0];
	const struct report_finding *same = &after.report.findings[1];
	ASSERT_UINT(grew->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(grew->growth.state, GROWTH_GROWS);
	CU_ASSERT(strstr(grew->sentence, "since the other dump it grew from") != NULL);
	ASSERT_UINT(same->severity, SEVERITY_LOW);
	ASSERT_UINT(same->growth.state, GROWTH_IDLE);
	CU_ASSERT(strstr(same->sentence, "it has not grown since the other dump") != NULL);
	ASSERT_UINT(after.report.findings[2].severity, SEVERITY_INFO);
	free_both();
}

/* The severity of a finding of @p rule that had @p bytes_before in the other heap, and has 64 MB. */
static enum severity severity_since(const struct report_rule *rule, uint64_t bytes_before)
{
	struct report *report = &after.report;
	struct told_finding told = { .id = "planted", .objects = 500, .bytes = bytes_before };
	const struct report_finding finding = { .id = "planted",
						.severity = SEVERITY_MEDIUM,
						.title = "title",
						.sentence = "Sentence.",
						.objects = 500,
						.bytes = (uint64_t)64 << 20 };
	compare_shapes(&(struct shape){ { 1600, 800, 400 }, 4, PLACE, "Shop" });
	CU_ASSERT_FATAL(comparison_is_used(report));
	struct told_finding *const kept = before.findings;
	const size_t kept_count = before.findings_count;
	before.findings = &told;
	before.findings_count = 1;
	report->running = rule;
	ASSERT_UINT_FATAL(finding_add(report, &finding, NULL), HD_OK);
	const size_t planted = report->findings_count - 1;
	mem_free(report->comparison->told);
	report->comparison->told = NULL;
	ASSERT_UINT_FATAL(comparison_conclude(report, NULL), HD_OK);
	const enum severity severity = report->findings[planted].severity;
	before.findings = kept;
	before.findings_count = kept_count;
	free_both();
	return severity;
}

TEST(only_some_rules_rest_on_growth)
{
	const uint64_t less = (uint64_t)16 << 20, same = (uint64_t)64 << 20;
	static const struct report_rule *const growing[] = { &timers_rule, &async_rule,
							     &caches_rule, &weak_references_rule,
							     &handles_rule };
	for (size_t i = 0; i < sizeof(growing) / sizeof(growing[0]); i++) {
		ASSERT_UINT(severity_since(growing[i], less), SEVERITY_HIGH);
		ASSERT_UINT(severity_since(growing[i], same), SEVERITY_LOW);
	}
	/* A finished object that is held is a defect, however many there were before. */
	ASSERT_UINT(severity_since(&finished_rule, less), SEVERITY_MEDIUM);
	ASSERT_UINT(severity_since(&finished_rule, same), SEVERITY_MEDIUM);
}

TEST(what_the_other_heap_has_not_is_new)
{
	keep_before(&(struct shape){ { 1000, 0, 400 }, 4, PLACE, "Shop" });
	make_side(&after, &first, &with);
	const struct change *change = need_change("Type3");
	CU_ASSERT(!change->before);
	ASSERT_UINT(change->since.state, SINCE_NEW);
	ASSERT_UINT(change->since.count, 800);
	free_both();
}

TEST(what_is_gone_shrank)
{
	compare_shapes(&(struct shape){ { 1000, 0, 400 }, 4, PLACE, "Shop" });
	const struct change *change = need_change("Type3");
	CU_ASSERT(!change->after);
	ASSERT_UINT(change->since.state, SINCE_SHRANK);
	ASSERT_UINT(change->since.count_before, 800);
	free_both();
}

TEST(a_little_more_is_not_growth)
{
	compare_shapes(&(struct shape){ { 1010, 800, 400 }, 4, PLACE, "Shop" });
	ASSERT_UINT(need_change("Type2")->since.state, SINCE_UNKNOWN);
	free_both();
}

TEST(rates_need_the_time)
{
	keep_before(&first);
	with.hours = 0.5;
	make_side(&after, &(struct shape){ { 1600, 800, 400 }, 4, PLACE, "Shop" }, &with);
	const struct since *since = &need_change("Type2")->since;
	CU_ASSERT_FATAL(since->has_rate);
	CU_ASSERT(since->bytes_per_hour == 2.0 * 600 * 4 * KILO);
	CU_ASSERT(strstr(after.report.findings[0].sentence, "(4.6 MB per hour)") != NULL);
	free_both();
}

/* Compare with a heap that has grown, and expect that no finding says so. */
static void expect_objection(const struct shape *now, const char *objection)
{
	make_side(&after, now, &with);
	CU_ASSERT_FATAL(!comparison_is_used(&after.report));
	CU_ASSERT(strstr(after.report.comparison->objection, objection) != NULL);
	for (size_t i = 0; i < after.report.findings_count; i++) {
		CU_ASSERT_PTR_NULL(after.report.findings[i].growth.since);
		CU_ASSERT(!strstr(after.report.findings[i].sentence, "since the other"));
	}
	CU_ASSERT(!need_change("Type2")->since.has_rate);
	free_both();
}

static const struct shape larger = { { 1600, 800, 400 }, 4, PLACE, "Shop" };

TEST(another_process_says_nothing_of_growth)
{
	keep_before(&first);
	with.hours = 1;
	expect_objection(&(struct shape){ { 1600, 800, 400 }, 4, PLACE + 0x10000, "Shop" },
			 "two processes");
	keep_before(&first);
	before.pid = 7;
	with.pid = 8;
	expect_objection(&larger, "two processes");
}

TEST(another_program_is_told)
{
	keep_before(&first);
	expect_objection(&(struct shape){ { 1600, 800, 400 }, 4, 0, "Bank" }, "another program");
}

TEST(the_later_one_and_the_same_file_say_nothing)
{
	keep_before(&first);
	with.is_later = true;
	expect_objection(&larger, "later one");
	keep_before(&first);
	with.is_same_file = true;
	expect_objection(&larger, "same file");
	keep_before(&first);
	expect_objection(&first, "nothing is different");
	keep_before(&first);
	before.is_complete = false;
	expect_objection(&larger, "missing");
}

TEST(dump_files_are_compared_without_addresses_of_types)
{
	keep_before(&(struct shape){ { 1000, 800, 400 }, 4, 0, "Shop" });
	make_side(&after, &(struct shape){ { 1600, 800, 400 }, 4, 0, "Shop" }, &with);
	ASSERT_UINT(after.report.comparison->process, PROCESS_UNKNOWN);
	CU_ASSERT(comparison_is_used(&after.report));
	ASSERT_UINT(need_change("Type2")->since.state, SINCE_GREW);
	free_both();
}

/* A series: the first heap, one in between, and the present one. */
static struct inventory middle;
static struct compared_with middle_with;

static void keep_series(uint32_t members_between, const char *space)
{
	keep_before(&first);
	struct inventory earliest = before;
	keep_before(&(struct shape){ { members_between, 800, 400 }, 4, PLACE, space });
	middle = before;
	before = earliest;
	middle_with = (struct compared_with){ .before = &middle, .name = "middle" };
	with.next = &middle_with;
}

static void free_series(void)
{
	free_both();
	inventory_deinit(&middle);
}

TEST(growth_in_each_step_of_a_series_is_steady)
{
	keep_series(1300, "Shop");
	make_side(&after, &larger, &with);
	const struct since *since = &need_change("Type2")->since;
	ASSERT_UINT(since->series.count, 1);
	ASSERT_UINT(since->series.counts[0], 1300 - 15);
	CU_ASSERT(since->series.is_steady && !since->series.has_stopped);
	const struct report_finding *finding = &after.report.findings[0];
	ASSERT_UINT(finding->severity, SEVERITY_HIGH);
	CU_ASSERT(strstr(finding->sentence, "in 3 dumps it grew steadily, from 985 over 1,285 to "
					    "1,585 objects") != NULL);
	CU_ASSERT(!need_change("Type3")->since.series.is_steady);
	CU_ASSERT(comparison_has_growth(&after.report));
	free_series();
}

TEST(growth_in_one_step_of_a_series_is_not_steady)
{
	keep_series(1000, "Shop");
	make_side(&after, &larger, &with);
	const struct since *since = &need_change("Type2")->since;
	CU_ASSERT(!since->series.is_steady && !since->series.has_stopped);
	ASSERT_UINT(since->state, SINCE_GREW);
	ASSERT_UINT(after.report.findings[0].severity, SEVERITY_MEDIUM);
	free_series();
}

TEST(growth_that_has_stopped_is_told)
{
	keep_series(1600, "Shop");
	make_side(&after, &larger, &with);
	const struct since *since = &need_change("Type2")->since;
	CU_ASSERT(since->series.has_stopped);
	ASSERT_UINT(since->state, SINCE_SAME);
	const struct report_finding *finding = &after.report.findings[0];
	ASSERT_UINT(finding->severity, SEVERITY_LOW);
	CU_ASSERT(strstr(finding->sentence, "it grew from 985 over 1,585 to 1,585 objects, and has "
					    "stopped") != NULL);
	CU_ASSERT(!comparison_has_growth(&after.report));
	free_series();
}

TEST(a_heap_of_another_program_in_between_says_nothing)
{
	keep_series(1300, "Bank");
	make_side(&after, &larger, &with);
	CU_ASSERT_FATAL(comparison_is_used(&after.report));
	CU_ASSERT(strstr(after.report.comparison->between, "another program") != NULL);
	const struct since *since = &need_change("Type2")->since;
	CU_ASSERT(!since->series.count && !since->series.is_steady);
	ASSERT_UINT(since->state, SINCE_GREW);
	ASSERT_UINT(after.report.findings[0].severity, SEVERITY_MEDIUM);
	free_series();
}

/* A dictionary whose nodes are at other places in each heap, and their items at the same ones. */
static void make_dictionary(struct side *side, uint32_t count, uint64_t first_node)
{
	static const char *const names[] = { CONCURRENT, CONCURRENT "+VolatileNode[]",
					     CONCURRENT "+Node", "Shop.Page" };
	static uint64_t ids[HOLDERS + HOLDERS * MOST];
	static const struct graph_root root = { .node = 0,
						.container = HD_NONE,
						.kind = HD_ROOT_STATIC };
	uint32_t fillers = TYPES - 4, objects = 2 + fillers + 2 * count, edge = 0;
	for (uint32_t i = 0; i < objects; i++) {
		bool is_node = i >= 2 + fillers && i < 2 + fillers + count;
		bool is_item = i >= 2 + fillers + count;
		uint32_t index = i - 2 - fillers - (is_item ? count : 0);
		types[i] = i < 2 ? i : is_node ? 2 : is_item ? 3 : i + 2;
		sizes[i] = is_item ? 4 * KILO : 48;
		ids[i] = is_node   ? first_node + 0x100 * (uint64_t)index
			 : is_item ? 0x70000000 + 0x2000 * (uint64_t)index
				   : 0x1000 + 0x100 * (uint64_t)i;
		if (i)
			edges[edge++] = (struct made_edge){ i == 1    ? 0
							    : is_item ? i - count
								      : 1,
							    i };
	}
	side->graph = graph_make(&(struct graph_spec){ .object_count = objects,
						       .type_count = TYPES,
						       .ids = ids,
						       .sizes = sizes,
						       .types = types,
						       .edges = edges,
						       .edge_count = edge,
						       .roots = &root,
						       .root_count = 1 });
	REQUIRE(side->graph);
	name_types(side, &(struct shape){ .place = PLACE, .space = "Shop" });
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		side->graph->types[i].name = names[i];
		side->graph->types[i].name_size = (uint32_t)strlen(names[i]);
	}
	struct graph_info *info = &side->graph->info;
	info->ranges = pages_alloc(1, sizeof(*info->ranges));
	REQUIRE(info->ranges);
	info->ranges[info->range_count++] = (struct graph_range){ 0, UINT64_MAX, GENERATION_2 };
}

TEST(items_of_nodes_that_were_made_anew_are_still_there)
{
	struct side side;
	make_dictionary(&side, 1000, 0x100000);
	report_side(&side, NULL);
	ASSERT_UINT_FATAL(inventory_make(&side.report, &before, NULL), HD_OK);
	ASSERT_UINT_FATAL(inventory_keep(&before, &side.report, NULL), HD_OK);
	free_side(&side);
	with = (struct compared_with){ .before = &before, .name = "other" };
	make_dictionary(&after, 1600, 0x20000000);
	report_side(&after, &with);
	const struct change *change = need_change("a root");
	CU_ASSERT_FATAL(change->since.sampled > 50);
	ASSERT_UINT(change->since.survived, change->since.sampled);
	ASSERT_UINT(after.report.findings[0].severity, SEVERITY_HIGH);
	free_both();
}

TEST(without_memory_nothing_is_compared)
{
	compare_shapes(&larger);
	const struct facts_of of = { .graph = after.graph,
				     .dominators = &after.dominators,
				     .with = &with,
				     .is_complete = true };
	enum hd_status status = HD_ERR_NOMEM;
	uint64_t nth = 1;
	for (; status != HD_OK && nth < 300; nth++) {
		report_deinit(&after.report);
		alloc_fail_at(nth);
		status = report_make(&after.report, &of, NULL, NULL);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
	}
	CU_ASSERT_FATAL(status == HD_OK && nth > 20);
	ASSERT_UINT(need_change("Type2")->since.state, SINCE_GREW);
	free_both();
}

SUITE(.name = "report_comparison")
