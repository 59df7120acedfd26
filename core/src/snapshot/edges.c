/* SPDX-License-Identifier: MIT */
/* The edges of a heap's graph, made by walking it once more when they are asked for. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "snapshot/edge_walk.h"
#include "snapshot/places.h"
#include "util/alloc.h"

/* References whose nodes are looked up at once. */
#define BATCH 1024u
/* Nodes and edges of a piece, at least. */
#define PIECE_MIN ((uint64_t)1 << 22)
/* Pieces, about. */
#define PIECES 8u
/* Kind of the finding. */
#define DROPPED "reference-to-no-object"

struct edge_worker {
	struct filling *filling;
	uint64_t dropped;                     /* references to what is no object */
	uint64_t dropped_slot, dropped_value; /* of the one at the lowest slot */
	uint64_t position, end;               /* in the targets, of the segment's rows */
	struct beside beside;
	size_t count; /* of those that wait: */
	uint64_t values[BATCH], slots[BATCH];
};

/* The rows of the segments [begin, end) on their way into a csr. */
struct filling {
	struct hd_graph *graph;
	const struct places *places;
	struct job *job;
	struct hd_error *err;
	struct edge_worker *workers;
	unsigned int worker_count;
	const struct segment **segments; /* of all */
	size_t begin, end;
	struct csr rows; /* of those */
};

static uint32_t first_node(const struct filling *filling)
{
	return (uint32_t)starts_segment_rank(filling->places->starts, filling->begin);
}

/* Look up the nodes of what waits, and put them behind the last ones. */
static void flush(struct edge_worker *worker)
{
	const struct filling *filling = worker->filling;
	size_t count = worker->count;
	uint32_t *targets = filling->rows.targets + worker->position;
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

/* Queue an edge for flush(); without a branch on whether there is one. */
static inline void queue_edge(struct edge_worker *worker, uint64_t slot, uint64_t value,
			      bool is_edge)
{
	worker->values[worker->count] = value;
	worker->slots[worker->count] = slot;
	worker->count += is_edge;
	if (worker->count == BATCH)
		flush(worker);
}

/* Queue the edges of an object, at most @p room; returns how many. */
static uint64_t walk_edges(struct edge_worker *worker, struct walker *walker, uint64_t room)
{
	struct edge_walk walk;
	struct reference reference;
	uint64_t count = 0;
	edges_begin(&walk, &worker->beside, walker);
	for (; count < room && edges_next(&walk, &reference); count++) {
		queue_edge(worker, reference.slot ? reference.slot : walker->object.address,
			   reference.value, true);
	}
	return count;
}

static inline uint64_t add_edges(struct edge_worker *worker, struct walker *walker)
{
	const uint8_t *bytes = plain_bytes(&worker->beside, walker);
	const struct object *object = &walker->object;
	uint64_t count = 0, room = worker->end - worker->position - worker->count;
	if (!bytes)
		return walk_edges(worker, walker, room);
	for (uint32_t i = 0; i < object->type->series_count; i++) {
		struct slots slots = slots_of(object, i);
		for (uint64_t at = slots.begin; at < slots.end && count < room; at += 8) {
			uint64_t value = load_u64(bytes + at);
			queue_edge(worker, object->address + at, value, value != 0);
			count += value != 0;
		}
	}
	return count;
}

/*
 * The bytes have changed since they were counted: nodes from @p node on have no edges, but for what
 * is missing, which goes to the last one.
 */
static enum hd_status add_missing(struct edge_worker *worker, uint32_t *degrees, uint32_t node,
				  uint32_t end, struct hd_error *err)
{
	while (node < end)
		degrees[node++] = 0;
	uint64_t count = worker->end - worker->position;
	if (!count)
		return HD_OK;
	if (count > UINT32_MAX - degrees[end - 1])
		return fail(err, HD_ERR_UNSUPPORTED, 0, "the heap changes while it is read");
	degrees[end - 1] += (uint32_t)count;
	worker->dropped += count;
	while (worker->position < worker->end)
		worker->filling->rows.targets[worker->position++] = HD_NONE;
	return HD_OK;
}

static enum hd_status fill_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct edge_worker *worker = arg;
	const struct filling *filling = worker->filling;
	const struct places *places = filling->places;
	size_t segment = (size_t)(walker->segment - walker->heap->segments);
	uint32_t *degrees = filling->rows.offsets, first = first_node(filling);
	uint32_t node = (uint32_t)starts_segment_rank(places->starts, segment) - first;
	uint32_t end = (uint32_t)starts_segment_rank(places->starts, segment + 1) - first;
	worker->position = places->edges[segment] - places->edges[filling->begin];
	worker->end = places->edges[segment + 1] - places->edges[filling->begin];
	beside_begin(&worker->beside, places->roots, walker->segment->begin);
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END && node < end;) {
		if (result == WALK_DAMAGE || walker->object.type->is_free)
			continue;
		uint64_t degree = add_edges(worker, walker);
		if (degree > UINT32_MAX) {
			return fail(err, HD_ERR_UNSUPPORTED, walker->object.address,
				    "over 4,294,967,295 references in one object");
		}
		degrees[node++] = (uint32_t)degree;
	}
	flush(worker);
	return add_missing(worker, degrees, node, end, err);
}

