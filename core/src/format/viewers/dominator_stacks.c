/* SPDX-License-Identifier: MIT */
#include "format/viewers/dominator_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "format/viewers/root_names.h"
#include "util/alloc.h"
#include "util/bitmap.h"

/* If an object has several roots, the one that says most about it. */
static const uint8_t kinds[ROOT_KINDS] = {
	HD_ROOT_STATIC, HD_ROOT_THREAD_STATIC, HD_ROOT_HANDLE, HD_ROOT_STACK, HD_ROOT_FINALIZER,
	HD_ROOT_GC,     HD_ROOT_INTERNAL,
};

struct stack_maker {
	struct dominator_stacks *stacks;
	const struct hd_graph *graph;
	const struct dominators *dominators;
	uint32_t *first;       /* what a node dominates immediately: the first, + 1 */
	uint32_t *next;        /* next in the list of its dominator, later in that of its branch; +
			        * 1 */
	uint64_t *taken;       /* one bit per node: it is in a root's branch */
	uint32_t *type_frames; /* type_count */
	uint32_t *children;    /* by frame and level: branch + 1 below the current one, or 0 */
	size_t children_count;
	uint64_t units;
	struct job *job;
	struct hd_error *err;
};

static bool is_live(const struct stack_maker *maker, uint32_t node)
{
	return !graph_is_missing(maker->graph, node) && maker->dominators->retained_count[node];
}

/* Only roots, and nodes that several roots share, have no dominator. */
static bool is_top(const struct stack_maker *maker, uint32_t node)
{
	return is_live(maker, node) && maker->dominators->idom[node] == HD_NONE;
}

static uint32_t frame_of_node(const struct stack_maker *maker, uint32_t node)
{
	return maker->type_frames[maker->graph->node_types[node]];
}

static enum hd_status step_stacks(struct stack_maker *maker)
{
	if (++maker->units % JOB_STRIDE == 0 && !job_step(maker->job, 0, JOB_STRIDE))
		return fail_cancelled(maker->err);
	return HD_OK;
}

static enum hd_status add_frame_name(struct stack_maker *maker, const char *bytes, size_t size,
				     uint32_t *ret)
{
	return string_table_add(&maker->stacks->frames, bytes, size, ret, maker->err);
}

static enum hd_status add_branch(struct stack_maker *maker, uint32_t parent, uint32_t frame,
				 enum stack_level level)
{
	struct dominator_stacks *stacks = maker->stacks;
	if (stacks->branches_count >= HD_NONE || !PAGES_RESERVE(stacks, branches))
		return fail_nomem(maker->err);
	uint16_t above = parent == HD_NONE ? 0 : stacks->branches[parent].depth;
	stacks->branches[stacks->branches_count++] =
		(struct stack_branch){ .parent = parent,
				       .frame = frame,
				       .depth = parent == HD_NONE ? 0 : (uint16_t)(above + 1),
				       .level = (uint8_t)level };
	return HD_OK;
}

/* Make the lists of what each node dominates, and the sum of what the tops dominate. */
static enum hd_status link_nodes(struct stack_maker *maker)
{
	const struct dominators *dominators = maker->dominators;
	for (uint32_t node = maker->graph->object_count; node-- > 0;) {
		TRY(step_stacks(maker));
		if (!is_live(maker, node))
			continue;
		uint32_t idom = dominators->idom[node];
		if (idom == HD_NONE) {
			maker->stacks->size += dominators_size(dominators, node);
			continue;
		}
		maker->next[node] = maker->first[idom];
		maker->first[idom] = node + 1;
	}
	return HD_OK;
}

/* All names, so that their number is known. */
static enum hd_status add_frames(struct stack_maker *maker)
{
	const struct hd_graph *graph = maker->graph;
	uint32_t frame;
	for (uint32_t i = 0; i < graph->type_count; i++) {
		size_t size;
		const char *name = type_own_name(graph, i, &size);
		TRY(add_frame_name(maker, name, size, &maker->type_frames[i]));
	}
	for (uint32_t i = 0; i < graph->root_count; i++) {
		size_t size;
		const char *name = root_own_name(graph, i, &size);
		if (name)
			TRY(add_frame_name(maker, name, size, &frame));
	}
	maker->children_count = 2 * maker->stacks->frames.places_count;
	maker->children = pages_alloc(maker->children_count, sizeof(*maker->children));
	return maker->children ? HD_OK : fail_nomem(maker->err);
}

