/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "command/report/chart_tree.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define OBJECTS 400u
#define TYPES   12u

static const char *const names[TYPES] = {
	"System.String", "System.Byte[]",      "Shop.Order",        "Shop.Order+Line",
	"Shop.Sub.Page", "A.B<System.Object>", "Shop.Cache<A.B[]>", "Global",
	"Shop.Order[]",  "System.Object",      "Other.Type",        "Other.Type(x.y)",
};
/* By its meaning: up to the last dot in front of the class's own name. */
static const char *const namespaces[TYPES] = { "System",   "System", "Shop",  "Shop",
					       "Shop.Sub", "A",      "Shop",  "",
					       "Shop",     "System", "Other", "Other" };

static struct hd_graph *make_graph(uint64_t seed, struct dominators *ret)
{
	struct hd_graph *graph = graph_make_random(&(struct random_spec){
		.seed = seed, .object_count = OBJECTS, .degree_percent = 120, .root_count = 9 });
	REQUIRE(graph);
	struct random random = { .state = seed };
	pages_free(graph->types, graph->type_count, sizeof(*graph->types));
	graph->types = pages_alloc(TYPES, sizeof(*graph->types));
	REQUIRE(graph->types);
	graph->type_count = TYPES;
	for (uint32_t i = 0; i < TYPES; i++) {
		graph->types[i].name = names[i];
		graph->types[i].name_size = (uint32_t)strlen(names[i]);
	}
	for (uint32_t node = 0; node < graph->object_count; node++)
		graph->node_types[node] = (uint32_t)random_below(&random, TYPES);
	ASSERT_UINT_FATAL(dominators_init(graph, NULL, ret, NULL), HD_OK);
	return graph;
}

/* Parents before children, which lie next to each other, the largest first, and fit. */
static void check_tree(const struct chart_tree *tree, size_t most)
{
	CU_ASSERT_FATAL(tree->count > 0 && tree->count <= most);
	CU_ASSERT(tree->nodes[0].parent == HD_NONE && tree->nodes[0].level == CHART_TOP);
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct chart_node *node = &tree->nodes[i];
		uint64_t sum = 0, last = UINT64_MAX;
		for (uint32_t j = 0; j < node->child_count; j++) {
			const struct chart_node *child = &tree->nodes[node->first_child + j];
			CU_ASSERT(child->parent == i && node->first_child + j > i);
			CU_ASSERT(child->depth == node->depth + 1 && child->total <= last);
			last = child->total;
			sum += child->total;
		}
		CU_ASSERT(sum <= node->total);
		CU_ASSERT(!i || node->total >= tree->nodes[0].total / 1000);
	}
}

/* Add up what objects of a namespace retain that nothing dominates. */
static uint64_t expected_of(const struct hd_graph *graph, const struct dominators *dominators,
			    const struct chart_node *node)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < graph->object_count; i++) {
		const char *name = namespaces[graph->node_types[i]];
		if (dominators->idom[i] == HD_NONE && dominators->retained_count[i] &&
		    node->name_size == strlen(name) &&
		    memcmp(node->name, name, node->name_size) == 0)
			sum += dominators_size(dominators, i);
	}
	return sum;
}

TEST(parts_add_up_in_both_views)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct dominators dominators;
		struct dominator_stacks stacks;
		struct hd_graph *graph = make_graph(seed, &dominators);
		ASSERT_UINT_FATAL(dominator_stacks_init(&stacks, graph, &dominators, NULL, NULL),
				  HD_OK);
		for (size_t most = 1; most <= 1000; most *= 10) {
			for (unsigned int view = 0; view <= CHART_BY_ROOT; view++) {
				struct chart_tree tree;
				ASSERT_UINT_FATAL(chart_tree_init(&tree, &stacks,
								  (enum chart_view)view, NULL, most,
								  NULL),
						  HD_OK);
				check_tree(&tree, most);
				ASSERT_UINT(tree.nodes[0].total, stacks.size);
				for (uint32_t i = 1; i < tree.count && view == CHART_BY_NAMESPACE &&
						     tree.nodes[i].depth == 1;
				     i++) {
					ASSERT_UINT(
						tree.nodes[i].total,
						expected_of(graph, &dominators, &tree.nodes[i]));
				}
				chart_tree_deinit(&tree);
			}
		}
		dominator_stacks_deinit(&stacks);
		dominators_deinit(&dominators);
		graph_destroy(graph);
	}
}

