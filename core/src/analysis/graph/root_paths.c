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

/* @p stages NULL: those of all stages. */
static enum hd_status add_seeds(const struct hd_graph *graph, uint8_t kind, const uint8_t *stages,
				uint8_t stage, struct root_paths *paths, struct hd_error *err)
{
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		if (root->kind != kind || root_is_weak(root) || paths->parents[root->node] ||
		    (stages && stages[i] != stage))
			continue;
		if (!PAGES_RESERVE(paths, seeds))
			return fail_nomem(err);
		paths->seeds[paths->seeds_count++] = (struct seed){ .node = root->node, .root = i };
		paths->parents[root->node] = root->node + 1;
		paths->order[paths->live_count++] = root->node;
	}
	return HD_OK;
}

static enum hd_status search_from_roots(const struct hd_graph *graph, struct job *job,
					struct root_paths *paths, uint64_t first,
					struct hd_error *err)
{
	const struct csr *forward = &graph->forward;
	uint32_t *parents = paths->parents, *queue = paths->order;
	uint64_t tail = paths->live_count;
	for (uint64_t head = first; head < tail; head++) {
		if (head % JOB_STRIDE == 0 && !job_step(job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		prefetch_parents(forward, parents, queue, head, tail);
		uint32_t node = queue[head];
		uint64_t end = csr_begin(forward, node + 1);
		for (uint64_t i = csr_begin(forward, node); i < end; i++) {
			uint32_t target = forward->targets[i];
			if (parents[target])
				continue;
			parents[target] = node + 1;
			queue[tail++] = target;
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
	if (!paths->parents || !paths->order)
		return fail_nomem(err);
	job_begin(job, "Finding paths", graph->node_count);
	return HD_OK;
}

static enum hd_status fill_root_paths(const struct hd_graph *graph, bool no_stacks, struct job *job,
				      struct root_paths *paths, struct hd_error *err)
{
	TRY(alloc_root_paths(graph, job, paths, err));
	for (size_t i = 0; i < sizeof(kinds_in_order); i++) {
		if (!no_stacks || kinds_in_order[i] != HD_ROOT_STACK)
			TRY(add_seeds(graph, kinds_in_order[i], NULL, 0, paths, err));
	}
	return search_from_roots(graph, job, paths, 0, err);
}

static enum hd_status fill_stages(const struct hd_graph *graph, const struct path_stages *stages,
				  struct job *job, struct root_paths *paths, struct hd_error *err)
{
	TRY(alloc_root_paths(graph, job, paths, err));
	for (unsigned int stage = 0; stage < stages->count; stage++) {
		uint64_t first = paths->live_count;
		for (size_t i = 0; i < sizeof(kinds_in_order); i++) {
			TRY(add_seeds(graph, kinds_in_order[i], stages->of_roots, (uint8_t)stage,
				      paths, err));
		}
		TRY(search_from_roots(graph, job, paths, first, err));
		stages->ends[stage] = paths->live_count;
	}
	return HD_OK;
}

enum hd_status root_paths_staged(const struct hd_graph *graph, const struct path_stages *stages,
				 struct job *job, struct root_paths *ret, struct hd_error *err)
{
	struct root_paths paths = { .node_count = graph->node_count };
	enum hd_status status = fill_stages(graph, stages, job, &paths, err);
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
