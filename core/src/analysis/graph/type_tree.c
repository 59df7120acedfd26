/* SPDX-License-Identifier: MIT */
#include "analysis/graph/type_tree.h"

#include "util/alloc.h"
#include "util/bitmap.h"

/* A node that has to be added to a branch. */
struct branch_visit {
	uint32_t branch;
	uint32_t node;
};

/* A branch in the queue, and what it held when it was put in. */
struct candidate {
	uint64_t size, count;
	uint32_t branch;
};

/* The branches to open next: a heap, most bytes first. */
struct branch_queue {
	struct candidate *rows;
	size_t rows_count, rows_capacity;
};

/* The tree while it is made. */
struct tree_maker {
	struct type_tree *tree;
	const struct hd_graph *graph;
	const uint64_t *types;
	struct root_paths paths;
	uint32_t *counts; /* counted objects below each node, including itself; 0 when placed */
	uint64_t *sizes;
	uint32_t *
		members; /* the next node of a branch, + 1: paths.order, which is not needed then */
	struct hash_index index;     /* of branches */
	struct branch_visit *visits; /* a stack */
	size_t visits_count, visits_capacity;
	struct named_link *links; /* of one node */
	size_t links_count, links_capacity;
	uint32_t *touched;
	size_t touched_count, touched_capacity;
	struct branch_queue queue;
	struct job *job;
	struct hd_error *err;
};

static bool is_wanted_node(const struct tree_maker *maker, uint32_t node)
{
	return !graph_is_missing(maker->graph, node) &&
	       bitmap_has(maker->types, maker->graph->node_types[node]);
}

/* Count what is below each live node: from the farthest to the nearest. */
static enum hd_status count_below(struct tree_maker *maker)
{
	const struct root_paths *paths = &maker->paths;
	struct type_tree *tree = maker->tree;
	maker->counts = pages_alloc(paths->node_count, sizeof(*maker->counts));
	maker->sizes = pages_alloc(paths->node_count, sizeof(*maker->sizes));
	TRY_MEMORY(maker->counts && maker->sizes, maker->err);
	job_begin(maker->job, "Counting objects", paths->live_count);
	for (uint64_t i = paths->live_count; i-- > 0;) {
		uint32_t node = paths->order[i], parent = paths->parents[node] - 1;
		if (i % JOB_STRIDE == 0 && !job_step(maker->job, 0, JOB_STRIDE))
			return fail_cancelled(maker->err);
		if (is_wanted_node(maker, node)) {
			uint64_t size = graph_size(maker->graph, node);
			maker->counts[node]++;
			maker->sizes[node] += size;
			tree->found_count++;
			tree->found_size += size;
		}
		if (maker->counts[node] && parent != node) {
			maker->counts[parent] += maker->counts[node];
			maker->sizes[parent] += maker->sizes[node];
		}
	}
	return HD_OK;
}

/* Is the branch equal to the last one, which is not in the table yet? */
static bool is_branch(const void *arg, uint32_t index)
{
	const struct type_tree *tree = arg;
	const struct tree_branch *a = &tree->branches[index];
	const struct tree_branch *b = &tree->branches[tree->branches_count];
	if (a->parent != b->parent || a->type != b->type || a->name != b->name)
		return false;
	if (a->parent != HD_NONE)
		return true;
	const struct graph_root *x = &tree->graph->roots[a->root];
	const struct graph_root *y = &tree->graph->roots[b->root];
	const struct graph_root_detail *details = tree->graph->origins.details;
	return x->kind == y->kind && x->container == y->container &&
	       (!details || details[a->root].handle == details[b->root].handle);
}

enum hd_status tree_branch_find(struct type_tree *tree, struct hash_index *index,
				const struct tree_branch *branch, uint32_t *ret,
				struct hd_error *err)
{
	if (tree->branches_count >= HD_NONE || !PAGES_RESERVE(tree, branches))
		return fail_nomem(err);
	uint32_t fresh = (uint32_t)tree->branches_count;
	uint64_t hash = hash_mix(branch->parent, (uint64_t)branch->type << 32 | branch->name);
	if (branch->parent == HD_NONE)
		hash = hash_mix(hash, tree->graph->roots[branch->root].kind);
	tree->branches[fresh] = *branch;
	*ret = hash_index_add(index, hash, fresh, is_branch, tree);
	if (*ret == UINT32_MAX)
		return fail_nomem(err);
	tree->branches_count += *ret == fresh;
	return HD_OK;
}

/* Add @p node to a branch: now if it is open, else when it is opened. */
static enum hd_status give(struct tree_maker *maker, uint32_t index, uint32_t node)
{
	struct tree_branch *branch = &maker->tree->branches[index];
	if (branch->is_open) {
		TRY_MEMORY(PAGES_RESERVE(maker, visits), maker->err);
		maker->visits[maker->visits_count++] = (struct branch_visit){ index, node };
		return HD_OK;
	}
	maker->members[node] = branch->members;
	branch->members = node + 1;
	if (branch->is_touched)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(maker, touched), maker->err);
	branch->is_touched = true;
	maker->touched[maker->touched_count++] = index;
	return HD_OK;
}

