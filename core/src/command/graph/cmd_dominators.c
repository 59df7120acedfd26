/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/type_tree.h"
#include "answer/root_row.h"
#include "answer/tables.h"
#include "command/completeness.h"
#include "command/table.h"
#include "graph/heap_graph.h"
#include "output/fit.h"
#include "output/root_label.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"
#include "util/sort.h"

#define DEFAULT_TOP 30u
/* Rows are indented up to this depth. */
#define TREE_INDENT_MAX 60u

#define DOMINATORS_OPTIONS(X)                                                                     \
	X(OPT_TOP, "top", VALUE_NUMBER, "N", "show the N objects that retain most (30)", NULL)    \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "by type, the objects that no other one dominates", \
	  NULL)                                                                                   \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,                             \
	  "treat every word on a stack as a reference", NULL)

OPTIONS(dominators, DOMINATORS_OPTIONS);

/* Tells for each object who keeps it alive. */
struct dominated_by {
	const struct dominators *dominators;
	struct root_paths paths;
};

/* One of the objects that are shown. */
struct top_node {
	uint32_t node;
	uint32_t parent;   /* index of its idom in the list, or HD_NONE */
	uint32_t position; /* of itself in the list, once that is sorted by node */
	uint32_t count;
	uint64_t retained;
};

struct top_list {
	struct top_node *nodes;
	size_t count, capacity;
};

/*
 * Is @p a to be dropped before @p b?  What dominates retains no less, and more objects: so it is
 * never dropped before what it dominates, and the list is a tree.
 */
static bool is_less(const struct top_node *a, const struct top_node *b)
{
	if (a->retained != b->retained)
		return a->retained < b->retained;
	return a->count != b->count ? a->count < b->count : a->node > b->node;
}

static void sift_down(struct top_list *list, size_t at)
{
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < list->count;
		     child++) {
			if (is_less(&list->nodes[child], &list->nodes[least]))
				least = child;
		}
		if (least == at)
			return;
		struct top_node swap = list->nodes[at];
		list->nodes[at] = list->nodes[least];
		list->nodes[least] = swap;
		at = least;
	}
}

static void sift_up(struct top_list *list, size_t at)
{
	while (at && is_less(&list->nodes[at], &list->nodes[(at - 1) / 2])) {
		struct top_node swap = list->nodes[at];
		list->nodes[at] = list->nodes[(at - 1) / 2];
		list->nodes[(at - 1) / 2] = swap;
		at = (at - 1) / 2;
	}
}

/* Keep the top ones: a heap whose first is the least. */
static void offer_top_node(struct top_list *list, const struct top_node *node)
{
	if (list->count < list->capacity) {
		list->nodes[list->count] = *node;
		sift_up(list, list->count++);
	} else if (list->capacity && is_less(&list->nodes[0], node)) {
		list->nodes[0] = *node;
		sift_down(list, 0);
	}
}

/* The nodes that one node dominates: each is worked out once, with all on the way up. */
struct subtree {
	uint64_t *inside, *known;
	uint32_t node_count;
	const uint32_t *idom;
};

static void subtree_deinit(struct subtree *subtree)
{
	if (subtree->inside)
		bitmap_free(subtree->inside, subtree->node_count);
	if (subtree->known)
		bitmap_free(subtree->known, subtree->node_count);
}

static enum hd_status subtree_init(struct subtree *subtree, const struct dominators *dominators,
				   uint32_t top, struct hd_error *err)
{
	*subtree =
		(struct subtree){ .node_count = dominators->node_count, .idom = dominators->idom };
	subtree->inside = bitmap_alloc(subtree->node_count);
	subtree->known = bitmap_alloc(subtree->node_count);
	if (!subtree->inside || !subtree->known) {
		return fail_nomem(err);
	}
	(void)bitmap_add(subtree->inside, top);
	(void)bitmap_add(subtree->known, top);
	return HD_OK;
}

static bool subtree_has(struct subtree *subtree, uint32_t node)
{
	uint32_t up = node;
	while (up != HD_NONE && !bitmap_has(subtree->known, up))
		up = subtree->idom[up];
	bool inside = up != HD_NONE && bitmap_has(subtree->inside, up);
	for (; node != up; node = subtree->idom[node]) {
		(void)bitmap_add(subtree->known, node);
		if (inside)
			(void)bitmap_add(subtree->inside, node);
	}
	return inside;
}

