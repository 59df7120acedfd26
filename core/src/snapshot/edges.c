/* SPDX-License-Identifier: MIT */
/*
 * The edges of a heap's graph, and the types and sizes of its nodes, made by walking it once more
 * when edges are asked for.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "snapshot/edge_walk.h"
#include "snapshot/places.h"
#include "util/alloc.h"
#include "util/sort.h"

/* How many references' nodes are looked up together. */
#define LOOKUPS_BATCH 1024u
/* Kind of the finding. */

struct edge_worker {
	struct edge_filling *filling;
	uint64_t dropped;                     /* references to what is not an object */
	uint64_t dropped_slot, dropped_value; /* value of the one at the lowest slot */
	uint64_t position, end;               /* position of the segment's edges in the targets */
	uint64_t ends, ends_word; /* for rows: the bits to be set in one word, and which word */
	struct extra_edges extra_edges;
	struct large_size *large;
	size_t large_count, large_capacity;
	size_t count; /* for the edges that wait: */
	uint64_t values[LOOKUPS_BATCH], slots[LOOKUPS_BATCH];
};

/* The edges that are put into a csr, or into rows that will be reversed. */
struct edge_filling {
	struct hd_graph *graph;
	const struct places *places;
	struct job *job;
	struct hd_error *err;
	struct edge_worker *workers;
	unsigned int worker_count;
	uint32_t *types; /* types of nodes, like sizes; NULL: they are not made */
	uint32_t *sizes;
	uint32_t *targets; /* of a csr or of rows */
	uint32_t *degrees; /* of a csr; NULL: rows have ends */
	struct csr_rows rows;
};

/* Look up the nodes of the edges that wait, and put them after the last ones. */
static void flush_edges(struct edge_worker *worker)
{
	const struct edge_filling *filling = worker->filling;
	size_t count = worker->count;
	uint32_t *targets = filling->targets + worker->position;
	worker->count = 0;
	starts_rank_all(filling->places->starts, worker->values, targets, count);
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

/* Queue an edge for flush_edges(), without a branch on whether there is one. */
static inline void queue_edge(struct edge_worker *worker, uint64_t slot, uint64_t value,
			      bool is_edge)
{
	worker->values[worker->count] = value;
	worker->slots[worker->count] = slot;
	worker->count += is_edge;
	if (worker->count == LOOKUPS_BATCH)
		flush_edges(worker);
}

/* Queue the edges of an object, at most @p room; returns how many. */
static uint64_t walk_edges(struct edge_worker *worker, struct walker *walker, uint64_t room)
{
	struct edge_walk walk;
	struct reference reference;
	uint64_t count = 0;
	edges_begin(&walk, &worker->extra_edges, walker);
	for (; count < room && edges_next(&walk, &reference); count++) {
		queue_edge(worker, reference.slot ? reference.slot : walker->object.address,
			   reference.value, true);
	}
	return count;
}

static inline uint64_t add_edges(struct edge_worker *worker, struct walker *walker)
{
	const uint8_t *bytes = plain_bytes(&worker->extra_edges, walker);
	const struct object *object = &walker->object;
	uint64_t count = 0, room = worker->end - worker->position - worker->count;
	if (!bytes)
		return walk_edges(worker, walker, room);
	for (uint32_t i = 0; i < object->type->desc.series_count; i++) {
		struct slot_range slots = slots_of(object, i);
		for (uint64_t at = slots.begin; at < slots.end && count < room; at += 8) {
			uint64_t value = load_u64(bytes + at);
			queue_edge(worker, object->address + at, value, value != 0);
			count += value != 0;
		}
	}
	return count;
}

/* Segments share the words between them, and workers may meet there. */
static void write_ends(struct edge_worker *worker)
{
	if (worker->ends) {
		__atomic_fetch_or(&worker->filling->rows.ends[worker->ends_word], worker->ends,
				  __ATOMIC_RELAXED);
	}
	worker->ends = 0;
}

/* The node has that many edges, the last of those that were queued. */
static inline void end_node(struct edge_worker *worker, uint32_t node, uint32_t degree)
{
	uint32_t *degrees = worker->filling->degrees;
	if (degrees) {
		degrees[node] = degree;
		return;
	}
	uint64_t bit = node + worker->position + worker->count;
	if (bit / 64 != worker->ends_word) {
		write_ends(worker);
		worker->ends_word = bit / 64;
	}
	worker->ends |= (uint64_t)1 << bit % 64;
}

/*
 * The bytes have changed since they were counted: @p node and later nodes have no edges.  The
 * missing edges are given to the last one; in rows they follow its end, where they do not belong to
 * the next one.
 */
static enum hd_status add_missing_edges(struct edge_worker *worker, uint32_t node, uint32_t end,
					struct hd_error *err)
{
	uint32_t *degrees = worker->filling->degrees;
	uint64_t count = worker->end - worker->position;
	while (node < end)
		end_node(worker, node++, 0);
	if (count && degrees) {
		if (count > UINT32_MAX - degrees[end - 1]) {
			return fail(err, HD_ERR_UNSUPPORTED, 0,
				    "the heap changes while it is read");
		}
		degrees[end - 1] += (uint32_t)count;
	}
	worker->dropped += count;
	while (worker->position < worker->end)
		worker->filling->targets[worker->position++] = HD_NONE;
	return HD_OK;
}

static bool add_large(struct edge_worker *worker, uint32_t node, uint64_t size)
{
	if (!PAGES_RESERVE(worker, large))
		return false;
	worker->large[worker->large_count++] = (struct large_size){ .node = node, .size = size };
	return true;
}

/* Set the type and the size of a node, if these are made; false when memory is exhausted. */
static inline bool add_snapshot_node(struct edge_worker *worker, uint32_t node,
				     const struct object *object)
{
	const struct edge_filling *filling = worker->filling;
	const struct places *places = filling->places;
	size_t index = object->type->index;
	if (filling->types) {
		uint32_t type = index < places->type_count ? places->types[index] : HD_NONE;
		filling->types[node] = type == HD_NONE ? 0 : type;
	}
	if (!filling->sizes)
		return true;
	filling->sizes[node] = object->size < SIZE_LARGE ? (uint32_t)object->size : SIZE_LARGE;
	return object->size < SIZE_LARGE || add_large(worker, node, object->size);
}

static enum hd_status fill_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct edge_worker *worker = arg;
	const struct places *places = worker->filling->places;
	size_t segment = (size_t)(walker->segment - walker->heap->segments);
	uint32_t node = (uint32_t)starts_segment_rank(places->starts, segment);
	uint32_t end = (uint32_t)starts_segment_rank(places->starts, segment + 1);
	worker->position = places->edges[segment];
	worker->end = places->edges[segment + 1];
	extra_edges_begin(&worker->extra_edges, places->roots, walker->segment->begin);
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END && node < end;) {
		if (result == WALK_DAMAGE || walker->object.type->is_free)
			continue;
		uint64_t degree = add_edges(worker, walker);
		if (degree > UINT32_MAX) {
			return fail(err, HD_ERR_UNSUPPORTED, walker->object.address,
				    "over 4,294,967,295 references in one object");
		}
		TRY_MEMORY(add_snapshot_node(worker, node, &walker->object), err);
		end_node(worker, node++, (uint32_t)degree);
	}
	flush_edges(worker);
	enum hd_status status = add_missing_edges(worker, node, end, err);
	write_ends(worker);
	return status;
}

