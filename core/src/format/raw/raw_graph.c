/* SPDX-License-Identifier: MIT */
/*
 * Makes a graph of objects in any order: sorted by id, references as nodes, missing nodes at the
 * end.
 */
#include "format/raw/raw_graph.h"

#include <string.h>

#include "util/alloc.h"
#include "util/fuzzed.h"
#include "util/sort.h"

/* How many references a worker handles between two checks for cancellation. */
#define REFERENCES_BATCH ((size_t)1 << FUZZED(14, 5))
/* For this many ids, an index is not worth it. */
#define LOOKUPS_FEW 65536u
/*
 * How far ahead memory at random places is prefetched: first what is read by position, then rows.
 */
#define RAW_AHEAD      32u
#define RAW_AHEAD_ROWS 12u
/* Ids that are read at once. */
#define IDS_READ ((size_t)512)

struct finishing {
	struct raw_graph *raw;
	struct hd_graph *graph;
	struct job *job;
	struct hd_error *err;
	const uint64_t *extra;
	size_t extra_count;
	uint32_t kept;         /* objects that stay */
	uint32_t *extra_nodes; /* extra_count */
	uint64_t *ids;         /* missing ones: ascending, unique */
	size_t ids_count, ids_capacity;
	struct csr rows;      /* in the order of raw, without targets; only with an order */
	unsigned int workers; /* of the stage */
	_Atomic uint64_t none;
	_Atomic bool cancelled;
};

static enum hd_status check_graph_memory(uint32_t object_count, uint64_t edge_count,
					 struct job *job, struct hd_error *err)
{
	uint64_t bytes;
	if (__builtin_mul_overflow(edge_count, 4, &bytes) ||
	    __builtin_add_overflow(bytes, (uint64_t)object_count * 24, &bytes))
		return fail_nomem(err);
	return job_check_memory(job, bytes, err);
}

enum hd_status raw_graph_init(struct raw_graph *raw, uint32_t object_count, uint64_t edge_count,
			      struct job *job, struct hd_error *err)
{
	*raw = (struct raw_graph){ .object_count = object_count, .edge_count = edge_count };
	TRY(check_graph_memory(object_count, edge_count, job, err));
	raw->ids = pages_alloc(object_count, sizeof(*raw->ids));
	raw->types = pages_alloc(object_count, sizeof(*raw->types));
	raw->sizes = pages_alloc(object_count, sizeof(*raw->sizes));
	raw->degrees = pages_alloc(object_count, sizeof(*raw->degrees));
	raw->targets = pages_alloc(edge_count, sizeof(*raw->targets));
	if (raw->ids && raw->types && raw->sizes && raw->degrees && raw->targets)
		return HD_OK;
	raw_graph_deinit(raw);
	return fail_nomem(err);
}

void raw_graph_deinit(struct raw_graph *raw)
{
	pages_free(raw->ids, raw->object_count, sizeof(*raw->ids));
	pages_free(raw->types, raw->object_count, sizeof(*raw->types));
	pages_free(raw->sizes, raw->object_count, sizeof(*raw->sizes));
	pages_free(raw->large, raw->large_capacity, sizeof(*raw->large));
	pages_free(raw->degrees, raw->object_count, sizeof(*raw->degrees));
	pages_free(raw->targets, raw->edge_count, sizeof(*raw->targets));
	pages_free(raw->order, raw->object_count, sizeof(*raw->order));
	pages_free(raw->rank, raw->object_count, sizeof(*raw->rank));
	*raw = (struct raw_graph){ 0 };
}

enum hd_status raw_graph_set_edge_count(struct raw_graph *raw, uint64_t edge_count, struct job *job,
					struct hd_error *err)
{
	TRY(check_graph_memory(raw->object_count, edge_count, job, err));
	uint32_t *targets = pages_alloc(edge_count, sizeof(*targets));
	TRY_MEMORY(targets, err);
	pages_free(raw->targets, raw->edge_count, sizeof(*raw->targets));
	raw->targets = targets;
	raw->edge_count = edge_count;
	return HD_OK;
}

