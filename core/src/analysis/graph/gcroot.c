/* SPDX-License-Identifier: MIT */
#include "analysis/graph/gcroot.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/bitmap.h"

unsigned int root_kind_order(uint8_t kind)
{
	static const unsigned int order[] = {
		[HD_ROOT_STACK] = 0,         [HD_ROOT_HANDLE] = 1,    [HD_ROOT_STATIC] = 2,
		[HD_ROOT_THREAD_STATIC] = 3, [HD_ROOT_FINALIZER] = 4, [HD_ROOT_GC] = 5,
		[HD_ROOT_INTERNAL] = 6,
	};
	return order[kind];
}

/* The order of older objects: after all roots. */
#define ORDER_OLDER 7u

static bool is_hidden(const struct graph_root *root, const struct gcroot_options *options)
{
	return options->no_stacks && root->kind == HD_ROOT_STACK;
}

/* Bitmap of the nodes whose roots the answer may list. */
static uint64_t *rooted_nodes(const struct hd_graph *graph)
{
	uint64_t *nodes = bitmap_alloc(graph->node_count);
	for (uint32_t i = 0; nodes && i < graph->root_count; i++)
		(void)bitmap_add(nodes, graph->roots[i].node);
	return nodes;
}

/* Is @p node older than the generations of the collection? */
static bool is_older(const struct hd_graph *graph, const struct gcroot_options *options,
		     uint32_t node)
{
	return options->is_young &&
	       graph->places.generation(graph->places.arg, node) > options->generation;
}

static enum hd_status add_strong(struct gcroot *gcroot, const struct rooted *rooted,
				 struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(gcroot, strong), err);
	gcroot->strong[gcroot->strong_count++] = *rooted;
	return HD_OK;
}

static enum hd_status collect_rooted(const struct hd_graph *graph,
				     const struct gcroot_options *options, struct gcroot *gcroot,
				     struct hd_error *err)
{
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (root->repeated || !path_tree_reaches(&gcroot->tree, root->node) ||
		    is_older(graph, options, root->node))
			continue;
		struct rooted rooted = { .root = i,
					 .node = root->node,
					 .distance =
						 path_tree_distance(&gcroot->tree, root->node) };
		if (root_is_weak(root)) {
			if (rooted.distance && !options->all_weak)
				continue;
			TRY_MEMORY(PAGES_RESERVE(gcroot, weak), err);
			gcroot->weak[gcroot->weak_count++] = rooted;
		} else if (is_hidden(root, options)) {
			gcroot->hidden_stack++;
		} else {
			TRY(add_strong(gcroot, &rooted, err));
		}
	}
	return HD_OK;
}

/* The older objects where paths begin. */
static enum hd_status collect_older(const struct hd_graph *graph,
				    const struct gcroot_options *options, struct gcroot *gcroot,
				    struct hd_error *err)
{
	for (size_t i = 0; options->is_young && i < gcroot->tree.starts_count; i++) {
		const struct path_start *start = &gcroot->tree.starts[i];
		if (!is_older(graph, options, start->node))
			continue;
		TRY(add_strong(gcroot,
			       &(struct rooted){ .root = HD_NONE,
						 .node = start->node,
						 .distance = start->distance },
			       err));
	}
	return HD_OK;
}

static unsigned int order_of(const struct hd_graph *graph, const struct rooted *rooted)
{
	return rooted->root == HD_NONE ? ORDER_OLDER
				       : root_kind_order(graph->roots[rooted->root].kind);
}

static int compare_u32(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

/* Order roots on stacks by their place, so that those of one frame and object are together. */
static int compare_frames(const struct hd_graph *graph, const struct rooted *x,
			  const struct rooted *y)
{
	const struct graph_root_detail *a = &graph->origins.details[x->root];
	const struct graph_root_detail *b = &graph->origins.details[y->root];
	int order = compare_u32(a->thread, b->thread);
	return order ? order : compare_u32(a->frame, b->frame);
}

static int compare_rooted(const void *a, const void *b, void *arg)
{
	const struct hd_graph *graph = arg;
	const struct rooted *x = a, *y = b;
	int order = compare_u32(order_of(graph, x), order_of(graph, y));
	bool on_stack =
		graph->origins.details && order_of(graph, x) == root_kind_order(HD_ROOT_STACK);
	if (!order && on_stack)
		order = compare_frames(graph, x, y);
	if (!order)
		order = compare_u32(x->distance, y->distance);
	if (!order && on_stack)
		order = compare_u32(x->node, y->node);
	if (!order)
		order = compare_u32(x->root, y->root);
	return order ? order : compare_u32(x->node, y->node);
}

static void sort_rooted(struct hd_graph *graph, struct rooted *list, size_t count)
{
	if (count)
		qsort_r(list, count, sizeof(*list), compare_rooted, graph);
}

enum hd_status gcroot_init(struct hd_graph *graph, uint32_t target,
			   const struct gcroot_options *options, struct job *job,
			   struct gcroot *ret, struct hd_error *err)
{
	HD_CLEANUP(gcroot) struct gcroot gcroot = { 0 };
	uint64_t *nodes = rooted_nodes(graph);
	TRY_MEMORY(nodes, err);
	const struct path_choice choice = { nodes, options->is_young, options->generation };
	enum hd_status status = path_tree_init(graph, target, &choice, job, &gcroot.tree, err);
	bitmap_free(nodes, graph->node_count);
	TRY(status);
	TRY(collect_rooted(graph, options, &gcroot, err));
	TRY(collect_older(graph, options, &gcroot, err));
	sort_rooted(graph, gcroot.strong, gcroot.strong_count);
	sort_rooted(graph, gcroot.weak, gcroot.weak_count);
	*ret = gcroot;
	gcroot = (struct gcroot){ 0 };
	return HD_OK;
}

void gcroot_deinit(struct gcroot *gcroot)
{
	pages_free(gcroot->strong, gcroot->strong_capacity, sizeof(*gcroot->strong));
	pages_free(gcroot->weak, gcroot->weak_capacity, sizeof(*gcroot->weak));
	path_tree_deinit(&gcroot->tree);
	*gcroot = (struct gcroot){ 0 };
}
