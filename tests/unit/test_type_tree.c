/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/graph/root_tree.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/bitmap.h"

#define NODES_MAX 80u
#define TYPES     4u

/* Fields ".f0" to ".f2", and elements of an array. */
static void link_of(const void *arg, uint32_t from, uint32_t to, struct text *text)
{
	(void)arg;
	uint32_t which = (from * 7 + to) % 5;
	if (which < 3) {
		text_printf(text, ".f%u", which);
	} else if (which == 3) {
		text_printf(text, "[%u].item", to);
	}
}

static struct hd_graph *make_graph(uint64_t seed)
{
	struct random random = { .state = seed };
	uint32_t count = 1 + (uint32_t)random_below(&random, NODES_MAX);
	uint32_t roots = (uint32_t)random_below(&random, seed % 3 ? 8 : 60);
	struct hd_graph *graph = graph_make_random(
		&(struct random_spec){ .seed = seed,
				       .object_count = count,
				       .missing_count = (uint32_t)random_below(&random, 3),
				       .degree_percent = (uint32_t)random_below(&random, 300),
				       .root_count = roots });
	REQUIRE(graph);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		graph->roots[i].kind = (uint8_t)random_below(&random, 7);
		graph->roots[i].flags = random_below(&random, 5) ? 0 : HD_ROOT_WEAK;
	}
	graph_mark_repeated(graph);
	graph->places.link = random_below(&random, 4) ? link_of : NULL;
	/* Types at random, in place of the one that there is. */
	pages_free(graph->types, graph->type_count, sizeof(*graph->types));
	graph->types = pages_alloc(TYPES, sizeof(*graph->types));
	graph->type_count = TYPES;
	REQUIRE(graph->types);
	for (uint32_t node = 0; node < graph->object_count; node++) {
		uint32_t type = (uint32_t)random_below(&random, TYPES);
		graph->node_types[node] = type;
		graph->types[type].count++;
		graph->types[type].size += graph_size(graph, node);
	}
	return graph;
}

/* Links from the nearest strong root to each node, by relaxing every edge until nothing changes. */
static void distances(const struct hd_graph *graph, bool no_stacks, uint32_t *ret)
{
	for (uint32_t node = 0; node < graph->node_count; node++)
		ret[node] = HD_NONE;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (!root_is_weak(root) && (!no_stacks || root->kind != HD_ROOT_STACK))
			ret[root->node] = 0;
	}
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t node = 0; node < graph->object_count; node++) {
			uint32_t buf[512];
			size_t count = hd_graph_references(graph, node, 0, buf, 512);
			for (size_t i = 0; ret[node] != HD_NONE && i < count; i++) {
				if (ret[buf[i]] > ret[node] + 1) {
					ret[buf[i]] = ret[node] + 1;
					changed = true;
				}
			}
		}
	}
}

static void check_paths(const struct hd_graph *graph, bool no_stacks,
			const struct root_paths *paths)
{
	static const uint8_t order[] = { HD_ROOT_STATIC, HD_ROOT_THREAD_STATIC, HD_ROOT_HANDLE,
					 HD_ROOT_STACK,  HD_ROOT_FINALIZER,     HD_ROOT_INTERNAL,
					 HD_ROOT_GC };
	uint32_t expected[NODES_MAX + 8];
	uint64_t live = 0;
	distances(graph, no_stacks, expected);
	for (uint32_t node = 0; node < graph->node_count; node++) {
		live += expected[node] != HD_NONE;
		ASSERT_UINT(paths->parents[node] != 0, expected[node] != HD_NONE);
		if (!paths->parents[node])
			continue;
		uint32_t parent = paths->parents[node] - 1;
		ASSERT_UINT(expected[node], parent == node ? 0 : expected[parent] + 1);
	}
	ASSERT_UINT(paths->live_count, live);
	for (size_t i = 0, place = 0; i < paths->seeds_count; i++) {
		while (order[place] != graph->roots[paths->seeds[i].root].kind)
			place++;
		ASSERT_UINT(graph->roots[paths->seeds[i].root].node, paths->seeds[i].node);
	}
}