/* Position in raw->large of the first entry with a node of at least @p index. */
static size_t large_place(const struct raw_graph *raw, uint32_t index)
{
	size_t count = raw->large_count;
	if (count && raw->large[count - 1].node < index)
		return count;
	return ROWS_FROM(raw->large, count, node, index);
}

bool raw_graph_set_size(struct raw_graph *raw, uint32_t index, uint64_t size)
{
	if (size < SIZE_LARGE) {
		raw->sizes[index] = (uint32_t)size;
		return true;
	}
	size_t place = large_place(raw, index);
	if (place == raw->large_count || raw->large[place].node != index) {
		if (!PAGES_RESERVE(raw, large))
			return false;
		memmove(raw->large + place + 1, raw->large + place,
			(raw->large_count - place) * sizeof(*raw->large));
		raw->large_count++;
	}
	raw->large[place] = (struct large_size){ .node = index, .size = size };
	raw->sizes[index] = SIZE_LARGE;
	return true;
}

/* Run @p fn on all workers of the job; each does its share of @p units. */
static enum hd_status run_finishing(struct finishing *finishing, const char *what, uint64_t units,
				    void (*fn)(void *arg, unsigned int worker))
{
	finishing->workers = units < 4 * REFERENCES_BATCH ? 1 : job_workers(finishing->job);
	job_begin(finishing->job, what, units);
	run_parallel(finishing->workers, finishing->job, fn, finishing);
	return finishing->cancelled ? fail_cancelled(finishing->err) : HD_OK;
}

static uint64_t finishing_share(const struct finishing *finishing, uint64_t units,
				unsigned int worker)
{
	return units / finishing->workers * worker +
	       units % finishing->workers * worker / finishing->workers;
}

static bool step_finishing(struct finishing *finishing, unsigned int worker, uint64_t units)
{
	if (!job_step(finishing->job, worker, units))
		finishing->cancelled = true;
	return !finishing->cancelled;
}

static bool ids_ascend(const struct raw_graph *raw)
{
	if (raw->keeps_repeated && raw->object_count && !raw->ids[0])
		return false;
	for (uint32_t i = 1; i < raw->object_count; i++) {
		if (raw->ids[i - 1] >= raw->ids[i])
			return false;
	}
	return true;
}

/* Keep the first of each id; ids and order shrink together. */
static void join_repeated(struct finishing *finishing)
{
	struct raw_graph *raw = finishing->raw;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < raw->object_count; i++) {
		if (!kept || raw->ids[kept - 1] != raw->ids[i]) {
			raw->ids[kept] = raw->ids[i];
			/* The rank goes first: the order may overwrite itself. */
			finishing->raw->rank[raw->order[i]] = kept;
			raw->order[kept++] = raw->order[i];
		} else {
			finishing->raw->rank[raw->order[i]] = kept - 1;
		}
	}
	finishing->kept = kept;
}

static enum hd_status sort_objects(struct finishing *finishing)
{
	struct raw_graph *raw = finishing->raw;
	uint32_t count = raw->object_count;
	finishing->kept = count;
	if (raw->ascends || ids_ascend(raw))
		return HD_OK;
	job_begin(finishing->job, "Sorting objects", 0);
	TRY(job_check(finishing->job, 0, finishing->err));
	uint64_t bytes = (uint64_t)count * 48 + raw->edge_count * 8;
	TRY(job_check_memory(finishing->job, bytes, finishing->err));
	raw->order = pages_alloc(count, sizeof(*raw->order));
	finishing->raw->rank = pages_alloc(count, sizeof(*finishing->raw->rank));
	TRY_MEMORY(raw->order && finishing->raw->rank && sort_keys(raw->ids, raw->order, count),
		   finishing->err);
	if (raw->keeps_repeated)
		TRY(raw_graph_renumber(raw, finishing->graph, finishing->err));
	join_repeated(finishing);
	if (finishing->kept == count)
		return HD_OK;
	return raw_graph_finding(finishing->graph, FINDING_REPEATED_ID, count - finishing->kept,
				 "objects with the id of another one are left out", finishing->err);
}