/* Every other frame is of one module, and the others are of none that is known. */
TEST(modules_come_first_and_add_up)
{
	struct dominators dominators;
	struct dominator_stacks stacks;
	struct chart_tree tree;
	struct hd_graph *graph = make_graph(3, &dominators);
	ASSERT_UINT_FATAL(dominator_stacks_init(&stacks, graph, &dominators, NULL, NULL), HD_OK);
	const char **modules = mem_calloc(stacks.frames.places_count + 1, sizeof(const char *));
	REQUIRE(modules);
	for (size_t i = 0; i < stacks.frames.places_count; i += 2)
		modules[i] = "Shop.dll";
	ASSERT_UINT_FATAL(chart_tree_init(&tree, &stacks, CHART_BY_MODULE, modules, 1000, NULL),
			  HD_OK);
	check_tree(&tree, 1000);
	ASSERT_UINT_FATAL(tree.nodes[0].child_count, 2);
	uint64_t all = 0;
	for (uint32_t i = 1; i < tree.count; i++) {
		const struct chart_node *node = &tree.nodes[i];
		if (node->depth == 1) {
			ASSERT_UINT(node->level, CHART_MODULE);
			CU_ASSERT(!node->name_size || memcmp(node->name, "Shop.dll", 8) == 0);
			all += node->total;
		}
		CU_ASSERT(node->depth != 2 || node->level == CHART_NAMESPACE);
	}
	ASSERT_UINT(all, stacks.size);
	chart_tree_deinit(&tree);
	mem_free(modules);
	dominator_stacks_deinit(&stacks);
	dominators_deinit(&dominators);
	graph_destroy(graph);
}

static bool is_inside(const struct chart_box *inner, const struct chart_box *outer)
{
	const double slack = 1e-6;
	return inner->x >= outer->x - slack && inner->y >= outer->y - slack &&
	       inner->x + inner->width <= outer->x + outer->width + slack &&
	       inner->y + inner->height <= outer->y + outer->height + slack;
}

static bool do_overlap(const struct chart_box *a, const struct chart_box *b)
{
	const double slack = 1e-6;
	return a->x + slack < b->x + b->width && b->x + slack < a->x + a->width &&
	       a->y + slack < b->y + b->height && b->y + slack < a->y + a->height;
}

TEST(squares_lie_in_their_parents_and_not_on_each_other)
{
	const struct chart_box whole = { 0, 0, 1000, 500 };
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct dominators dominators;
		struct dominator_stacks stacks;
		struct chart_tree tree;
		struct hd_graph *graph = make_graph(seed, &dominators);
		ASSERT_UINT_FATAL(dominator_stacks_init(&stacks, graph, &dominators, NULL, NULL),
				  HD_OK);
		ASSERT_UINT_FATAL(
			chart_tree_init(&tree, &stacks, CHART_BY_NAMESPACE, NULL, 300, NULL),
			HD_OK);
		struct chart_box *boxes = mem_calloc(tree.count, sizeof(*boxes));
		REQUIRE(boxes);
		chart_tree_squares(&tree, &whole, 10, boxes);
		for (uint32_t i = 1; i < tree.count; i++) {
			const struct chart_node *node = &tree.nodes[i];
			if (boxes[i].width <= 0)
				continue;
			CU_ASSERT(is_inside(&boxes[i], &boxes[node->parent]));
			if (node->depth == 1) {
				double area = boxes[i].width * boxes[i].height;
				double share = (double)node->total / (double)tree.nodes[0].total;
				CU_ASSERT(fabs(area / (1000 * 500) - share) < 1e-9);
			}
			for (uint32_t j = tree.nodes[node->parent].first_child; j < i; j++)
				CU_ASSERT(!do_overlap(&boxes[i], &boxes[j]));
		}
		mem_free(boxes);
		chart_tree_deinit(&tree);
		dominator_stacks_deinit(&stacks);
		dominators_deinit(&dominators);
		graph_destroy(graph);
	}
}

TEST(without_memory_it_fails)
{
	struct dominators dominators;
	struct dominator_stacks stacks;
	struct hd_graph *graph = make_graph(7, &dominators);
	ASSERT_UINT_FATAL(dominator_stacks_init(&stacks, graph, &dominators, NULL, NULL), HD_OK);
	enum hd_status status = HD_ERR_NOMEM;
	uint64_t nth = 1;
	for (; status != HD_OK && nth < 20; nth++) {
		struct chart_tree tree;
		alloc_fail_at(nth);
		status = chart_tree_init(&tree, &stacks, CHART_BY_ROOT, NULL, 100, NULL);
		alloc_fail_at(0);
		chart_tree_deinit(&tree);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
	}
	CU_ASSERT(status == HD_OK && nth > 5);
	dominator_stacks_deinit(&stacks);
	dominators_deinit(&dominators);
	graph_destroy(graph);
}

SUITE(.name = "chart_tree")