static enum hd_status walk_heap(struct edge_filling *filling)
{
	void *args[JOB_WORKERS_MAX];
	for (unsigned int i = 0; i < filling->worker_count; i++)
		args[i] = &filling->workers[i];
	return heap_walk(filling->places->heap,
			 &(const struct heap_tour){ .what = "Following references",
						    .visit = fill_segment,
						    .args = args },
			 filling->job, filling->err);
}

/* Remove the edges that lead nowhere from the rows. */
static enum hd_status drop_edges(struct csr *rows, struct hd_error *err)
{
	uint64_t kept = 0, edges = rows->edge_count;
	for (uint32_t node = 0; node < rows->node_count; node++) {
		uint64_t begin = csr_begin(rows, node), end = csr_begin(rows, node + 1);
		uint32_t degree = 0;
		for (uint64_t i = begin; i < end; i++) {
			rows->targets[kept] = rows->targets[i];
			bool is_kept = rows->targets[i] != HD_NONE;
			kept += is_kept;
			degree += is_kept;
		}
		rows->offsets[node] = degree;
	}
	rows->offsets[rows->node_count] = 0;
	TRY(csr_offsets_from_degrees(rows, err));
	uint32_t *targets = pages_resize(rows->targets, edges, kept, sizeof(*rows->targets));
	TRY_MEMORY(targets, err);
	rows->targets = targets;
	rows->edge_count = kept;
	return HD_OK;
}

/* How many references the workers have dropped until now; adds a finding, if there is none yet. */
static uint64_t report_dropped(const struct edge_filling *filling)
{
	uint64_t count = 0, slot = 0, value = 0;
	struct findings *findings = heap_findings(filling->places->heap);
	for (unsigned int i = 0; i < filling->worker_count; i++) {
		const struct edge_worker *worker = &filling->workers[i];
		count += worker->dropped;
		if (!worker->dropped || (slot && slot <= worker->dropped_slot))
			continue;
		slot = worker->dropped_slot;
		value = worker->dropped_value;
	}
	if (count && !findings_has(findings, FINDING_REFERENCE_TO_NO_OBJECT)) {
		findings_add_counted(findings, FINDING_REFERENCE_TO_NO_OBJECT, count, NULL,
				     "%" PRIu64
				     " reference%s to what is not an object, the first at %" PRIx64
				     " to %" PRIx64 ": left out",
				     count, count == 1 ? "" : "s", slot, value);
	}
	return count;
}