uint32_t tree_branch_above(const struct type_tree *tree, uint32_t index, uint32_t type,
			   uint32_t name)
{
	for (; index != HD_NONE; index = tree->branches[index].parent) {
		const struct tree_branch *branch = &tree->branches[index];
		if (branch->type == type && branch->name == name && type != HD_NONE)
			return index;
	}
	return HD_NONE;
}

/* Put @p node, to which link @p name leads, below the branch @p index. */
static enum hd_status place_in_tree(struct tree_maker *maker, uint32_t index, uint32_t node,
				    uint32_t name)
{
	struct type_tree *tree = maker->tree;
	uint64_t count = maker->counts[node], size = maker->sizes[node];
	uint32_t type =
		graph_is_missing(maker->graph, node) ? HD_NONE : maker->graph->node_types[node];
	uint32_t above = tree_branch_above(tree, index, type, name);
	maker->counts[node] = 0;
	if (above != HD_NONE) {
		for (uint32_t i = index; i != above; i = tree->branches[i].parent) {
			tree->branches[i].count -= count;
			tree->branches[i].size -= size;
		}
		tree->branches[above].repeats = true;
		return give(maker, above, node);
	}
	const struct tree_branch fresh = { .parent = index,
					   .depth = tree->branches[index].depth + 1,
					   .type = type,
					   .name = name,
					   .root = HD_NONE };
	uint32_t child;
	TRY(tree_branch_find(tree, &maker->index, &fresh, &child, maker->err));
	tree->branches[child].count += count;
	tree->branches[child].size += size;
	return give(maker, child, node);
}

/* Add @p node: it may be counted itself, and it leads to others. */
static enum hd_status take_member(struct tree_maker *maker, uint32_t index, uint32_t node)
{
	const struct csr *forward = &maker->graph->forward;
	struct tree_branch *branch = &maker->tree->branches[index];
	branch->own_count += is_wanted_node(maker, node);
	if (branch->depth >= TYPE_TREE_DEPTH_MAX)
		return HD_OK;
	maker->links_count = 0;
	uint64_t end = csr_begin(forward, node + 1);
	for (uint64_t i = csr_begin(forward, node); i < end; i++) {
		uint32_t target = forward->targets[i];
		bool is_child = maker->counts[target] && target != node &&
				maker->paths.parents[target] == node + 1;
		/* Equal references count once; in a row they may be apart. */
		if (!is_child || maker->members[target])
			continue;
		TRY_MEMORY(PAGES_RESERVE(maker, links), maker->err);
		maker->links[maker->links_count++].node = target;
		maker->members[target] = 1;
	}
	for (size_t i = 0; i < maker->links_count; i++)
		maker->members[maker->links[i].node] = 0;
	TRY(link_names_of(&maker->tree->names, node, maker->links, maker->links_count, maker->err));
	for (size_t i = 0; i < maker->links_count; i++)
		TRY(place_in_tree(maker, index, maker->links[i].node, maker->links[i].name));
	return HD_OK;
}

static bool is_more(const struct candidate *a, const struct candidate *b)
{
	if (a->size != b->size)
		return a->size > b->size;
	return a->count != b->count ? a->count > b->count : a->branch < b->branch;
}

static enum hd_status enqueue(struct tree_maker *maker, uint32_t index)
{
	struct branch_queue *queue = &maker->queue;
	const struct tree_branch *branch = &maker->tree->branches[index];
	const struct candidate candidate = { branch->size, branch->count, index };
	TRY_MEMORY(PAGES_RESERVE(queue, rows), maker->err);
	size_t at = queue->rows_count++;
	for (; at && is_more(&candidate, &queue->rows[(at - 1) / 2]); at = (at - 1) / 2)
		queue->rows[at] = queue->rows[(at - 1) / 2];
	queue->rows[at] = candidate;
	return HD_OK;
}

static struct candidate dequeue(struct branch_queue *queue)
{
	struct candidate *rows = queue->rows;
	struct candidate top = rows[0], last = rows[--queue->rows_count];
	size_t at = 0, child;
	while ((child = 2 * at + 1) < queue->rows_count) {
		if (child + 1 < queue->rows_count && is_more(&rows[child + 1], &rows[child]))
			child++;
		if (!is_more(&rows[child], &last))
			break;
		rows[at] = rows[child];
		at = child;
	}
	rows[at] = last;
	return top;
}

/* Queue the branches that got more to do. */
static enum hd_status enqueue_touched(struct tree_maker *maker)
{
	for (size_t i = 0; i < maker->touched_count; i++) {
		struct tree_branch *branch = &maker->tree->branches[maker->touched[i]];
		branch->is_touched = false;
		if (!branch->is_open)
			TRY(enqueue(maker, maker->touched[i]));
	}
	maker->touched_count = 0;
	return HD_OK;
}

