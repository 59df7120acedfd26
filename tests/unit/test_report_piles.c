/* SPDX-License-Identifier: MIT */
/* Rules about what piles up: each with a case that it finds, and a healthy neighbour. */
#include <string.h>

#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO    1024u
#define CACHING "Microsoft.Extensions.Caching.Memory"

static struct report_scene *scene;
static uint64_t page_type, bytes_type;

static void set_up(void)
{
	scene = scene_create();
	page_type = scene_class(scene, "Shop", "Page", 0, 4080, NULL);
	bytes_type = scene_bytes_type(scene);
}

static void tear_down(void)
{
	scene_destroy(scene);
}

static void expect(const char *rule, enum severity severity)
{
	const struct report_finding *finding = scene_finding(scene, rule);
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, severity);
	CU_ASSERT(finding->objects > 0);
}

static void expect_none(const char *rule)
{
	CU_ASSERT_PTR_NULL(scene_finding(scene, rule));
}

/* A list of @p old objects in generation 2 and @p young ones in generation 0. */
static uint64_t make_list(uint64_t type, uint32_t size, uint32_t old, uint32_t young,
			  uint32_t version)
{
	return scene_full_list(scene, type, size, (const uint32_t[]){ old, young }, version);
}

static uint64_t make_pages(uint32_t old, uint32_t young, uint32_t version)
{
	return make_list(page_type, 4096, old, young, version);
}

/* Garbage of generation 0. */
static void allocate_megabytes(uint32_t count)
{
	scene_segment(scene, GENERATION_0, (uint64_t)count * KILO * KILO + KILO);
	(void)fake_object(scene->fake, bytes_type, count * KILO * KILO);
}

TEST(a_list_that_only_grew_is_a_leak)
{
	scene_hold(scene, SCENE_STATIC, make_pages(1200, 200, 1400));
	expect("accumulation", SEVERITY_HIGH);
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	ASSERT_TEXT(finding->holder.name, "Shop.Program.held");
	ASSERT_UINT(finding->growth.state, GROWTH_GROWS);
	ASSERT_UINT(finding->growth.count, 1400);
	ASSERT_UINT(finding->growth.young, 200);
}

TEST(a_few_large_objects_that_grow_are_a_leak)
{
	uint64_t report = scene_class(scene, "Shop", "Report", 0, 19984, NULL);
	scene_hold(scene, SCENE_STATIC, make_list(report, 20000, 160, 40, 200));
	expect("accumulation", SEVERITY_HIGH);
}

TEST(a_few_large_objects_that_were_read_at_once_are_a_table)
{
	uint64_t report = scene_class(scene, "Shop", "Report", 0, 19984, NULL);
	scene_hold(scene, SCENE_STATIC, make_list(report, 20000, 160, 40, 1));
	expect("accumulation", SEVERITY_LOW);
}

static void expect_title(const char *title)
{
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	ASSERT_TEXT(finding->title, title);
}

/* As the nodes of a bucket and the segments of a queue are. */
TEST(nodes_below_each_other_in_one_collection_are_all_counted)
{
	uint64_t node = scene_class(scene, "System.Tools", "Node", 1, 4080, NULL);
	uint64_t list = make_list(node, 4096, 400, 0, 400);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_2, 300 * 4096 + KILO);
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t first = fake_peek_u64(&scene->fake->memory, items + 16 + 8 * (uint64_t)i);
		scene_set(scene, first, 0, fake_object(scene->fake, node, 0));
	}
	scene_hold(scene, SCENE_STATIC, list);
	expect_title("700 Node in Shop.Program.held");
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	ASSERT_UINT(finding->counts[0].value, 700);
	CU_ASSERT(finding->bytes >= (uint64_t)700 * 4096);
	CU_ASSERT(finding->bytes <= scene->report.facts.sums.all_live);
}

TEST(what_all_members_share_is_not_what_piles_up)
{
	uint64_t entry = scene_class(scene, "System.Tools", "StateEntry", 2, 16, NULL);
	uint64_t manager_type = scene_class(scene, "Shop", "Manager", 0, 65536, NULL);
	uint64_t list = make_list(entry, 32, 400, 0, 400);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_2, 400 * 4096 + 65536 + 2 * KILO);
	uint64_t manager = fake_object(scene->fake, manager_type, 0);
	for (uint32_t i = 0; i < 400; i++) {
		uint64_t one = fake_peek_u64(&scene->fake->memory, items + 16 + 8 * (uint64_t)i);
		scene_set(scene, one, 0, manager);
		scene_set(scene, one, 1, fake_object(scene->fake, page_type, 0));
	}
	scene_hold(scene, SCENE_STATIC, list);
	expect_title("400 Page in Shop.Program.held");
}