/* Elements of @p from in the order of the nodes, for the graph. */
static uint32_t *gather_in_order(const struct finishing *finishing, const uint32_t *from)
{
	const uint32_t *order = finishing->raw->order;
	uint32_t count = finishing->kept;
	uint32_t *to = pages_alloc(count, sizeof(*to));
	for (uint32_t i = 0; to && i < count; i++) {
		if (i + RAW_AHEAD < count)
			__builtin_prefetch(&from[order[i + RAW_AHEAD]]);
		to[i] = from[order[i]];
	}
	return to;
}

/* Give the graph node_types and sizes. */
static enum hd_status take_raw_objects(struct finishing *finishing)
{
	struct raw_graph *raw = finishing->raw;
	struct hd_graph *graph = finishing->graph;
	graph->object_count = finishing->kept;
	if (!raw->order) {
		graph->node_types = raw->types;
		raw->types = NULL;
		graph->sizes = raw->sizes;
		raw->sizes = NULL;
		return HD_OK;
	}
	graph->node_types = gather_in_order(finishing, raw->types);
	graph->sizes = gather_in_order(finishing, raw->sizes);
	return graph->node_types && graph->sizes ? HD_OK : fail_nomem(finishing->err);
}

static enum hd_status take_large(struct finishing *finishing)
{
	const struct raw_graph *raw = finishing->raw;
	struct hd_graph *graph = finishing->graph;
	size_t count = 0;
	for (uint32_t node = 0; raw->large_count && node < graph->object_count; node++)
		count += graph->sizes[node] == SIZE_LARGE;
	if (!count)
		return HD_OK;
	graph->large.rows = pages_alloc(count, sizeof(*graph->large.rows));
	TRY_MEMORY(graph->large.rows, finishing->err);
	graph->large.count = count;
	size_t next = 0;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		if (graph->sizes[node] != SIZE_LARGE)
			continue;
		size_t place = large_place(raw, raw->order ? raw->order[node] : node);
		graph->large.rows[next].node = node;
		graph->large.rows[next++].size = raw->large[place].size;
	}
	return HD_OK;
}

static uint64_t target_id(const struct raw_graph *raw, uint64_t reference)
{
	uint64_t id;
	raw->read_ids(raw->read_arg, reference, 1, &id);
	return id;
}

/* Look up the targets of references; returns how many are not objects. */
static uint64_t resolve_batch(const struct finishing *finishing, uint64_t begin, uint64_t end)
{
	const struct raw_graph *raw = finishing->raw;
	uint64_t none = 0, ids[IDS_READ];
	for (uint64_t i = begin; i < end;) {
		size_t count = end - i < IDS_READ ? (size_t)(end - i) : IDS_READ;
		raw->read_ids(raw->read_arg, i, count, ids);
		id_index_find_all(&finishing->graph->index, raw->ids, ids, raw->targets + i, count);
		for (size_t k = 0; k < count; k++)
			none += raw->targets[i + k] == HD_NONE;
		i += count;
	}
	return none;
}

static void resolve_ids(void *arg, unsigned int worker)
{
	struct finishing *finishing = arg;
	uint64_t end = finishing_share(finishing, finishing->raw->edge_count, worker + 1);
	uint64_t none = 0;
	for (uint64_t i = finishing_share(finishing, finishing->raw->edge_count, worker);
	     i < end;) {
		size_t count = end - i < REFERENCES_BATCH ? (size_t)(end - i) : REFERENCES_BATCH;
		none += resolve_batch(finishing, i, i + count);
		i += count;
		if (!step_finishing(finishing, worker, count))
			break;
	}
	finishing->none += none;
}