/* Make the first branch and those of the kinds; the last one is for what several roots share. */
static enum hd_status add_kinds(struct stack_maker *maker)
{
	static const char several[] = "(Several roots)", other[] = "(other)";
	struct dominator_stacks *stacks = maker->stacks;
	uint32_t frame;
	TRY(add_frame_name(maker, other, sizeof(other) - 1, &stacks->other_frame));
	TRY(add_branch(maker, HD_NONE, stacks->other_frame, STACK_ALL));
	for (size_t i = 0; i < ROOT_KINDS; i++) {
		const char *name = root_group_name(maker->graph, kinds[i]);
		TRY(add_frame_name(maker, name, strlen(name), &frame));
		TRY(add_branch(maker, 0, frame, STACK_KIND));
	}
	TRY(add_frame_name(maker, several, sizeof(several) - 1, &frame));
	TRY(add_branch(maker, 0, frame, STACK_ROOT));
	stacks->branches[0].first_child = 1;
	stacks->branches[0].child_count = ROOT_KINDS + 1;
	stacks->branches[0].total = stacks->size;
	return HD_OK;
}

static uint32_t *child_slot(const struct stack_maker *maker, uint32_t frame, enum stack_level level)
{
	return &maker->children[2 * (size_t)frame + (level == STACK_ROOT)];
}

/* Add @p node, with all that it dominates, to the branch with that frame below branch @p index. */
static enum hd_status place_in_branch(struct stack_maker *maker, uint32_t index, uint32_t frame,
				      enum stack_level level, uint32_t node)
{
	uint32_t *slot = child_slot(maker, frame, level);
	if (!*slot) {
		TRY(add_branch(maker, index, frame, level));
		*slot = (uint32_t)maker->stacks->branches_count;
	}
	struct stack_branch *child = &maker->stacks->branches[*slot - 1];
	child->total += dominators_size(maker->dominators, node);
	maker->next[node] = child->members;
	child->members = node + 1;
	return HD_OK;
}

static enum hd_status place_kind_roots(struct stack_maker *maker, uint32_t index)
{
	const struct hd_graph *graph = maker->graph;
	unsigned int own = index - 1 < ROOT_KINDS ? kinds[index - 1] : HD_ROOT_INTERNAL;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		unsigned int kind = root->kind < ROOT_KINDS ? root->kind : HD_ROOT_INTERNAL;
		TRY(step_stacks(maker));
		if (kind != own || root_is_weak(root) || !is_top(maker, root->node) ||
		    !bitmap_add(maker->taken, root->node))
			continue;
		maker->stacks->branches[index].total +=
			dominators_size(maker->dominators, root->node);
		size_t size;
		const char *name = root_own_name(graph, i, &size);
		if (!name) {
			TRY(place_in_branch(maker, index, frame_of_node(maker, root->node),
					    STACK_TYPE, root->node));
			continue;
		}
		uint32_t frame;
		TRY(add_frame_name(maker, name, size, &frame));
		TRY(place_in_branch(maker, index, frame, STACK_ROOT, root->node));
	}
	return HD_OK;
}

/* Nodes without a dominator that are not roots are reached from several roots. */
static enum hd_status take_shared(struct stack_maker *maker, uint32_t index)
{
	struct stack_branch *branch = &maker->stacks->branches[index];
	for (uint32_t node = 0; node < maker->graph->object_count; node++) {
		TRY(step_stacks(maker));
		if (!is_top(maker, node) || bitmap_has(maker->taken, node))
			continue;
		branch->total += dominators_size(maker->dominators, node);
		maker->next[node] = branch->members;
		branch->members = node + 1;
	}
	return HD_OK;
}

static enum hd_status place_members(struct stack_maker *maker, uint32_t index)
{
	for (uint32_t at = maker->stacks->branches[index].members, then; at; at = then) {
		then = maker->next[at - 1];
		TRY(step_stacks(maker));
		TRY(place_in_branch(maker, index, frame_of_node(maker, at - 1), STACK_TYPE,
				    at - 1));
	}
	return HD_OK;
}

/* Put what @p node dominates below branch @p index; objects of its type before @p waiting. */
static enum hd_status place_below(struct stack_maker *maker, uint32_t index, uint32_t node,
				  uint32_t *waiting)
{
	uint32_t own_frame = maker->stacks->branches[index].frame;
	for (uint32_t at = maker->first[node], then; at; at = then) {
		uint32_t frame = frame_of_node(maker, at - 1);
		then = maker->next[at - 1];
		if (frame != own_frame) {
			TRY(place_in_branch(maker, index, frame, STACK_TYPE, at - 1));
			continue;
		}
		maker->stacks->branches[index].is_run = true;
		maker->next[at - 1] = *waiting;
		*waiting = at;
	}
	return HD_OK;
}

static enum hd_status place_dominated(struct stack_maker *maker, uint32_t index)
{
	uint32_t waiting = maker->stacks->branches[index].members;
	while (waiting) {
		uint32_t node = waiting - 1;
		waiting = maker->next[node];
		maker->stacks->branches[index].self += graph_size(maker->graph, node);
		TRY(step_stacks(maker));
		TRY(place_below(maker, index, node, &waiting));
	}
	return HD_OK;
}

static int compare_stack_branches(const void *a, const void *b)
{
	const struct stack_branch *x = a, *y = b;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return (int)x->level - (int)y->level;
}