TEST(a_class_inside_of_a_generic_one_has_both_names)
{
	uint64_t slot = scene_class(scene, "Shop", "Feed<Shop.Box<Shop.Quote>>+Slot<Shop.Quote>", 0,
				    4080, NULL);
	scene_hold(scene, SCENE_STATIC, make_list(slot, 4096, 1200, 200, 1400));
	expect_title("1,400 Feed+Slot in Shop.Program.held");
}

/* So many chains of 400 nodes, held by one field. */
static void hold_chains(uint32_t chains)
{
	uint64_t node = scene_class(scene, "Shop", "Node", 1, 4080, NULL);
	scene_segment(scene, GENERATION_2, (uint64_t)chains * 401 * 4096 + 2 * KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, chains);
	for (uint32_t i = 0; i < chains; i++) {
		uint64_t last = fake_object(scene->fake, node, 0);
		scene_set_element(scene, all, i, last);
		for (uint32_t j = 1; j < 400; j++) {
			uint64_t next = fake_object(scene->fake, node, 0);
			scene_set(scene, last, 0, next);
			last = next;
		}
	}
	scene_hold(scene, SCENE_STATIC, all);
}

static void expect_sentence(const char *part, bool is_there)
{
	const struct report_finding *finding = scene_finding(scene, "accumulation");
	REQUIRE(finding);
	CU_ASSERT(!strstr(finding->sentence, part) == !is_there);
}

TEST(a_chain_is_said_to_be_one)
{
	hold_chains(1);
	expect_title("400 Node in Shop.Program.held");
	expect_sentence(" in one chain", true);
}

TEST(several_chains_are_not_said_to_be_one)
{
	hold_chains(2);
	expect_title("800 Node in Shop.Program.held");
	expect_sentence(" in one chain", false);
}

TEST(a_list_with_turnover_is_a_pool)
{
	scene_hold(scene, SCENE_STATIC, make_pages(1200, 200, 9000));
	expect("accumulation", SEVERITY_INFO);
}

TEST(a_list_that_was_filled_at_once_is_not_known_to_grow)
{
	scene_hold(scene, SCENE_STATIC, make_pages(1200, 200, 1));
	expect("accumulation", SEVERITY_MEDIUM);
}

TEST(a_list_of_which_nothing_is_young_is_a_table)
{
	scene_hold(scene, SCENE_STATIC, make_pages(1200, 0, 1200));
	allocate_megabytes(2);
	expect("accumulation", SEVERITY_LOW);
}

TEST(a_counter_that_wrapped_is_not_trusted)
{
	scene_hold(scene, SCENE_STATIC, make_pages(1200, 200, 0x80000000u));
	expect("accumulation", SEVERITY_HIGH);
	CU_ASSERT(!scene_finding(scene, "accumulation")->growth.has_version);
}

TEST(a_bounded_channel_has_a_limit)
{
	const struct fake_field channel[] = {
		{ .name = "_items", .element = ELEMENT_CLASS },
		{ .name = "_bufferedCapacity", .element = ELEMENT_I4, .offset = 8 },
		{ .name = NULL },
	};
	uint64_t type =
		scene_class(scene, "System.Threading.Channels", "BoundedChannel", 1, 16, channel);
	uint64_t list = make_pages(1200, 200, 1400);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t one = fake_object(scene->fake, type, 0);
	scene_set(scene, one, 0, list);
	fake_poke_u32(&scene->fake->memory, one + 16, 2000);
	scene_hold(scene, SCENE_STATIC, one);
	expect("accumulation", SEVERITY_INFO);
}

/* Sessions of which all, or none, are disposed. */
static void hold_sessions(bool are_disposed, uint32_t version)
{
	const struct fake_field fields[] = {
		{ .name = "_isDisposed", .element = ELEMENT_BOOLEAN },
		{ .name = NULL },
	};
	uint64_t type = scene_class(scene, "Shop", "Session", 0, 480, fields);
	scene_segment(scene, GENERATION_2, (uint64_t)1200 * 512 + 32 * KILO);
	uint64_t list = scene_list(scene, 1200, 1200, version);
	for (uint32_t i = 0; i < 1200; i++) {
		uint64_t session = fake_object(scene->fake, type, 0);
		fake_poke_u32(&scene->fake->memory, session + 8, are_disposed);
		scene_list_set(scene, list, i, session);
	}
	scene_hold(scene, SCENE_STATIC, list);
}

TEST(disposed_objects_that_a_list_still_has_are_found)
{
	hold_sessions(true, 1200);
	expect("finished", SEVERITY_HIGH);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "accumulation"));
}

TEST(objects_that_are_not_disposed_are_in_use)
{
	hold_sessions(false, 1200);
	expect_none("finished");
}

