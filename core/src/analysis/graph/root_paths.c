/* SPDX-License-Identifier: MIT */
#include "analysis/graph/root_paths.h"

#include "util/alloc.h"

#define AHEAD_PARENTS (CSR_AHEAD_ROWS / 2)

static void prefetch_parents(const struct csr *csr, const uint32_t *parents, const uint32_t *queue,
			     uint64_t head, uint64_t tail)
{
	csr_prefetch(csr, queue, head, tail);
	if (head + AHEAD_PARENTS < tail) {
		uint32_t node = queue[head + AHEAD_PARENTS];
		uint64_t begin = csr_begin(csr, node), end = csr_begin(csr, node + 1);
		for (uint64_t i = begin; i < end && i < begin + 4; i++)
			__builtin_prefetch(&parents[csr->targets[i]], 1);
	}
}

/* The kinds of roots, from which paths of the same length come first. */
static const uint8_t kinds_in_order[] = { HD_ROOT_STATIC, HD_ROOT_THREAD_STATIC, HD_ROOT_HANDLE,
					  HD_ROOT_STACK,  HD_ROOT_FINALIZER,     HD_ROOT_INTERNAL,
					  HD_ROOT_GC };

/* Nodes that no root has led to yet, though what they refer to was searched. */
struct orphans {
	uint32_t nodes[KEPT_MAX];
	size_t count;
};

/* Is it one?  Then it is not one any more. */
static bool take_orphan(struct orphans *orphans, uint32_t node)
{
	for (size_t i = 0; i < orphans->count; i++) {
		if (orphans->nodes[i] == node) {
			orphans->nodes[i] = orphans->nodes[--orphans->count];
			return true;
		}
	}
	return false;
}

/* Which roots add_seeds() takes. */
struct seed_filter {
	const uint8_t *of_roots; /* NULL: all */
	uint8_t stage;
	struct orphans *orphans;
};

static enum hd_status add_seeds(const struct hd_graph *graph, uint8_t kind,
				const struct seed_filter *filter, struct root_paths *paths,
				struct hd_error *err)
{
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (root->kind != kind || root_is_weak(root) ||
		    (filter->of_roots && filter->of_roots[i] != filter->stage))
			continue;
		bool is_orphan = paths->parents[root->node] && filter->orphans &&
				 take_orphan(filter->orphans, root->node);
		if (paths->parents[root->node] && !is_orphan)
			continue;
		TRY_MEMORY(PAGES_RESERVE(paths, seeds), err);
		paths->seeds[paths->seeds_count++] = (struct seed){ .node = root->node, .root = i };
		paths->parents[root->node] = root->node + 1;
		if (!is_orphan)
			paths->order[paths->live_count++] = root->node;
	}
	return HD_OK;
}

/* A search from the roots. */
struct search {
	const struct hd_graph *graph;
	struct job *job;
	struct orphans *orphans;        /* those that are met get their parents; or NULL */
	const struct path_lists *lists; /* what they link is not followed; or NULL */
};

static uint32_t type_of_node(const struct hd_graph *graph, uint32_t node)
{
	return node < graph->object_count ? graph->node_types[node] : HD_NONE;
}

/* Is it an item of a list, whose references to its list and to other items are not followed? */
static bool is_barred_item(const struct search *search, uint32_t node)
{
	return search->lists && type_of_node(search->graph, node) == search->lists->item_type;
}

static bool is_list_or_item(const struct search *search, uint32_t node)
{
	uint32_t type = type_of_node(search->graph, node);
	return type == search->lists->item_type || type == search->lists->list_type;
}