/* A path as the tree has it: what came before a repetition is cut off at its first place. */
struct steps {
	char keys[NODES_MAX + 2][48];
	size_t count;
};

static void add_step(struct steps *steps, const char *key)
{
	for (size_t i = 1; i < steps->count; i++) {
		if (strcmp(steps->keys[i], key) == 0) {
			steps->count = i + 1;
			return;
		}
	}
	(void)snprintf(steps->keys[steps->count++], sizeof(steps->keys[0]), "%s", key);
}

static void step_key(const struct hd_graph *graph, uint32_t from, uint32_t to, char *key,
		     size_t size)
{
	struct text text = { 0 };
	if (from != to && graph->places.link)
		graph->places.link(NULL, from, to, &text);
	bool is_element = text.size && text.bytes[0] == '[';
	(void)snprintf(key, size, "%s %u", is_element ? "[].item" : (text.bytes ? text.bytes : ""),
		       graph->node_types[to]);
	text_deinit(&text);
}

static void steps_of(const struct hd_graph *graph, const struct root_paths *paths, uint32_t node,
		     struct steps *ret)
{
	uint32_t chain[NODES_MAX + 8];
	size_t count = 0;
	for (;; node = paths->parents[node] - 1) {
		chain[count++] = node;
		if (paths->parents[node] == node + 1)
			break;
	}
	uint32_t root = HD_NONE;
	for (size_t i = 0; i < paths->seeds_count; i++) {
		if (paths->seeds[i].node == node)
			root = paths->seeds[i].root;
	}
	char key[48];
	ret->count = 0;
	(void)snprintf(key, sizeof(key), "%u %x", graph->roots[root].kind,
		       graph->roots[root].container);
	add_step(ret, key);
	for (uint32_t from = node; count-- > 0; from = chain[count]) {
		step_key(graph, from, chain[count], key, sizeof(key));
		add_step(ret, key);
	}
}

static void steps_of_branch(const struct type_tree *tree, uint32_t index, struct steps *ret)
{
	uint32_t chain[NODES_MAX + 8];
	size_t count = 0;
	ret->count = 0;
	for (; index != HD_NONE; index = tree->branches[index].parent)
		chain[count++] = index;
	while (count-- > 0) {
		const struct tree_branch *branch = &tree->branches[chain[count]];
		char *key = ret->keys[ret->count++];
		if (branch->type == HD_NONE) {
			const struct graph_root *root = &tree->graph->roots[branch->root];
			(void)snprintf(key, sizeof(ret->keys[0]), "%u %x", root->kind,
				       root->container);
		} else {
			(void)snprintf(key, sizeof(ret->keys[0]), "%s %u",
				       link_name(&tree->names, branch->name), branch->type);
		}
	}
}

static bool begins(const struct steps *path, const struct steps *with)
{
	if (path->count < with->count)
		return false;
	for (size_t i = 0; i < with->count; i++) {
		if (strcmp(path->keys[i], with->keys[i]) != 0)
			return false;
	}
	return true;
}

static struct steps all[NODES_MAX], of_branch;

static void check_tree(const struct hd_graph *graph, const uint64_t *types, bool no_stacks)
{
	struct root_paths paths;
	struct type_tree tree;
	ASSERT_UINT_FATAL(root_paths_init(graph, no_stacks, NULL, &paths, NULL), HD_OK);
	check_paths(graph, no_stacks, &paths);
	ASSERT_UINT_FATAL(type_tree_init(graph,
					 &(struct type_tree_choice){ types, UINT64_MAX, no_stacks },
					 NULL, &tree, NULL),
			  HD_OK);
	size_t found = 0, total = 0;
	uint64_t size = 0;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		bool wanted = bitmap_has(types, graph->node_types[node]);
		total += wanted;
		if (!wanted || !paths.parents[node])
			continue;
		size += graph_size(graph, node);
		steps_of(graph, &paths, node, &all[found++]);
	}
	ASSERT_UINT(tree.count, total);
	ASSERT_UINT(tree.found_count, found);
	ASSERT_UINT(tree.found_size, size);
	CU_ASSERT(!tree.is_cut);
	size_t roots = 0, ends = 0;
	for (uint32_t i = 0; i < tree.branches_count; i++) {
		const struct tree_branch *branch = &tree.branches[i];
		steps_of_branch(&tree, i, &of_branch);
		uint64_t count = 0, own = 0;
		for (size_t k = 0; k < found; k++) {
			count += begins(&all[k], &of_branch);
			own += begins(&all[k], &of_branch) && all[k].count == of_branch.count;
		}
		ASSERT_UINT(branch->count, count);
		ASSERT_UINT(branch->own_count, own);
		ASSERT_UINT(branch->depth, of_branch.count - 1);
		roots += branch->parent == HD_NONE ? branch->count : 0;
		ends += branch->own_count;
	}
	ASSERT_UINT(roots, found);
	ASSERT_UINT(ends, found);
	type_tree_deinit(&tree);
	root_paths_deinit(&paths);
}

