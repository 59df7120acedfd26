/* SPDX-License-Identifier: MIT */
/* The nodes of a .gcdump become the objects of a graph. */
#include <inttypes.h>
#include <string.h>

#include "format/gcdump_reading.h"
#include "format/read_mapped.h"
#include "util/alloc.h"
#include "util/arena.h"

/* Nodes that a worker does between two looks at cancellation. */
#define BATCH 16384u
/* Below this many nodes a worker of its own is not worth it. */
#define WORKER_MIN 65536u
/* How far ahead memory at random places is asked for: what is read by position, then records. */
#define AHEAD_OFFSETS 32u
#define AHEAD_RECORDS 16u

/* What a worker found in its part of the nodes. */
struct part {
	uint64_t first_edge, edges;
	int64_t total_size;
	uint64_t cut_sizes;
	uint32_t bad_node; /* the first one, or HD_NONE */
	bool met_pseudo;
	bool cancelled;
};

struct pass {
	struct gcdump_reading *reading;
	unsigned int workers;
	struct part parts[64];
};

enum hd_status gcdump_bad_record(const struct gcdump_reading *reading, uint32_t node)
{
	const struct gcdump *file = &reading->file;
	uint64_t at = (uint64_t)(file->blob - file->bytes) + gcdump_offset(file, node);
	return fail(reading->err, HD_ERR_FORMAT, at,
		    "%s: offset 0x%" PRIx64 ": the record of node %" PRIu32
		    " is damaged (--lenient goes on)",
		    file->path, at, node);
}

/* Objects are read in their order, all nodes if they have none. */
static uint32_t place_count(const struct gcdump_reading *reading)
{
	return reading->order ? reading->raw.object_count : reading->file.node_count;
}

static uint32_t begin_of(const struct pass *pass, unsigned int worker)
{
	return (uint32_t)((uint64_t)place_count(pass->reading) * worker / pass->workers);
}

/* Look at all nodes of a worker's part, @p batch at each BATCH of them. */
static void each_batch(struct pass *pass, unsigned int worker,
		       void (*batch)(struct gcdump_reading *reading, struct part *part,
				     uint32_t begin, uint32_t end))
{
	struct part *part = &pass->parts[worker];
	uint32_t end = begin_of(pass, worker + 1);
	part->bad_node = HD_NONE;
	for (uint32_t node = begin_of(pass, worker); node < end && part->bad_node == HD_NONE;) {
		uint32_t stop = end - node < BATCH ? end : node + BATCH;
		batch(pass->reading, part, node, stop);
		if (!job_step(pass->reading->job, worker, stop - node)) {
			part->cancelled = true;
			return;
		}
		node = stop;
	}
}

static enum hd_status run_pass(struct pass *pass, const char *what,
			       void (*fn)(void *arg, unsigned int worker))
{
	struct gcdump_reading *reading = pass->reading;
	job_begin(reading->job, what, place_count(reading));
	run_parallel(pass->workers, fn, pass);
	for (unsigned int i = 0; i < pass->workers; i++) {
		if (pass->parts[i].cancelled)
			return fail_cancelled(reading->err);
		if (pass->parts[i].bad_node != HD_NONE)
			return gcdump_bad_record(reading, pass->parts[i].bad_node);
	}
	return HD_OK;
}

static bool record_is_good(const struct gcdump *file, uint32_t node)
{
	struct gcdump_record record;
	if (!gcdump_record(file, gcdump_offset(file, node), &record))
		return false;
	for (uint32_t i = 0; i < record.child_count; i++) {
		if (gcdump_child(&record.children, record.end, node, file->node_count) == HD_NONE)
			return false;
	}
	return true;
}