/* Find the branches of a branch. */
static enum hd_status open_tree_branch(struct tree_maker *maker, uint32_t index)
{
	struct tree_branch *branch = &maker->tree->branches[index];
	uint32_t member = branch->members;
	branch->is_open = true;
	branch->members = 0;
	for (uint64_t steps = 0; member || maker->visits_count;) {
		struct branch_visit visit;
		if (++steps % JOB_STRIDE == 0 && !job_step(maker->job, 0, JOB_STRIDE))
			return fail_cancelled(maker->err);
		if (maker->visits_count) {
			visit = maker->visits[--maker->visits_count];
		} else {
			visit = (struct branch_visit){ index, member - 1 };
			member = maker->members[visit.node];
			maker->members[visit.node] = 0;
		}
		if (maker->tree->branches[visit.branch].type != HD_NONE) {
			TRY(take_member(maker, visit.branch, visit.node));
		} else {
			/* A root: it leads to the object itself. */
			TRY(place_in_tree(maker, visit.branch, visit.node, LINK_NONE));
		}
	}
	return enqueue_touched(maker);
}

const char *tree_root_name(const struct hd_graph *graph, uint32_t root)
{
	if (!graph->origins.details)
		return NULL;
	const struct graph_root_detail *detail = &graph->origins.details[root];
	if (graph->roots[root].kind == HD_ROOT_STACK && detail->frame < graph->origins.frame_count)
		return graph->origins.frames[detail->frame].method;
	return detail->name;
}

static enum hd_status add_root_branches(struct tree_maker *maker)
{
	struct type_tree *tree = maker->tree;
	for (size_t i = 0; i < maker->paths.seeds_count; i++) {
		const struct seed *seed = &maker->paths.seeds[i];
		if (!maker->counts[seed->node])
			continue;
		struct tree_branch fresh = { .parent = HD_NONE,
					     .type = HD_NONE,
					     .root = seed->root };
		uint32_t index;
		TRY(link_names_add(&tree->names, tree_root_name(maker->graph, seed->root),
				   &fresh.name, maker->err));
		TRY(tree_branch_find(tree, &maker->index, &fresh, &index, maker->err));
		tree->branches[index].count += maker->counts[seed->node];
		tree->branches[index].size += maker->sizes[seed->node];
		TRY(give(maker, index, seed->node));
	}
	return enqueue_touched(maker);
}

static enum hd_status make_type_tree(struct tree_maker *maker, uint64_t limit)
{
	struct type_tree *tree = maker->tree;
	TRY(count_below(maker));
	maker->members = maker->paths.order;
	for (uint64_t i = 0; i < maker->paths.live_count; i++)
		maker->members[i] = 0;
	TRY(add_root_branches(maker));
	for (uint64_t opened = 0; opened < limit && maker->queue.rows_count;) {
		struct candidate top = dequeue(&maker->queue);
		const struct tree_branch *branch = &tree->branches[top.branch];
		if (branch->is_open || !branch->count)
			continue;
		if (branch->size != top.size || branch->count != top.count) {
			TRY(enqueue(maker, top.branch));
			continue;
		}
		TRY(open_tree_branch(maker, top.branch));
		opened++;
	}
	for (size_t i = 0; i < tree->branches_count; i++)
		tree->is_cut |= tree->branches[i].count && !tree->branches[i].is_open;
	return HD_OK;
}

enum hd_status type_tree_init(const struct hd_graph *graph, const struct type_tree_choice *choice,
			      struct job *job, struct type_tree *ret, struct hd_error *err)
{
	struct type_tree tree = { .graph = graph };
	struct tree_maker maker = {
		.tree = &tree, .graph = graph, .types = choice->types, .job = job, .err = err
	};
	for (uint32_t i = 0; i < graph->type_count; i++) {
		if (!bitmap_has(choice->types, i))
			continue;
		tree.count += graph->types[i].count;
		tree.size += graph->types[i].size;
	}
	TRY(link_names_init(&tree.names, graph, err));
	enum hd_status status = root_paths_init(graph, choice->no_stacks, job, &maker.paths, err);
	if (status == HD_OK)
		status = make_type_tree(&maker, choice->limit);
	pages_free(maker.counts, graph->node_count, sizeof(*maker.counts));
	pages_free(maker.sizes, graph->node_count, sizeof(*maker.sizes));
	pages_free(maker.visits, maker.visits_capacity, sizeof(*maker.visits));
	pages_free(maker.links, maker.links_capacity, sizeof(*maker.links));
	pages_free(maker.touched, maker.touched_capacity, sizeof(*maker.touched));
	pages_free(maker.queue.rows, maker.queue.rows_capacity, sizeof(*maker.queue.rows));
	hash_index_deinit(&maker.index);
	root_paths_deinit(&maker.paths);
	if (status != HD_OK) {
		type_tree_deinit(&tree);
		return status;
	}
	*ret = tree;
	return HD_OK;
}

void type_tree_deinit(struct type_tree *tree)
{
	link_names_deinit(&tree->names);
	pages_free(tree->branches, tree->branches_capacity, sizeof(*tree->branches));
	*tree = (struct type_tree){ 0 };
}