static uint32_t target_node(const struct finishing *finishing, uint32_t target)
{
	if (target < finishing->raw->object_count)
		return finishing->raw->rank ? finishing->raw->rank[target] : target;
	size_t extra = target - finishing->raw->object_count;
	return extra < finishing->extra_count ? finishing->extra_nodes[extra] : HD_NONE;
}

static void resolve_indexes(void *arg, unsigned int worker)
{
	struct finishing *finishing = arg;
	const struct raw_graph *raw = finishing->raw;
	uint64_t end = finishing_share(finishing, raw->edge_count, worker + 1);
	uint64_t none = 0;
	for (uint64_t i = finishing_share(finishing, raw->edge_count, worker); i < end;) {
		uint64_t stop = end - i < REFERENCES_BATCH ? end : i + REFERENCES_BATCH, begin = i;
		for (; i < stop; i++) {
			uint32_t ahead =
				i + RAW_AHEAD < stop ? raw->targets[i + RAW_AHEAD] : HD_NONE;
			if (finishing->raw->rank && ahead < raw->object_count)
				__builtin_prefetch(&finishing->raw->rank[ahead]);
			uint32_t node = target_node(finishing, raw->targets[i]);
			none += node == HD_NONE;
			if (node != raw->targets[i])
				raw->targets[i] = node;
		}
		if (!step_finishing(finishing, worker, stop - begin))
			break;
	}
	finishing->none += none;
}

static enum hd_status add_missing_id(struct finishing *finishing, uint64_t id)
{
	TRY_MEMORY(PAGES_RESERVE(finishing, ids), finishing->err);
	finishing->ids[finishing->ids_count++] = id;
	return HD_OK;
}

/* Collect all ids that are named but not defined. */
static enum hd_status collect_missing_ids(struct finishing *finishing)
{
	const struct raw_graph *raw = finishing->raw;
	for (size_t i = 0; i < finishing->extra_count; i++) {
		uint64_t id = finishing->extra[i];
		if (id_index_find(&finishing->graph->index, raw->ids, id) == HD_NONE)
			TRY(add_missing_id(finishing, id));
	}
	for (uint64_t i = 0; raw->read_ids && finishing->none && i < raw->edge_count; i++) {
		if (raw->targets[i] == HD_NONE)
			TRY(add_missing_id(finishing, target_id(raw, i)));
	}
	sort_u64(finishing->ids, finishing->ids_count);
	size_t unique = 0;
	for (size_t i = 0; i < finishing->ids_count; i++) {
		if (!unique || finishing->ids[unique - 1] != finishing->ids[i])
			finishing->ids[unique++] = finishing->ids[i];
	}
	finishing->ids_count = unique;
	return HD_OK;
}

