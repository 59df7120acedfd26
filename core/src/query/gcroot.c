/* SPDX-License-Identifier: MIT */
#include "query/gcroot.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/bitmap.h"

/* Place of a root kind in the order of the answer. */
static unsigned int gcroot_group(uint8_t kind)
{
	static const unsigned int groups[] = {
		[HD_ROOT_STACK] = 0,     [HD_ROOT_HANDLE] = 1, [HD_ROOT_STATIC] = 2,
		[HD_ROOT_FINALIZER] = 3, [HD_ROOT_GC] = 4,     [HD_ROOT_INTERNAL] = 5,
	};
	return groups[kind];
}

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

static enum hd_status collect(const struct hd_graph *graph, const struct gcroot_options *options,
			      struct gcroot *gcroot, struct hd_error *err)
{
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (root->repeated || !path_tree_reaches(&gcroot->tree, root->node))
			continue;
		struct rooted rooted = { .root = i,
					 .distance =
						 path_tree_distance(&gcroot->tree, root->node) };
		if (root_is_weak(root)) {
			if (rooted.distance && !options->all_weak)
				continue;
			if (!PAGES_RESERVE(gcroot, weak))
				return fail_nomem(err);
			gcroot->weak[gcroot->weak_count++] = rooted;
		} else if (is_hidden(root, options)) {
			gcroot->hidden_stack++;
		} else {
			if (!PAGES_RESERVE(gcroot, strong))
				return fail_nomem(err);
			gcroot->strong[gcroot->strong_count++] = rooted;
		}
	}
	return HD_OK;
}

static int compare_rooted(const void *a, const void *b, void *arg)
{
	const struct hd_graph *graph = arg;
	const struct rooted *x = a, *y = b;
	unsigned int group_x = gcroot_group(graph->roots[x->root].kind);
	unsigned int group_y = gcroot_group(graph->roots[y->root].kind);
	if (group_x != group_y)
		return group_x < group_y ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->root < y->root ? -1 : x->root > y->root;
}

enum hd_status gcroot_init(struct hd_graph *graph, uint32_t target,
			   const struct gcroot_options *options, struct job *job,
			   struct gcroot *ret, struct hd_error *err)
{
	struct gcroot gcroot = { 0 };
	uint64_t *nodes = rooted_nodes(graph);
	if (!nodes)
		return fail_nomem(err);
	enum hd_status status = path_tree_init(graph, target, nodes, job, &gcroot.tree, err);
	bitmap_free(nodes, graph->node_count);
	if (status == HD_OK)
		status = collect(graph, options, &gcroot, err);
	if (status != HD_OK) {
		gcroot_deinit(&gcroot);
		return status;
	}
	if (gcroot.strong_count) {
		qsort_r(gcroot.strong, gcroot.strong_count, sizeof(*gcroot.strong), compare_rooted,
			graph);
	}
	if (gcroot.weak_count) {
		qsort_r(gcroot.weak, gcroot.weak_count, sizeof(*gcroot.weak), compare_rooted,
			graph);
	}
	*ret = gcroot;
	return HD_OK;
}

void gcroot_deinit(struct gcroot *gcroot)
{
	pages_free(gcroot->strong, gcroot->strong_capacity, sizeof(*gcroot->strong));
	pages_free(gcroot->weak, gcroot->weak_capacity, sizeof(*gcroot->weak));
	path_tree_deinit(&gcroot->tree);
	*gcroot = (struct gcroot){ 0 };
}
