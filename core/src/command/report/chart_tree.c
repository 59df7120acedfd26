/* SPDX-License-Identifier: MIT */
#include "command/report/chart_tree.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* Smaller parts of the whole are left out. */
#define CHART_SMALL_PART 1000u

/* Where the nodes of a tree are found by parent and name. */
struct chart_maker {
	struct chart_tree *tree;
	const struct dominator_stacks *stacks;
	const char *const *modules; /* by frame; NULL: none is known */
	uint32_t *of_branch;        /* by branch: its node, + 1 */
	uint32_t *slots;            /* node + 1; a power of two of them */
	size_t slot_count;
	struct hd_error *err;
};

size_t chart_namespace_size(const char *name, size_t size)
{
	size_t dot = 0;
	for (size_t i = 0; i < size && !strchr("<[`(+", name[i]); i++) {
		if (name[i] == '.')
			dot = i;
	}
	return dot;
}

static bool is_node(const struct chart_node *node, uint32_t parent, const char *name, size_t size,
		    enum chart_level level)
{
	return node->parent == parent && node->level == level && node->name_size == size &&
	       (!size || memcmp(node->name, name, size) == 0);
}

static size_t hash_chart_node(uint32_t parent, const char *name, size_t size)
{
	uint64_t hash = 14695981039346656037u ^ parent;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
	return (size_t)(hash ^ hash >> 32);
}

/* Add a total to the node with that name below @p parent. */
static uint32_t add_chart_node(struct chart_maker *maker, uint32_t parent, const char *name,
			       size_t size, enum chart_level level, uint64_t total)
{
	struct chart_tree *tree = maker->tree;
	size_t slot = hash_chart_node(parent, name, size) & (maker->slot_count - 1);
	for (; maker->slots[slot]; slot = (slot + 1) & (maker->slot_count - 1)) {
		uint32_t found = maker->slots[slot] - 1;
		if (is_node(&tree->nodes[found], parent, name, size, level)) {
			tree->nodes[found].total += total;
			return found;
		}
	}
	tree->nodes[tree->count] = (struct chart_node){
		.name = name,
		.name_size = (uint32_t)size,
		.total = total,
		.parent = parent,
		.depth = parent == HD_NONE ? 0 : (uint16_t)(tree->nodes[parent].depth + 1),
		.level = (uint8_t)level,
	};
	maker->slots[slot] = (uint32_t)++tree->count;
	return (uint32_t)tree->count - 1;
}

/* The node that a branch's own is below. */
static uint32_t parent_node(struct chart_maker *maker, const struct stack_branch *branch,
			    enum chart_view view, const char *name, size_t size)
{
	const struct stack_branch *above = &maker->stacks->branches[branch->parent];
	if (view == CHART_BY_ROOT || above->level == STACK_TYPE)
		return maker->of_branch[branch->parent] - 1;
	uint32_t parent = 0;
	if (view == CHART_BY_MODULE) {
		const char *module = maker->modules ? maker->modules[branch->frame] : NULL;
		parent = add_chart_node(maker, 0, module ? module : "", module ? strlen(module) : 0,
					CHART_MODULE, branch->total);
	}
	return add_chart_node(maker, parent, name, chart_namespace_size(name, size),
			      CHART_NAMESPACE, branch->total);
}

static void add_branch_node(struct chart_maker *maker, uint32_t index, enum chart_view view)
{
	const struct dominator_stacks *stacks = maker->stacks;
	const struct stack_branch *branch = &stacks->branches[index];
	bool is_type = branch->level == STACK_TYPE;
	if (!branch->total || (view != CHART_BY_ROOT && !is_type))
		return;
	size_t size;
	const char *name = string_table_at(&stacks->frames, branch->frame, &size);
	uint32_t parent = parent_node(maker, branch, view, name, size);
	if (parent >= maker->tree->count || maker->tree->nodes[parent].depth >= CHART_DEPTH_MAX)
		return;
	maker->of_branch[index] =
		1 + add_chart_node(maker, parent, name, size, is_type ? CHART_TYPE : CHART_ROOT,
				   branch->total);
}