TEST(branches_are_the_shortest_paths_merged)
{
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct hd_graph *graph = make_graph(seed);
		for (uint64_t types = 1; types < 1u << TYPES; types += 2) {
			check_tree(graph, &types, false);
			check_tree(graph, &types, true);
		}
		graph_destroy(graph);
	}
}

/* The way from a root to the object, merged as the tree merges. */
static void steps_of_root(const struct hd_graph *graph, const struct gcroot *gcroot,
			  const struct rooted *rooted, struct steps *ret)
{
	const struct graph_root *root = &graph->roots[rooted->root];
	char key[48];
	ret->count = 0;
	(void)snprintf(key, sizeof(key), "%u %x", root->kind, root->container);
	add_step(ret, key);
	step_key(graph, rooted->node, rooted->node, key, sizeof(key));
	add_step(ret, key);
	for (uint32_t at = rooted->node; at != gcroot->tree.target;) {
		uint32_t next = path_tree_next(&gcroot->tree, at);
		step_key(graph, at, next, key, sizeof(key));
		add_step(ret, key);
		at = next;
	}
}

static void check_root_tree(struct hd_graph *graph, uint32_t target)
{
	struct gcroot gcroot;
	struct type_tree tree;
	ASSERT_UINT_FATAL(
		gcroot_init(graph, target, &(struct gcroot_options){ 0 }, NULL, &gcroot, NULL),
		HD_OK);
	CU_ASSERT_FATAL(gcroot.strong_count < NODES_MAX);
	ASSERT_UINT_FATAL(root_tree_init(graph, &gcroot, UINT64_MAX, NULL, &tree, NULL), HD_OK);
	for (size_t k = 0; k < gcroot.strong_count; k++)
		steps_of_root(graph, &gcroot, &gcroot.strong[k], &all[k]);
	size_t roots = 0, ends = 0;
	for (uint32_t i = 0; i < tree.branches_count; i++) {
		const struct tree_branch *branch = &tree.branches[i];
		steps_of_branch(&tree, i, &of_branch);
		uint64_t count = 0, own = 0;
		for (size_t k = 0; k < gcroot.strong_count; k++) {
			count += begins(&all[k], &of_branch);
			own += begins(&all[k], &of_branch) && all[k].count == of_branch.count;
		}
		ASSERT_UINT(branch->count, count);
		ASSERT_UINT(branch->own_count, own);
		roots += branch->parent == HD_NONE ? branch->count : 0;
		ends += branch->own_count;
	}
	CU_ASSERT(!tree.is_cut);
	ASSERT_UINT(roots, gcroot.strong_count);
	ASSERT_UINT(ends, gcroot.strong_count);
	type_tree_deinit(&tree);
	gcroot_deinit(&gcroot);
}

TEST(paths_to_one_object_are_merged)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct hd_graph *graph = make_graph(seed);
		for (uint32_t node = 0; node < graph->object_count; node += 3)
			check_root_tree(graph, node);
		graph_destroy(graph);
	}
}

