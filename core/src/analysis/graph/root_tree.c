/* SPDX-License-Identifier: MIT */
#include "analysis/graph/root_tree.h"

#include "util/alloc.h"

/* A root on its way to the object. */
struct walking_root {
	uint32_t node; /* where it is now */
	uint32_t next; /* of the same branch, + 1 */
};

enum landing_kind {
	LANDING_WAITS, /* in a branch that is not open */
	LANDING_ENDS,  /* at the object */
	LANDING_STOPS, /* where the tree is too deep to go on */
};

/* Where the way of a root through open branches leads. */
struct landing {
	enum landing_kind kind;
	uint32_t branch, node;
};

/* A node that was met while a branch is opened, and in which branch: from there on the way is the same. */
struct meeting {
	uint32_t node, branch;
	uint32_t landing; /* + 1 */
};

struct root_tree_maker {
	struct type_tree *tree;
	const struct hd_graph *graph;
	const struct gcroot *gcroot;
	struct walking_root *walking; /* by index in gcroot->strong */
	struct hash_index index;      /* of branches */
	/* While one branch is opened: */
	uint32_t *last_met; /* by node: its last meeting, + 1 */
	struct meeting *met;
	size_t met_count, met_capacity;
	struct landing *landings;
	size_t landings_count, landings_capacity;
	uint64_t steps;
	struct job *job;
	struct hd_error *err;
};

/* Let a root that is counted there wait in a branch until that is opened. */
static void wait_in_branch(struct root_tree_maker *maker, uint32_t index, uint32_t root,
			   uint32_t node)
{
	struct tree_branch *branch = &maker->tree->branches[index];
	maker->walking[root] = (struct walking_root){ .node = node, .next = branch->members };
	branch->members = root + 1;
}

/* A root that was counted in a branch, and those above it, is now in another one. */
static void move_count(struct type_tree *tree, uint32_t from, uint32_t to)
{
	while (from != to) {
		struct tree_branch *branches = tree->branches;
		bool is_from = to == HD_NONE ||
			       (from != HD_NONE && branches[from].depth > branches[to].depth);
		struct tree_branch *branch = &branches[is_from ? from : to];
		uint64_t change = is_from ? UINT64_MAX : 1; /* one less, or one more */
		branch->count += change;
		branch->size += change;
		if (is_from) {
			from = branch->parent;
		} else {
			to = branch->parent;
		}
	}
}

static uint32_t type_of_node(const struct root_tree_maker *maker, uint32_t node)
{
	return graph_is_missing(maker->graph, node) ? HD_NONE : maker->graph->node_types[node];
}

/* The branch below @p index for what a link leads to. */
static enum hd_status branch_below(struct root_tree_maker *maker, uint32_t index, uint32_t type,
				   uint32_t name, uint32_t *ret)
{
	const struct tree_branch fresh = { .parent = index,
					   .depth = maker->tree->branches[index].depth + 1,
					   .type = type,
					   .name = name,
					   .root = HD_NONE };
	return tree_branch_find(maker->tree, &maker->index, &fresh, ret, maker->err);
}

/* Note that a way has come to a node in a branch; its landing follows. */
static enum hd_status meet_branch(struct root_tree_maker *maker, uint32_t node, uint32_t branch)
{
	if (++maker->steps % JOB_STRIDE == 0 && !job_step(maker->job, 0, JOB_STRIDE))
		return fail_cancelled(maker->err);
	if (!PAGES_RESERVE(maker, met) || maker->met_count >= UINT32_MAX)
		return fail_nomem(maker->err);
	maker->met[maker->met_count++] = (struct meeting){ .node = node, .branch = branch };
	maker->last_met[node] = (uint32_t)maker->met_count;
	return HD_OK;
}

/* The landing of an earlier way that has come to this node in this branch, or NULL. */
static const struct landing *known_landing(const struct root_tree_maker *maker, uint32_t node,
					   uint32_t branch)
{
	uint32_t last = maker->last_met[node];
	const struct meeting *meeting = last ? &maker->met[last - 1] : NULL;
	return meeting && meeting->landing && meeting->branch == branch
		       ? &maker->landings[meeting->landing - 1]
		       : NULL;
}

/* One link of the way: into a branch below, or back to the one that has such a link already. */
static enum hd_status take_link(struct root_tree_maker *maker, struct landing *at)
{
	uint32_t next = path_tree_next(&maker->gcroot->tree, at->node), name;
	TRY(link_names_one(&maker->tree->names, at->node, next, &name, maker->err));
	uint32_t type = type_of_node(maker, next);
	uint32_t above = tree_branch_above(maker->tree, at->branch, type, name);
	at->node = next;
	if (above == HD_NONE)
		return branch_below(maker, at->branch, type, name, &at->branch);
	maker->tree->branches[above].repeats = true;
	at->branch = above;
	return HD_OK;
}

