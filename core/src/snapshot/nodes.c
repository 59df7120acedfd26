/* SPDX-License-Identifier: MIT */
/* The pass over a heap that gives a graph its nodes. */

#include "snapshot/snapshot_parts.h"
#include "util/alloc.h"

static size_t walker_segment_index(const struct walker *walker)
{
	return (size_t)(walker->segment - walker->heap->segments);
}

static uint64_t walk_count(struct snapshot_worker *worker, struct walker *walker)
{
	struct edge_walk walk;
	struct reference reference;
	uint64_t count = 0;
	edges_begin(&walk, &worker->extra_edges, walker);
	while (edges_next(&walk, &reference))
		count++;
	worker->extra += walk.from_handles;
	return count;
}

static inline uint64_t count_object_edges(struct snapshot_worker *worker, struct walker *walker)
{
	const uint8_t *bytes = plain_bytes(&worker->extra_edges, walker);
	const struct object *object = &walker->object;
	uint64_t count = 0;
	if (!bytes)
		return walk_count(worker, walker);
	for (uint32_t i = 0; i < object->type->desc.series_count; i++) {
		struct slot_range slots = slots_of(object, i);
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

static void note_worker_gap(struct snapshot_worker *worker, const struct damage *damage)
{
	if (damage->kind == DAMAGE_MISSING_BYTES) {
		worker->missing++;
		worker->missing_bytes += damage->skipped;
	} else {
		worker->gaps += damage->kind != DAMAGE_ZERO_RUN && damage->kind != DAMAGE_PLUG_NODE;
	}
}

static enum hd_status count_segment_nodes(void *arg, struct walker *walker, struct hd_error *err)
{
	struct snapshot_worker *worker = arg;
	const struct snapshot *snapshot = worker->snapshot;
	struct starts *starts = snapshot->places->starts;
	size_t segment = walker_segment_index(walker);
	struct starts_marks marks = starts_marks(starts, segment);
	uint64_t edges = 0;
	extra_edges_begin(&worker->extra_edges, snapshot->roots, walker->segment->begin);
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END;) {
		if (result == WALK_DAMAGE)
			note_worker_gap(worker, &walker->damage);
		if (result == WALK_DAMAGE || walker->object.type->is_free)
			continue;
		starts_mark(&marks, walker->object.address);
		edges += count_object_edges(worker, walker);
		TRY_MEMORY(add_total(worker, &walker->object), err);
	}
	(void)starts_close(starts, segment);
	snapshot->places->edges[segment] = edges;
	return HD_OK;
}

enum hd_status snapshot_count(struct snapshot *snapshot)
{
	struct places *places = snapshot->places;
	size_t segments = snapshot->heap->segment_count;
	void *args[JOB_WORKERS_MAX];
	places->edges = mem_calloc(segments + 1, sizeof(*places->edges));
	TRY_MEMORY(places->edges, snapshot->err);
	TRY(starts_alloc(snapshot->heap, snapshot->job, &places->starts, snapshot->err));
	for (unsigned int i = 0; i < snapshot->worker_count; i++)
		args[i] = &snapshot->workers[i];
	TRY(heap_walk(snapshot->heap,
		      &(const struct heap_tour){ .what = "Finding objects",
						 .visit = count_segment_nodes,
						 .args = args },
		      snapshot->job, snapshot->err));
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
		snapshot->missing += snapshot->workers[i].missing;
		snapshot->missing_bytes += snapshot->workers[i].missing_bytes;
	}
	return HD_OK;
}
