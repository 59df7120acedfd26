/* SPDX-License-Identifier: MIT */
/* The two passes over a heap that give a graph its nodes. */
#include <stdlib.h>

#include "snapshot/snapshot_parts.h"
#include "util/alloc.h"

static size_t segment_of(const struct walker *walker)
{
	return (size_t)(walker->segment - walker->heap->segments);
}

static uint64_t walk_count(struct snapshot_worker *worker, struct walker *walker)
{
	struct edge_walk walk;
	struct reference reference;
	uint64_t count = 0;
	edges_begin(&walk, &worker->beside, walker);
	while (edges_next(&walk, &reference))
		count++;
	worker->extra += walk.extra;
	return count;
}

static inline uint64_t count_edges(struct snapshot_worker *worker, struct walker *walker)
{
	const uint8_t *bytes = plain_bytes(&worker->beside, walker);
	const struct object *object = &walker->object;
	uint64_t count = 0;
	if (!bytes)
		return walk_count(worker, walker);
	for (uint32_t i = 0; i < object->type->series_count; i++) {
		struct slots slots = slots_of(object, i);
		for (uint64_t at = slots.begin; at < slots.end; at += 8)
			count += load_u64(bytes + at) != 0;
	}
	return count;
}

static bool add_total(struct snapshot_worker *worker, const struct object *object)
{
	size_t index = object->type->index;
	while (index >= worker->totals_capacity) {
		if (!pages_grow((void **)&worker->totals, &worker->totals_capacity,
				sizeof(*worker->totals)))
			return false;
	}
	worker->totals[index].count++;
	worker->totals[index].size += object->size;
	return true;
}

static enum hd_status count_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct snapshot_worker *worker = arg;
	const struct snapshot *snapshot = worker->snapshot;
	struct starts *starts = snapshot->places->starts;
	size_t segment = segment_of(walker);
	struct starts_marks marks = starts_marks(starts, segment);
	uint64_t edges = 0;
	beside_begin(&worker->beside, snapshot->roots, walker->segment->begin);
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END;) {
		if (result == WALK_DAMAGE)
			worker->gaps += walker->damage.kind != DAMAGE_ZERO_RUN;
		if (result == WALK_DAMAGE || walker->object.type->is_free)
			continue;
		starts_mark(&marks, walker->object.address);
		edges += count_edges(worker, walker);
		if (!add_total(worker, &walker->object))
			return fail_nomem(err);
	}
	(void)starts_close(starts, segment);
	snapshot->places->edges[segment] = edges;
	return HD_OK;
}

static enum hd_status run_pass(struct snapshot *snapshot, const char *what, segment_visit visit)
{
	void *args[64];
	for (unsigned int i = 0; i < snapshot->worker_count; i++)
		args[i] = &snapshot->workers[i];
	return heap_walk(snapshot->heap, NULL, 0, snapshot->job, what, visit, args, snapshot->err);
}

enum hd_status snapshot_count(struct snapshot *snapshot)
{
	struct places *places = snapshot->places;
	size_t segments = snapshot->heap->segment_count;
	places->edges = mem_calloc(segments + 1, sizeof(*places->edges));
	if (!places->edges)
		return fail_nomem(snapshot->err);
	TRY(starts_alloc(snapshot->heap, snapshot->job, &places->starts, snapshot->err));
	TRY(run_pass(snapshot, "Finding objects", count_segment));
	starts_finish(places->starts);
	uint64_t before = 0;
	for (size_t i = 0; i <= segments; i++) {
		uint64_t count = places->edges[i];
		places->edges[i] = before;
		before += count;
	}
	for (unsigned int i = 0; i < snapshot->worker_count; i++) {
		snapshot->extra += snapshot->workers[i].extra;
		snapshot->gaps += snapshot->workers[i].gaps;
	}
	return HD_OK;
}

static bool add_large(struct snapshot_worker *worker, uint32_t node, uint64_t size)
{
	if (!PAGES_RESERVE(worker, large))
		return false;
	worker->large[worker->large_count++] = (struct large_size){ .node = node, .size = size };
	return true;
}

static enum hd_status fill_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct snapshot_worker *worker = arg;
	const struct snapshot *snapshot = worker->snapshot;
	struct hd_graph *graph = snapshot->graph;
	size_t segment = segment_of(walker);
	uint32_t node = (uint32_t)starts_segment_rank(snapshot->places->starts, segment);
	uint32_t end = (uint32_t)starts_segment_rank(snapshot->places->starts, segment + 1);
	/* The bytes may have changed since they were counted: never more than there was. */
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END && node < end;) {
		const struct object *object = &walker->object;
		const struct type *type = object->type;
		if (result == WALK_DAMAGE || type->is_free)
			continue;
		uint32_t index =
			type->index < snapshot->map_count ? snapshot->map[type->index] : HD_NONE;
		graph->node_types[node] = index == HD_NONE ? 0 : index;
		graph->sizes[node] =
			object->size < SIZE_LARGE ? (uint32_t)object->size : SIZE_LARGE;
		if (object->size >= SIZE_LARGE && !add_large(worker, node, object->size))
			return fail_nomem(err);
		worker->total_size += object->size;
		node++;
	}
	return HD_OK;
}

static int compare_large(const void *a, const void *b)
{
	const struct large_size *left = a, *right = b;
	return (left->node > right->node) - (left->node < right->node);
}

static enum hd_status merge_large(struct snapshot *snapshot)
{
	struct hd_graph *graph = snapshot->graph;
	size_t large = 0;
	for (unsigned int i = 0; i < snapshot->worker_count; i++) {
		large += snapshot->workers[i].large_count;
		graph->total_size += snapshot->workers[i].total_size;
	}
	graph->large = pages_alloc(large, sizeof(*graph->large));
	if (!graph->large)
		return fail_nomem(snapshot->err);
	graph->large_count = large;
	large = 0;
	for (unsigned int i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];
		for (size_t k = 0; k < worker->large_count; k++)
			graph->large[large++] = worker->large[k];
	}
	qsort(graph->large, large, sizeof(*graph->large), compare_large);
	return HD_OK;
}

enum hd_status snapshot_nodes(struct snapshot *snapshot)
{
	struct hd_graph *graph = snapshot->graph;
	uint32_t nodes = graph->node_count;
	graph->node_types = pages_alloc(nodes, sizeof(*graph->node_types));
	graph->sizes = pages_alloc(nodes, sizeof(*graph->sizes));
	if (!graph->node_types || !graph->sizes)
		return fail_nomem(snapshot->err);
	TRY(run_pass(snapshot, "Reading objects", fill_segment));
	return merge_large(snapshot);
}