ORDER_BY(compare_large_sizes, struct large_size, node)

static enum hd_status merge_large_sizes(struct edge_filling *filling)
{
	struct hd_graph *graph = filling->graph;
	size_t large = 0;
	for (unsigned int i = 0; i < filling->worker_count; i++)
		large += filling->workers[i].large_count;
	graph->large.rows = pages_alloc(large, sizeof(*graph->large.rows));
	TRY_MEMORY(graph->large.rows, filling->err);
	graph->large.count = large;
	large = 0;
	for (unsigned int i = 0; i < filling->worker_count; i++) {
		const struct edge_worker *worker = &filling->workers[i];
		for (size_t k = 0; k < worker->large_count; k++)
			graph->large.rows[large++] = worker->large[k];
	}
	qsort(graph->large.rows, large, sizeof(*graph->large.rows), compare_large_sizes);
	return HD_OK;
}

static enum hd_status filling_init(struct edge_filling *filling, struct hd_graph *graph,
				   struct job *job, struct hd_error *err)
{
	*filling = (struct edge_filling){ .graph = graph,
					  .places = graph->places.arg,
					  .job = job,
					  .err = err,
					  .worker_count = job_workers(job) };
	filling->workers = mem_calloc(filling->worker_count, sizeof(*filling->workers));
	TRY_MEMORY(filling->workers, err);
	for (unsigned int i = 0; i < filling->worker_count; i++)
		filling->workers[i].filling = filling;
	if (graph->node_types)
		return HD_OK;
	filling->types = pages_alloc(graph->node_count, sizeof(*filling->types));
	return filling->types ? HD_OK : fail_nomem(err);
}

/* The graph gets the result only when everything was made. */
static void filling_deinit(struct edge_filling *filling, enum hd_status status)
{
	struct hd_graph *graph = filling->graph;
	if (status == HD_OK) {
		graph->node_types = filling->types ? filling->types : graph->node_types;
		graph->sizes = filling->sizes ? filling->sizes : graph->sizes;
	} else {
		pages_free(filling->types, graph->node_count, sizeof(*filling->types));
		pages_free(filling->sizes, graph->node_count, sizeof(*filling->sizes));
	}
	for (unsigned int i = 0; filling->workers && i < filling->worker_count; i++) {
		struct edge_worker *worker = &filling->workers[i];
		pages_free(worker->large, worker->large_capacity, sizeof(*worker->large));
	}
	mem_free(filling->workers);
}

static enum hd_status make_forward(struct edge_filling *filling, struct csr *ret)
{
	const struct places *places = filling->places;
	uint32_t nodes = filling->graph->node_count;
	TRY(csr_init(ret, nodes, places->edges[places->heap->segment_count], filling->err));
	filling->sizes = pages_alloc(nodes, sizeof(*filling->sizes));
	TRY_MEMORY(filling->sizes, filling->err);
	filling->targets = ret->targets;
	filling->degrees = ret->offsets;
	TRY(walk_heap(filling));
	TRY(csr_offsets_from_degrees(ret, filling->err));
	if (report_dropped(filling))
		TRY(drop_edges(ret, filling->err));
	return merge_large_sizes(filling);
}

enum hd_status places_forward(struct hd_graph *graph, struct job *job, struct hd_error *err)
{
	struct edge_filling filling;
	struct csr forward = { 0 };
	enum hd_status status = filling_init(&filling, graph, job, err);
	if (status == HD_OK)
		status = make_forward(&filling, &forward);
	if (status == HD_OK) {
		graph->forward = forward;
	} else {
		csr_deinit(&forward);
	}
	filling_deinit(&filling, status);
	return status;
}

static enum hd_status make_reverse(struct edge_filling *filling)
{
	struct hd_graph *graph = filling->graph;
	const struct places *places = filling->places;
	TRY(csr_rows_init(&filling->rows, graph->node_count,
			  places->edges[places->heap->segment_count], filling->err));
	filling->targets = filling->rows.targets;
	TRY(walk_heap(filling));
	(void)report_dropped(filling);
	return csr_reverse_rows(&filling->rows, filling->job, &graph->reverse, filling->err);
}

enum hd_status places_reverse(struct hd_graph *graph, struct job *job, struct hd_error *err)
{
	struct edge_filling filling;
	enum hd_status status = filling_init(&filling, graph, job, err);
	if (status == HD_OK)
		status = make_reverse(&filling);
	csr_rows_deinit(&filling.rows);
	filling_deinit(&filling, status);
	return status;
}