TEST(a_pool_of_disposed_objects_uses_them_again)
{
	hold_sessions(true, 60000);
	expect_none("finished");
}

/* References of which every @p alive -th has a target. */
static void hold_references(uint32_t alive, uint32_t old, uint32_t young, uint32_t version)
{
	const struct fake_field fields[] = {
		{ .name = "_taggedHandle", .element = ELEMENT_I },
		{ .name = NULL },
	};
	uint64_t type = scene_class(scene, "System", "WeakReference", 0, 8, fields);
	uint64_t slots = fake_alloc(&scene->fake->memory, 16);
	fake_poke_u64(&scene->fake->memory, slots, slots);
	uint64_t list = make_list(type, 24, old, young, version);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	for (uint32_t i = 0; i < old + young; i++) {
		uint64_t one = fake_peek_u64(&scene->fake->memory, items + 16 + 8 * (uint64_t)i);
		fake_poke_u64(&scene->fake->memory, one + 8,
			      (i % alive == 0 ? slots : slots + 8) | 1);
	}
	scene_hold(scene, SCENE_STATIC, list);
}

TEST(weak_references_whose_targets_are_gone_are_found)
{
	hold_references(10, 9000, 1000, 10000);
	expect("weak-references", SEVERITY_HIGH);
	ASSERT_UINT(scene_finding(scene, "weak-references")->counts[1].value, 9000);
}

TEST(weak_references_with_targets_are_in_use)
{
	hold_references(1, 9000, 1000, 10000);
	expect_none("weak-references");
}

TEST(some_thousand_weak_references_are_usual)
{
	hold_references(10, 5000, 1000, 6000);
	expect_none("weak-references");
}

