/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "analysis/graph/gcroot.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Links from @p from to @p to by a plain breadth-first pass over the references; or HD_NONE. */
static uint32_t distance_of(const struct hd_graph *graph, uint32_t from, uint32_t to)
{
	uint32_t queue[128], distance[128], head = 0, tail = 0;
	memset(distance, 0xff, sizeof(distance));
	distance[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t node = queue[head++], buf[128];
		size_t count = hd_graph_references(graph, node, 0, buf, 128);
		for (size_t i = 0; i < count; i++) {
			if (distance[buf[i]] != HD_NONE)
				continue;
			distance[buf[i]] = distance[node] + 1;
			queue[tail++] = buf[i];
		}
	}
	return distance[to];
}

/* The order of the answer: stack, handle, static, thread static, finalizer, gc, internal. */
static unsigned int group_of(uint8_t kind)
{
	static const uint8_t order[] = { 1, 3, 4, 6, 2, 5, 0 };
	unsigned int group = 0;
	while (order[group] != kind)
		group++;
	return group;
}

struct expectation {
	struct rooted strong[64], weak[64];
	size_t strong_count, weak_count;
	uint64_t hidden;
};

static const struct hd_graph *sorted_graph;

static int compare_expected(const void *a, const void *b)
{
	const struct rooted *x = a, *y = b;
	unsigned int p = group_of(sorted_graph->roots[x->root].kind);
	unsigned int q = group_of(sorted_graph->roots[y->root].kind);
	if (p != q)
		return p < q ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->root < y->root ? -1 : x->root > y->root;
}

static void expect(const struct hd_graph *graph, uint32_t target,
		   const struct gcroot_options *options, struct expectation *ret)
{
	*ret = (struct expectation){ 0 };
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		uint32_t distance = distance_of(graph, root->node, target);
		struct rooted rooted = { .root = i, .node = root->node, .distance = distance };
		if (root->repeated || distance == HD_NONE)
			continue;
		if (root->flags & HD_ROOT_WEAK) {
			if (distance == 0 || options->all_weak)
				ret->weak[ret->weak_count++] = rooted;
		} else if (options->no_stacks && root->kind == HD_ROOT_STACK) {
			ret->hidden++;
		} else {
			ret->strong[ret->strong_count++] = rooted;
		}
	}
	sorted_graph = graph;
	qsort(ret->strong, ret->strong_count, sizeof(*ret->strong), compare_expected);
	qsort(ret->weak, ret->weak_count, sizeof(*ret->weak), compare_expected);
}

static void check_list(const struct rooted *got, size_t got_count, const struct rooted *expected,
		       size_t count)
{
	ASSERT_UINT_FATAL(got_count, count);
	for (size_t i = 0; i < count; i++) {
		ASSERT_UINT(got[i].root, expected[i].root);
		ASSERT_UINT(got[i].node, expected[i].node);
		ASSERT_UINT(got[i].distance, expected[i].distance);
	}
}

static void check_target(struct hd_graph *graph, uint32_t target,
			 const struct gcroot_options *options)
{
	struct expectation expected;
	expect(graph, target, options, &expected);
	struct gcroot gcroot;
	ASSERT_UINT_FATAL(gcroot_init(graph, target, options, NULL, &gcroot, NULL), HD_OK);
	check_list(gcroot.strong, gcroot.strong_count, expected.strong, expected.strong_count);
	check_list(gcroot.weak, gcroot.weak_count, expected.weak, expected.weak_count);
	ASSERT_UINT(gcroot.hidden_stack, expected.hidden);
	for (size_t i = 0; i < gcroot.strong_count; i++)
		CU_ASSERT(
			path_tree_reaches(&gcroot.tree, graph->roots[gcroot.strong[i].root].node));
	gcroot_deinit(&gcroot);
}