/* Lenient reading: which records are damaged. */
static enum hd_status find_bad(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	uint64_t bad = 0, edges = 0;
	reading->bad = bitmap_alloc(file->node_count);
	if (!reading->bad)
		return fail_nomem(reading->err);
	job_begin(reading->job, "Checking nodes", file->node_count);
	for (uint32_t node = 0; node < file->node_count; node++) {
		struct gcdump_record record;
		if (gcdump_record(file, gcdump_offset(file, node), &record))
			edges += record.child_count;
		/* The records of a file lie apart: more references are not in it. */
		if (edges > file->blob_size || !record_is_good(file, node)) {
			(void)bitmap_add(reading->bad, node);
			bad++;
		}
		if (node % BATCH == 0 && !job_step(reading->job, 0, BATCH))
			return fail_cancelled(reading->err);
	}
	if (!bad)
		return HD_OK;
	reading->graph->info.is_partial = true;
	return raw_graph_finding(reading->graph, "bad-record", bad,
				 "nodes whose record is damaged are left out", reading->err);
}

/* The size of an object; @p part counts those that do not fit in 31 bits. */
static uint32_t object_size(const struct gcdump_record *record, struct part *part)
{
	/* -1 is the size of a type without nodes. */
	if (record->size == -1)
		return 0;
	part->total_size += record->size;
	part->cut_sizes += record->size < 0;
	return (uint32_t)record->size;
}

/* The node at a place; HD_NONE: it is no object.  Asks for the memory of places further down. */
static inline uint32_t node_at(const struct gcdump_reading *reading, uint32_t place, uint32_t end)
{
	const struct gcdump *file = &reading->file;
	const uint32_t *order = reading->order;
	if (!order)
		return gcdump_object(reading, place) < GCDUMP_MISSING ? place : HD_NONE;
	if (place + AHEAD_OFFSETS < end) {
		__builtin_prefetch(file->offsets + (size_t)order[place + AHEAD_OFFSETS] * 4);
		__builtin_prefetch(file->blob + gcdump_offset(file, order[place + AHEAD_RECORDS]));
	}
	return order[place];
}

static void read_objects(struct gcdump_reading *reading, struct part *part, uint32_t begin,
			 uint32_t end)
{
	const struct gcdump *file = &reading->file;
	struct raw_graph *raw = &reading->raw;
	for (uint32_t place = begin; place < end; place++) {
		uint32_t node = node_at(reading, place, end);
		struct gcdump_record record;
		if (node == HD_NONE)
			continue;
		if (!gcdump_record(file, gcdump_offset(file, node), &record)) {
			part->bad_node = node;
			return;
		}
		uint32_t object = reading->order ? place : gcdump_object(reading, node);
		if (!reading->order)
			raw->ids[object] = gcdump_address(file, node);
		raw->types[object] = record.type;
		raw->sizes[object] = object_size(&record, part);
		raw->degrees[object] = record.child_count;
		part->edges += record.child_count;
		uint8_t *used = &reading->used[record.type];
		if (!__atomic_load_n(used, __ATOMIC_RELAXED))
			__atomic_store_n(used, 1, __ATOMIC_RELAXED);
	}
}

static void read_objects_part(void *arg, unsigned int worker)
{
	each_batch(arg, worker, read_objects);
}

/* The nodes that an object refers to, from part->first_edge on; false: its record is no good. */
static bool read_children(const struct gcdump_reading *reading, struct part *part, uint32_t node,
			  uint32_t object)
{
	const struct gcdump *file = &reading->file;
	const struct raw_graph *raw = &reading->raw;
	struct gcdump_record record;
	/* Should the file change while it is read, there may be other numbers now. */
	if (!gcdump_record(file, gcdump_offset(file, node), &record) ||
	    record.child_count != raw->degrees[object])
		return false;
	uint32_t *targets = raw->targets + part->first_edge;
	part->first_edge += record.child_count;
	for (uint32_t i = 0; i < record.child_count; i++) {
		targets[i] = gcdump_child(&record.children, record.end, node, file->node_count);
		if (targets[i] == HD_NONE)
			return false;
	}
	return true;
}

/* What is no object, but refers to a missing one or to nothing. */
static uint32_t other_target(const struct gcdump_reading *reading, struct part *part, uint32_t node,
			     uint32_t target)
{
	part->met_pseudo |= bitmap_has(reading->pseudo, node);
	return target == HD_NONE ? HD_NONE : reading->raw.object_count + (target & ~GCDUMP_MISSING);
}