/* The branches that are open are no more than the limit, and a tree; their sums are right. */
TEST(a_limit_opens_the_branches_with_most_bytes)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct hd_graph *graph = make_graph(seed);
		uint64_t types = 5;
		for (uint64_t limit = 0; limit < 12; limit++) {
			struct type_tree tree;
			ASSERT_UINT_FATAL(
				type_tree_init(graph,
					       &(struct type_tree_choice){ &types, limit, false },
					       NULL, &tree, NULL),
				HD_OK);
			uint64_t open = 0, closed = 0, sum = 0;
			for (uint32_t i = 0; i < tree.branches_count; i++) {
				const struct tree_branch *branch = &tree.branches[i];
				open += branch->is_open;
				closed += !branch->is_open && branch->count;
				if (branch->parent == HD_NONE) {
					sum += branch->count;
				} else {
					CU_ASSERT(tree.branches[branch->parent].is_open);
					CU_ASSERT(tree.branches[branch->parent].count >=
						  branch->count);
				}
			}
			CU_ASSERT(open <= limit);
			CU_ASSERT(!closed || open == limit);
			ASSERT_UINT(tree.is_cut, closed != 0);
			ASSERT_UINT(sum, tree.found_count);
			type_tree_deinit(&tree);
		}
		graph_destroy(graph);
	}
}

TEST(a_long_list_is_one_branch_that_repeats)
{
	struct hd_graph *graph = graph_make_list(100000);
	REQUIRE(graph);
	uint64_t types = 1;
	struct type_tree tree;
	ASSERT_UINT_FATAL(type_tree_init(graph, &(struct type_tree_choice){ &types, 10, false },
					 NULL, &tree, NULL),
			  HD_OK);
	ASSERT_UINT_FATAL(tree.branches_count, 2);
	ASSERT_UINT(tree.branches[1].count, 100000);
	ASSERT_UINT(tree.branches[1].own_count, 100000);
	CU_ASSERT(tree.branches[1].repeats);
	CU_ASSERT(!tree.is_cut);
	type_tree_deinit(&tree);
	graph_destroy(graph);
}

/* 1,000 types below each other: only so many are told apart. */
TEST(depth_has_an_end)
{
	enum {
		COUNT = 1000
	};
	static struct made_edge edges[COUNT];
	static uint32_t types[COUNT];
	static const struct graph_root root = { .container = HD_NONE, .kind = HD_ROOT_HANDLE };
	for (uint32_t i = 0; i < COUNT; i++) {
		edges[i] = (struct made_edge){ i, i + 1 };
		types[i] = i;
	}
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = COUNT,
								  .type_count = COUNT,
								  .types = types,
								  .edges = edges,
								  .edge_count = COUNT - 1,
								  .roots = &root,
								  .root_count = 1 });
	REQUIRE(graph);
	uint64_t *last = bitmap_alloc(COUNT);
	REQUIRE(last);
	(void)bitmap_add(last, COUNT - 1);
	struct type_tree tree;
	ASSERT_UINT_FATAL(type_tree_init(graph,
					 &(struct type_tree_choice){ last, UINT64_MAX, false },
					 NULL, &tree, NULL),
			  HD_OK);
	ASSERT_UINT(tree.branches_count, TYPE_TREE_DEPTH_MAX + 1);
	ASSERT_UINT(tree.branches[TYPE_TREE_DEPTH_MAX].count, 1);
	ASSERT_UINT(tree.branches[TYPE_TREE_DEPTH_MAX].own_count, 0);
	type_tree_deinit(&tree);
	bitmap_free(last, COUNT);
	graph_destroy(graph);
}

TEST(each_failed_allocation_is_reported)
{
	struct hd_graph *graph = make_graph(7);
	uint64_t types = 15;
	bool failed = true;
	for (uint64_t nth = 1; failed && nth < 200; nth++) {
		struct type_tree tree;
		alloc_fail_at(nth);
		enum hd_status status = type_tree_init(
			graph, &(struct type_tree_choice){ &types, UINT64_MAX, false }, NULL, &tree,
			NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		if (!failed)
			type_tree_deinit(&tree);
	}
	CU_ASSERT(!failed);
	graph_destroy(graph);
}

SUITE(.name = "type tree")