/* Its entries say that they are in it, or in another cache. */
static void hold_cache_of(int64_t limit, uint32_t entries, int64_t expiration, bool is_own)
{
	const struct fake_field options[] = { { .name = "_sizeLimit", .element = ELEMENT_I8 },
					      { .name = NULL } };
	const struct fake_field state[] = { { .name = "_stringEntries", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	const struct fake_field cache[] = {
		{ .name = "_options", .element = ELEMENT_CLASS },
		{ .name = "_coherentState", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL },
	};
	const struct fake_field span[] = { { .name = "_ticks", .element = ELEMENT_I8 },
					   { .name = NULL } };
	uint64_t span_type = fake_class(
		scene->types,
		&(struct fake_class){ .space = "System",
				      .name = "TimeSpan",
				      .fields = span,
				      .type = { .base_size = 24, .flags = 0x00040000u } });
	const struct fake_field entry[] = {
		{ .name = "_cache", .element = ELEMENT_CLASS },
		{ .name = "_absoluteExpirationTicks", .element = ELEMENT_I8, .offset = 8 },
		{ .name = "_slidingExpiration",
		  .element = ELEMENT_VALUE,
		  .type = span_type,
		  .offset = 16 },
		{ .name = NULL },
	};
	uint64_t options_type = scene_class(scene, CACHING, "MemoryCacheOptions", 0, 8, options);
	uint64_t state_type = scene_class(scene, CACHING, "MemoryCache+CoherentState", 1, 8, state);
	uint64_t cache_type = scene_class(scene, CACHING, "MemoryCache", 2, 16, cache);
	uint64_t entry_type = scene_class(scene, CACHING, "CacheEntry", 1, 200, entry);
	uint64_t list = make_list(entry_type, 224, entries, 0, entries);
	uint64_t items = fake_peek_u64(&scene->fake->memory, list + 8);
	scene_segment(scene, GENERATION_2, KILO);
	uint64_t one = fake_object(scene->fake, cache_type, 0);
	uint64_t other = fake_object(scene->fake, cache_type, 0);
	for (uint32_t i = 0; i < entries; i++) {
		uint64_t row = fake_peek_u64(&scene->fake->memory, items + 16 + 8 * (uint64_t)i);
		scene_set(scene, row, 0, is_own ? one : other);
		fake_poke_u64(&scene->fake->memory, row + 16, (uint64_t)expiration);
	}
	scene_set(scene, one, 0, fake_object(scene->fake, options_type, 0));
	fake_poke_u64(&scene->fake->memory, fake_peek_u64(&scene->fake->memory, one + 8) + 8,
		      (uint64_t)limit);
	uint64_t coherent = fake_object(scene->fake, state_type, 0);
	scene_set(scene, one, 1, coherent);
	scene_set(scene, coherent, 0, list);
	scene_hold(scene, SCENE_STATIC, one);
}

static void hold_cache(int64_t limit, uint32_t entries, int64_t expiration)
{
	hold_cache_of(limit, entries, expiration, true);
}

TEST(a_cache_without_limit_whose_entries_never_expire_is_found)
{
	hold_cache(-1, 10500, -1);
	expect("caches", SEVERITY_HIGH);
}

TEST(a_cache_without_limit_whose_entries_expire_may_be_right)
{
	hold_cache(-1, 10500, 1000);
	expect("caches", SEVERITY_MEDIUM);
}

/* When entries of another cache expire says nothing of this one. */
TEST(each_cache_has_entries_of_its_own)
{
	hold_cache_of(-1, 10500, -1, false);
	expect("caches", SEVERITY_MEDIUM);
}

TEST(a_cache_with_a_limit_is_a_fact)
{
	hold_cache(15000, 10500, -1);
	expect("caches", SEVERITY_INFO);
	CU_ASSERT(!report_has(&scene->report, SEVERITY_MEDIUM));
}

TEST(a_small_cache_is_not_told)
{
	hold_cache(-1, 9000, -1);
	expect_none("caches");
}

static void hold_pages_each(enum scene_root root, uint32_t count)
{
	scene_segment(scene, GENERATION_2, (uint64_t)count * 4096 + KILO);
	for (uint32_t i = 0; i < count; i++)
		scene_hold(scene, root, fake_object(scene->fake, page_type, 0));
}

TEST(handles_that_pile_up_are_found)
{
	hold_pages_each(SCENE_HANDLE, 1100);
	expect("handles", SEVERITY_MEDIUM);
	expect_none("accumulation");
}

TEST(what_many_handles_keep_counts_once)
{
	scene_segment(scene, GENERATION_2, 16 * KILO);
	uint64_t page = fake_object(scene->fake, page_type, 0);
	for (uint32_t i = 0; i < 1100; i++)
		scene_hold(scene, SCENE_HANDLE, page);
	expect("handles", SEVERITY_LOW);
	const struct report_finding *finding = scene_finding(scene, "handles");
	ASSERT_TEXT(finding->title, "1,100 strong handles to Page");
	ASSERT_UINT(finding->bytes, 4096);
}

TEST(some_hundred_handles_are_in_use)
{
	hold_pages_each(SCENE_HANDLE, 900);
	expect_none("handles");
}

TEST(weak_handles_keep_nothing)
{
	hold_pages_each(SCENE_WEAK_HANDLE, 1100);
	expect_none("handles");
}

TEST(objects_that_wait_for_their_finalizer_are_found)
{
	hold_pages_each(SCENE_READY, 1100);
	expect("finalizers", SEVERITY_MEDIUM);
}

TEST(objects_that_are_only_registered_do_not_wait)
{
	hold_pages_each(SCENE_REGISTERED, 1100);
	expect_none("finalizers");
}

TEST(some_hundred_objects_may_wait_for_their_finalizer)
{
	hold_pages_each(SCENE_READY, 900);
	expect_none("finalizers");
}

/* A large object heap with @p free of @p all megabytes free. */
static void make_large_heap(uint32_t free, uint32_t all)
{
	scene_segment(scene, GENERATION_LOH, (uint64_t)(all + 1) * KILO * KILO);
	for (uint32_t i = 0; i < all; i++) {
		if (i < free) {
			(void)fake_free(scene->fake, (uint64_t)KILO * KILO);
		} else {
			scene_hold(scene, SCENE_STATIC,
				   fake_object(scene->fake, bytes_type, KILO * KILO - 24));
		}
	}
}

TEST(a_large_object_heap_that_is_mostly_free_is_found)
{
	make_large_heap(20, 30);
	const struct report_finding *finding = scene_finding(scene, "fragmentation");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->bytes, (uint64_t)20 * KILO * KILO);
}

TEST(a_large_object_heap_that_is_mostly_used_is_healthy)
{
	make_large_heap(20, 50);
	expect_none("fragmentation");
}

TEST(a_few_free_megabytes_are_not_told)
{
	make_large_heap(10, 12);
	expect_none("fragmentation");
}

static uint64_t make_large_object(uint32_t megabytes)
{
	scene_segment(scene, GENERATION_LOH, (uint64_t)(megabytes + 1) * KILO * KILO);
	return fake_object(scene->fake, bytes_type, megabytes * KILO * KILO);
}

TEST(garbage_that_no_collection_has_taken_is_a_budget)
{
	(void)make_large_object(260);
	expect("dead", SEVERITY_INFO);
}

TEST(a_large_object_that_is_used_is_not_garbage)
{
	scene_hold(scene, SCENE_STATIC, make_large_object(260));
	expect_none("dead");
}

TEST(without_all_roots_garbage_is_not_known)
{
	scene->is_partial = true;
	(void)make_large_object(260);
	expect_none("dead");
}

SUITE(.name = "report_piles", .set_up = set_up, .tear_down = tear_down)