/* Offer every object that is alive and, when @p subtree is given, in it. */
static enum hd_status collect_top_nodes(struct call *call, const struct dominators *dominators,
					struct subtree *subtree, struct top_list *list)
{
	for (uint32_t node = 0; node < call->graph->object_count; node++) {
		if (node % JOB_STRIDE == 0)
			TRY(call_check(call));
		struct top_node top = { .node = node,
					.count = dominators->retained_count[node],
					.retained = dominators_size(dominators, node) };
		if (top.count && (!subtree || subtree_has(subtree, node)))
			offer_top_node(list, &top);
	}
	return HD_OK;
}

ORDER_BY(by_node, struct top_node, node)

static int most_first(const void *a, const void *b)
{
	const struct top_node *x = a, *y = b;
	return is_less(y, x) ? -1 : is_less(x, y);
}

/* Parents by position; every shown node's dominator is shown too, unless it is above the top. */
static void link_parents(struct top_list *list, const struct dominators *dominators)
{
	qsort(list->nodes, list->count, sizeof(*list->nodes), by_node);
	for (size_t i = 0; i < list->count; i++) {
		struct top_node key = { .node = dominators->idom[list->nodes[i].node] };
		const struct top_node *parent =
			bsearch(&key, list->nodes, list->count, sizeof(key), by_node);
		list->nodes[i].parent = parent ? (uint32_t)(parent - list->nodes) : HD_NONE;
		list->nodes[i].position = (uint32_t)i;
	}
}

