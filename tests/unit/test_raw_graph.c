/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "format/raw/raw_graph.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/arena.h"

/* An object as a test gives it. */
struct given {
	uint64_t id;
	uint32_t type;
	uint64_t size;
	uint64_t targets[4]; /* ids, or indexes */
	uint32_t degree;
};

static struct hd_graph *new_graph(uint32_t types)
{
	struct hd_graph *graph = calloc(1, sizeof(*graph));
	REQUIRE(graph);
	graph->arena = arena_create();
	graph->origins.arena = arena_create();
	graph->types = pages_alloc(types, sizeof(*graph->types));
	REQUIRE(graph->types);
	graph->type_count = types;
	static const char *const names[] = { "A", "B.C", "D<E.F>" };
	for (uint32_t i = 0; i < types; i++) {
		graph->types[i].id = i + 1;
		graph->types[i].name = names[i % 3];
		graph->types[i].name_size = (uint32_t)strlen(names[i % 3]);
	}
	return graph;
}

static void read_ids(const void *arg, uint64_t begin, size_t count, uint64_t *ret)
{
	const uint64_t *ids = arg;
	for (size_t i = 0; i < count; i++)
		ret[i] = ids[begin + i];
}

static void fill(struct raw_graph *raw, const struct given *given, uint32_t count, bool by_id)
{
	static uint64_t ids[32];
	uint64_t edges = 0;
	for (uint32_t i = 0; i < count; i++)
		edges += given[i].degree;
	ASSERT_UINT_FATAL(raw_graph_init(raw, count, edges, NULL, NULL), HD_OK);
	CU_ASSERT_FATAL(edges <= 32);
	raw->read_ids = by_id ? read_ids : NULL;
	raw->read_arg = ids;
	uint64_t next = 0;
	for (uint32_t i = 0; i < count; i++) {
		raw->ids[i] = given[i].id;
		raw->types[i] = given[i].type;
		raw->degrees[i] = given[i].degree;
		CU_ASSERT(raw_graph_set_size(raw, i, given[i].size));
		for (uint32_t k = 0; k < given[i].degree; k++, next++) {
			if (by_id) {
				ids[next] = given[i].targets[k];
			} else {
				raw->targets[next] = (uint32_t)given[i].targets[k];
			}
		}
	}
}

