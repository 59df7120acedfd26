/* SPDX-License-Identifier: MIT */
#include "hangs/wait_graph.h"

#include "analysis/async/async_graph.h"
#include "framework/owns.h"
#include "hangs/wait_alive.h"
#include "roots/root_set.h"
#include "snapshot/snapshot.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"
#include "util/sort.h"

/* A graph of more objects takes longer than people want to wait for a verdict that is rare. */
#define OBJECTS_MAX UINT64_C(5000000)

void wait_graph_deinit(struct wait_graph *graph)
{
	graph_destroy(graph->graph);
	root_set_destroy(graph->roots);
	pages_free(graph->actors, graph->actors_capacity, sizeof(*graph->actors));
	graph->graph = NULL;
	graph->roots = NULL;
	graph->actors = NULL;
	graph->actors_count = graph->actors_capacity = 0;
}

/* The node of the object at @p address, or HD_NONE. */
static uint32_t node_of(const struct hd_graph *graph, uint64_t address)
{
	uint32_t node = address ? graph_lower_bound(graph, address) : HD_NONE;
	return node < graph->object_count && graph_id(graph, node) == address ? node : HD_NONE;
}

static enum hd_status add_actor(struct wait_graph *graph, uint32_t node, bool is_weak,
				struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(graph, actors), err);
	graph->actors[graph->actors_count++] = (struct wait_actor){ node, is_weak };
	return HD_OK;
}

/* Who has a weak handle may use what it leads to, as long as the waiting thread keeps that. */
static enum hd_status find_weak(struct wait_graph *graph, struct hd_error *err)
{
	const struct root_set *roots = graph->roots;
	for (size_t i = 0; i < roots->rows_count; i++) {
		const struct root *root = &roots->rows[i];
		uint32_t node = root->is_weak && root->source == ROOT_HANDLE
					? node_of(graph->graph, root->value)
					: HD_NONE;
		if (node != HD_NONE)
			TRY(add_actor(graph, node, true, err));
	}
	return HD_OK;
}

/* The next collection runs the finalizers of the dead; the framework's only give back what they have. */
static enum hd_status find_dead(struct wait_graph *graph, const struct reach *alive,
				struct hd_error *err)
{
	const struct waits *waits = graph->waits;
	const struct finalizer_list *list = &graph->roots->finalizers;
	for (size_t i = 0; i < list->rows_count; i++) {
		uint32_t node = list->rows[i].part < FINALIZER_CRITICAL
					? node_of(graph->graph, list->rows[i].object)
					: HD_NONE;
		struct object object;
		if (node != HD_NONE && !bitmap_has(alive->bitmap, node) &&
		    member_object(waits->members, list->rows[i].object, &object) &&
		    !framework_owns_type(waits->heap->runtime, object.type))
			TRY(add_actor(graph, node, false, err));
	}
	return HD_OK;
}

static enum hd_status make_graph(struct wait_graph *graph, struct job *job, struct hd_error *err)
{
	HD_CLEANUP(reach) struct reach alive = { 0 };
	TRY(root_set_create(graph->waits->heap, false, job, &graph->roots, err));
	TRY(snapshot_create(graph->waits->heap, graph->roots, job, &graph->graph, err));
	TRY(reach_from_roots(graph->graph, job, &alive, err));
	TRY(find_weak(graph, err));
	return find_dead(graph, &alive, err);
}

enum hd_status wait_graph_open(struct wait_graph *graph, struct job *job, bool *ret_is_known,
			       struct hd_error *err)
{
	struct hd_error ignored = { 0 };
	*ret_is_known = graph->graph != NULL;
	if (graph->was_tried)
		return HD_OK;
	graph->was_tried = true;
	if (graph->waits->async->objects > OBJECTS_MAX)
		return HD_OK;
	TRY(wait_all_is_read(graph->waits, job, ret_is_known, err));
	if (!*ret_is_known)
		return HD_OK;
	enum hd_status status = make_graph(graph, job, &ignored);
	*ret_is_known = status == HD_OK;
	if (!*ret_is_known)
		wait_graph_deinit(graph);
	return status == HD_ERR_CANCELLED ? job_check(job, 0, err) : HD_OK;
}