/* A random graph whose roots have all kinds and flags, some of them repeated. */
static struct hd_graph *make_graph(uint64_t seed)
{
	struct random random = { .state = seed };
	struct hd_graph *graph = graph_make_random(
		&(struct random_spec){ .seed = seed,
				       .object_count = 1 + (uint32_t)random_below(&random, 60),
				       .missing_count = (uint32_t)random_below(&random, 5),
				       .degree_percent = (uint32_t)random_below(&random, 200),
				       .root_count = (uint32_t)random_below(&random, 40) });
	REQUIRE(graph);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		struct graph_root *root = &graph->roots[i];
		root->kind = (uint8_t)random_below(&random, 7);
		root->flags = (uint8_t)random_below(&random, 16);
		if (i && random_below(&random, 3) == 0)
			*root = graph->roots[random_below(&random, i)];
	}
	graph_mark_repeated(graph);
	return graph;
}

TEST(every_root_that_reaches_is_listed_once)
{
	for (uint64_t seed = 1; seed <= 250; seed++) {
		struct hd_graph *graph = make_graph(seed);
		for (uint32_t target = 0; target < graph->node_count; target += 1 + target / 6) {
			for (unsigned int options = 0; options < 4; options++) {
				check_target(graph, target,
					     &(struct gcroot_options){ .all_weak = options & 1,
								       .no_stacks = options & 2 });
			}
		}
		graph_destroy(graph);
	}
}

/* 0 -> 1 -> 2; a weak local variable, a weak handle of the middle, and a strong one that repeats. */
TEST(weak_roots_stand_apart_whatever_their_kind)
{
	static const struct made_edge edges[] = { { 0, 1 }, { 1, 2 } };
	static const struct graph_root roots[] = {
		{ .node = 2, .container = HD_NONE, .kind = HD_ROOT_STACK, .flags = HD_ROOT_WEAK },
		{ .node = 1, .container = HD_NONE, .kind = HD_ROOT_HANDLE, .flags = 7 },
		{ .node = 0, .container = HD_NONE, .kind = HD_ROOT_HANDLE, .flags = 5 },
		{ .node = 0,
		  .container = HD_NONE,
		  .kind = HD_ROOT_HANDLE,
		  .flags = 5,
		  .repeated = true },
	};
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 3,
								  .edges = edges,
								  .edge_count = 2,
								  .roots = roots,
								  .root_count = 4 });
	REQUIRE(graph);
	struct gcroot gcroot;
	ASSERT_UINT(gcroot_init(graph, 2, &(struct gcroot_options){ 0 }, NULL, &gcroot, NULL),
		    HD_OK);
	ASSERT_UINT_FATAL(gcroot.strong_count, 1);
	ASSERT_UINT(gcroot.strong[0].root, 2);
	ASSERT_UINT(gcroot.strong[0].distance, 2);
	ASSERT_UINT_FATAL(gcroot.weak_count, 1);
	ASSERT_UINT(gcroot.weak[0].root, 0);
	gcroot_deinit(&gcroot);
	ASSERT_UINT(gcroot_init(graph, 2, &(struct gcroot_options){ .all_weak = true }, NULL,
				&gcroot, NULL),
		    HD_OK);
	ASSERT_UINT_FATAL(gcroot.weak_count, 2);
	ASSERT_UINT(gcroot.weak[1].root, 1);
	ASSERT_UINT(gcroot.weak[1].distance, 1);
	gcroot_deinit(&gcroot);
	graph_destroy(graph);
}

/* Every third node is young, every third of generation 1, the others are old. */
static unsigned int generation_of(const void *arg, uint32_t node)
{
	(void)arg;
	return node % 3;
}

/* Links from @p from to @p to when none but the first object may be older; or HD_NONE. */
static uint32_t young_distance(const struct hd_graph *graph, uint32_t from, uint32_t to,
			       unsigned int generation)
{
	uint32_t queue[128], distance[128], head = 0, tail = 0;
	memset(distance, 0xff, sizeof(distance));
	distance[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t node = queue[head++], buf[128];
		size_t count = hd_graph_references(graph, node, 0, buf, 128);
		for (size_t i = 0; i < count; i++) {
			if (distance[buf[i]] != HD_NONE || generation_of(NULL, buf[i]) > generation)
				continue;
			distance[buf[i]] = distance[node] + 1;
			queue[tail++] = buf[i];
		}
	}
	return distance[to];
}