static struct hd_graph *finish(const struct given *given, uint32_t count, bool by_id,
			       const uint64_t *extra, size_t extra_count)
{
	struct raw_graph raw;
	struct hd_error err = { 0 };
	struct hd_graph *graph = new_graph(3);
	fill(&raw, given, count, by_id);
	ASSERT_UINT(raw_graph_finish(&raw, extra, extra_count, graph, NULL, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	raw_graph_deinit(&raw);
	return graph;
}

static void assert_targets(const struct hd_graph *graph, uint64_t id, const uint64_t *targets,
			   uint64_t count)
{
	uint32_t node = hd_graph_find(graph, id);
	CU_ASSERT_FATAL(node != HD_NONE);
	uint64_t begin = csr_begin(&graph->forward, node);
	ASSERT_UINT_FATAL(csr_degree(&graph->forward, node), count);
	for (uint64_t i = 0; i < count; i++)
		ASSERT_UINT(graph_id(graph, graph->forward.targets[begin + i]), targets[i]);
}

#define TARGETS(graph, id, ...)                                          \
	assert_targets((graph), (id), (const uint64_t[]){ __VA_ARGS__ }, \
		       sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

TEST(objects_are_sorted_and_references_go_with_them)
{
	static const struct given given[] = {
		{ 0x30, 2, 10, { 0x10, 0x20 }, 2 },
		{ 0x10, 0, 20, { 0 }, 0 },
		{ 0x20, 1, (uint64_t)5 << 32, { 0x20, 0x99, 0x30, 0x5 }, 4 },
		{ 0x40, 1, UINT32_MAX, { 0x99 }, 1 },
	};
	struct hd_graph *graph = finish(given, 4, true, (const uint64_t[]){ 0x77, 0x10 }, 2);
	ASSERT_UINT(graph->object_count, 4);
	ASSERT_UINT(graph->node_count, 7);
	static const uint64_t ids[] = { 0x10, 0x20, 0x30, 0x40, 0x5, 0x77, 0x99 };
	for (uint32_t i = 0; i < 7; i++)
		ASSERT_UINT(graph->ids[i], ids[i]);
	TARGETS(graph, 0x30, 0x10, 0x20);
	TARGETS(graph, 0x20, 0x20, 0x99, 0x30, 0x5);
	TARGETS(graph, 0x40, 0x99);
	assert_targets(graph, 0x10, NULL, 0);
	ASSERT_UINT(graph_size(graph, 1), (uint64_t)5 << 32);
	ASSERT_UINT(graph_size(graph, 3), UINT32_MAX);
	ASSERT_UINT(graph_size(graph, 2), 10);
	ASSERT_UINT(graph->types[1].count, 2);
	ASSERT_UINT(graph->types[1].size, ((uint64_t)5 << 32) + UINT32_MAX);
	ASSERT_UINT(graph->total_size, ((uint64_t)5 << 32) + UINT32_MAX + 30);
	const struct graph_finding *finding = dump_finding(graph, "unresolved-reference");
	REQUIRE(finding);
	ASSERT_UINT(finding->count, 3);
	CU_ASSERT(csr_is_sound(&graph->forward));
	graph_destroy(graph);
}

TEST(references_by_index_may_be_none_or_extra)
{
	static const struct given given[] = {
		{ 0x30, 0, 8, { 1, HD_NONE, 3, 2 }, 4 },
		{ 0x10, 0, 8, { HD_NONE }, 1 },
		{ 0x20, 0, 8, { 4, 0, 5 }, 3 },
	};
	/* Extra 0 is not an object, 1 is one, 5 is past them. */
	struct hd_graph *graph = finish(given, 3, false, (const uint64_t[]){ 0x90, 0x10 }, 2);
	TARGETS(graph, 0x30, 0x10, 0x90, 0x20);
	assert_targets(graph, 0x10, NULL, 0);
	TARGETS(graph, 0x20, 0x10, 0x30);
	ASSERT_UINT(graph->node_count, 4);
	ASSERT_UINT(graph->forward.edge_count, 5);
	graph_destroy(graph);
	/* The same of objects that ascend. */
	static const struct given sorted[] = {
		{ 0x10, 0, 8, { 1, HD_NONE, 2 }, 3 },
		{ 0x20, 0, 8, { 0 }, 1 },
	};
	graph = finish(sorted, 2, false, (const uint64_t[]){ 0x5 }, 1);
	TARGETS(graph, 0x10, 0x20, 0x5);
	TARGETS(graph, 0x20, 0x10);
	graph_destroy(graph);
}

TEST(of_repeated_ids_the_first_stays)
{
	static const struct given given[] = {
		{ 0x30, 0, 1, { 3 }, 1 }, { 0x20, 0, 2, { 0, 2 }, 2 }, { 0x30, 1, 4, { 1 }, 1 },
		{ 0x10, 0, 8, { 2 }, 1 }, { 0x30, 2, 16, { 4 }, 1 },
	};
	struct hd_graph *graph = finish(given, 5, false, NULL, 0);
	ASSERT_UINT(graph->object_count, 3);
	TARGETS(graph, 0x30, 0x10);
	TARGETS(graph, 0x20, 0x30, 0x30);
	TARGETS(graph, 0x10, 0x30);
	ASSERT_UINT(graph->total_size, 11);
	const struct graph_finding *finding = dump_finding(graph, "repeated-id");
	REQUIRE(finding);
	ASSERT_UINT(finding->count, 2);
	graph_destroy(graph);
}

TEST(repeated_ids_may_be_replaced)
{
	static const struct given given[] = {
		{ 0x30, 0, 1, { 1, 2, 3, 4 }, 4 },
		{ 0, 0, 2, { 0 }, 1 },
		{ 0x30, 1, 4, { 5 }, 1 },
		{ 0, 0, 8, { 2 }, 1 },
		{ 1, 2, 16, { 4 }, 1 },
		{ 3, 2, 32, { 0 }, 1 },
	};
	struct raw_graph raw;
	struct hd_graph *graph = new_graph(3);
	fill(&raw, given, 6, false);
	raw.keeps_repeated = true;
	ASSERT_UINT(raw_graph_finish(&raw, NULL, 0, graph, NULL, NULL), HD_OK);
	/* 1, 3 and the first 0x30 are as they were; the two of id 0, the second 0x30: 2, 4, 5. */
	static const uint64_t ids[] = { 0x30, 2, 5, 4, 1, 3 };
	ASSERT_UINT_FATAL(graph->object_count, 6);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t node = raw.rank[i];
		ASSERT_UINT(graph->ids[node], ids[i]);
		ASSERT_UINT(graph->sizes[node], given[i].size);
		ASSERT_UINT(raw.order[node], i);
		CU_ASSERT(node == 0 || graph->ids[node - 1] < graph->ids[node]);
	}
	TARGETS(graph, 0x30, 2, 5, 4, 1);
	TARGETS(graph, 5, 3);
	const struct graph_finding *finding = dump_finding(graph, "synthetic-id");
	REQUIRE(finding);
	ASSERT_UINT(finding->count, 3);
	raw_graph_deinit(&raw);
	graph_destroy(graph);
}

/* Many objects at random against what was given, by any number of workers. */
static void many_objects(bool by_id, bool shuffled, unsigned int workers)
{
	enum {
		COUNT = 150000
	};
	struct random random = { .state = 5 };
	struct raw_graph raw;
	struct hd_graph *graph = new_graph(3);
	uint64_t *ids = calloc(COUNT, sizeof(*ids)), *targets = calloc(COUNT, 2 * sizeof(*targets));
	REQUIRE(ids);
	REQUIRE(targets);
	for (uint32_t i = 0; i < COUNT; i++)
		ids[i] = 0x1000 + (uint64_t)i * 24;
	for (uint32_t i = COUNT - 1; shuffled && i; i--) {
		uint32_t other = (uint32_t)random_below(&random, i + 1);
		uint64_t id = ids[i];
		ids[i] = ids[other];
		ids[other] = id;
	}
	ASSERT_UINT_FATAL(raw_graph_init(&raw, COUNT, 2 * (uint64_t)COUNT, NULL, NULL), HD_OK);
	raw.read_ids = by_id ? read_ids : NULL;
	raw.read_arg = targets;
	for (uint32_t i = 0; i < COUNT; i++) {
		raw.ids[i] = ids[i];
		raw.types[i] = i % 3;
		raw.sizes[i] = 24 + i;
		raw.degrees[i] = 2;
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t to = (uint32_t)random_below(&random, COUNT);
			targets[2 * i + k] = ids[to];
			if (!by_id)
				raw.targets[2 * i + k] = to;
		}
	}
	struct job job = { .workers = workers };
	ASSERT_UINT_FATAL(raw_graph_finish(&raw, NULL, 0, graph, &job, NULL), HD_OK);
	CU_ASSERT(!raw.order == !shuffled);
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t node = hd_graph_find(graph, ids[i]);
		CU_ASSERT_FATAL(node < COUNT);
		ASSERT_UINT(graph->sizes[node], 24 + i);
		ASSERT_UINT(graph->node_types[node], i % 3);
		assert_targets(graph, ids[i], targets + 2 * (size_t)i, 2);
	}
	raw_graph_deinit(&raw);
	graph_destroy(graph);
	free(ids);
	free(targets);
}