/* Keep the large ones among the branches from @p first to the end, which are all below @p index. */
static void close_children(struct stack_maker *maker, uint32_t index, uint32_t first)
{
	struct dominator_stacks *stacks = maker->stacks;
	struct stack_branch *parent = &stacks->branches[index];
	size_t kept = first;
	for (size_t i = first; i < stacks->branches_count; i++) {
		struct stack_branch child = stacks->branches[i];
		*child_slot(maker, child.frame, child.level) = 0;
		/* The path to the child's "(other)" has one frame more. */
		if (!child.total || child.total < stacks->size / STACK_SMALL_PART ||
		    child.depth + 1u >= STACK_DEPTH_MAX) {
			parent->other += child.total;
		} else {
			stacks->branches[kept++] = child;
		}
	}
	qsort(stacks->branches + first, kept - first, sizeof(*stacks->branches),
	      compare_stack_branches);
	while (kept > STACK_BRANCHES_MAX && kept > first && parent->level >= STACK_ROOT)
		parent->other += stacks->branches[--kept].total;
	stacks->branches_count = kept;
	parent->first_child = first;
	parent->child_count = (uint32_t)(kept - first);
}

static enum hd_status open_stack_branch(struct stack_maker *maker, uint32_t index)
{
	uint32_t first = (uint32_t)maker->stacks->branches_count;
	switch ((enum stack_level)maker->stacks->branches[index].level) {
	case STACK_KIND:
		TRY(place_kind_roots(maker, index));
		break;
	case STACK_ROOT:
		if (index == ROOT_KINDS + 1)
			TRY(take_shared(maker, index));
		TRY(place_members(maker, index));
		break;
	case STACK_TYPE:
		TRY(place_dominated(maker, index));
		break;
	case STACK_ALL:
		return HD_OK;
	}
	close_children(maker, index, first);
	return HD_OK;
}

static enum hd_status make_stacks(struct stack_maker *maker)
{
	const struct hd_graph *graph = maker->graph;
	maker->first = pages_alloc(graph->node_count, sizeof(*maker->first));
	maker->next = pages_alloc(graph->node_count, sizeof(*maker->next));
	maker->taken = bitmap_alloc(graph->node_count);
	maker->type_frames = pages_alloc(graph->type_count, sizeof(*maker->type_frames));
	TRY_MEMORY(maker->first && maker->next && maker->taken && maker->type_frames, maker->err);
	TRY(link_nodes(maker));
	TRY(add_kinds(maker));
	TRY(add_frames(maker));
	for (uint32_t i = 0; i < maker->stacks->branches_count; i++)
		TRY(open_stack_branch(maker, i));
	return HD_OK;
}

enum hd_status dominator_stacks_init(struct dominator_stacks *ret, const struct hd_graph *graph,
				     const struct dominators *dominators, struct job *job,
				     struct hd_error *err)
{
	*ret = (struct dominator_stacks){ 0 };
	TRY(job_check_memory(job, (uint64_t)graph->node_count * 2 * sizeof(uint32_t), err));
	struct stack_maker maker = {
		.stacks = ret, .graph = graph, .dominators = dominators, .job = job, .err = err
	};
	job_begin(job, "Merging dominators", 2 * (uint64_t)graph->object_count);
	enum hd_status status = make_stacks(&maker);
	pages_free(maker.first, graph->node_count, sizeof(*maker.first));
	pages_free(maker.next, graph->node_count, sizeof(*maker.next));
	bitmap_free(maker.taken, graph->node_count);
	pages_free(maker.type_frames, graph->type_count, sizeof(*maker.type_frames));
	pages_free(maker.children, maker.children_count, sizeof(*maker.children));
	return status;
}

void dominator_stacks_deinit(struct dominator_stacks *stacks)
{
	string_table_deinit(&stacks->frames);
	pages_free(stacks->branches, stacks->branches_capacity, sizeof(*stacks->branches));
	*stacks = (struct dominator_stacks){ 0 };
}

uint32_t dominator_stacks_next(const struct dominator_stacks *stacks, uint32_t branch)
{
	if (stacks->branches[branch].child_count)
		return stacks->branches[branch].first_child;
	while (branch) {
		const struct stack_branch *parent =
			&stacks->branches[stacks->branches[branch].parent];
		if (branch + 1 < parent->first_child + parent->child_count)
			return branch + 1;
		branch = stacks->branches[branch].parent;
	}
	return HD_NONE;
}

uint32_t dominator_stacks_path(const struct dominator_stacks *stacks, uint32_t branch,
			       uint32_t path[STACK_DEPTH_MAX])
{
	uint32_t count = stacks->branches[branch].depth;
	for (uint32_t i = count; i-- > 0;) {
		path[i] = branch;
		branch = stacks->branches[branch].parent;
	}
	return count;
}
