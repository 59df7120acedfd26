/* SPDX-License-Identifier: MIT */
/* The two passes over a heap that give a graph its nodes and its edges. */
#include "snapshot/fill.h"

#include <stdlib.h>

#include "heap/references.h"
#include "util/alloc.h"

/* Node of the first object of the walker's segment, and of the first behind it. */
static void segment_nodes(const struct snapshot *snapshot, const struct walker *walker,
			  uint32_t *ret_begin, uint32_t *ret_end)
{
	size_t segment = (size_t)(walker->segment - walker->heap->segments);
	*ret_begin = (uint32_t)starts_segment_rank(snapshot->starts, segment);
	*ret_end = (uint32_t)starts_segment_rank(snapshot->starts, segment + 1);
}

static bool add_large(struct snapshot_worker *worker, uint32_t node, uint64_t size)
{
	if (!PAGES_RESERVE(worker, large))
		return false;
	worker->large[worker->large_count++] = (struct large_size){ .node = node, .size = size };
	return true;
}

static uint32_t count_references(struct walker *walker)
{
	struct references references;
	struct reference reference;
	uint32_t count = 0;
	references_begin(&references, &walker->window, &walker->object);
	while (references_next(&references, &reference))
		count++;
	return count;
}

static enum hd_status read_objects(void *arg, struct walker *walker, struct hd_error *err)
{
	struct snapshot_worker *worker = arg;
	const struct snapshot *snapshot = worker->snapshot;
	struct hd_graph *graph = snapshot->graph;
	uint32_t node, end;
	segment_nodes(snapshot, walker, &node, &end);
	/* The bytes may have changed since the objects were counted: never more than there were. */
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END;) {
		const struct object *object = &walker->object;
		if (result == WALK_DAMAGE)
			worker->gaps += walker->damage.kind != DAMAGE_ZERO_RUN;
		if (result == WALK_DAMAGE || object->type->is_free || node == end)
			continue;
		graph->node_types[node] = object->type->index;
		graph->sizes[node] =
			object->size < SIZE_LARGE ? (uint32_t)object->size : SIZE_LARGE;
		if (object->size >= SIZE_LARGE && !add_large(worker, node, object->size))
			return fail_nomem(err);
		worker->total_size += object->size;
		uint32_t degree = count_references(walker);
		graph->forward.offsets[node] = degree;
		worker->edges += degree;
		node++;
	}
	return HD_OK;
}

static enum hd_status run_pass(struct snapshot *snapshot, const char *what, segment_visit visit)
{
	void *args[64];
	for (unsigned int i = 0; i < snapshot->worker_count; i++)
		args[i] = &snapshot->workers[i];
	return heap_walk(snapshot->heap, NULL, 0, snapshot->job, what, visit, args, snapshot->err);
}

static int compare_large(const void *a, const void *b)
{
	const struct large_size *left = a, *right = b;
	return (left->node > right->node) - (left->node < right->node);
}