TEST(many_objects_in_any_order)
{
	for (unsigned int workers = 1; workers < 4; workers += 2) {
		for (unsigned int how = 0; how < 4; how++)
			many_objects(how & 1, how & 2, workers);
	}
}

TEST(no_objects_at_all)
{
	struct hd_graph *graph = finish(NULL, 0, true, NULL, 0);
	ASSERT_UINT(graph->node_count, 0);
	ASSERT_UINT(raw_graph_roots(graph, NULL, 0, NULL), HD_OK);
	graph_destroy(graph);
	graph = finish(NULL, 0, false, (const uint64_t[]){ 7, 7, 3 }, 3);
	ASSERT_UINT(graph->node_count, 2);
	ASSERT_UINT(graph->forward.node_count, 2);
	graph_destroy(graph);
}

TEST(sizes_may_be_set_in_any_order_and_again)
{
	struct raw_graph raw;
	uint64_t large = (uint64_t)1 << 40;
	ASSERT_UINT_FATAL(raw_graph_init(&raw, 4, 0, NULL, NULL), HD_OK);
	CU_ASSERT(raw_graph_set_size(&raw, 3, large + 3));
	CU_ASSERT(raw_graph_set_size(&raw, 1, large));
	CU_ASSERT(raw_graph_set_size(&raw, 0, large));
	CU_ASSERT(raw_graph_set_size(&raw, 1, large + 1));
	CU_ASSERT(raw_graph_set_size(&raw, 0, 5));
	for (uint32_t i = 0; i < 4; i++)
		raw.ids[i] = 100 - i;
	struct hd_graph *graph = new_graph(1);
	ASSERT_UINT(raw_graph_finish(&raw, NULL, 0, graph, NULL, NULL), HD_OK);
	ASSERT_UINT(graph->large.count, 2);
	ASSERT_UINT(graph_size(graph, hd_graph_find(graph, 97)), large + 3);
	ASSERT_UINT(graph_size(graph, hd_graph_find(graph, 99)), large + 1);
	ASSERT_UINT(graph_size(graph, hd_graph_find(graph, 100)), 5);
	raw_graph_deinit(&raw);
	graph_destroy(graph);
}