static enum hd_status search_from_roots(const struct search *search, struct root_paths *paths,
					uint64_t first, struct hd_error *err)
{
	const struct csr *forward = &search->graph->forward;
	struct orphans *orphans = search->orphans;
	uint32_t *parents = paths->parents, *queue = paths->order;
	uint64_t tail = paths->live_count;
	for (uint64_t head = first; head < tail; head++) {
		if (head % JOB_STRIDE == 0 && !job_step(search->job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		prefetch_parents(forward, parents, queue, head, tail);
		uint32_t node = queue[head];
		uint64_t end = csr_begin(forward, node + 1);
		bool is_barred = is_barred_item(search, node);
		for (uint64_t i = csr_begin(forward, node); i < end; i++) {
			uint32_t target = forward->targets[i];
			if (is_barred && is_list_or_item(search, target))
				continue;
			if (!parents[target]) {
				parents[target] = node + 1;
				queue[tail++] = target;
			} else if (orphans && orphans->count && take_orphan(orphans, target)) {
				parents[target] = node + 1;
			}
		}
	}
	paths->live_count = tail;
	return HD_OK;
}

static enum hd_status alloc_root_paths(const struct hd_graph *graph, struct job *job,
				       struct root_paths *paths, struct hd_error *err)
{
	paths->parents = pages_alloc(graph->node_count, sizeof(*paths->parents));
	paths->order = pages_alloc(graph->node_count, sizeof(*paths->order));
	TRY_MEMORY(paths->parents && paths->order, err);
	job_begin(job, "Finding paths", graph->node_count);
	return HD_OK;
}

static enum hd_status fill_root_paths(const struct hd_graph *graph, bool no_stacks, struct job *job,
				      struct root_paths *paths, struct hd_error *err)
{
	const struct seed_filter all = { .of_roots = NULL };
	TRY(alloc_root_paths(graph, job, paths, err));
	for (size_t i = 0; i < sizeof(kinds_in_order); i++) {
		if (!no_stacks || kinds_in_order[i] != HD_ROOT_STACK)
			TRY(add_seeds(graph, kinds_in_order[i], &all, paths, err));
	}
	const struct search search = { .graph = graph, .job = job };
	return search_from_roots(&search, paths, 0, err);
}

/*
 * One after the other, for one may refer to the next.  One that is met later gets its way through the later one, which
 * cannot be reached from it.
 */
static enum hd_status search_from_kept(const struct search *search,
				       const struct path_stages *stages, struct root_paths *paths,
				       struct hd_error *err)
{
	struct orphans *orphans = search->orphans;
	for (size_t i = 0; i < stages->kept_count; i++) {
		uint32_t node = stages->kept[i];
		uint64_t first = paths->live_count;
		if (paths->parents[node])
			continue;
		paths->parents[node] = node + 1;
		paths->order[paths->live_count++] = node;
		TRY(search_from_roots(search, paths, first, err));
		/* Not earlier: what it refers to may refer to it, which is not a way to it. */
		orphans->nodes[orphans->count++] = node;
	}
	return HD_OK;
}

/* The list that an item is in, as far as it was met; or HD_NONE. */
static uint32_t list_of_item(const struct search *search, const struct root_paths *paths,
			     uint32_t item)
{
	const struct csr *forward = &search->graph->forward;
	for (uint64_t i = csr_begin(forward, item); i < csr_begin(forward, item + 1); i++) {
		uint32_t target = forward->targets[i];
		if (type_of_node(search->graph, target) == search->lists->list_type &&
		    paths->parents[target])
			return target;
	}
	return HD_NONE;
}

/*
 * Items that were met by another way than their list have not led on in it: what comes after them is held by the list.
 * Those before @p end in the order of paths are such items, and others.
 */
static enum hd_status search_after_items(const struct search *search, struct root_paths *paths,
					 uint64_t end, struct hd_error *err)
{
	const struct csr *forward = &search->graph->forward;
	/* An orphan may have led to the item; then this is not a way to it. */
	const struct search further = { .graph = search->graph, .job = search->job };
	for (uint64_t at = 0; at < end; at++) {
		uint32_t node = paths->order[at];
		uint64_t first = paths->live_count;
		if (type_of_node(search->graph, node) != search->lists->item_type)
			continue;
		for (uint64_t i = csr_begin(forward, node); i < csr_begin(forward, node + 1); i++) {
			uint32_t target = forward->targets[i];
			if (paths->parents[target])
				continue;
			uint32_t list = list_of_item(search, paths, target);
			paths->parents[target] = (list == HD_NONE ? node : list) + 1;
			paths->order[paths->live_count++] = target;
		}
		TRY(search_from_roots(&further, paths, first, err));
	}
	return HD_OK;
}

static enum hd_status fill_stages(const struct hd_graph *graph, const struct path_stages *stages,
				  struct job *job, struct root_paths *paths,
				  struct orphans *orphans, struct hd_error *err)
{
	const struct search with_lists = { graph, job, orphans, &stages->lists };
	TRY(alloc_root_paths(graph, job, paths, err));
	for (unsigned int stage = 0; stage < stages->count; stage++) {
		uint64_t first = paths->live_count;
		bool are_barred = stage < stages->lists.stage && stages->lists.item_type != HD_NONE;
		const struct search search = { graph, job, orphans,
					       are_barred ? &stages->lists : NULL };
		for (size_t i = 0; i < 2 * sizeof(kinds_in_order); i++) {
			const struct seed_filter filter = { stages->of_roots,
							    PATH_STAGE(stage, i % 2), orphans };
			TRY(add_seeds(graph, kinds_in_order[i / 2], &filter, paths, err));
		}
		TRY(search_from_roots(&search, paths, first, err));
		if (!stage)
			TRY(search_from_kept(&search, stages, paths, err));
		if (stage && stage == stages->lists.stage)
			TRY(search_after_items(&with_lists, paths, first, err));
		stages->ends[stage] = paths->live_count;
	}
	return HD_OK;
}

/* Keep only those to which a stage led. */
static void drop_orphans(struct path_stages *stages, struct orphans *orphans)
{
	size_t kept = 0;
	for (size_t i = 0; i < stages->kept_count; i++) {
		if (!take_orphan(orphans, stages->kept[i]))
			stages->kept[kept++] = stages->kept[i];
	}
	stages->kept_count = kept;
	orphans->count = 0;
}

enum hd_status root_paths_staged(const struct hd_graph *graph, const struct path_stages *stages,
				 struct job *job, struct root_paths *ret, struct hd_error *err)
{
	struct root_paths paths = { .node_count = graph->node_count };
	struct path_stages in = *stages;
	struct orphans orphans = { .count = 0 };
	enum hd_status status = fill_stages(graph, &in, job, &paths, &orphans, err);
	/* No root leads to one of them: it is as dead as what only it refers to. */
	while (status == HD_OK && orphans.count) {
		root_paths_deinit(&paths);
		paths.node_count = graph->node_count;
		drop_orphans(&in, &orphans);
		status = fill_stages(graph, &in, job, &paths, &orphans, err);
	}
	if (status != HD_OK) {
		root_paths_deinit(&paths);
		return status;
	}
	*ret = paths;
	return HD_OK;
}

enum hd_status root_paths_init(const struct hd_graph *graph, bool no_stacks, struct job *job,
			       struct root_paths *ret, struct hd_error *err)
{
	struct root_paths paths = { .node_count = graph->node_count };
	enum hd_status status = fill_root_paths(graph, no_stacks, job, &paths, err);
	if (status != HD_OK) {
		root_paths_deinit(&paths);
		return status;
	}
	*ret = paths;
	return HD_OK;
}

void root_paths_deinit(struct root_paths *paths)
{
	pages_free(paths->parents, paths->node_count, sizeof(*paths->parents));
	pages_free(paths->order, paths->node_count, sizeof(*paths->order));
	pages_free(paths->seeds, paths->seeds_capacity, sizeof(*paths->seeds));
	*paths = (struct root_paths){ 0 };
}