/* Nodes become objects. */
static void number_targets(const struct gcdump_reading *reading, struct part *part,
			   uint32_t *targets, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (reading->order && i + AHEAD_OFFSETS < count)
			__builtin_prefetch(&reading->map[targets[i + AHEAD_OFFSETS]]);
		uint32_t target = gcdump_object(reading, targets[i]);
		if (target >= GCDUMP_MISSING)
			target = other_target(reading, part, targets[i], target);
		targets[i] = target;
	}
}

static void read_references(struct gcdump_reading *reading, struct part *part, uint32_t begin,
			    uint32_t end)
{
	const struct raw_graph *raw = &reading->raw;
	uint64_t first = part->first_edge;
	for (uint32_t place = begin; place < end; place++) {
		uint32_t node = node_at(reading, place, end);
		if (node == HD_NONE)
			continue;
		uint32_t object = reading->order ? place : gcdump_object(reading, node);
		if (!read_children(reading, part, node, object)) {
			part->bad_node = node;
			return;
		}
		raw->types[object] = reading->type_map[raw->types[object]];
	}
	number_targets(reading, part, raw->targets + first, part->first_edge - first);
}

static void read_references_part(void *arg, unsigned int worker)
{
	each_batch(arg, worker, read_references);
}

static enum hd_status overlap(const struct gcdump_reading *reading)
{
	uint64_t at = (uint64_t)(reading->file.blob - reading->file.bytes);
	return fail(reading->err, HD_ERR_FORMAT, at,
		    "%s: offset 0x%" PRIx64
		    ": nodes share records, which no writer does (--lenient goes on)",
		    reading->file.path, at);
}

/* All of the objects but their references. */
static enum hd_status run_objects(struct pass *pass)
{
	struct gcdump_reading *reading = pass->reading;
	struct raw_graph *raw = &reading->raw;
	TRY(gcdump_number(reading));
	TRY(run_pass(pass, "Reading nodes", read_objects_part));
	uint64_t edges = 0;
	reading->total_size = 0;
	reading->cut_sizes = 0;
	for (unsigned int i = 0; i < pass->workers; i++) {
		pass->parts[i].first_edge = edges;
		edges += pass->parts[i].edges;
		reading->total_size += pass->parts[i].total_size;
		reading->cut_sizes += pass->parts[i].cut_sizes;
	}
	if (edges > reading->file.blob_size)
		return overlap(reading);
	return raw_graph_set_edge_count(raw, edges, reading->job, reading->err);
}

/* Types, sizes and degrees of all objects, then their references. */
static enum hd_status read_nodes(struct gcdump_reading *reading, bool *ret_met_pseudo)
{
	struct pass pass = { .reading = reading, .workers = job_workers(reading->job) };
	while (pass.workers > 1 && reading->file.node_count / pass.workers < WORKER_MIN)
		pass.workers--;
	TRY(run_objects(&pass));
	TRY(gcdump_make_types(reading));
	TRY(run_pass(&pass, "Reading references", read_references_part));
	*ret_met_pseudo = false;
	for (unsigned int i = 0; i < pass.workers; i++)
		*ret_met_pseudo |= pass.parts[i].met_pseudo;
	return HD_OK;
}

static enum hd_status allocate(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	uint64_t bytes = (uint64_t)file->node_count * 5 + (uint64_t)file->type_count * 5;
	TRY(job_check_memory(reading->job, bytes, reading->err));
	reading->graph->arena = arena_create();
	reading->graph->root_arena = arena_create();
	reading->shifts = pages_alloc(gcdump_blocks(file), sizeof(*reading->shifts));
	reading->map = pages_alloc(file->node_count, sizeof(*reading->map));
	reading->pseudo = bitmap_alloc(file->node_count);
	reading->used = pages_alloc(file->type_count, sizeof(*reading->used));
	reading->type_map = pages_alloc(file->type_count, sizeof(*reading->type_map));
	if (!reading->graph->arena || !reading->graph->root_arena || !reading->shifts ||
	    !reading->map || !reading->pseudo || !reading->used || !reading->type_map)
		return fail_nomem(reading->err);
	struct gcdump_record record;
	reading->zero_is_undefined = gcdump_record(file, 0, &record) && !record.type &&
				     !record.has_size && !record.child_count;
	return HD_OK;
}