/* The node of the object at @p address or around it, or HD_NONE. */
static uint32_t node_at(const struct hd_graph *graph, uint64_t address)
{
	uint32_t node = graph_lower_bound(graph, address);
	if (node < graph->object_count && graph_id(graph, node) == address)
		return node;
	return node ? node - 1 : HD_NONE;
}

/* Is it a root of its thread alone, which waits? */
static bool is_of_blocked(const struct waits *waits, const struct root *root, const bool *blocked)
{
	size_t threads = runtime_thread_count(waits->heap->runtime);
	if (!blocked || root->thread >= threads || root->source == ROOT_RUNTIME)
		return false;
	uint32_t row = waits->by_thread[root->thread];
	return row != UINT32_MAX && blocked[row];
}

static bool is_edge(const struct root_set *roots, const struct root *root)
{
	return root->source == ROOT_HANDLE &&
	       roots->handles.rows[root->index].type == HANDLE_DEPENDENT;
}

static void leave_out(const struct hd_graph *graph, struct reach_pass *pass, uint64_t address)
{
	uint32_t node = node_of(graph, address);
	if (node != HD_NONE)
		bitmap_add(pass->bitmap, node);
}

static void leave_out_methods(const struct wait_graph *graph, const bool *blocked,
			      struct reach_pass *pass)
{
	const struct waits *waits = graph->waits;
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		if (blocked && blocked[waits->count + i]) {
			leave_out(graph->graph, pass, waits->async->rows[i].address);
			leave_out(graph->graph, pass, waits->async->rows[i].holder);
		}
	}
}

static bool is_ignored(const struct wait_graph *graph, const struct wait_cut *cut,
		       const struct wait_actor *actor)
{
	if (!actor->is_weak || !cut->weak_count)
		return false;
	uint64_t address = graph_id(graph->graph, actor->node);
	size_t above = NUMBERS_ABOVE(cut->weak, cut->weak_count, address);
	return above && cut->weak[above - 1] == address;
}

static void add_roots(const struct wait_graph *graph, const struct wait_cut *cut,
		      struct reach_pass *pass)
{
	const struct hd_graph *rows = graph->graph;
	const struct root_set *roots = graph->roots;
	for (size_t i = 0; i < roots->rows_count; i++) {
		const struct root *root = &roots->rows[i];
		if (root->is_weak || is_edge(roots, root) ||
		    is_of_blocked(graph->waits, root, cut->blocked))
			continue;
		uint32_t node = node_at(rows, root->value);
		if (node != HD_NONE)
			reach_pass_add(pass, node);
	}
	for (size_t i = 0; i < graph->actors_count; i++) {
		if (!is_ignored(graph, cut, &graph->actors[i]))
			reach_pass_add(pass, graph->actors[i].node);
	}
	/* Frozen objects are in no root set. */
	for (uint32_t i = 0; i < rows->root_count; i++) {
		if (rows->roots[i].kind == HD_ROOT_GC)
			reach_pass_add(pass, rows->roots[i].node);
	}
}

enum hd_status wait_graph_reach(const struct wait_graph *graph, const struct wait_cut *cut,
				struct job *job, struct reach_pass *ret, struct hd_error *err)
{
	struct reach_pass pass;
	TRY(reach_pass_init(&pass, graph->graph, err));
	leave_out_methods(graph, cut->blocked, &pass);
	for (size_t i = 0; i < cut->objects_count; i++)
		leave_out(graph->graph, &pass, cut->objects[i]);
	add_roots(graph, cut, &pass);
	enum hd_status status = reach_pass_run(&pass, job, err);
	if (status == HD_OK) {
		*ret = pass;
	} else {
		reach_pass_deinit(&pass);
	}
	return status;
}

bool wait_graph_has(const struct wait_graph *graph, const struct reach_pass *pass, uint64_t address)
{
	uint32_t node = node_of(graph->graph, address);
	return node == HD_NONE || bitmap_has(pass->bitmap, node);
}