/* By total; of equal ones, parents come before children. */
static int compare_chart_nodes(const void *left, const void *right)
{
	const struct chart_node *a = left, *b = right;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/*
 * Keep the largest nodes, level by level: sorted by total, each has its parent before it, so that a
 * list of children for each is enough.
 */
static enum hd_status order_nodes(struct chart_tree *tree, size_t most, struct hd_error *err)
{
	size_t count = tree->count;
	uint64_t least = tree->nodes[0].total / CHART_SMALL_PART;
	HD_FREE uint32_t *place = mem_calloc(count, sizeof(*place));
	HD_FREE uint32_t *next = mem_calloc(count, sizeof(*next));
	struct chart_node *kept = pages_alloc(tree->capacity, sizeof(*kept));
	if (place && next && kept) {
		for (size_t i = 0; i < count; i++)
			tree->nodes[i].rank = (uint32_t)i;
		qsort(tree->nodes, count, sizeof(*tree->nodes), compare_chart_nodes);
		for (size_t i = 0; i < count; i++)
			place[tree->nodes[i].rank] = (uint32_t)i;
		while (count > 1 && (count > most || tree->nodes[count - 1].total < least))
			count--;
		/* Lists of children, the largest first: first_child and next are + 1 here. */
		for (size_t i = count; i-- > 1;) {
			struct chart_node *parent = &tree->nodes[place[tree->nodes[i].parent]];
			next[i] = parent->first_child;
			parent->first_child = (uint32_t)i + 1;
		}
		size_t filled = 1;
		kept[0] = tree->nodes[0];
		for (size_t i = 0; i < filled; i++) {
			uint32_t child = kept[i].first_child;
			kept[i].first_child = (uint32_t)filled;
			for (; child; child = next[child - 1]) {
				kept[filled] = tree->nodes[child - 1];
				kept[filled].parent = (uint32_t)i;
				filled++;
			}
			kept[i].child_count = (uint32_t)filled - kept[i].first_child;
		}
		memcpy(tree->nodes, kept, filled * sizeof(*kept));
		tree->count = filled;
	}
	bool is_done = place && next && kept;
	pages_free(kept, tree->capacity, sizeof(*kept));
	return is_done ? HD_OK : fail_nomem(err);
}

static enum hd_status make_nodes(struct chart_maker *maker, enum chart_view view)
{
	const struct dominator_stacks *stacks = maker->stacks;
	struct chart_tree *tree = maker->tree;
	/* A branch adds its own node, and perhaps one for its namespace and one for its module. */
	tree->capacity = 3 * stacks->branches_count + 1;
	for (maker->slot_count = 64; maker->slot_count < 2 * tree->capacity;)
		maker->slot_count *= 2;
	tree->nodes = pages_alloc(tree->capacity, sizeof(*tree->nodes));
	maker->of_branch = pages_alloc(stacks->branches_count, sizeof(*maker->of_branch));
	maker->slots = pages_alloc(maker->slot_count, sizeof(*maker->slots));
	TRY_MEMORY(tree->nodes && maker->of_branch && maker->slots, maker->err);
	maker->of_branch[0] = 1 + add_chart_node(maker, HD_NONE, "", 0, CHART_TOP, stacks->size);
	for (uint32_t i = 1; i < stacks->branches_count; i++)
		add_branch_node(maker, i, view);
	return HD_OK;
}

enum hd_status chart_tree_init(struct chart_tree *ret, const struct dominator_stacks *stacks,
			       enum chart_view view, const char *const *modules, size_t most,
			       struct hd_error *err)
{
	struct chart_maker maker = {
		.tree = ret, .stacks = stacks, .modules = modules, .err = err
	};
	*ret = (struct chart_tree){ 0 };
	enum hd_status status = make_nodes(&maker, view);
	pages_free(maker.of_branch, stacks->branches_count, sizeof(*maker.of_branch));
	pages_free(maker.slots, maker.slot_count, sizeof(*maker.slots));
	TRY(status);
	return order_nodes(ret, most, err);
}

void chart_tree_deinit(struct chart_tree *tree)
{
	pages_free(tree->nodes, tree->capacity, sizeof(*tree->nodes));
	*tree = (struct chart_tree){ 0 };
}

/* The worst ratio of sides of a row with sum @p sum of totals, along a side of that length. */
static double worst_ratio(double sum, double largest, double smallest, double side)
{
	double thickness = sum / side, long_side = largest / thickness,
	       short_side = smallest / thickness;
	double one = long_side > thickness ? long_side / thickness : thickness / long_side;
	double other = short_side > thickness ? short_side / thickness : thickness / short_side;
	return one > other ? one : other;
}

/* Place the children [@p from, @p to) of areas total * @p scale in a row along the shorter side. */
static void place_row(const struct chart_tree *tree, uint32_t from, uint32_t to, double scale,
		      struct chart_box *room, struct chart_box *ret)
{
	double sum = 0;
	for (uint32_t i = from; i < to; i++)
		sum += (double)tree->nodes[i].total * scale;
	bool is_wide = room->width >= room->height;
	double side = is_wide ? room->height : room->width;
	double thickness = side > 0 ? sum / side : 0, at = 0;
	for (uint32_t i = from; i < to; i++) {
		double length =
			thickness > 0 ? (double)tree->nodes[i].total * scale / thickness : 0;
		ret[i] = is_wide ? (struct chart_box){ room->x, room->y + at, thickness, length }
				 : (struct chart_box){ room->x + at, room->y, length, thickness };
		at += length;
	}
	if (is_wide) {
		room->x += thickness;
		room->width -= thickness;
	} else {
		room->y += thickness;
		room->height -= thickness;
	}
}

/* The end of the row that begins with child @p from: one more would make it worse. */
static uint32_t row_end(const struct chart_tree *tree, uint32_t from, uint32_t to, double scale,
			const struct chart_box *room)
{
	double side = room->width < room->height ? room->width : room->height;
	double largest = (double)tree->nodes[from].total * scale, sum = largest;
	double worst = worst_ratio(sum, largest, largest, side);
	uint32_t end = from + 1;
	for (; end < to; end++) {
		double next = (double)tree->nodes[end].total * scale;
		double then = worst_ratio(sum + next, largest, next, side);
		if (then > worst)
			break;
		worst = then;
		sum += next;
	}
	return end;
}

static void place_children(const struct chart_tree *tree, const struct chart_node *node,
			   struct chart_box room, struct chart_box *ret)
{
	uint32_t at = node->first_child, end = node->first_child + node->child_count;
	double scale = room.width * room.height / (double)node->total;
	while (at < end && room.width > 0 && room.height > 0) {
		uint32_t row = row_end(tree, at, end, scale, &room);
		place_row(tree, at, row, scale, &room, ret);
		at = row;
	}
}

void chart_tree_squares(const struct chart_tree *tree, const struct chart_box *whole, double head,
			struct chart_box *ret)
{
	const double margin = 2;
	memset(ret, 0, tree->count * sizeof(*ret));
	ret[0] = *whole;
	for (size_t i = 0; i < tree->count; i++) {
		const struct chart_node *node = &tree->nodes[i];
		double top = i ? head : 0, side = i ? margin : 0;
		struct chart_box room = { ret[i].x + side, ret[i].y + top, ret[i].width - 2 * side,
					  ret[i].height - top - side };
		if (node->total && room.width > 4 && room.height > 4)
			place_children(tree, node, room, ret);
	}
}
