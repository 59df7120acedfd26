/* SPDX-License-Identifier: MIT */
/* The path from a root to an object. */
#include "analysis/graph/type_tree.h"
#include "findings/rule.h"
#include "util/sort.h"
#include "util/text.h"

static const struct seed *seed_of(const struct root_paths *paths, uint32_t node)
{
	size_t at = ROWS_FROM(paths->seeds, paths->seeds_count, node, node);
	return at < paths->seeds_count && paths->seeds[at].node == node ? &paths->seeds[at] : NULL;
}

uint32_t holder_root(const struct report *report, uint32_t node, uint64_t *steps)
{
	const struct root_paths *paths = &report->facts.paths;
	if (!paths->parents[node])
		return HD_NONE;
	for (uint32_t before; (before = path_before(paths, node)) != HD_NONE; --*steps) {
		if (!*steps)
			return HD_NONE;
		node = before;
	}
	const struct seed *seed = seed_of(paths, node);
	return seed ? seed->root : HD_NONE;
}

static const char *holder_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[HD_ROOT_INTERNAL] = "runtime",
		[HD_ROOT_STACK] = "stack",
		[HD_ROOT_FINALIZER] = "finalizer",
		[HD_ROOT_HANDLE] = "handle",
		[HD_ROOT_STATIC] = "static",
		[HD_ROOT_GC] = "collector",
		[HD_ROOT_THREAD_STATIC] = "thread static",
	};
	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "root";
}

/* The name of the root; "Type.field" of a static, the type of the object that a handle keeps. */
static const char *root_name(struct report *report, uint32_t root)
{
	const struct hd_graph *graph = report->facts.graph;
	const char *name = tree_root_name(graph, root);
	const struct graph_root *row = &graph->roots[root];
	if (name)
		return report_name(report, name, strlen(name));
	if (row->container < graph->type_count)
		return report_type_name(report, row->container);
	if (row->kind == HD_ROOT_HANDLE && row->node < graph->object_count)
		return report_type_name(report, graph->node_types[row->node]);
	return report_text(report, "a root of kind %s", holder_kind_name(row->kind));
}

const char *holder_root_label(struct report *report, uint32_t root)
{
	const struct hd_graph *graph = report->facts.graph;
	const struct graph_root *row = &graph->roots[root];
	const char *name = tree_root_name(graph, root);
	if (row->kind == HD_ROOT_FINALIZER)
		return "finalizer queue";
	if (row->kind == HD_ROOT_HANDLE && row->node < graph->object_count) {
		return report_text(report, "handle to %s",
				   report_type_name(report, graph->node_types[row->node]));
	}
	if (!name && row->container >= graph->type_count)
		return holder_kind_name(row->kind);
	return report_text(report, "%s %s", holder_kind_name(row->kind), root_name(report, root));
}

static const char *holder_link_text(struct report *report, uint32_t from, uint32_t to)
{
	const struct hd_graph *graph = report->facts.graph;
	if (!graph->places.link || !report->facts.heap)
		return "";
	HD_CLEANUP(text) struct text text = { 0 };
	graph->places.link(graph->places.arg, from, to, &text);
	return text.size ? report_name(report, text.bytes, text.size) : "";
}

/* The objects of the path, backwards: the last ones, and the rooted one; returns how many there are in all. */
static uint64_t list_path(const struct root_paths *paths, uint32_t node,
			  uint32_t nodes[FINDING_STEPS], size_t *ret_count)
{
	uint64_t length = 0;
	size_t count = 0;
	while (node != HD_NONE) {
		if (count < FINDING_STEPS) {
			nodes[count++] = node;
		} else {
			nodes[FINDING_STEPS - 1] = node;
		}
		length++;
		node = path_before(paths, node);
	}
	*ret_count = count;
	return length;
}

void holder_find(struct report *report, uint32_t node, struct held_by *ret)
{
	const struct root_paths *paths = &report->facts.paths;
	uint32_t nodes[FINDING_STEPS];
	size_t count;
	*ret = (struct held_by){ .subject = node, .root_kind = "none", .name = "no root" };
	if (node >= paths->node_count || !paths->parents[node])
		return;
	ret->is_cut = list_path(paths, node, nodes, &count) > count;
	const struct seed *seed = seed_of(paths, nodes[count - 1]);
	if (!seed)
		return;
	const struct hd_graph *graph = report->facts.graph;
	ret->root_kind = holder_kind_name(graph->roots[seed->root].kind);
	ret->step_count = count;
	for (size_t i = 0; i < count; i++) {
		ret->steps[i].node = nodes[count - 1 - i];
		bool is_next = i > 1 || !ret->is_cut;
		ret->steps[i].link = i && is_next ? holder_link_text(report, ret->steps[i - 1].node,
								     ret->steps[i].node)
						  : "";
	}
	ret->steps[0].link = ret->name = root_name(report, seed->root);
	holder_name(report, ret);
}

void finding_about(struct report *report, struct report_finding *finding, uint32_t held,
		   uint32_t sample)
{
	holder_find(report, held, &finding->holder);
	finding->member_type = report->facts.graph->node_types[sample];
	finding_sample(finding, sample);
}