/* Make the graph's ids: those of the objects, and then the missing ones. */
static enum hd_status take_ids(struct finishing *finishing)
{
	struct raw_graph *raw = finishing->raw;
	struct hd_graph *graph = finishing->graph;
	if (finishing->ids_count > HD_NONE - 2 - (size_t)finishing->kept)
		return fail(finishing->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	uint32_t nodes = finishing->kept + (uint32_t)finishing->ids_count;
	uint64_t *ids = pages_resize(raw->ids, raw->object_count, nodes, sizeof(*ids));
	TRY_MEMORY(ids, finishing->err);
	raw->ids = NULL;
	graph->ids = ids;
	graph->node_count = nodes;
	if (finishing->ids_count) {
		memcpy(ids + finishing->kept, finishing->ids, finishing->ids_count * sizeof(*ids));
	}
	return HD_OK;
}

static enum hd_status resolve_by_id(struct finishing *finishing)
{
	struct raw_graph *raw = finishing->raw;
	TRY(run_finishing(finishing, "Resolving references", raw->edge_count, resolve_ids));
	TRY(collect_missing_ids(finishing));
	TRY(take_ids(finishing));
	for (uint64_t i = 0; finishing->none && i < raw->edge_count; i++) {
		if (raw->targets[i] == HD_NONE) {
			raw->targets[i] = hd_graph_find(finishing->graph, target_id(raw, i));
		}
	}
	if (!finishing->none)
		return HD_OK;
	return raw_graph_finding(finishing->graph, FINDING_UNRESOLVED_REFERENCE, finishing->none,
				 "references to objects that the file does not define",
				 finishing->err);
}

/* Remove references that are HD_NONE. */
static void drop_none(struct raw_graph *raw)
{
	uint64_t from = 0, to = 0;
	for (uint32_t object = 0; object < raw->object_count; object++) {
		uint32_t kept = 0;
		for (uint32_t i = 0; i < raw->degrees[object]; i++, from++) {
			if (raw->targets[from] == HD_NONE)
				continue;
			raw->targets[to++] = raw->targets[from];
			kept++;
		}
		raw->degrees[object] = kept;
	}
}

static enum hd_status resolve_by_index(struct finishing *finishing)
{
	TRY(collect_missing_ids(finishing));
	TRY(take_ids(finishing));
	finishing->extra_nodes =
		pages_alloc(finishing->extra_count, sizeof(*finishing->extra_nodes));
	TRY_MEMORY(finishing->extra_nodes, finishing->err);
	for (size_t i = 0; i < finishing->extra_count; i++)
		finishing->extra_nodes[i] = hd_graph_find(finishing->graph, finishing->extra[i]);
	if (finishing->raw->all_inside && !finishing->raw->rank)
		return HD_OK;
	TRY(run_finishing(finishing, "Resolving references", finishing->raw->edge_count,
			  resolve_indexes));
	if (finishing->none)
		drop_none(finishing->raw);
	return HD_OK;
}

/*
 * Put the degrees of the nodes into the offsets, with a 0 for each missing node and one at the end.
 */
static enum hd_status take_raw_degrees(struct finishing *finishing)
{
	struct raw_graph *raw = finishing->raw;
	struct csr *forward = &finishing->graph->forward;
	uint32_t nodes = finishing->graph->node_count;
	uint32_t *offsets;
	if (raw->order) {
		offsets = pages_alloc((size_t)nodes + 1, sizeof(*offsets));
	} else {
		offsets = pages_resize(raw->degrees, raw->object_count, (size_t)nodes + 1,
				       sizeof(*offsets));
	}
	TRY_MEMORY(offsets, finishing->err);
	if (raw->order) {
		for (uint32_t i = 0; i < finishing->kept; i++)
			offsets[i] = raw->degrees[raw->order[i]];
	} else {
		raw->degrees = NULL;
	}
	forward->offsets = offsets;
	forward->node_count = nodes;
	forward->bases = pages_alloc(csr_block_count(nodes), sizeof(*forward->bases));
	TRY_MEMORY(forward->bases, finishing->err);
	return csr_offsets_from_degrees(forward, finishing->err);
}

/* Turn the degrees in the order of raw into rows. */
static enum hd_status make_raw_rows(struct finishing *finishing)
{
	struct raw_graph *raw = finishing->raw;
	struct csr *rows = &finishing->rows;
	uint32_t count = raw->object_count;
	uint32_t *offsets = pages_resize(raw->degrees, count, (size_t)count + 1, sizeof(*offsets));
	TRY_MEMORY(offsets, finishing->err);
	raw->degrees = NULL;
	*rows = (struct csr){ .offsets = offsets, .node_count = count };
	rows->bases = pages_alloc(csr_block_count(count), sizeof(*rows->bases));
	TRY_MEMORY(rows->bases, finishing->err);
	return csr_offsets_from_degrees(rows, finishing->err);
}

static void copy_rows(void *arg, unsigned int worker)
{
	struct finishing *finishing = arg;
	const uint32_t *order = finishing->raw->order, *from = finishing->raw->targets;
	const struct csr *rows = &finishing->rows, *forward = &finishing->graph->forward;
	uint32_t end = (uint32_t)finishing_share(finishing, finishing->kept, worker + 1);
	uint64_t since = 0;
	for (uint32_t node = (uint32_t)finishing_share(finishing, finishing->kept, worker);
	     node < end; node++) {
		if (node + RAW_AHEAD < end)
			__builtin_prefetch(&rows->offsets[order[node + RAW_AHEAD]]);
		if (node + RAW_AHEAD_ROWS < end)
			__builtin_prefetch(&from[csr_begin(rows, order[node + RAW_AHEAD_ROWS])]);
		uint64_t at = csr_begin(rows, order[node]), to = csr_begin(forward, node);
		uint64_t degree = csr_degree(forward, node);
		for (uint64_t i = 0; i < degree; i++)
			forward->targets[to + i] = from[at + i];
		if (++since == REFERENCES_BATCH) {
			if (!step_finishing(finishing, worker, since))
				return;
			since = 0;
		}
	}
}

/* Make graph->forward of raw's degrees and targets, which are nodes by now. */
static enum hd_status take_rows(struct finishing *finishing)
{
	struct raw_graph *raw = finishing->raw;
	struct csr *forward = &finishing->graph->forward;
	TRY(take_raw_degrees(finishing));
	uint64_t edges = csr_begin(forward, forward->node_count);
	if (!raw->order) {
		uint32_t *targets =
			pages_resize(raw->targets, raw->edge_count, edges, sizeof(*targets));
		TRY_MEMORY(targets, finishing->err);
		forward->targets = targets;
		forward->edge_count = edges;
		raw->targets = NULL;
		return HD_OK;
	}
	TRY(make_raw_rows(finishing));
	forward->targets = pages_alloc(edges, sizeof(*forward->targets));
	TRY_MEMORY(forward->targets, finishing->err);
	forward->edge_count = edges;
	return run_finishing(finishing, "Sorting references", finishing->kept, copy_rows);
}

/* Ids of few missing nodes and roots are found without the table of an index. */
static enum hd_status make_index(struct finishing *finishing)
{
	const struct raw_graph *raw = finishing->raw;
	struct id_index *index = &finishing->graph->index;
	if (raw->read_ids || finishing->extra_count > LOOKUPS_FEW)
		return id_index_init(index, raw->ids, finishing->kept, finishing->err);
	id_index_init_bare(index, raw->ids, finishing->kept);
	return HD_OK;
}

static enum hd_status finish_stages(struct finishing *finishing)
{
	struct raw_graph *raw = finishing->raw;
	struct hd_graph *graph = finishing->graph;
	if (raw->object_count > HD_NONE - 2)
		return fail(finishing->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	TRY(sort_objects(finishing));
	TRY(take_raw_objects(finishing));
	TRY(make_index(finishing));
	TRY(take_large(finishing));
	if (raw->read_ids) {
		TRY(resolve_by_id(finishing));
	} else {
		TRY(resolve_by_index(finishing));
	}
	TRY(take_rows(finishing));
	return raw_graph_count_types(graph, raw->type_map, NULL, finishing->job, finishing->err);
}

enum hd_status raw_graph_finish(struct raw_graph *raw, const uint64_t *extra, size_t extra_count,
				struct hd_graph *graph, struct job *job, struct hd_error *err)
{
	struct finishing finishing = { .raw = raw,
				       .graph = graph,
				       .job = job,
				       .err = err,
				       .extra = extra,
				       .extra_count = extra_count };
	enum hd_status status = finish_stages(&finishing);
	pages_free(finishing.extra_nodes, extra_count, sizeof(*finishing.extra_nodes));
	pages_free(finishing.ids, finishing.ids_capacity, sizeof(*finishing.ids));
	csr_deinit(&finishing.rows);
	return status;
}