static enum hd_status merge_workers(struct snapshot *snapshot)
{
	struct hd_graph *graph = snapshot->graph;
	size_t large = 0;
	for (unsigned int i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];
		large += worker->large_count;
		graph->total_size += worker->total_size;
		snapshot->edges += worker->edges;
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

enum hd_status snapshot_objects(struct snapshot *snapshot)
{
	struct hd_graph *graph = snapshot->graph;
	struct csr *forward = &graph->forward;
	uint32_t nodes = graph->node_count;
	graph->node_types = pages_alloc(nodes, sizeof(*graph->node_types));
	graph->sizes = pages_alloc(nodes, sizeof(*graph->sizes));
	forward->node_count = nodes;
	forward->offsets = pages_alloc((size_t)nodes + 1, sizeof(*forward->offsets));
	forward->bases = pages_alloc(csr_block_count(nodes), sizeof(*forward->bases));
	if (!graph->node_types || !graph->sizes || !forward->offsets || !forward->bases)
		return fail_nomem(snapshot->err);
	TRY(run_pass(snapshot, "Reading objects", read_objects));
	TRY(merge_workers(snapshot));
	return csr_offsets_from_degrees(forward, snapshot->err);
}

/* Look up the nodes of what waits, and put them behind the last ones. */
static void flush(struct snapshot_worker *worker)
{
	const struct snapshot *snapshot = worker->snapshot;
	size_t count = worker->count;
	worker->count = 0;
	if (count > worker->end - worker->position)
		count = (size_t)(worker->end - worker->position);
	uint32_t *targets = snapshot->graph->forward.targets + worker->position;
	starts_rank_all(snapshot->starts, worker->values, targets, count);
	for (size_t i = 0; i < count; i++) {
		if (targets[i] != HD_NONE)
			continue;
		if (!worker->dropped++ || worker->slots[i] < worker->dropped_slot) {
			worker->dropped_slot = worker->slots[i];
			worker->dropped_value = worker->values[i];
		}
	}
	worker->position += count;
}

static enum hd_status read_references(void *arg, struct walker *walker, struct hd_error *err)
{
	struct snapshot_worker *worker = arg;
	const struct csr *forward = &worker->snapshot->graph->forward;
	uint32_t begin, end;
	(void)err;
	segment_nodes(worker->snapshot, walker, &begin, &end);
	worker->position = csr_begin(forward, begin);
	worker->end = csr_begin(forward, end);
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END;) {
		if (result == WALK_DAMAGE || walker->object.type->is_free)
			continue;
		struct references references;
		struct reference reference;
		references_begin(&references, &walker->window, &walker->object);
		while (references_next(&references, &reference)) {
			worker->values[worker->count] = reference.value;
			worker->slots[worker->count] =
				reference.slot ? reference.slot : walker->object.address;
			if (++worker->count == SNAPSHOT_BATCH)
				flush(worker);
		}
	}
	flush(worker);
	/* Only when the bytes have changed. */
	for (; worker->position < worker->end; worker->position++) {
		forward->targets[worker->position] = HD_NONE;
		worker->dropped++;
	}
	return HD_OK;
}

/* Take the edges that lead nowhere out of the rows. */
static enum hd_status drop_edges(struct snapshot *snapshot)
{
	struct csr *forward = &snapshot->graph->forward;
	uint64_t kept = 0, edges = forward->edge_count;
	for (uint32_t node = 0; node < forward->node_count; node++) {
		uint64_t begin = csr_begin(forward, node), end = csr_begin(forward, node + 1);
		uint32_t degree = 0;
		for (uint64_t i = begin; i < end; i++) {
			forward->targets[kept] = forward->targets[i];
			bool is_kept = forward->targets[i] != HD_NONE;
			kept += is_kept;
			degree += is_kept;
		}
		forward->offsets[node] = degree;
	}
	forward->offsets[forward->node_count] = 0;
	TRY(csr_offsets_from_degrees(forward, snapshot->err));
	uint32_t *targets = pages_resize(forward->targets, edges, kept, sizeof(*forward->targets));
	if (!targets)
		return fail_nomem(snapshot->err);
	forward->targets = targets;
	forward->edge_count = kept;
	return HD_OK;
}

enum hd_status snapshot_references(struct snapshot *snapshot)
{
	struct csr *forward = &snapshot->graph->forward;
	forward->targets = pages_alloc(snapshot->edges, sizeof(*forward->targets));
	if (!forward->targets)
		return fail_nomem(snapshot->err);
	forward->edge_count = snapshot->edges;
	TRY(run_pass(snapshot, "Following references", read_references));
	for (unsigned int i = 0; i < snapshot->worker_count; i++)
		snapshot->dropped += snapshot->workers[i].dropped;
	return snapshot->dropped ? drop_edges(snapshot) : HD_OK;
}