/* Fill the rows of segments [begin, end): degrees as offsets, and targets. */
static enum hd_status fill_rows(struct filling *filling, size_t begin, size_t end)
{
	void *args[64];
	const struct places *places = filling->places;
	for (unsigned int i = 0; i < filling->worker_count; i++)
		args[i] = &filling->workers[i];
	filling->begin = begin;
	filling->end = end;
	filling->rows.node_count = (uint32_t)(starts_segment_rank(places->starts, end) -
					      starts_segment_rank(places->starts, begin));
	filling->rows.edge_count = places->edges[end] - places->edges[begin];
	filling->rows.offsets[filling->rows.node_count] = 0;
	return heap_walk(places->heap, filling->segments + begin, end - begin, filling->job,
			 "Following references", fill_segment, args, filling->err);
}

/* Take the edges that lead nowhere out of the rows. */
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
	if (!targets)
		return fail_nomem(err);
	rows->targets = targets;
	rows->edge_count = kept;
	return HD_OK;
}

/* How many references the workers have dropped until now; a finding, if there is none. */
static uint64_t report_dropped(const struct filling *filling)
{
	uint64_t count = 0, slot = 0, value = 0;
	struct findings *findings = &filling->places->heap->clr->target->findings;
	for (unsigned int i = 0; i < filling->worker_count; i++) {
		const struct edge_worker *worker = &filling->workers[i];
		count += worker->dropped;
		if (!worker->dropped || (slot && slot <= worker->dropped_slot))
			continue;
		slot = worker->dropped_slot;
		value = worker->dropped_value;
	}
	if (count && !findings_has(findings, DROPPED)) {
		findings_add(findings, DROPPED, "verifyheap shows them",
			     "%" PRIu64 " reference%s to what is no object, the first at %" PRIx64
			     " to %" PRIx64 ": left out",
			     count, count == 1 ? "" : "s", slot, value);
	}
	return count;
}

static enum hd_status filling_init(struct filling *filling, struct hd_graph *graph, struct job *job,
				   struct hd_error *err)
{
	const struct places *places = graph->places.arg;
	size_t segments = places->heap->segment_count;
	*filling = (struct filling){ .graph = graph,
				     .places = places,
				     .job = job,
				     .err = err,
				     .worker_count = job_workers(job) };
	filling->workers = mem_calloc(filling->worker_count, sizeof(*filling->workers));
	filling->segments = mem_alloc(segments, sizeof(void *));
	if (!filling->workers || !filling->segments)
		return fail_nomem(err);
	for (unsigned int i = 0; i < filling->worker_count; i++)
		filling->workers[i].filling = filling;
	for (size_t i = 0; i < segments; i++)
		filling->segments[i] = &places->heap->segments[i];
	return HD_OK;
}

static void filling_deinit(struct filling *filling)
{
	mem_free(filling->workers);
	mem_free(filling->segments);
}

static enum hd_status make_forward(struct filling *filling)
{
	const struct places *places = filling->places;
	size_t segments = places->heap->segment_count;
	TRY(csr_init(&filling->rows, filling->graph->node_count, places->edges[segments],
		     filling->err));
	TRY(fill_rows(filling, 0, segments));
	TRY(csr_offsets_from_degrees(&filling->rows, filling->err));
	return report_dropped(filling) ? drop_edges(&filling->rows, filling->err) : HD_OK;
}