TEST(sizes_of_more_than_64_bits_are_refused)
{
	static const struct given given[] = { { 1, 0, UINT64_MAX - 1, { 0 }, 0 },
					      { 2, 1, 2, { 0 }, 0 } };
	struct raw_graph raw;
	struct hd_graph *graph = new_graph(3);
	fill(&raw, given, 2, false);
	ASSERT_UINT(raw_graph_finish(&raw, NULL, 0, graph, NULL, NULL), HD_ERR_FORMAT);
	raw_graph_deinit(&raw);
	graph_destroy(graph);
}

TEST(roots_have_containers_and_say_when_they_repeat)
{
	static const struct given given[] = { { 1, 0, 8, { 0 }, 0 },
					      { 2, 1, 8, { 0 }, 0 },
					      { 3, 2, 8, { 0 }, 0 } };
	static const struct raw_root roots[] = {
		{ .id = 2, .kind = HD_ROOT_STATIC, .name = "B.C.field" },
		{ .id = 1, .kind = HD_ROOT_THREAD_STATIC, .name = "D<E.F>.x" },
		{ .id = 2, .kind = HD_ROOT_STATIC, .name = "B.C.field" },
		{ .id = 2, .kind = HD_ROOT_STATIC, .name = "B.C.other" },
		{ .id = 9, .kind = HD_ROOT_STACK },
		{ .id = 1, .kind = HD_ROOT_HANDLE, .handle = GRAPH_HANDLE_STRONG },
		{ .id = 77, .kind = HD_ROOT_STACK },
		{ .id = 1, .kind = HD_ROOT_HANDLE, .handle = GRAPH_HANDLE_DEPENDENT },
		{ .id = 1, .kind = HD_ROOT_HANDLE, .handle = GRAPH_HANDLE_STRONG },
		{ .id = 3, .kind = HD_ROOT_STATIC, .name = "Unknown.<I.P>k__BackingField" },
		{ .id = 3, .kind = HD_ROOT_STATIC, .name = "nodot" },
		{ .id = 3, .kind = HD_ROOT_INTERNAL, .name = "B.C.field" },
		{ .id = 1, .kind = HD_ROOT_STATIC, .name = "New<A.B>..cctor" },
		{ .id = 1, .kind = HD_ROOT_STATIC, .name = "Unknown.other" },
		{ .id = 1, .kind = HD_ROOT_STATIC, .name = "B.C.x", .declarer = 1, .address = 8 },
	};
	struct hd_graph *graph = finish(given, 3, false, (const uint64_t[]){ 9 }, 1);
	ASSERT_UINT(raw_graph_roots(graph, roots, 15, NULL), HD_OK);
	/* The root of 77, which is not a node, is gone. */
	ASSERT_UINT_FATAL(graph->root_count, 14);
	static const uint32_t none = HD_NONE;
	const uint32_t containers[] = {
		1, 2, 1, 1, none, none, none, none, 3, none, none, 4, 3, 0
	};
	static const bool repeated[] = { 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
	for (uint32_t i = 0; i < 14; i++) {
		ASSERT_UINT(graph->roots[i].container, containers[i]);
		ASSERT_UINT(graph->origins.details[i].address, i == 13 ? 8 : 0);
		ASSERT_UINT(graph->roots[i].repeated, repeated[i]);
		ASSERT_UINT(graph->origins.details[i].thread, HD_NONE);
	}
	ASSERT_TEXT(graph->origins.details[3].name, "B.C.other");
	ASSERT_UINT(graph->origins.details[6].handle, GRAPH_HANDLE_DEPENDENT);
	CU_ASSERT(graph_is_missing(graph, graph->roots[4].node));
	const struct graph_finding *finding = dump_finding(graph, "unresolved-root");
	REQUIRE(finding);
	ASSERT_UINT(finding->count, 2);
	/* Types that are added have ids of their own, no objects, and end with NUL. */
	ASSERT_UINT_FATAL(graph->type_count, 5);
	ASSERT_TEXT(graph->types[3].name, "Unknown");
	ASSERT_TEXT(graph->types[4].name, "New<A.B>.");
	for (uint32_t i = 3; i < 5; i++) {
		ASSERT_UINT(graph->types[i].name_size, strlen(graph->types[i].name));
		ASSERT_UINT(graph->types[i].count, 0);
		for (uint32_t k = 0; k < i; k++)
			CU_ASSERT(graph->types[k].id != graph->types[i].id);
	}
	graph_destroy(graph);
}

static int always(void *arg)
{
	(void)arg;
	return 1;
}

TEST(it_can_be_cancelled_and_is_limited_in_memory)
{
	static const struct given given[] = { { 5, 0, 8, { 1 }, 1 }, { 2, 1, 8, { 0 }, 1 } };
	struct raw_graph raw;
	struct hd_graph *graph = new_graph(3);
	fill(&raw, given, 2, false);
	struct job job = { .cancelled = always };
	ASSERT_UINT(raw_graph_finish(&raw, NULL, 0, graph, &job, NULL), HD_ERR_CANCELLED);
	raw_graph_deinit(&raw);
	graph_destroy(graph);
	struct job small = { .max_mem = 1 << 20 };
	ASSERT_UINT(raw_graph_init(&raw, 1 << 20, 0, &small, NULL), HD_ERR_NOMEM);
	ASSERT_UINT(raw_graph_init(&raw, 1, UINT64_MAX / 2, NULL, NULL), HD_ERR_NOMEM);
}

static enum hd_status make(void)
{
	static const struct given given[] = { { 0x30, 2, UINT64_MAX / 4, { 0x10, 0x99 }, 2 },
					      { 0x10, 0, 20, { 0 }, 0 },
					      { 0x10, 0, 20, { 0 }, 0 } };
	static const struct raw_root roots[] = {
		{ .id = 0x10, .kind = HD_ROOT_STATIC, .name = "A.b" }, { .id = 0x77 }
	};
	struct raw_graph raw;
	struct hd_graph *graph = new_graph(3);
	enum hd_status status = raw_graph_init(&raw, 3, 2, NULL, NULL);
	for (uint32_t i = 0; status == HD_OK && i < 3; i++) {
		raw.ids[i] = given[i].id;
		raw.degrees[i] = given[i].degree;
		if (!raw_graph_set_size(&raw, i, given[i].size))
			status = HD_ERR_NOMEM;
	}
	if (status == HD_OK) {
		static const uint64_t ids[] = { 0x10, 0x99 };
		raw.read_ids = read_ids;
		raw.read_arg = ids;
		status = raw_graph_finish(&raw, (const uint64_t[]){ 7 }, 1, graph, NULL, NULL);
	}
	if (status == HD_OK)
		status = raw_graph_roots(graph, roots, 2, NULL);
	raw_graph_deinit(&raw);
	alloc_fail_at(0);
	graph_destroy(graph);
	return status;
}

TEST(each_failed_allocation_is_reported)
{
	enum hd_status status = HD_ERR_NOMEM;
	uint64_t nth = 0;
	while (status == HD_ERR_NOMEM && nth < 200) {
		/* new_graph() takes five of its own. */
		alloc_fail_at(++nth + 5);
		status = make();
	}
	ASSERT_UINT(status, HD_OK);
	CU_ASSERT(nth > 15);
}

SUITE(.name = "raw_graph")