/* The ids of roots, which are what the map says so far. */
static void resolve_roots(struct gcdump_reading *reading)
{
	const struct raw_graph *raw = &reading->raw;
	for (size_t i = 0; i < reading->roots_count; i++) {
		struct raw_root *root = &reading->roots[i];
		uint32_t object = (uint32_t)root->id;
		if (object >= GCDUMP_MISSING) {
			root->id = reading->missing[object & ~GCDUMP_MISSING];
		} else {
			root->id = reading->graph->ids[raw->rank ? raw->rank[object] : object];
		}
	}
}

/* Undefined nodes that nothing is known of but their address. */
static enum hd_status report_missing(struct gcdump_reading *reading)
{
	struct hd_graph *graph = reading->graph;
	uint32_t count = graph->node_count - graph->object_count;
	if (!count)
		return HD_OK;
	graph->info.is_partial = true;
	return raw_graph_finding(graph, "undefined-node", count,
				 "objects that the file mentions and does not describe: the tool "
				 "that wrote it did not reach them",
				 reading->err);
}

/* All nodes, as objects or pseudo-nodes. */
static enum hd_status sort_out_nodes(struct gcdump_reading *reading)
{
	if (reading->lenient)
		TRY(find_bad(reading));
	TRY(gcdump_find_pseudo(reading));
	bool met_pseudo, found = false;
	TRY(read_nodes(reading, &met_pseudo));
	if (met_pseudo)
		TRY(gcdump_check_pseudo(reading, &found));
	return found ? read_nodes(reading, &met_pseudo) : HD_OK;
}

static enum hd_status read_graph(struct gcdump_reading *reading)
{
	TRY(allocate(reading));
	TRY(sort_out_nodes(reading));
	TRY(gcdump_true_sizes(reading));
	TRY(gcdump_collect_roots(reading));
	TRY(raw_graph_finish(&reading->raw, reading->missing, reading->missing_count,
			     reading->graph, reading->job, reading->err));
	TRY(report_missing(reading));
	resolve_roots(reading);
	TRY(raw_graph_roots(reading->graph, reading->roots, reading->roots_count, reading->err));
	return gcdump_make_info(reading);
}

static void deinit(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	pages_free(reading->order, reading->raw.object_count, sizeof(*reading->order));
	raw_graph_deinit(&reading->raw);
	bitmap_free(reading->bad, file->node_count);
	bitmap_free(reading->pseudo, file->node_count);
	pages_free(reading->tree, reading->tree_capacity, sizeof(*reading->tree));
	pages_free(reading->shifts, gcdump_blocks(file), sizeof(*reading->shifts));
	pages_free(reading->map, file->node_count, sizeof(*reading->map));
	pages_free(reading->missing, reading->missing_capacity, sizeof(*reading->missing));
	pages_free(reading->used, file->type_count, sizeof(*reading->used));
	pages_free(reading->type_map, file->type_count, sizeof(*reading->type_map));
	pages_free(reading->roots, reading->roots_capacity, sizeof(*reading->roots));
	gcdump_deinit(&reading->file);
}

enum hd_status gcdump_read_bytes(const uint8_t *bytes, uint64_t size, const char *path,
				 const struct format_options *options, struct job *job,
				 struct hd_graph **ret, struct hd_error *err)
{
	struct gcdump_reading reading = { .lenient = options && options->lenient,
					  .exact = options && options->exact,
					  .job = job,
					  .err = err,
					  .graph = mem_calloc(1, sizeof(struct hd_graph)) };
	if (!reading.graph)
		return fail_nomem(err);
	enum hd_status status = gcdump_parse(bytes, size, path, &reading.file, err);
	if (status == HD_OK)
		status = read_graph(&reading);
	deinit(&reading);
	if (status == HD_OK) {
		*ret = reading.graph;
	} else {
		graph_destroy(reading.graph);
	}
	return status;
}

enum hd_status gcdump_read(int fd, uint64_t size, const char *path,
			   const struct format_options *options, struct job *job,
			   struct hd_graph **ret, struct hd_error *err)
{
	(void)size; /* that of now counts */
	return read_mapped(fd, path, gcdump_read_bytes, options, job, ret, err);
}