/* Follow the path from @p node, in the open branch @p index, to its end or to a branch that is not open. */
static enum hd_status find_landing(struct root_tree_maker *maker, uint32_t index, uint32_t node,
				   struct landing *ret)
{
	const struct type_tree *tree = maker->tree;
	size_t first = maker->met_count;
	struct landing at = { .kind = LANDING_WAITS, .branch = index, .node = node };
	const struct landing *known = NULL;
	while (tree->branches[at.branch].is_open && at.kind == LANDING_WAITS &&
	       !(known = known_landing(maker, at.node, at.branch))) {
		TRY(meet_branch(maker, at.node, at.branch));
		if (at.node == maker->gcroot->tree.target) {
			at.kind = LANDING_ENDS;
		} else if (tree->branches[at.branch].depth >= TYPE_TREE_DEPTH_MAX) {
			at.kind = LANDING_STOPS;
		} else {
			TRY(take_link(maker, &at));
		}
	}
	*ret = known ? *known : at;
	TRY_MEMORY(PAGES_RESERVE(maker, landings), maker->err);
	maker->landings[maker->landings_count++] = *ret;
	for (size_t i = first; i < maker->met_count; i++)
		maker->met[i].landing = (uint32_t)maker->landings_count;
	return HD_OK;
}

/* Lead a root on that waits in the branch @p index, which is open now. */
static enum hd_status lead_on(struct root_tree_maker *maker, uint32_t index, uint32_t root)
{
	struct landing landing = { .branch = index, .node = maker->walking[root].node };
	if (maker->tree->branches[index].parent == HD_NONE) {
		/* A root leads to the object itself. */
		TRY(branch_below(maker, index, type_of_node(maker, landing.node), LINK_NONE,
				 &landing.branch));
		if (maker->tree->branches[landing.branch].is_open)
			TRY(find_landing(maker, landing.branch, landing.node, &landing));
	} else {
		TRY(find_landing(maker, index, landing.node, &landing));
	}
	move_count(maker->tree, index, landing.branch);
	if (landing.kind == LANDING_WAITS) {
		wait_in_branch(maker, landing.branch, root, landing.node);
	} else if (landing.kind == LANDING_ENDS) {
		maker->tree->branches[landing.branch].own_count++;
	}
	return HD_OK;
}

static enum hd_status open_branch(struct root_tree_maker *maker, uint32_t index)
{
	struct tree_branch *branch = &maker->tree->branches[index];
	uint32_t next = branch->members;
	branch->is_open = true;
	branch->members = 0;
	while (next) {
		uint32_t root = next - 1;
		next = maker->walking[root].next;
		TRY(lead_on(maker, index, root));
	}
	for (size_t i = 0; i < maker->met_count; i++)
		maker->last_met[maker->met[i].node] = 0;
	maker->met_count = maker->landings_count = 0;
	return HD_OK;
}

static enum hd_status add_roots(struct root_tree_maker *maker)
{
	for (uint32_t i = 0; i < maker->gcroot->strong_count; i++) {
		const struct rooted *rooted = &maker->gcroot->strong[i];
		struct tree_branch fresh = { .parent = HD_NONE,
					     .type = HD_NONE,
					     .root = rooted->root };
		uint32_t index;
		TRY(link_names_add(&maker->tree->names, tree_root_name(maker->graph, rooted->root),
				   &fresh.name, maker->err));
		TRY(tree_branch_find(maker->tree, &maker->index, &fresh, &index, maker->err));
		move_count(maker->tree, HD_NONE, index);
		wait_in_branch(maker, index, i, rooted->node);
	}
	return HD_OK;
}

/* The branch with most roots that is not open yet, or HD_NONE. */
static uint32_t find_widest(const struct type_tree *tree)
{
	uint32_t widest = HD_NONE;
	for (uint32_t i = 0; i < tree->branches_count; i++) {
		const struct tree_branch *branch = &tree->branches[i];
		if (!branch->is_open && branch->count &&
		    (widest == HD_NONE || branch->count > tree->branches[widest].count))
			widest = i;
	}
	return widest;
}

static enum hd_status make_root_tree(struct root_tree_maker *maker, uint64_t limit)
{
	TRY(add_roots(maker));
	uint32_t widest;
	for (; limit && (widest = find_widest(maker->tree)) != HD_NONE; limit--)
		TRY(open_branch(maker, widest));
	maker->tree->is_cut = find_widest(maker->tree) != HD_NONE;
	return HD_OK;
}

enum hd_status root_tree_init(const struct hd_graph *graph, const struct gcroot *gcroot,
			      uint64_t limit, struct job *job, struct type_tree *ret,
			      struct hd_error *err)
{
	struct type_tree tree = { .graph = graph, .count = gcroot->strong_count };
	struct root_tree_maker maker = {
		.tree = &tree, .graph = graph, .gcroot = gcroot, .job = job, .err = err
	};
	TRY(link_names_init(&tree.names, graph, err));
	maker.walking = pages_alloc(gcroot->strong_count, sizeof(*maker.walking));
	maker.last_met = pages_alloc(gcroot->tree.node_count, sizeof(*maker.last_met));
	enum hd_status status =
		maker.walking && maker.last_met ? make_root_tree(&maker, limit) : fail_nomem(err);
	pages_free(maker.walking, gcroot->strong_count, sizeof(*maker.walking));
	pages_free(maker.last_met, gcroot->tree.node_count, sizeof(*maker.last_met));
	pages_free(maker.landings, maker.landings_capacity, sizeof(*maker.landings));
	pages_free(maker.met, maker.met_capacity, sizeof(*maker.met));
	hash_index_deinit(&maker.index);
	if (status != HD_OK) {
		type_tree_deinit(&tree);
		return status;
	}
	*ret = tree;
	return HD_OK;
}