enum hd_status places_forward(struct hd_graph *graph, struct job *job, struct hd_error *err)
{
	struct filling filling;
	enum hd_status status = filling_init(&filling, graph, job, err);
	if (status == HD_OK)
		status = make_forward(&filling);
	if (status == HD_OK) {
		graph->forward = filling.rows;
	} else {
		csr_deinit(&filling.rows);
	}
	filling_deinit(&filling);
	return status;
}

/* Words that the rows of segments [begin, end) take. */
static uint64_t piece_size(const struct places *places, size_t begin, size_t end)
{
	return places->edges[end] - places->edges[begin] +
	       starts_segment_rank(places->starts, end) -
	       starts_segment_rank(places->starts, begin);
}

/* End of the piece that begins at segment @p begin: one segment, or as many as are not too much. */
static size_t piece_end(const struct places *places, size_t begin, uint64_t limit)
{
	size_t end = begin + 1;
	while (end < places->heap->segment_count && piece_size(places, begin, end + 1) <= limit)
		end++;
	return end;
}

/* Where each piece begins; @p pieces has a place for each segment and one more. */
static size_t cut(const struct places *places, size_t *pieces)
{
	size_t segments = places->heap->segment_count, count = 0;
	uint64_t limit = piece_size(places, 0, segments) / PIECES + 1;
	if (limit < PIECE_MIN)
		limit = PIECE_MIN;
	for (size_t begin = 0; begin < segments; begin = piece_end(places, begin, limit))
		pieces[count++] = begin;
	pieces[count] = segments;
	return count;
}

/* Memory for the rows of any piece. */
static enum hd_status allocate_piece(const struct places *places, const size_t *pieces,
				     size_t count, struct csr *ret, struct hd_error *err)
{
	uint64_t nodes = 0, edges = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t in_piece = starts_segment_rank(places->starts, pieces[i + 1]) -
				    starts_segment_rank(places->starts, pieces[i]);
		uint64_t of_piece = places->edges[pieces[i + 1]] - places->edges[pieces[i]];
		nodes = in_piece > nodes ? in_piece : nodes;
		edges = of_piece > edges ? of_piece : edges;
	}
	return csr_init(ret, (uint32_t)nodes, edges, err);
}

/*
 * All pieces twice: to count what leads to each node, and, from the last to the first, to fill the
 * rows.  The last is still there the second time.
 */
static enum hd_status reverse_pieces(struct filling *filling, const size_t *pieces, size_t count,
				     struct csr *ret)
{
	struct csr *rows = &filling->rows;
	for (size_t i = 0; i < count; i++) {
		TRY(fill_rows(filling, pieces[i], pieces[i + 1]));
		TRY(csr_reverse_count(rows, filling->job, ret, filling->err));
	}
	(void)report_dropped(filling);
	TRY(csr_reverse_allocate(ret, filling->err));
	for (size_t i = count; i-- > 0;) {
		if (i + 1 < count)
			TRY(fill_rows(filling, pieces[i], pieces[i + 1]));
		TRY(csr_offsets_from_degrees(rows, filling->err));
		TRY(csr_reverse_fill(rows, first_node(filling), filling->job, ret, filling->err));
	}
	if (!csr_is_sound(ret)) {
		return fail(filling->err, HD_ERR_UNSUPPORTED, 0,
			    "the heap changes while it is read");
	}
	return HD_OK;
}

static enum hd_status make_reverse(struct filling *filling, size_t *pieces)
{
	struct hd_graph *graph = filling->graph;
	size_t count = cut(filling->places, pieces);
	struct csr reverse, piece;
	TRY(csr_reverse_begin(graph->node_count, &reverse, filling->err));
	enum hd_status status =
		allocate_piece(filling->places, pieces, count, &piece, filling->err);
	if (status == HD_OK) {
		filling->rows = piece;
		status = reverse_pieces(filling, pieces, count, &reverse);
		csr_deinit(&piece);
	}
	if (status == HD_OK) {
		graph->reverse = reverse;
	} else {
		csr_deinit(&reverse);
	}
	return status;
}

enum hd_status places_reverse(struct hd_graph *graph, struct job *job, struct hd_error *err)
{
	struct filling filling;
	enum hd_status status = filling_init(&filling, graph, job, err);
	size_t *pieces = NULL;
	if (status == HD_OK) {
		pieces = mem_alloc(filling.places->heap->segment_count + 1, sizeof(*pieces));
		status = pieces ? make_reverse(&filling, pieces) : fail_nomem(err);
	}
	mem_free(pieces);
	filling_deinit(&filling);
	return status;
}