static void check_young(struct hd_graph *graph, uint32_t target, unsigned int generation)
{
	const struct gcroot_options options = { .is_young = true, .generation = generation };
	struct gcroot gcroot;
	ASSERT_UINT_FATAL(gcroot_init(graph, target, &options, NULL, &gcroot, NULL), HD_OK);
	size_t expected = 0;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		expected += !root->repeated && !root_is_weak(root) &&
			    generation_of(NULL, root->node) <= generation &&
			    young_distance(graph, root->node, target, generation) != HD_NONE;
	}
	for (uint32_t node = 0; node < graph->node_count; node++) {
		expected += generation_of(NULL, node) > generation &&
			    young_distance(graph, node, target, generation) != HD_NONE;
	}
	ASSERT_UINT(gcroot.strong_count, expected);
	for (size_t i = 0; i < gcroot.strong_count; i++) {
		const struct rooted *rooted = &gcroot.strong[i];
		bool older = generation_of(NULL, rooted->node) > generation;
		ASSERT_UINT(rooted->root == HD_NONE, older);
		ASSERT_UINT(rooted->distance,
			    young_distance(graph, rooted->node, target, generation));
		CU_ASSERT(!i || !older || gcroot.strong[i - 1].root != HD_NONE ||
			  gcroot.strong[i - 1].distance <= rooted->distance);
	}
	gcroot_deinit(&gcroot);
}

TEST(a_young_collection_follows_no_path_through_older_objects)
{
	for (uint64_t seed = 1; seed <= 250; seed++) {
		struct hd_graph *graph = make_graph(seed);
		graph->places.generation = generation_of;
		for (uint32_t target = 0; target < graph->object_count; target++) {
			for (unsigned int generation = 0; generation < 2; generation++) {
				if (generation_of(NULL, target) <= generation)
					check_young(graph, target, generation);
			}
		}
		graph_destroy(graph);
	}
}

/* Roots of a heap's stacks: by thread, then frame, then distance; equal objects together. */
TEST(stack_roots_of_a_heap_stand_by_frame)
{
	static const struct made_edge edges[] = { { 0, 2 }, { 1, 2 } };
	/* thread, frame, node */
	static const uint32_t where[][3] = { { 1, 2, 0 }, { 0, 0, 1 },       { 0, 0, 0 },
					     { 0, 0, 1 }, { 0, HD_NONE, 2 }, { 0, 1, 2 } };
	static const uint32_t expected[] = { 2, 1, 3, 5, 4, 0 };
	struct graph_root roots[6];
	for (size_t i = 0; i < 6; i++) {
		roots[i] = (struct graph_root){ .node = where[i][2],
						.container = HD_NONE,
						.kind = HD_ROOT_STACK };
	}
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 3,
								  .edges = edges,
								  .edge_count = 2,
								  .roots = roots,
								  .root_count = 6 });
	REQUIRE(graph);
	graph->origins.details = pages_alloc(6, sizeof(*graph->origins.details));
	REQUIRE(graph->origins.details);
	for (size_t i = 0; i < 6; i++) {
		graph->origins.details[i].thread = where[i][0];
		graph->origins.details[i].frame = where[i][1];
	}
	struct gcroot gcroot;
	ASSERT_UINT_FATAL(gcroot_init(graph, 2, &(struct gcroot_options){ 0 }, NULL, &gcroot, NULL),
			  HD_OK);
	ASSERT_UINT_FATAL(gcroot.strong_count, 6);
	for (size_t i = 0; i < 6; i++)
		ASSERT_UINT(gcroot.strong[i].root, expected[i]);
	gcroot_deinit(&gcroot);
	graph_destroy(graph);
}

TEST(each_failed_allocation_is_reported)
{
	struct hd_graph *graph = make_graph(5);
	bool failed = true;
	for (uint64_t nth = 1; failed && nth < 60; nth++) {
		struct gcroot gcroot = { .hidden_stack = 77 };
		alloc_fail_at(nth);
		enum hd_status status =
			gcroot_init(graph, 0, &(struct gcroot_options){ .all_weak = true }, NULL,
				    &gcroot, NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		if (failed) {
			ASSERT_UINT(gcroot.hidden_stack, 77);
		} else {
			gcroot_deinit(&gcroot);
		}
	}
	CU_ASSERT(!failed);
	graph_destroy(graph);
}

SUITE(.name = "gcroot")