#define NODE_LIST(X)                                                                    \
	X(NODE_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "the object")              \
	X(NODE_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")                 \
	X(NODE_SIZE, "size", NULL, KIND_BYTES, 0, 0, "its own bytes")                   \
	X(NODE_RETAINED, "retained", NULL, KIND_BYTES, 0, 0,                            \
	  "bytes that would be freed with it, its own among them")                      \
	X(NODE_COUNT, "count", NULL, KIND_NUMBER, 0, 0,                                 \
	  "objects that would be freed with it, and itself")                            \
	X(NODE_PARENT, "parent", NULL, KIND_ADDRESS, 0, 0,                              \
	  "the object that dominates it; null: no single one does")                     \
	X(NODE_ROOT_KIND, "root.kind", NULL, KIND_TEXT, 0, 0,                           \
	  "kind of the nearest root that it is reached from")                           \
	X(NODE_ROOT, "root.name", NULL, KIND_TEXT, 0, 0,                                \
	  "its name: for a static its field, for locals their method; null: none")      \
	X(NODE_LABEL, NULL, NULL, KIND_TEXT, 0, 0, NULL)   /* text only: of the root */ \
	X(NODE_DEPTH, NULL, NULL, KIND_NUMBER, 0, 0, NULL) /* text only: in the tree */

COLUMNS(node, NODE_COLUMNS, NODE_LIST);

/* A number that ends at @p width, and a blank. */
static void put_right_number(struct out *out, uint64_t number, size_t width)
{
	char buf[NUMBER_SIZE];
	size_t size = strlen(format_thousands(number, buf));
	out_pad(out, size < width ? width - size : 0);
	text_append(&out->text, buf, size);
	text_append(&out->text, " ", 1);
}

static void node_layout(struct out *out, const struct cell *cells)
{
	uint64_t depth = cells[NODE_DEPTH].number;
	put_right_number(out, cells[NODE_RETAINED].number, 14);
	put_right_number(out, cells[NODE_COUNT].number, 12);
	put_right_number(out, cells[NODE_SIZE].number, 12);
	out_pad(out, 2 * (size_t)(depth < TREE_INDENT_MAX ? depth : TREE_INDENT_MAX));
	out_begin_style(out, STYLE_ADDRESS);
	text_hex(&out->text, cells[NODE_ADDRESS].number, 1, false);
	out_end_style(out);
	out_puts(out, " ");
	out_type_cell(out, &cells[NODE_TYPE]);
	/* An object that others dominate has the root of these. */
	if (!cells[NODE_PARENT].is_there && cells[NODE_ROOT_KIND].is_there) {
		out_puts(out, " (");
		if (cells[NODE_ROOT].is_there) {
			out_begin_name(out, FIT_METHOD);
			text_escape(&out->text, cells[NODE_ROOT].text.bytes,
				    cells[NODE_ROOT].text.size);
			out_end_name(out);
			out_puts(out, ", ");
		}
		out_puts(out, cells[NODE_LABEL].text.bytes);
		out_puts(out, ")");
	}
	out_puts(out, "\n");
}

SCHEMA(node, .name = "nodes", .is_main = true,
       .heading = "      Retained        Count         Size Object", .layout = node_layout);

/* The nearest root that @p node is reached from; HD_NONE: it is not. */
static uint32_t root_of_node(const struct root_paths *paths, uint32_t node)
{
	while (paths->parents[node] && paths->parents[node] != node + 1)
		node = paths->parents[node] - 1;
	for (size_t i = 0; i < paths->seeds_count && paths->parents[node]; i++) {
		if (paths->seeds[i].node == node)
			return paths->seeds[i].root;
	}
	return HD_NONE;
}

static void write_dominator(struct call *call, const struct dominated_by *from,
			    const struct top_node *top, uint32_t depth)
{
	const struct dominators *dominators = from->dominators;
	uint32_t root = root_of_node(&from->paths, top->node);
	const struct hd_graph *graph = call->graph;
	const struct graph_type *type = &graph->types[graph->node_types[top->node]];
	uint32_t idom = dominators->idom[top->node];
	struct cell cells[NODE_COLUMNS] = {
		[NODE_ADDRESS] = cell_number(graph_id(graph, top->node)),
		[NODE_TYPE] = cell_type(type->name, type->name_size, type->id),
		[NODE_SIZE] = cell_number(graph_size(graph, top->node)),
		[NODE_RETAINED] = cell_number(top->retained),
		[NODE_COUNT] = cell_number(dominators->retained_count[top->node]),
		[NODE_DEPTH] = cell_number(depth),
	};
	if (root != HD_NONE) {
		cells[NODE_ROOT_KIND] = cell_string(root_kind_name(graph->roots[root].kind));
		cells[NODE_LABEL] = cell_string(root_kind_label(graph, root));
		cells[NODE_ROOT] = cell_or_null(cell_string(tree_root_name(graph, root)));
	}
	if (idom != HD_NONE)
		cells[NODE_PARENT] = cell_number(graph_id(graph, idom));
	answer_row(&call->answer, cells);
}

/* The tree of the list: first child and next sibling by position + 1, 0 = none. */
struct tree {
	uint32_t *first; /* one more than nodes: the last are those without a shown parent */
	uint32_t *next;
	uint32_t *stack; /* the next sibling to write at each level */
};

/* Build it from the nodes in the order of siblings. */
static enum hd_status tree_init(struct tree *tree, const struct top_list *list,
				struct hd_error *err)
{
	size_t count = list->count;
	HD_FREE struct top_node *order = mem_alloc(count, sizeof(*order));
	tree->first = mem_calloc(3 * (count + 1), sizeof(*tree->first));
	if (!order || !tree->first) {
		mem_free(tree->first);
		return fail_nomem(err);
	}
	tree->next = tree->first + count + 1;
	tree->stack = tree->next + count + 1;
	if (count) {
		memcpy(order, list->nodes, count * sizeof(*order));
		qsort(order, count, sizeof(*order), most_first);
	}
	/* Least first, each put before its siblings: the most ends up in front. */
	for (size_t i = count; i-- > 0;) {
		uint32_t parent = order[i].parent == HD_NONE ? (uint32_t)count : order[i].parent;
		tree->next[order[i].position] = tree->first[parent];
		tree->first[parent] = order[i].position + 1;
	}
	tree->stack[0] = tree->first[count];
	return HD_OK;
}

/* Write the tree in preorder. */
static enum hd_status write_dominator_tree(struct call *call, const struct dominated_by *from,
					   const struct top_list *list)
{
	struct tree tree = { 0 };
	TRY(tree_init(&tree, list, call->err));
	enum hd_status status = HD_OK;
	for (uint32_t depth = 0; status == HD_OK;) {
		if (!tree.stack[depth]) {
			if (!depth--)
				break;
			continue;
		}
		uint32_t self = tree.stack[depth] - 1;
		tree.stack[depth] = tree.next[self];
		write_dominator(call, from, &list->nodes[self], depth);
		if (tree.first[self])
			tree.stack[++depth] = tree.first[self];
		status = call_check(call);
	}
	mem_free(tree.first);
	return status;
}

/* The objects that retain most, of all that are alive or of those that @p ancestor dominates. */
static enum hd_status write_top(struct call *call, const struct dominators *dominators,
				uint32_t ancestor)
{
	uint64_t top = call_limit(call, OPT_TOP, DEFAULT_TOP);
	if (top > call->graph->object_count)
		top = call->graph->object_count;
	struct top_list list = { .capacity = (size_t)top };
	HD_CLEANUP(subtree) struct subtree subtree = { 0 };
	if (ancestor != HD_NONE)
		TRY(subtree_init(&subtree, dominators, ancestor, call->err));
	HD_FREE struct top_node *nodes = mem_alloc(list.capacity, sizeof(*nodes));
	TRY_MEMORY(nodes, call->err);
	list.nodes = nodes;
	job_begin(&call->job, "Sorting objects", call->graph->object_count);
	TRY(collect_top_nodes(call, dominators, ancestor == HD_NONE ? NULL : &subtree, &list));
	link_parents(&list, dominators);
	answer_table(&call->answer, &node_schema, NULL);
	struct dominated_by from = { .dominators = dominators };
	enum hd_status status =
		root_paths_init(call->graph, false, &call->job, &from.paths, call->err);
	job_end(&call->job);
	if (status == HD_OK)
		status = write_dominator_tree(call, &from, &list);
	root_paths_deinit(&from.paths);
	(void)answer_table_end(&call->answer);
	return status;
}

/* Write the objects that nothing dominates, by type: together they are all that is alive. */
static enum hd_status write_dominator_types(struct call *call, const struct dominators *dominators)
{
	HD_CLEANUP(statistics) struct statistics statistics = { 0 };
	TRY(statistics_of_graph(&statistics, call->graph, 0, call->err));
	for (uint32_t node = 0; node < call->graph->object_count; node++) {
		if (dominators->retained_count[node] && dominators->idom[node] == HD_NONE) {
			statistics_add(&statistics, call->graph->node_types[node],
				       dominators_size(dominators, node));
		}
	}
	statistics_sort(&statistics, false, false);
	statistics.limit = call->options[OPT_TOP].number;
	answer_remark(&call->answer, "Retained by objects that no other one dominates:\n");
	statistics_table(&call->answer, &statistics);
	return HD_OK;
}

/* A dead object dominates nothing. */
static void write_dead(struct call *call, uint32_t ancestor)
{
	const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	answer_remark(&call->answer,
		      call_knows_dead(call)
			      ? "%" PRIx64
				" is dead: no root keeps it alive, it dominates nothing.\n"
			      : "Nothing was found that keeps %" PRIx64 " alive.\n",
		      graph_id(call->graph, ancestor));
	answer_table(&call->answer, &node_schema, &options);
	(void)answer_table_end(&call->answer);
}

static enum hd_status run_dominators(struct call *call)
{
	uint32_t ancestor = HD_NONE;
	if (call->words[0].given && call->options[OPT_STAT].given) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "-stat is about the whole heap: give no ID");
	}
	if (call->words[0].given)
		TRY(call_object(call, 0, &ancestor));
	const struct dominators *dominators;
	TRY(session_dominators(call->session, &call->job, &dominators, call->err));
	bool is_dead = ancestor != HD_NONE && !dominators->retained_count[ancestor];
	call->findings = is_dead;
	if (is_dead) {
		write_dead(call, ancestor);
	} else if (call->options[OPT_STAT].given) {
		TRY(write_dominator_types(call, dominators));
	} else {
		TRY(write_top(call, dominators, ancestor));
	}
	if (is_dead) {
		dead_completeness_json(call);
		dead_completeness_write(call, "it may still be alive");
	} else {
		completeness_json(call);
		completeness_write(call, RETAINED_ROUGHLY);
	}
	return HD_OK;
}

COMMAND(dominators, .has_rows = true, .summary = "show the objects that retain most, as a tree",
	.description =
		"An object dominates another when every path from the roots to the other leads\n"
		"through it. With ID only its subtree is shown. What no other object dominates has in\n"
		"parentheses the nearest root that it is reached from. -stat counts such objects by\n"
		"type; TotalSize is then what they retain.\n",
	.example = "dominators -top 20", .needs = NEEDS_GRAPH, .options = dominators_options,
	.words = { { "ID", VALUE_ADDRESS, true } });
